"""How a key that Contributor Insights convicts is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.insight_verdict import bounds, direction_of
from analyzer.detectors.key_advice import advice_for
from analyzer.detectors.key_facts import FEW_ITEMS, KeyFacts, is_added_to, spread, steady_name, subject_of
from analyzer.detectors.key_words import facts_evidence, self_heals
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, percent
from analyzer.knowledge.limits import WRITE_UNITS_A_PARTITION
from analyzer.knowledge.operations import WRITES
from analyzer.knowledge.shards import shards_needed
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Confidence, Direction, Finding
from analyzer.model.sight import SourceName
from analyzer.traffic.rolling import SortOrder, sort_order
from analyzer.traffic.series import series_of, total

if TYPE_CHECKING:
    from analyzer.detectors.insight_verdict import InsightVerdict
    from analyzer.model.traffic import InsightKey, Traffic

__all__ = ["insight_finding"]


def insight_finding(detector: str, verdict: InsightVerdict, traffic: Traffic) -> Finding:
    """State the finding; `because` says where reads and writes could not be told apart."""
    key = verdict.key
    direction = direction_of(traffic)
    facts = _facts(verdict, direction, traffic)
    heals = self_heals(facts, key.name.level, has_lsi=traffic.place.has_lsi)
    return finding(
        detector,
        traffic,
        verdict.severity,
        _summary(verdict, traffic, direction),
        confidence=Confidence.CERTAIN if verdict.is_proved else Confidence.LIKELY,
        because=verdict.why,
        caveat=None if verdict.is_proved else _caveat(verdict),
        sources=(SourceName.CONTRIBUTOR_INSIGHTS.value,),
        subject=subject_of(key.name, direction, traffic),
        key=key.key,
        key_template=key.key_template,
        cause=facts.shape,
        direction=direction,
        evidence=_evidence(verdict, facts),
        self_heals=heals,
        advice=advice_for(facts, may_split=heals.answer == "unknown" and bool(verdict.throttles)),
    )


def _caveat(verdict: InsightVerdict) -> str:
    if verdict.key.is_throttles:
        return "Contributor Insights counts its refusals alone, not its use"
    return "Contributor Insights counts reads and writes together, and nothing bounds how they mix"


def _facts(verdict: InsightVerdict, direction: Direction | None, traffic: Traffic) -> KeyFacts:
    """Say what kind of heat it is, by the rules of Contributor Insights and by what else is seen of the target."""
    key = verdict.key
    place = traffic.place
    is_single = key.name.level is KeyLevel.ITEM or (
        traffic.target.index is None and bool(place.partition_key) and not place.sort_key
    )
    order = None if is_single or direction is not Direction.WRITE else sort_order(traffic, key.name.partition)
    units = _asked_units(key, traffic) if direction is Direction.WRITE else None
    return KeyFacts(
        shape=_shape(verdict, order, traffic, is_single=is_single),
        direction=direction,
        attribute=next(iter(key.key), "the partition key"),
        caller=None,
        is_index=traffic.target.index is not None,
        is_strong=any(row.shape.consistent for row in traffic.rows),
        is_single=is_single,
        order=order,
        effective_items=_effective(verdict),
        shards=None if units is None else shards_needed(units, units),
    )


def _asked_units(key: InsightKey, traffic: Traffic) -> float | None:
    """Return the write units a second that a key was asked for in its worst minute: those served, at most, and refused.

    A refused try consumes nothing; it would cost what a served write of the table costs, one unit at least.
    """
    refused = {
        minute.start: minute.value * _units_a_write(traffic) / other.period_seconds
        for other in traffic.insights
        if other.is_throttles and other.name == key.name
        for minute in other.minutes
    }
    asked = [
        WRITE_UNITS_A_PARTITION * minute.high + refused.get(minute.start, 0.0)
        for minute in key.minutes
        if minute.high is not None
    ]
    return max(asked, default=None)


def _units_a_write(traffic: Traffic) -> float:
    """Return what a served write of the target cost on average; 1 where metrics do not tell."""
    units = total(series_of(traffic.metrics, "ConsumedWriteCapacityUnits"), traffic.window)
    served = [
        total(series_of(traffic.metrics, "SuccessfulRequestLatency", "SampleCount", Operation=name), traffic.window)
        for name in sorted(WRITES)
    ]
    count = sum(one or 0.0 for one in served)
    return max(units / count, 1.0) if units and count else 1.0


def _shape(verdict: InsightVerdict, order: SortOrder | None, traffic: Traffic, *, is_single: bool) -> str:
    added = [row for row in traffic.rows if is_added_to(row)]
    is_counted = sum(row.requests.value for row in added) * 2 > sum(row.requests.value for row in traffic.rows)
    is_few = is_single or 0 < len(verdict.items) <= FEW_ITEMS
    texts = "".join(map(str, verdict.key.key_template.values()))
    told = (
        ("time-bucket", steady_name(verdict.key.name, traffic) is not None),
        ("counter", is_few and is_counted),
        ("single-item", is_single),
        ("constant", "<" not in texts or _is_alone(verdict, traffic)),
        ("sequential", order is not None and order.is_rolling),
    )
    return next((shape for shape, holds in told if holds), "tenant")


def _is_alone(verdict: InsightVerdict, traffic: Traffic) -> bool:
    """Whether its rule lists no other key."""
    return sum(1 for key in traffic.insights if key.rule == verdict.key.rule) == 1


def _effective(verdict: InsightVerdict) -> float | None:
    """Return over how many items the key's heat spreads at least."""
    return spread(map(_all_of, verdict.items), _all_of(verdict.key))


def _all_of(key: InsightKey) -> float:
    return sum(minute.value for minute in key.minutes)


def _hottest(key: InsightKey) -> tuple[float, float] | None:
    """Return the bounds of the heat of the hottest minute; None for a key of which refusals alone are known."""
    return max(bounds(key), key=lambda heat: heat[1], default=None)


def _summary(verdict: InsightVerdict, traffic: Traffic, direction: Direction | None) -> str:
    heat = _hottest(verdict.key)
    events = counted(verdict.throttles, "throttle event") if verdict.throttles else ""
    if heat is None:
        share = percent(verdict.key.share)
        return f"{{key}} on {traffic.target} was refused with {events}, {share} of all: {verdict.why}"
    low, high = heat
    of_what = "its ceiling" if direction is None else f"its {direction} ceiling"
    most = percent(high) if low == high else f"{percent(low)} to {percent(high)}"
    refused = f", {events}" if events else ""
    return f"{{key}} on {traffic.target} takes {most} of {of_what} in its hottest minute{refused}: {verdict.why}"


def _evidence(verdict: InsightVerdict, facts: KeyFacts) -> dict[str, float | str | None]:
    return {
        **_heat_evidence(_hottest(verdict.key), is_proved=verdict.is_proved),
        "share_of_listed": round(verdict.key.share, 3),
        "throttle_events": verdict.throttles,
        "throttled_share": None if verdict.throttled_share is None else round(verdict.throttled_share, 3),
        "items_listed": len(verdict.items) or None,
        "rule": verdict.key.rule,
        **facts_evidence(facts),
    }


def _heat_evidence(heat: tuple[float, float] | None, *, is_proved: bool) -> dict[str, float | str | None]:
    """Write the heat that convicts: the middle of its bounds where something bounds the mixture, else u itself."""
    if heat is None:
        return dict.fromkeys(("heat", "heat_low", "heat_high"))
    low, high = heat
    told = (low + high) / 2 if is_proved else high
    return {"heat": round(told, 3), "heat_low": round(low, 3), "heat_high": round(high, 3)}
