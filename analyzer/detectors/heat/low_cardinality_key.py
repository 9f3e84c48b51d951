"""A partition key with few values: one of them will become hot as traffic grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.baseline import yearly_growth
from analyzer.traffic.heat import attribute_of, ceiling_of, least_rate
from analyzer.traffic.measure import add, busiest_caller, evidence_of
from analyzer.traffic.series import series_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import KeyHeat, KeySide, Traffic

__all__ = ["LowCardinalityKey"]


class LowCardinalityKey(Struct, frozen=True):
    """Judges how few partition keys share a target's traffic, and how near the first of them is to its ceiling."""

    values: Whole = 20
    least_requests: Whole = 1000
    top_share: Share = 0.5
    hot: Share = 0.5
    medium_heat: Share = 0.01

    name: ClassVar[str] = "low-cardinality-key"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_KEYS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_UNITS, Sight.METRICS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding a direction; what is hot already is `hot-key`."""
        for side in traffic.key_sides:
            few = side.distinct <= self.values and self._is_enough(traffic, side.direction)
            if not few or _is_refused(traffic, side.direction):
                continue
            top = _top(traffic, side.direction)
            if top is not None and top.share.low >= self.top_share and top.heat.high < self.hot:
                yield self._finding(side, top, traffic)

    def _is_enough(self, traffic: Traffic, direction: Direction) -> bool:
        asked = add(row.requests for row in traffic.rows if row.shape.writes == (direction is Direction.WRITE))
        return asked.low >= self.least_requests

    def _finding(self, side: KeySide, top: KeyHeat, traffic: Traffic) -> Finding:
        multiple = 1 / top.heat.value if top.heat.value else None
        growth = _growth(traffic, side.direction)
        is_near = _heat_at_least(top) >= self.medium_heat or (growth is not None and growth * top.heat.value >= 1)
        breaks = "unknown" if multiple is None else f"{number(multiple)} times today's traffic"
        attribute = attribute_of(top.key)
        values = "1 value" if side.distinct == 1 else f"about {side.distinct} values"
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM if is_near else Severity.LOW,
            f"{attribute} of {traffic.target} has {values} in use, and {{key}} takes {percent(top.share.value)} of its"
            f" {side.direction} units: it breaks at {breaks}",
            confidence=Confidence.LIKELY if traffic.sampled else Confidence.CERTAIN,
            subject=side.direction.value,
            key=top.key,
            key_template=top.key_template,
            caller=busiest_caller(traffic.rows, side.direction),
            direction=side.direction,
            evidence={
                "distinct_values": side.distinct,
                **evidence_of(share=top.share, heat=top.heat),
                "breaks_at_times": None if multiple is None else round(multiple, 1),
                "yearly_growth": None if growth is None else round(growth, 2),
            },
            advice=(
                ask_owner(
                    busiest_caller(traffic.rows, side.direction),
                    "how many values and how much traffic it will have in a year",
                    "tells whether it will ever reach its ceiling",
                ),
                *_advice(attribute, traffic),
            ),
        )


def _top(traffic: Traffic, direction: Direction) -> KeyHeat | None:
    keys = [key for key in traffic.keys if key.direction is direction and key.level is KeyLevel.PARTITION]
    return max(keys, key=lambda key: key.units.value, default=None)


def _heat_at_least(key: KeyHeat) -> float:
    """Return a key's heat at least: in its hottest slice, or of a sample over all slices in which it was asked for."""
    if key.kept >= 1 or not key.series:
        return key.heat.low
    return max(key.heat.low, least_rate(key, key.series) / ceiling_of(key.direction))


def _is_refused(traffic: Traffic, direction: Direction) -> bool:
    """Whether a key of the target is at its ceiling already."""
    told = [(one.cause, one.direction) for one in traffic.throttles]
    told += [(one.cause, one.direction) for one in traffic.metric_throttles]
    return ("key-range", direction) in told


def _growth(traffic: Traffic, direction: Direction) -> float | None:
    return yearly_growth(series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits"))


def _advice(attribute: str, traffic: Traffic) -> Iterator[Advice]:
    if traffic.target.index is not None:
        yield advise(
            "make-index-sparse",
            f"Keep {attribute} only on the items that are looked for, and remove it when they are done",
            effect="the index holds, and its key serves, only those",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'UpdateExpression="REMOVE {attribute}"',
        )
    yield advise(
        "change-key",
        f"Give {attribute} more values: add what queries know already, or a suffix of 0 to N that they read in turn",
        effect="traffic spreads over partitions",
        risk=Risk.HIGH,
        reversible=traffic.target.index is not None,
        takes="an index build" if traffic.target.index is not None else "a migration",
        snippet=f'{attribute} = f"{{status}}#{{crc32(item_id) % N}}"',
    )
