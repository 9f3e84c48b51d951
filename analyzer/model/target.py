"""What a request is aimed at: a base table, or one of its indexes."""

from __future__ import annotations

import msgspec
from msgspec import Struct

__all__ = ["Target"]


class Target(Struct, frozen=True):
    """A table or index of one account and region; None is "not known", and for an index "the base table"."""

    account: str | None
    region: str | None
    table: str
    index: str | None = None

    @property
    def base(self) -> Target:
        """The base table that an index belongs to, or the table itself."""
        return self if self.index is None else msgspec.structs.replace(self, index=None)

    def at(self, index: str | None) -> Target:
        """Return the target of the same table with another index."""
        return msgspec.structs.replace(self, index=index)

    def may_be(self, other: Target) -> bool:
        """Whether it may be another one's table, of which more is known: what is not known here speaks against none."""
        return (
            self.table == other.table and self.account in {None, other.account} and self.region in {None, other.region}
        )

    def order(self) -> tuple[str, str, str, str]:
        """Sort by account, region, table, index; the base table before its indexes."""
        return (self.account or "", self.region or "", self.table, self.index or "")

    def __str__(self) -> str:
        """Write `table` or `table/index`."""
        return self.table if self.index is None else f"{self.table}/{self.index}"
