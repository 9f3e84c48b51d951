"""Which keys Contributor Insights convicts, by the heat that it proves and by the refusals that concentrate on them.

An item is convicted by its own rule (SKC); a collection by the rule of partition keys (PKC) together with refusals: a
collection over its ceiling without any, whose items are each below theirs, lies on several partitions already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction, Severity
from analyzer.model.traffic import InsightKey
from analyzer.traffic.measure import direction_units
from analyzer.traffic.series import series_of, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["InsightVerdict", "InsightVerdicts", "bounds", "certain", "direction_of"]

_SPLIT = 1.05
"""Heat over which a key without refusals must lie on several partitions; the twentieth is for approximate values."""


class InsightVerdict(Struct, frozen=True, kw_only=True):
    """A key with how bad it is, and why; `throttles` are those that its throttle rule counted, None where none did."""

    key: InsightKey
    severity: Severity
    why: str
    is_proved: bool
    throttles: float | None
    throttled_share: float | None
    items: tuple[InsightKey, ...]


class InsightVerdicts(Struct, frozen=True):
    """The thresholds of the hot-key detector, put to the keys of Contributor Insights."""

    at_ceiling: float
    warm: float
    warm_seconds: int
    tries_share: float
    least_tries: int

    def judge(self, traffic: Traffic) -> Iterator[InsightVerdict]:
        """Yield the keys that are convicted, an item before the collection that it heats."""
        by_rule: dict[str, list[InsightKey]] = {}
        for key in traffic.insights:
            by_rule.setdefault(key.rule, []).append(key)
        items = by_rule.get("SKC", [])
        for item in items:
            yield from self._one(item, by_rule.get("SKT", []), (), traffic)
        for key in by_rule.get("PKC", []):
            under = tuple(item for item in items if item.name.partition == key.name.partition)
            if not any(certain(item) >= self.at_ceiling for item in under):
                yield from self._one(key, by_rule.get("PKT", []), under, traffic)
        accessed = {key.name.partition for key in by_rule.get("PKC", ())}
        for key in by_rule.get("PKT", []):
            if key.name.partition not in accessed:
                yield from self._refused(key, by_rule["PKT"], traffic)

    def _one(
        self, key: InsightKey, throttled: list[InsightKey], items: tuple[InsightKey, ...], traffic: Traffic
    ) -> Iterator[InsightVerdict]:
        own = next((other for other in throttled if other.name == key.name), None)
        refused = None if own is None else sum(minute.value for minute in own.minutes)
        judged = self._heat(key, refused, items, traffic) or self._share(key, own, refused, traffic)
        if judged is not None:
            severity, why = judged
            yield InsightVerdict(
                key=key,
                severity=severity,
                why=why,
                is_proved=_is_proved(key),
                throttles=refused,
                throttled_share=None if own is None else own.share,
                items=items,
            )

    def _heat(
        self, key: InsightKey, refused: float | None, items: tuple[InsightKey, ...], traffic: Traffic
    ) -> tuple[Severity, str] | None:
        hottest = certain(key)
        is_collection = key.name.level is KeyLevel.PARTITION and bool(traffic.place.sort_key)
        if hottest >= self.at_ceiling:
            if not is_collection or refused or _has_key_range(traffic):
                return Severity.HIGH, "at its ceiling for a minute or more"
            if items and hottest >= _SPLIT:
                return None
            if not items and hottest < _SPLIT:
                return Severity.HIGH, "at the ceiling of one partition for a minute or more"
            return Severity.MEDIUM, "as much as one partition serves, spread over its items, with no refusal yet"
        if _longest_seconds(key, lambda heat: heat >= self.warm) >= self.warm_seconds:
            return Severity.MEDIUM, "warm for minutes"
        return None

    def _share(
        self, key: InsightKey, own: InsightKey | None, refused: float | None, traffic: Traffic
    ) -> tuple[Severity, str] | None:
        if own is None or not refused or refused < self.least_tries or own.share < self.tries_share:
            return None
        if _is_of_table(traffic) and certain(key) < self.warm:
            return None
        return Severity.HIGH, "refused tries concentrate on it"

    def _refused(self, key: InsightKey, all_of: list[InsightKey], traffic: Traffic) -> Iterator[InsightVerdict]:
        """Judge a key of which refusals alone are known."""
        refused = sum(minute.value for minute in key.minutes)
        if refused < self.least_tries or key.share < self.tries_share or _is_of_table(traffic):
            return
        yield InsightVerdict(
            key=key,
            severity=Severity.HIGH,
            why=f"refused tries concentrate on it, of {len(all_of)} keys that were refused",
            is_proved=False,
            throttles=refused,
            throttled_share=key.share,
            items=(),
        )


def certain(key: InsightKey) -> float:
    """Return the heat that convicts in the hottest minute: the lower bound, or u where nothing speaks for a mixture."""
    return max(_heats(key), default=0.0)


def bounds(key: InsightKey) -> list[tuple[float, float]]:
    """Return the bounds of the heat of each minute; none of a key of which refusals alone are counted."""
    return [(minute.low, minute.high) for minute in key.minutes if minute.low is not None and minute.high is not None]


def _heats(key: InsightKey) -> Iterable[float]:
    return (minute.heat for minute in key.minutes if minute.heat is not None)


def _is_proved(key: InsightKey) -> bool:
    """Whether the hottest minute is one whose mixture of reads and writes something bounds."""
    return max(((minute.heat or 0.0, minute.is_mixed_known) for minute in key.minutes), default=(0.0, False))[1]


def _longest_seconds(key: InsightKey, holds: Callable[[float], bool]) -> int:
    longest = run = 0
    before: int | None = None
    for minute, heat in zip(key.minutes, _heats(key), strict=False):
        follows = before is not None and minute.start - before == key.period_seconds * 1000
        run = (run + key.period_seconds if follows else key.period_seconds) if holds(heat) else 0
        longest = max(longest, run)
        before = minute.start
    return longest


def _causes(traffic: Traffic) -> set[str]:
    return {one.cause for one in traffic.metric_throttles} | {one.cause for one in traffic.throttles}


def _has_key_range(traffic: Traffic) -> bool:
    return "key-range" in _causes(traffic)


def _is_of_table(traffic: Traffic) -> bool:
    """Whether refusals are known to be of the whole table's limits alone: every key gets its share of them."""
    told = _causes(traffic)
    return bool(told) and not told & {"key-range", "unknown"}


def direction_of(traffic: Traffic) -> Direction | None:
    """Return whether the target's reads or writes fill its partitions; None where neither side is known to prevail.

    Contributor Insights counts them together. Metrics see all; where they do not tell, what requests consumed does.
    """
    told = {one.direction for one in traffic.metric_throttles if one.cause == "key-range"}
    told |= {one.direction for one in traffic.throttles if one.cause == "key-range"}
    if len(told) == 1:
        return told.pop()
    reads, writes = (
        total(series_of(traffic.metrics, f"Consumed{word}CapacityUnits"), traffic.window) for word in ("Read", "Write")
    )
    if reads is None or writes is None:
        reads, writes = (direction_units(traffic, direction) for direction in Direction)
    if reads / 3 == writes:
        return None
    return Direction.READ if reads / 3 > writes else Direction.WRITE
