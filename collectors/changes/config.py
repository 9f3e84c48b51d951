"""What the reading of changes needs to be told."""

from __future__ import annotations

from msgspec import Struct

from collectors.choosing import is_chosen

__all__ = ["ChangesConfig"]


class ChangesConfig(Struct, frozen=True):
    """Which tables' changes are told, how far back, and how often they are asked for.

    `include` and `exclude` are globs of names. CloudTrail tells an event some minutes after it happened, and not in
    order: `overlap_ms` before the last poll are read again. `lookback_ms` is how long a change is told; CloudTrail
    itself keeps 90 days.
    """

    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    every_ms: int = 120_000
    overlap_ms: int = 1_200_000
    lookback_ms: int = 86_400_000

    def takes(self, table: str) -> bool:
        """Whether a table is meant."""
        return is_chosen(table, self.include, self.exclude)
