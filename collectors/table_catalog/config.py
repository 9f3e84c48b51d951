"""What the table catalog needs to be told."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from collectors.choosing import is_chosen

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TableCatalogConfig"]


class TableCatalogConfig(Struct, frozen=True):
    """Which tables to describe, how often, and how many at once.

    `include` and `exclude` are globs of names. A table must bear all of `tags` (values are globs) and none of
    `exclude_tags`; without `tags` an untagged table is seen like any other. `with_tags` reads tags though nobody
    filters by them: the contract's `where.tags` needs them. Without `with_ttl` time to live is not asked for.
    Tags and quotas change by somebody's hand, and are asked for once an hour; AWS allows DescribeLimits once a minute.
    `lookback_ms` is how far back scaling activities and changes are told.
    """

    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    tags: dict[str, str] = {}
    exclude_tags: dict[str, str] = {}
    with_tags: bool = False
    with_ttl: bool = True
    every_ms: int = 300_000
    tags_every_ms: int = 3_600_000
    quotas_every_ms: int = 3_600_000
    lookback_ms: int = 86_400_000
    concurrent: int = 4

    def takes_name(self, name: str) -> bool:
        """Whether a table is meant, by its name."""
        return is_chosen(name, self.include, self.exclude)

    def takes_tags(self, tags: Mapping[str, str]) -> bool:
        """Whether a table is meant, by its tags."""
        has_all = all(name in tags and fnmatchcase(tags[name], glob) for name, glob in self.tags.items())
        return has_all and not any(
            name in tags and fnmatchcase(tags[name], glob) for name, glob in self.exclude_tags.items()
        )

    @property
    def needs_tags(self) -> bool:
        """Whether tags have to be read."""
        return bool(self.with_tags or self.tags or self.exclude_tags)

    @property
    def exact_names(self) -> tuple[str, ...] | None:
        """The names of the only tables that are meant; None where a glob is among them, and tables must be listed."""
        if any(mark in name for name in self.include for mark in "*?["):
            return None
        return tuple(name for name in self.include if self.takes_name(name))
