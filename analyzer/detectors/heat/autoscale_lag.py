"""Capacity that came too late, stood at its maximum, or was taken away just before it was needed.

Autoscaling follows alarms: it raises capacity after two minutes over its target, lowers it after fifteen below, and a
change takes minutes to apply (Developer Guide, "Managing throughput capacity automatically with DynamoDB auto
scaling", read 2026-11-30). Capacity may be lowered four times a day, and once more after each hour without; 27 times
at most (Developer Guide, "Quotas in Amazon DynamoDB", read 2026-11-30).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.scaling_advice import lag_advice, lowered_out_advice
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.instant import MINUTE_MS
from analyzer.model.sight import Horizon, Sight, Skipped, SourceName
from analyzer.model.window import Window
from analyzer.traffic.provisioned import capacity_points
from analyzer.traffic.series import Point, points, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from analyzer.model.traffic import Traffic

__all__ = ["AutoscaleLag"]


class _Lag(NamedTuple):
    """Bursts that met too little capacity: `starts` are their beginnings."""

    kind: str
    starts: tuple[Instant, ...]
    events: float
    share: float | None
    low: float
    high: float


class AutoscaleLag(Struct, frozen=True):
    """Judges throttle events of a provisioned target beside the capacity that it had then and got later."""

    rise: Share = 0.1
    least_events: Whole = 10
    high_share: Share = 0.01
    apart_seconds: Whole = 1800
    periodic_bursts: Whole = 3
    periodic_spread: Share = 0.1
    most_decreases: Whole = 27

    name: ClassVar[str] = "autoscale-lag"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.METRICS, Sight.TABLE}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.SCALING})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a direction; a table billed on demand has no capacity to lag."""
        if traffic.place.capacity.billing_mode == "PAY_PER_REQUEST":
            return
        for direction in Direction:
            lag = self._judge(traffic, direction)
            if lag is not None:
                yield self._finding(lag, traffic, direction)
        decreases = _decreases(traffic)
        if decreases is not None and decreases >= self.most_decreases:
            yield self._lowered_out(decreases, traffic)

    def _judge(self, traffic: Traffic, direction: Direction) -> _Lag | None:
        word = direction.value.capitalize()
        refused = [point for point in _throttles(traffic, word) if point.value > 0]
        capacity = capacity_points(traffic, direction)
        if not refused or not capacity:
            return None
        late = [point for point in refused if self._came_later(point, capacity)]
        most = next((one.maximum for one in traffic.scaling if one.direction is direction), None)
        full = [point for point in refused if most is not None and _had(point, capacity) >= most]
        scaled_in = [point for point in refused if self._was_lowered(point, capacity)]
        if most is not None and (full or (late and max(point.value for point in capacity) >= most)):
            kind, chosen = "at-maximum", refused
        elif scaled_in:
            kind, chosen = "scaled-in", scaled_in
        elif late:
            kind, chosen = "too-late", late
        else:
            return None
        low = min(_had(point, capacity) for point in chosen)
        high = max(point.value for point in capacity)
        events = sum(point.value for point in chosen)
        return _Lag(kind, self._bursts(chosen), events, _share(traffic, word, chosen, events), low, high)

    def _came_later(self, refused: Point, capacity: list[Point]) -> bool:
        """Whether capacity rose within half an hour after a refusal that met less."""
        enough, latest = self._a_step_over(_had(refused, capacity)), refused.start + self._reach(refused)
        return any(point.value >= enough for point in capacity if refused.start < point.start <= latest)

    def _was_lowered(self, refused: Point, capacity: list[Point]) -> bool:
        """Whether capacity was taken away in the half hour before a refusal."""
        more, earliest = self._a_step_over(_had(refused, capacity)), refused.start - self._reach(refused)
        return any(point.value >= more for point in capacity if earliest <= point.start < refused.start)

    def _a_step_over(self, units: float) -> float:
        """Return the least capacity that is more than some by a step of autoscaling, and not by rounding."""
        return units + self.rise * units

    def _reach(self, refused: Point) -> int:
        """Return how far a burst reaches in milliseconds: half an hour, or one period where that is longer."""
        return max(self.apart_seconds, refused.seconds) * 1000

    def _bursts(self, refused: list[Point]) -> tuple[Instant, ...]:
        starts = [refused[0].start]
        for before, point in pairwise(refused):
            if point.start - before.end > self.apart_seconds * 1000:
                starts.append(point.start)
        return tuple(starts)

    def _period_hours(self, lag: _Lag) -> float | None:
        """Return the period of the bursts, where they came three times at even distances."""
        gaps = [later - earlier for earlier, later in pairwise(lag.starts)]
        if len(lag.starts) < self.periodic_bursts:
            return None
        mean = sum(gaps) / len(gaps)
        is_even = all(abs(gap - mean) <= self.periodic_spread * mean for gap in gaps)
        return mean / (60 * MINUTE_MS) if is_even else None

    def _severity(self, lag: _Lag, traffic: Traffic, direction: Direction) -> Severity:
        """Say how bad: no waiting helps at the maximum; a handful of refusals is how autoscaling works."""
        failed = any(one.failed.value for one in traffic.throttles if one.direction is direction)
        if lag.events < self.least_events and not failed:
            return Severity.LOW
        is_hard = lag.share is not None and lag.share >= self.high_share and lag.kind == "at-maximum"
        return Severity.HIGH if is_hard else Severity.MEDIUM

    def _finding(self, lag: _Lag, traffic: Traffic, direction: Direction) -> Finding:
        period = self._period_hours(lag)
        every = "" if period is None else f", every {number(period)} hours"
        return finding(
            self.name,
            traffic,
            self._severity(lag, traffic, direction),
            f"{counted(lag.events, f'{direction} throttle event')} on {traffic.target} met {number(lag.low)}"
            f" provisioned units, {_WHY[lag.kind]} {number(lag.high)}{every}",
            confidence=Confidence.CERTAIN if traffic.scaling else Confidence.LIKELY,
            because=None if traffic.scaling else "what autoscaling was told to do was not visible",
            sources=(SourceName.CLOUDWATCH_METRICS.value, SourceName.TABLE_CATALOG.value),
            subject=direction.value,
            cause=lag.kind,
            direction=direction,
            first_seen=lag.starts[0],
            evidence={
                "throttle_events": lag.events,
                "throttled_share_low": None if lag.share is None else round(lag.share, 5),
                "capacity_met": lag.low,
                "capacity_reached": lag.high,
                "bursts": len(lag.starts),
                "period_hours": None if period is None else round(period, 2),
                "decreases_today": _decreases(traffic),
            },
            advice=tuple(lag_advice(traffic, direction, lag.kind, lag.low, lag.high, period, lag.starts[-1])),
        )

    def _lowered_out(self, decreases: int, traffic: Traffic) -> Finding:
        return finding(
            self.name,
            traffic,
            Severity.LOW,
            f"the capacity of {traffic.target} was lowered {decreases} times today and cannot be lowered again before"
            " midnight UTC: what it is raised to now is paid until then",
            sources=(SourceName.TABLE_CATALOG.value,),
            subject="decreases",
            cause="no-decrease-left",
            evidence={"decreases_today": decreases},
            advice=lowered_out_advice(traffic),
        )


_WHY = {
    "at-maximum": "and autoscaling may go no further than",
    "too-late": "while minutes later there were",
    "scaled-in": "though shortly before there had been",
}


def _decreases(traffic: Traffic) -> int | None:
    table = traffic.place.table
    index = None if table is None else table.index(traffic.target.index)
    if traffic.target.index is not None:
        return None if index is None else index.provisioning.decreases_today
    return None if table is None else table.provisioning.decreases_today


def _throttles(traffic: Traffic, word: str) -> list[Point]:
    """Return the events that provisioned capacity may have caused, by period; of a key range it is never the cause."""
    named = series_of(traffic.metrics, f"{word}ProvisionedThroughputThrottleEvents")
    found = points(named, traffic.window)
    causes = {one.cause for one in traffic.metric_throttles} | {one.cause for one in traffic.throttles}
    if found or "key-range" in causes:
        return found
    return points(series_of(traffic.metrics, f"{word}ThrottleEvents"), traffic.window)


def _had(refused: Point, capacity: list[Point]) -> float:
    """Return the capacity at the time of a refusal: of the last period that began before its end."""
    begun = [point for point in capacity if point.start < refused.end]
    touching = [point for point in begun if point.end > refused.start]
    chosen = touching or begun[-1:] or capacity[:1]
    return min(point.value for point in chosen)


def _share(traffic: Traffic, word: str, refused: list[Point], events: float) -> float | None:
    """Return at least which part of the requests of those periods was refused: a request takes half a unit or more."""
    consumed = series_of(traffic.metrics, f"Consumed{word}CapacityUnits")
    used = {point for one in refused for point in points(consumed, Window(one.start, one.end))}
    if not used:
        return None
    served = sum(point.value for point in used) * (2 if word == "Read" else 1)
    return events / (events + served)
