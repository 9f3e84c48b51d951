"""Whether things happen on a clock, and with which period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Period", "period_of"]

_MOST_CLOCKS = 4
"""How many clocks of one period may tick at once: the processes of one small service."""

_TICKS_A_CLOCK = 5
"""Fewer for each of several clocks keep a period by chance: nine ticks pass for four clocks one time in eleven."""


class Period(Struct, frozen=True):
    """A period in seconds, how many clocks tick with it, and the part of the ticks that keep it."""

    seconds: float
    clocks: int
    regular_share: float


def period_of(times: Sequence[float], *, jitter: float = 0.1, regular_share: float = 0.8) -> Period | None:
    """Return the period of instants in seconds, sorted; None where they keep none.

    With n clocks of one period each tick stands that far behind the n-th before it; more than one is said only of five
    ticks for each. Ticks keep the period that come
    within `jitter` of it, or of its double or triple where some were not seen; `regular_share` of them have to.
    """
    for clocks in range(1, _MOST_CLOCKS + 1):
        gaps = [later - earlier for earlier, later in zip(times, times[clocks:], strict=False)]
        if len(gaps) < 2 or (clocks > 1 and len(times) < _TICKS_A_CLOCK * clocks):  # noqa: PLR2004 - one gap is no rhythm
            return None
        median = sorted(gaps)[len(gaps) // 2]
        if median <= 0:
            continue
        regular = sum(_keeps(gap, median, jitter) for gap in gaps) / len(gaps)
        if regular >= regular_share:
            return Period(median, clocks, regular)
    return None


def _keeps(gap: float, period: float, jitter: float) -> bool:
    beats = round(gap / period)
    return 1 <= beats <= 3 and abs(gap - beats * period) <= jitter * period  # noqa: PLR2004 - two may go unseen
