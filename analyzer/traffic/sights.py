"""What can be seen of a target, and how to see what cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.batch import InsightSeries, MetricSeries
from analyzer.model.calls import CallBook
from analyzer.model.instant import DAY_SECONDS
from analyzer.model.sight import Sight, SightState, SourceName
from analyzer.model.table import ScalingLimits
from analyzer.model.target import Target
from analyzer.model.traffic import PatternTraffic, Place
from analyzer.model.window import Window

if TYPE_CHECKING:
    from analyzer.model.observations import Observations

__all__ = ["HINTS", "Evidence", "sight_states", "sights_of"]

_FORTNIGHT_SECONDS = 14 * DAY_SECONDS

HINTS: dict[Sight, str] = {
    Sight.REQUESTS: "add a request log: the sampler, or one of the collectors",
    Sight.REQUEST_KEYS: "let the request log carry keys as tokens (`keys: token` in the sampler)",
    Sight.REQUEST_COUNTS: "log Count and ScannedCount (the sampler does)",
    Sight.REQUEST_UNITS: "ask for ReturnConsumedCapacity=INDEXES (`capacity=True` in the sampler)",
    Sight.REQUEST_FILTERS: "log the filter expression (the sampler does)",
    Sight.REQUEST_SEQUENCES: "log every request, or sample by trace or key (`trace_rate`, `key_rate` in the sampler)",
    Sight.CONTRACT: "declare the table's access patterns in a contract",
    Sight.TABLE: "allow dynamodb:DescribeTable",
    Sight.METRICS: "allow cloudwatch:GetMetricData",
    Sight.INSIGHTS_ACCESSED: "enable Contributor Insights in its mode ACCESSED_AND_THROTTLED_KEYS",
    Sight.INSIGHTS_THROTTLED: "enable Contributor Insights; its mode THROTTLED_KEYS costs little",
    Sight.CHANGES: "allow cloudtrail:LookupEvents",
}
"""How to get each capability that does not come of itself."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What there is of one target, before anything is made of it."""

    target: Target
    rows: list[PatternTraffic]
    place: Place
    metrics: tuple[MetricSeries, ...] = ()
    insights: list[InsightSeries] = []
    scaling: tuple[ScalingLimits, ...] = ()
    has_keys: bool = False
    described: bool = False
    span: Window | None = None
    calls: CallBook | None = None
    has_probes: bool = False
    has_changes: bool = False


def sights_of(evidence: Evidence, observations: Observations) -> frozenset[Sight]:
    """Return what is seen of a target in a window; where nothing was asked of it, nothing was hidden either."""
    seen = _told(evidence, observations)
    if SourceName.REQUEST_LOG in observations.sources:
        seen |= _logged(evidence.rows, has_keys=evidence.has_keys)
        was_asked = any(not row.secondary for row in evidence.rows)
        seen |= _followed(evidence.calls, evidence.target, was_asked=was_asked)
    if _covered_seconds(evidence, observations) >= _FORTNIGHT_SECONDS:
        seen.add(Sight.SPAN_14D)
    return frozenset(seen)


def _logged(rows: list[PatternTraffic], *, has_keys: bool) -> set[Sight]:
    """Return what the request log shows."""
    seen = {Sight.REQUESTS}
    queries = [row for row in rows if row.shape.operation == "Query" and row.shape.parsed]
    if has_keys or not rows:
        seen.add(Sight.REQUEST_KEYS)
    if (any(row.shape.parsed for row in rows) and _tells_expressions(queries)) or not rows:
        seen.add(Sight.REQUEST_FILTERS)
    if all(_tells_counts(rows, operation) for operation in ("Query", "Scan")):
        seen.add(Sight.REQUEST_COUNTS)
    if any(row.units_known or row.secondary for row in rows) or not rows:
        seen.add(Sight.REQUEST_UNITS)
    return seen


def _tells_expressions(queries: list[PatternTraffic]) -> bool:
    """Whether any query shows its key condition, which it must have had: a source without it has no filters either."""
    return not queries or any(row.shape.key or row.shape.filter for row in queries)


def _tells_counts(rows: list[PatternTraffic], operation: str) -> bool:
    """Whether any answered call of an operation has counts: some sources count Scans alone."""
    answered = [
        row
        for row in rows
        if row.shape.operation == operation and not row.secondary and row.failed.value < row.requests.value
    ]
    return not answered or any(row.counts_known for row in answered)


def _followed(calls: CallBook | None, target: Target, *, was_asked: bool) -> set[Sight]:
    """Return what the call book shows."""
    if calls is None:
        return set()
    seen = set()
    if calls.has_whole(target) or not was_asked:
        seen.add(Sight.REQUEST_SEQUENCES)
    if calls.has_returned(target):
        seen.add(Sight.RETURNED_KEYS)
    return seen


def _told(evidence: Evidence, observations: Observations) -> set[Sight]:
    """Return what contract, control plane and CloudWatch tell."""
    rules = {series.rule for series in evidence.insights}
    told = {
        Sight.CONTRACT: evidence.place.declared,
        Sight.TABLE: evidence.described,
        Sight.METRICS: bool(evidence.metrics),
        Sight.INSIGHTS_ACCESSED: bool(rules & {"PKC", "SKC"}),
        Sight.INSIGHTS_THROTTLED: bool(rules & {"PKT", "SKT"}),
        Sight.SCALING: bool(evidence.scaling),
        Sight.CANARY: evidence.has_probes,
        Sight.CHANGES: SourceName.CHANGES in observations.sources and evidence.has_changes,
    }
    return {sight for sight, is_seen in told.items() if is_seen}


def _covered_seconds(evidence: Evidence, observations: Observations) -> float:
    """Return how long a stretch is known, wherever that comes from: history, CloudWatch, or the window itself."""
    known = [0.0 if evidence.span is None else evidence.span.seconds]
    if SourceName.REQUEST_LOG in observations.sources or evidence.metrics:
        known.append(observations.window.seconds)
    known += [
        (series.timestamps[-1] - series.timestamps[0]) / 1000 + series.period_seconds
        for series in evidence.metrics
        if series.metric.startswith("Consumed") and series.timestamps
    ]
    return max(known)


def sight_states(target: Target, seen: frozenset[Sight]) -> list[SightState]:
    """Return the state of every capability that has a hint, for a report."""
    return [
        SightState(
            table=target.table,
            index=target.index,
            capability=sight,
            state="seen" if sight in seen else "not-seen",
            hint=None if sight in seen else hint,
            account=target.account,
            region=target.region,
        )
        for sight, hint in HINTS.items()
    ]
