"""What is known of the past: baselines and spans, wherever they come from."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.instant import Instant
from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = ["EMPTY", "History", "KeyMinute", "PatternPast"]


class PatternPast(Struct, frozen=True, kw_only=True):
    """Requests of one declared pattern in equal stretches, oldest first: those before, and those of the window.

    As many stretches on both sides are taken as pairs (Monday with Monday); else each side scatters about its own mean.
    `wobble` is the variance of the logarithm of a stretch from one such comparison to the next, learned from four or
    more of them; 0 where nobody learned it.
    """

    before: tuple[float, ...]
    now: tuple[float, ...]
    wobble: float = 0.0


class KeyMinute(Struct, frozen=True, kw_only=True):
    """One tracked key in one closed minute: its units between two bounds, and what its seconds showed.

    `peak_second` is the most units in one second, `seconds_over` how many seconds stood at or over the ceiling, both
    since `tracked_since`: of a key first tracked inside the minute they are lower bounds. None where no seconds were
    kept.
    """

    units_low: float
    units_high: float
    peak_second: float | None = None
    seconds_over: int | None = None
    tracked_since: Instant | None = None


class History(Struct, frozen=True):
    """The stretches of the past that are covered for each target, and what its patterns did in them, by their ids."""

    spans: dict[Target, Window] = {}
    patterns: dict[Target, dict[str, PatternPast]] = {}


EMPTY = History()
