"""What Contributor Insights cannot show of a table, told as gaps. Pure; for what was polled and for recordings alike.

Source: Developer Guide, "Contributor Insights: how it works", read 2026-11-30.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.operations import STATEMENTS
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.contributor_insights.parse import MODES, THROTTLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.model.batch import InsightSeries, MetricSeries
    from analyzer.model.target import Target
    from collectors.contributor_insights.parse import InsightRules

__all__ = ["Enabled", "blind_spots", "rule_gaps"]

_INDEX_WRITES = ("WriteThrottleEvents", "WriteProvisionedThroughputThrottleEvents", "WriteAccountLimitThrottleEvents")
_SOURCE = SourceName.CONTRIBUTOR_INSIGHTS


class Enabled(NamedTuple):
    """A table or index with its rules."""

    target: Target
    insights: InsightRules


def blind_spots(insights: Sequence[InsightSeries], metrics: Sequence[MetricSeries] = ()) -> tuple[Gap, ...]:
    """Return what the reports cannot show, by their modes, and by what CloudWatch's metrics show beside them."""
    targets = dict.fromkeys(series.target for series in insights)
    return tuple(
        gap
        for target in targets
        for gap in _of_target(target, [one for one in insights if one.target == target], metrics)
    )


def _of_target(target: Target, insights: list[InsightSeries], metrics: Sequence[MetricSeries]) -> Iterator[Gap]:
    if any(series.mode == MODES[1] for series in insights):
        detail = f"DescribeContributorInsights: in mode {MODES[1]} the most accessed keys are not ranked"
        hint = f"switch for a while: dynascope insights watch {target.table}{_index(target)} --for 30m"
        yield Gap(_SOURCE, GapReason.NOT_ENABLED, detail, hint, target.table, target.index)
    if target.index is not None:
        return
    own = [series for series in metrics if series.dimensions.get("TableName") == target.table]
    statements = sorted({o for s in own if (o := s.dimensions.get("Operation")) in STATEMENTS and _has_values(s)})
    if statements:
        detail = f"Contributor Insights does not count PartiQL, and there is some: {', '.join(map(str, statements))}"
        hint = "take keys of these requests from a request log"
        yield Gap(_SOURCE, GapReason.UNSUPPORTED, detail, hint, target.table)
    throttled = [series for series in insights if series.rule in THROTTLED]
    indexes = sorted(set(_throttled_indexes(own)))
    if throttled and not any(series.values for series in throttled) and indexes:
        detail = (
            f"PKT: writes of {target.table} refused for want of capacity in {', '.join(indexes)} are not counted, "
            "so its being empty clears no key"
        )
        hint = "look at the index's own rules, and at its capacity"
        yield Gap(_SOURCE, GapReason.UNSUPPORTED, detail, hint, target.table)


def _index(target: Target) -> str:
    return "" if target.index is None else f" --index {target.index}"


def _throttled_indexes(metrics: Iterable[MetricSeries]) -> Iterator[str]:
    for series in metrics:
        index = series.dimensions.get("GlobalSecondaryIndexName")
        if index is not None and series.metric in _INDEX_WRITES and _has_values(series):
            yield index


def _has_values(series: MetricSeries) -> bool:
    return any(value > 0 for value in series.values)


def rule_gaps(enabled: Iterable[Enabled]) -> list[Gap]:
    """Return what is enabled, and yet not to be read."""
    return [gap for target, insights in enabled for gap in _of_rules(target, insights)]


def _of_rules(target: Target, insights: InsightRules) -> Iterator[Gap]:
    place = (target.table, target.index)
    if insights.status == "ENABLING":
        detail = "DescribeContributorInsights: ENABLING, its rules are being made"
        yield Gap(_SOURCE, GapReason.LATE, detail, "wait a few minutes", *place)
    elif insights.status == "FAILED":
        name, text = insights.failure or ("FAILED", "")
        reason = GapReason.DENIED if name.startswith("AccessDenied") else GapReason.NOT_ENABLED
        detail = f"DescribeContributorInsights: FAILED, {name}: {text}".rstrip(": ")
        yield Gap(_SOURCE, reason, detail, _FAILED_HINTS.get(name, "switch it off and on again"), *place)
    for rule in insights.unknown:
        detail = f"DescribeContributorInsights: what the rule {rule} ranks is not known"
        yield Gap(_SOURCE, GapReason.UNSUPPORTED, detail, "use a newer version", *place)


_FAILED_HINTS = {
    "LimitExceededException": "the account has as many rules as it may have: ask for more, or switch others off",
    "AccessDeniedException": "whoever enables it needs iam:CreateServiceLinkedRole",
}
