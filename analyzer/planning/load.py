"""What was asked of a target minute by minute: of CloudWatch's series, else of the request log's slices."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from analyzer.knowledge.prices import SECONDS_A_MONTH
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS, SLICE_MS, Instant
from analyzer.model.sight import SourceName
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.counts import Counts
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic
    from analyzer.model.window import Window

__all__ = ["Harvest", "Load", "load_of_metrics"]

_SECONDS = 60


class Load(Struct, frozen=True, kw_only=True):
    """Consumed units a second of one direction, the mean of each minute from `start` on; at least one minute.

    The last minute may be shorter: `seconds` is the length of all. `top_units` is the most in ten seconds, None where
    nobody counts so finely. `unseen_minutes` had no point, and count as nothing asked.
    """

    start: Instant
    units: tuple[float, ...]
    seconds: float
    source: SourceName
    top_units: float | None = None
    unseen_minutes: int = 0

    @property
    def mean(self) -> float:
        """Units a second over all of it."""
        last = self.seconds - _SECONDS * (len(self.units) - 1)
        return (sum(self.units[:-1]) * _SECONDS + self.units[-1] * last) / self.seconds

    @property
    def peak(self) -> float:
        """Units a second of the fullest minute."""
        return max(self.units)

    @property
    def top(self) -> float:
        """Units a second of the fullest stretch that is known."""
        return max(self.peak, self.top_units or 0.0)

    @property
    def month_units(self) -> float:
        """Units of a month of 730 hours that goes on like this."""
        return self.mean * SECONDS_A_MONTH

    @property
    def is_spiky(self) -> bool:
        """Whether its fullest minute is more than four times its mean."""
        return self.peak > _SPIKY * self.mean

    @property
    def is_steady(self) -> bool:
        """Whether nineteen minutes of twenty hold at least half of the mean, and it is not spiky."""
        return not self.is_spiky and self.at_least(_NEARLY_ALWAYS) >= self.mean / 2

    def at_least(self, share: float) -> float:
        """Return the units a second that this share of the minutes reached."""
        ordered = sorted(self.units, reverse=True)
        return ordered[max(0, ceil(share * len(ordered)) - 1)]

    def times(self, factor: float) -> Load:
        """Return the same with so many times the demand."""
        top = None if self.top_units is None else self.top_units * factor
        return replace(self, units=tuple(one * factor for one in self.units), top_units=top)


_SPIKY = 4.0
"""A table provisioned for such a peak stands idle three quarters of the time, below any break-even."""
_NEARLY_ALWAYS = 0.95


def load_of_metrics(traffic: Traffic, direction: Direction) -> Load | None:
    """Return what CloudWatch saw of a target in the window; None where nobody asked it, or of a coarser period.

    A minute without a point consumed nothing where the series is complete; where it is not, that is not known.
    """
    series = series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits")
    window = traffic.window
    found = points(series, window)
    if series is None or series.period_seconds != _SECONDS or window.seconds < _SECONDS:
        return None
    start = window.start // MINUTE_MS
    units = [0.0] * (-(-window.end // MINUTE_MS) - start)
    for point in found:
        units[max(point.start // MINUTE_MS - start, 0)] += point.a_second
    return Load(
        start=start * MINUTE_MS,
        units=tuple(units),
        seconds=float(len(units) * _SECONDS),
        source=SourceName.CLOUDWATCH_METRICS,
        unseen_minutes=0 if series.is_complete else len(units) - len(found),
    )


class Harvest:
    """Gathers units by minute from counts with series, taken stretch by stretch in any order; memory follows minutes.

    What an index is written is the index's; a local index's units are its table's, as CloudWatch counts them.
    """

    def __init__(self, local: frozenset[tuple[str, str]] = frozenset()) -> None:
        self._local = local
        self._slices: dict[tuple[Target, Direction], dict[int, float]] = {}

    def take(self, counts: Counts) -> None:
        """Add a window's slices."""
        first = counts.window.start // SLICE_MS
        for number, cell in enumerate(counts.cells):
            target = cell.target
            if target.index is not None and (target.table, target.index) in self._local:
                target = target.base
            for direction, column in ((Direction.READ, 1), (Direction.WRITE, 2)):
                halves = counts.series[:, number, column]
                for slot in halves.nonzero()[0].tolist():
                    kept = self._slices.setdefault((target, direction), {})
                    kept[first + slot] = kept.get(first + slot, 0.0) + float(halves[slot]) / 2 / cell.sample_rate

    def loads(self, window: Window, home: Callable[[Target], Target]) -> dict[tuple[Target, Direction], Load]:
        """Return what was gathered of a window, by target and direction; those that nothing was asked of are left out.

        Minutes are counted from the window's start. `home` gives a target the account and region that it has.
        """
        found: dict[tuple[Target, Direction], dict[int, float]] = {}
        for (target, direction), slices in self._slices.items():
            into = found.setdefault((home(target), direction), {})
            for number, units in slices.items():
                if window.holds(number * SLICE_MS):
                    into[number] = into.get(number, 0.0) + units
        return {place: _load(slices, window) for place, slices in found.items() if slices}


def _load(slices: dict[int, float], window: Window) -> Load:
    sums = [0.0] * ceil(window.seconds / _SECONDS)
    for number, units in slices.items():
        sums[(number * SLICE_MS - window.start) // MINUTE_MS] += units
    last = window.seconds - _SECONDS * (len(sums) - 1)
    rates = [*(units / _SECONDS for units in sums[:-1]), sums[-1] / last]
    return Load(
        start=window.start,
        units=tuple(rates),
        seconds=window.seconds,
        source=SourceName.REQUEST_LOG,
        top_units=max(slices.values()) / (SLICE_MS / 1000),
    )
