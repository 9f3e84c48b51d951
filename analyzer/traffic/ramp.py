"""How steeply a target's demand rose: on demand, DynamoDB serves twice the earlier peak, or the warm throughput.

Beyond that it refuses for a key range, though no key is hot: it has no reason of its own for a ramp (Developer Guide,
"On-demand capacity mode", "Understanding DynamoDB warm throughput", read 2026-11-30).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.sight import Sight
from analyzer.traffic.series import points, series_of

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["UNKNOWN_RAMP", "Ramp", "ramp_of"]

_EVEN = 0.1
"""The share of the hottest key below which use counts as even: ten such keys fill no partition before the table."""
_ENOUGH = 100
"""Records without which the evenness of keys is chance."""
_DOUBLE = 2.0
_FRESH_MS = 3_600_000
"""How long after a restore or a rise of capacity partitions may still be splitting."""
_RAISED = frozenset({"capacity", "restore", "billing-mode", "import"})


class Ramp(Struct, frozen=True):
    """`ratio` is the window's peak ÷ warm throughput, else ÷ twice the earlier peak; None where neither is known.

    `is_uniform` is None where keys were not seen, neither in requests nor among those that are throttled.
    """

    ratio: float | None = None
    is_on_demand: bool = False
    is_uniform: bool | None = None
    is_fresh: bool = False

    @property
    def is_steep(self) -> bool:
        """Whether demand rose beyond what an on-demand target serves at once."""
        return self.is_on_demand and self.ratio is not None and self.ratio >= 1


UNKNOWN_RAMP = Ramp()


def ramp_of(traffic: Traffic, direction: Direction) -> Ramp:
    """Judge how demand came to where it is."""
    return Ramp(
        ratio=_ratio(traffic, direction),
        is_on_demand=traffic.place.capacity.billing_mode == "PAY_PER_REQUEST",
        is_uniform=_is_uniform(traffic, direction),
        is_fresh=any(
            change.what in _RAISED and traffic.window.start - _FRESH_MS <= change.time < traffic.window.end
            for change in traffic.changes
        ),
    )


def _ratio(traffic: Traffic, direction: Direction) -> float | None:
    series = series_of(traffic.metrics, f"Consumed{direction.value.capitalize()}CapacityUnits")
    peak = max((point.a_second for point in points(series, traffic.window)), default=None)
    if peak is None or series is None:
        return None
    warm = _warm(traffic, direction)
    if warm:
        return peak / warm
    length_ms = series.period_seconds * 1000
    pairs = zip(series.timestamps, series.values, strict=True)
    earlier = (value for start, value in pairs if start + length_ms <= traffic.window.start)
    before = max(earlier, default=0.0) / series.period_seconds
    return peak / (_DOUBLE * before) if before else None


def _warm(traffic: Traffic, direction: Direction) -> float | None:
    table = traffic.place.table
    if table is None:
        return None
    index = table.index(traffic.target.index)
    told = table.provisioning if traffic.target.index is None else index.provisioning if index is not None else None
    if told is None:
        return None
    return told.warm_read_units if direction is Direction.READ else told.warm_write_units


def _is_uniform(traffic: Traffic, direction: Direction) -> bool | None:
    is_seen = {Sight.REQUEST_KEYS, Sight.REQUEST_UNITS} <= traffic.sights
    if not is_seen or sum(row.observed for row in traffic.rows) < _ENOUGH:
        return _is_flat(traffic)
    shares = [key.share.high for key in traffic.keys if key.direction is direction and key.level is not KeyLevel.PREFIX]
    return max(shares, default=0.0) < _EVEN


def _is_flat(traffic: Traffic) -> bool | None:
    """Whether no key leads those that Contributor Insights ranks by throttles; None where it ranks too few of them."""
    ranked = [key for key in traffic.insights if key.rule == "PKT"]
    if sum(minute.value for key in ranked for minute in key.minutes) < _ENOUGH:
        return None
    return max(key.share for key in ranked) < _EVEN
