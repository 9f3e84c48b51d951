"""How a hot key is told: its summary, its evidence, and whether it heals alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import between, counted, number, percent, who
from analyzer.knowledge.throttling import arn_of
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction, SelfHeals, Severity
from analyzer.traffic.heat import ceiling_of
from analyzer.traffic.measure import direction_units, evidence_where, tells_units

if TYPE_CHECKING:
    from analyzer.detectors.key_facts import KeyFacts
    from analyzer.model.traffic import KeyHeat, Traffic

__all__ = ["evidence_for", "facts_evidence", "self_heals", "summary_of"]

_MORE = 1.02
"""Demand ÷ use from which it is another number to a reader."""
_SPREADS = 8.0
"""Over so many items heat lies that a split takes part of it away; over fewer it may not."""


def summary_of(key: KeyHeat, severity: Severity, why: str, caller: str | None, traffic: Traffic) -> str:
    """Say in one sentence what convicts the key."""
    units = key.direction.value
    if severity is Severity.LOW:
        breaks = f": it breaks at {number(1 / key.heat.high)} times today's traffic" if key.heat.high else ""
        return (
            f"{{key}} takes {percent(key.share.value)} of the {units} units of {traffic.target} at"
            f" {percent(key.heat.value)} of its ceiling{breaks}"
        )
    if not key.admitted.high:
        refused = f"{counted(key.tries, f'{units} try', f'{units} tries')} refused, mostly of {who(caller)}"
        return f"{{key}} on {traffic.target} had {refused}: {why}"
    refused = f", {counted(key.tries, 'try', 'tries')} refused" if key.tries else ""
    a_second = _a_second(key)
    peak = key.peak_second
    most = f" (up to {number(peak)} in one)" if peak is not None and peak > a_second.high else ""
    return (
        f"{{key}} on {traffic.target} takes {between(a_second)} of {ceiling_of(key.direction):,} {units} units"
        f" a second{most}{_asked(key)}{refused}, mostly from {who(caller)}: {why}"
    )


def _asked(key: KeyHeat) -> str:
    """Say what is asked for where that is over the ceiling: what is served stands just under it then."""
    if not key.tries or key.heat.value < max(1.0, _MORE * key.admitted.value):
        return ""
    times = number(round(key.heat.value, 2))
    return f", demand {number(round(key.heat.value * ceiling_of(key.direction)))} ({times} ×)"


def _a_second(key: KeyHeat) -> Estimate:
    ceiling = ceiling_of(key.direction)
    return Estimate(*(part * ceiling for part in key.admitted))


def evidence_for(key: KeyHeat, facts: KeyFacts, traffic: Traffic) -> dict[str, float | str | None]:
    """Return the numbers that convict, DynamoDB's own words, and what follows from the key's shape."""
    reasons = [
        reason
        for throttles in traffic.throttles
        if throttles.direction is key.direction and key.tries
        for reason in throttles.reasons
    ]
    has_units = tells_units(traffic)
    served = direction_units(traffic, key.direction) / traffic.window.rate_seconds
    return {
        **evidence_where(has_units and key.admitted.high > 0, heat=key.heat),
        **evidence_where(has_units, admitted=key.admitted, share=key.share, units_a_second=_a_second(key)),
        "ceiling_units_a_second": ceiling_of(key.direction),
        "table_units_a_second": round(served, 3) if has_units else None,
        "throttled_tries": key.tries,
        "throttled_share": round(key.tries_share, 3),
        "reason": ", ".join(dict.fromkeys(reasons)) or None,
        "resource": arn_of(traffic.target) if reasons else None,
        "peak_second_units": key.peak_second,
        "seconds_at_ceiling": key.seconds_over,
        **facts_evidence(facts),
    }


def facts_evidence(facts: KeyFacts) -> dict[str, float | str | None]:
    """Return what is known of a key's shape; what is not known is left out."""
    found: dict[str, float | str | None] = {"shape": facts.shape}
    if facts.burst_factor is not None:
        found["burst_factor"] = round(facts.burst_factor, 2)
    if facts.effective_items is not None:
        found["effective_items"] = round(facts.effective_items, 1)
    if facts.order is not None:
        found["sort_key_tau"] = round(facts.order.tau, 3)
    if facts.shards is not None and facts.shards.count > 1:
        found["write_shards"] = facts.shards.count
        found["shard_imbalance"] = round(facts.shards.imbalance, 2)
        found["hottest_shard_units_a_second"] = round(facts.shards.hottest_units, 1)
        if facts.reads_a_second is not None and facts.added_read_units is not None:
            found["reads_a_second"] = round(facts.reads_a_second, 3)
            found["added_read_units_a_second"] = round(facts.added_read_units, 3)
    return found


def self_heals(facts: KeyFacts, level: KeyLevel, *, has_lsi: bool | None) -> SelfHeals:
    """Say whether DynamoDB will split the partition, and why not.

    It splits where heat spreads over items, within minutes; never within one item, within an item collection of a
    table with a local secondary index, nor at a sort key that only moves on (AWS Database Blog, "Scaling DynamoDB",
    parts 1 to 3, as quoted; read 2026-11-30).
    """
    never = _never_splits(facts, level, has_lsi=has_lsi)
    if never is not None:
        return SelfHeals("no", never)
    if facts.effective_items is not None and facts.effective_items < _SPREADS:
        items = number(round(facts.effective_items, 1))
        return SelfHeals("unknown", f"its heat lies on about {items} items: a split may help little")
    if level is KeyLevel.PREFIX:
        return SelfHeals("unknown", "its keys are partition keys of their own: DynamoDB may split within minutes")
    return SelfHeals("unknown", "its heat spreads over several items: DynamoDB may split the partition within minutes")


def _never_splits(facts: KeyFacts, level: KeyLevel, *, has_lsi: bool | None) -> str | None:
    """Say why DynamoDB never splits this; None where it may."""
    if facts.is_single:
        return "it is a single item: DynamoDB cannot split it"
    if facts.shape == "time-bucket" and facts.direction is Direction.WRITE:
        return "the next period brings a new key, which is as hot: no split lasts"
    if has_lsi and not facts.is_index and level is not KeyLevel.PREFIX:
        return "the table has a local secondary index: an item collection stays on one partition"
    if facts.order is not None and facts.order.is_rolling:
        return f"its sort key moves on with time (Kendall's tau {facts.order.tau:.2f}): all writes stay at one edge"
    return None
