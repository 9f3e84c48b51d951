"""How a key that Contributor Insights convicts is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise
from analyzer.detectors.insight_verdict import direction_of
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals
from analyzer.model.sight import SourceName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.detectors.insight_verdict import InsightVerdict
    from analyzer.model.traffic import InsightKey, Traffic

__all__ = ["insight_finding"]

_FEW_ITEMS = 4
"""So few items under a partition key leave nothing to spread heat over."""


def insight_finding(detector: str, verdict: InsightVerdict, traffic: Traffic) -> Finding:
    """State the finding; `because` says where reads and writes could not be told apart."""
    key = verdict.key
    direction = direction_of(traffic)
    shape = _shape(verdict, traffic)
    return finding(
        detector,
        traffic,
        verdict.severity,
        _summary(verdict, traffic, direction),
        confidence=Confidence.CERTAIN if verdict.is_proved else Confidence.LIKELY,
        because=None if verdict.is_proved else _because(verdict),
        sources=(SourceName.CONTRIBUTOR_INSIGHTS.value,),
        subject="\x1f".join((key.name.level.name, key.name.partition, key.name.sort or "")),
        key=key.key,
        key_template=key.key_template,
        cause=shape,
        direction=direction,
        evidence=_evidence(verdict, shape),
        self_heals=_self_heals(verdict, traffic),
        advice=tuple(_advice(verdict, direction)),
    )


def _because(verdict: InsightVerdict) -> str:
    if verdict.key.is_throttles:
        return "Contributor Insights counts its refusals alone, not its use"
    return "Contributor Insights counts reads and writes together, and nothing bounds how they mix"


def _shape(verdict: InsightVerdict, traffic: Traffic) -> str:
    updates = [row for row in traffic.rows if row.shape.update and "ADD " in row.shape.update]
    is_counted = bool(updates) and sum(row.requests.value for row in updates) * 2 > sum(
        row.requests.value for row in traffic.rows
    )
    is_item = verdict.key.name.level is KeyLevel.ITEM or not traffic.place.sort_key
    if is_counted and (is_item or 0 < len(verdict.items) <= _FEW_ITEMS):
        return "counter"
    if is_item:
        return "single-item"
    return "constant" if "<" not in "".join(map(str, verdict.key.key_template.values())) else "collection"


def _hottest(key: InsightKey) -> tuple[float, float] | None:
    """Return the bounds of the heat of the hottest minute; None for a key of which refusals alone are known."""
    known = [(minute.low, minute.high) for minute in key.minutes if minute.low is not None and minute.high is not None]
    return max(known, key=lambda bounds: bounds[1], default=None)


def _summary(verdict: InsightVerdict, traffic: Traffic, direction: Direction | None) -> str:
    heat = _hottest(verdict.key)
    refused = f", {number(verdict.throttles)} throttle events" if verdict.throttles else ""
    if heat is None:
        share = percent(verdict.throttled_share or 0)
        return (
            f"{{key}} on {traffic.target} was refused{refused.replace(',', ' with', 1)}, {share} of all: {verdict.why}"
        )
    low, high = heat
    of_what = "its ceiling" if direction is None else f"its {direction} ceiling"
    bounds = percent(high) if low == high else f"{percent(low)} to {percent(high)}"
    return f"{{key}} on {traffic.target} takes {bounds} of {of_what} in its hottest minute{refused}: {verdict.why}"


def _evidence(verdict: InsightVerdict, shape: str) -> dict[str, float | str | None]:
    heat = _hottest(verdict.key)
    low, high = (None, None) if heat is None else heat
    return {
        "heat": None if low is None or high is None else round(high if not verdict.is_proved else (low + high) / 2, 3),
        "heat_low": None if low is None else round(low, 3),
        "heat_high": None if high is None else round(high, 3),
        "share_of_listed": round(verdict.key.share, 3),
        "throttle_events": verdict.throttles,
        "throttled_share": None if verdict.throttled_share is None else round(verdict.throttled_share, 3),
        "items_listed": len(verdict.items) or None,
        "rule": verdict.key.rule,
        "shape": shape,
    }


def _self_heals(verdict: InsightVerdict, traffic: Traffic) -> SelfHeals:
    if verdict.key.name.level is KeyLevel.ITEM or (traffic.place.partition_key and not traffic.place.sort_key):
        return SelfHeals("no", "it is a single item: DynamoDB cannot split it")
    if traffic.place.has_lsi:
        return SelfHeals("no", "the table has a local secondary index: an item collection stays on one partition")
    if len(verdict.items) > 1:
        return SelfHeals("unknown", f"its heat spreads over {len(verdict.items)} items or more: DynamoDB may split it")
    return SelfHeals("unknown", "which of its items are hot is not visible")


def _advice(verdict: InsightVerdict, direction: Direction | None) -> Iterator[Advice]:
    yield advise(
        "fix-caller",
        "Find who asks for {key}: the request log of the sampler names callers, Contributor Insights does not",
        effect="the heat ends with the traffic",
        takes="minutes",
    )
    if direction is not Direction.WRITE:
        yield advise(
            "cache-item",
            "Cache the item in the caller or in DAX for a second or more",
            effect="one read a second and process instead of each request",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
    if direction is not Direction.READ:
        attribute = next(iter(verdict.key.key), "the partition key")
        yield advise(
            "shard-key",
            f"Add a suffix to {attribute} and write to one of N; read all N and merge",
            effect="each suffix is a partition key of its own, with 1,000 write units a second",
            risk=Risk.HIGH,
            reversible=False,
            takes="a migration",
            snippet=f'{attribute} = f"{{value}}#{{random.randrange(N)}}"',
        )
