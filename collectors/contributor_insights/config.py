"""What Contributor Insights needs to be told."""

from __future__ import annotations

from msgspec import Struct

from collectors.choosing import is_chosen

__all__ = ["ContributorInsightsConfig"]


class ContributorInsightsConfig(Struct, frozen=True):
    """Which tables to look at, how late their reports are, and how often to look.

    `include` and `exclude` are globs of names. AWS does not publish how late reports are: what is younger than
    `delay_ms` is left for the next poll, and `overlap_ms` before the window are read again. Which tables and indexes
    are enabled is asked every `discover_every_ms`. `most_questions` bounds the minutes of one rule that are asked for
    alone, because a hot key of theirs was not listed. `orders` are how a rule is asked to rank, side by side: by the
    whole stretch (`Sum`), by each key's greatest minute (`Maximum`); a second one costs as much as the first, and needs
    no answer to be waited for.
    """

    include: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    every_ms: int = 60_000
    period_seconds: int = 60
    delay_ms: int = 120_000
    overlap_ms: int = 600_000
    discover_every_ms: int = 600_000
    most_questions: int = 3
    concurrent: int = 4
    orders: tuple[str, ...] = ("Sum",)

    @property
    def only(self) -> str | None:
        """The one table that is meant; None where there are several, or a glob says which."""
        is_one = len(self.include) == 1 and not any(mark in self.include[0] for mark in "*?[")
        return self.include[0] if is_one else None

    def takes(self, table: str) -> bool:
        """Whether a table is meant."""
        return is_chosen(table, self.include, self.exclude)
