"""GetInsightRuleReport, as its answer stands on the wire or in a recording, becomes series of keys. Pure.

Shapes: botocore's models cloudwatch/2010-08-01 and dynamodb/2012-08-10. What the rules mean: Developer Guide,
"Contributor Insights: how it works", read 2026-11-30. Of a report's own metrics only MaxContributorValue and Maximum
mean something on DynamoDB's rules; what a key took is its datapoints' ApproximateValue.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.knowledge.limits import READ_UNITS_A_PARTITION
from analyzer.model.batch import InsightSeries
from analyzer.model.instant import Moment, to_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.model.instant import Instant
    from analyzer.model.target import Target

__all__ = [
    "ACCESSED",
    "MODES",
    "MOST_CONTRIBUTORS",
    "RULES",
    "THROTTLED",
    "InsightReport",
    "InsightRules",
    "parse_insights",
    "parse_report",
    "read_report",
    "read_rules",
    "series_of",
    "unlisted_minutes",
]

MOST_CONTRIBUTORS = 25
"""DynamoDB's own rules refuse to rank more (Developer Guide, same page)."""
ACCESSED, THROTTLED = ("PKC", "SKC"), ("PKT", "SKT")
RULES = (*ACCESSED, *THROTTLED)
"""Partition keys and items (partition and sort key), by use (units) and by throttles."""
MODES = ("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS")
_ROUNDING = 0.01
"""What a report lists and its own maximum are approximations: a hundredth is no difference."""

_RULE = re.compile(r"DynamoDBContributorInsights-(PKC|SKC|PKT|SKT)-.+")
"""What a rule ranks stands at a fixed place; which table it is of is never read from its name, but asked."""
_NOTABLE = 0.5
"""Share of a partition's ceiling from which on a key is worth a question of its own."""


class Datapoint(Struct, rename="pascal"):
    """One value of a contributor."""

    timestamp: Moment
    approximate_value: float = 0.0


class Contributor(Struct, rename="pascal"):
    """One key of a report."""

    keys: list[str]
    datapoints: list[Datapoint] = []


class Top(Struct, rename="pascal"):
    """The greatest value that any contributor had in a period, listed or not."""

    timestamp: Moment
    max_contributor_value: float | None = None


class InsightReport(Struct, rename="pascal"):
    """The response of GetInsightRuleReport."""

    contributors: list[Contributor] = []
    key_labels: list[str] = []
    metric_datapoints: list[Top] = []


class _Failure(Struct, rename="pascal"):
    exception_name: str = ""
    exception_description: str = ""


class _Insights(Struct, rename="pascal"):
    contributor_insights_status: str
    contributor_insights_rule_list: list[str] = []
    contributor_insights_mode: str | None = None
    failure_exception: _Failure | None = None


class InsightRules(Struct, frozen=True):
    """What DescribeContributorInsights says: `rules` maps what a rule ranks to its name; others are `unknown`.

    `mode` is ACCESSED_AND_THROTTLED_KEYS where AWS does not say, as it was before there were modes. `failure` is why a
    FAILED one failed, as AWS puts it: name of the exception and description.
    """

    status: str
    mode: str
    rules: dict[str, str]
    unknown: tuple[str, ...] = ()
    failure: tuple[str, str] | None = None


def read_report(answer: dict[str, Any]) -> InsightReport:
    """Read an answer of GetInsightRuleReport; raises ValueError where it is none."""
    return msgspec.convert(answer, InsightReport)


def parse_insights(answer: dict[str, Any]) -> InsightRules:
    """Read an answer of DescribeContributorInsights; raises ValueError where it is none."""
    told = msgspec.convert(answer, _Insights)
    rules, unknown = read_rules(told.contributor_insights_rule_list)
    failure = told.failure_exception
    return InsightRules(
        status=told.contributor_insights_status,
        mode=told.contributor_insights_mode or MODES[0],
        rules=rules,
        unknown=unknown,
        failure=None if failure is None else (failure.exception_name, failure.exception_description),
    )


def read_rules(names: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the names by what they rank, and those that say nothing of it."""
    rules: dict[str, str] = {}
    unknown: list[str] = []
    for name in names:
        found = _RULE.fullmatch(name)
        if found is None:
            unknown.append(name)
        else:
            rules[found.group(1)] = name
    return rules, tuple(unknown)


def parse_report(
    reports: Iterable[InsightReport],
    of: InsightSeries,
    conceal: Callable[[str, str], str] = lambda _, value: value,
) -> tuple[InsightSeries, ...]:
    """Return a series for each key of the reports of one rule; where they hold none, one series without keys.

    `of` says target, rule, mode and period. `conceal` makes of an attribute and its clear value what may be kept. A key
    that stands in several reports is one series; of one period the last value counts. Values that are no numbers are
    left out.
    """
    values: dict[tuple[str, ...], dict[Instant, float]] = {}
    labels: tuple[str, ...] = ()
    for report in reports:
        labels = tuple(report.key_labels) or labels
        for contributor in report.contributors:
            named = _labeled(contributor.keys, labels)
            keys = tuple(conceal(label, value) for label, value in named)
            points = values.setdefault(keys, {})
            for point in contributor.datapoints:
                if math.isfinite(point.approximate_value) and point.approximate_value >= 0:
                    points[to_instant(point.timestamp)] = point.approximate_value
    of = msgspec.structs.replace(of, labels=labels)
    if not values:
        return (of,)
    return tuple(
        msgspec.structs.replace(
            of, keys=keys, timestamps=tuple(sorted(points)), values=tuple(points[time] for time in sorted(points))
        )
        for keys, points in values.items()
    )


def _labeled(keys: list[str], labels: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return each part of a key with its label; the order follows the labels, which may be fewer."""
    return [(labels[place] if place < len(labels) else "", key) for place, key in enumerate(keys)]


def unlisted_minutes(report: InsightReport, period_seconds: int) -> tuple[Instant, ...]:
    """Return the periods in which a key that is not listed took much of a partition, the greatest first.

    The list ranks by the whole stretch: who is hot for one minute of ten may not be in it.
    """
    listed: dict[Instant, float] = {}
    for point in (point for contributor in report.contributors for point in contributor.datapoints):
        time = to_instant(point.timestamp)
        listed[time] = max(listed.get(time, 0.0), point.approximate_value)
    notable = _NOTABLE * READ_UNITS_A_PARTITION * period_seconds
    missed = {
        to_instant(top.timestamp): top.max_contributor_value
        for top in report.metric_datapoints
        if top.max_contributor_value is not None
        and top.max_contributor_value >= max(notable, listed.get(to_instant(top.timestamp), 0.0) * (1 + _ROUNDING))
    }
    return tuple(sorted(missed, key=lambda time: (-missed[time], time)))


def series_of(target: Target, rule: str, mode: str, period_seconds: int) -> InsightSeries:
    """Return a series without keys."""
    return InsightSeries(target, rule, mode, period_seconds, (), (), ())
