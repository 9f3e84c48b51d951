"""What each configured route costs, before it is switched on; whether money and AWS's rates are enough for it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.config_kinds import format_duration
from analyzer.doctor.examined import Group
from analyzer.knowledge.bill import affordable_every, insights_month, lists_month, metrics_month, trail_month
from analyzer.knowledge.prices import HOURS_A_MONTH, Cost
from analyzer.model.batch import Check
from collectors.aws.rates import rate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.doctor.places import Amount
    from analyzer.setup import Setup
    from collectors.aws.config import AwsConfig

__all__ = ["bill", "overdraft"]

_DAYS_A_MONTH = HOURS_A_MONTH / 24
_MUCH_TRAFFIC = 10_000
_LONGEST_SECONDS = 900
_DOUBLE = 2
"""A minute series is read twice as often as it is new: once for the minutes, once for those of five."""


class _Line:
    """One route: its check, and what it adds to the sum."""

    def __init__(self, name: str, cost: Cost, told: str, mend: str | None = None) -> None:
        self.name = name
        self.dollars = cost.dollars
        self.told = f"{told}: {_money(cost.dollars)}"
        self.mend = mend


def bill(setup: Setup, amounts: Sequence[Amount]) -> Group:
    """Tell the monthly bill of each configured route, all places together, and of what is not switched on yet."""
    lines = [*_of_sources(setup, amounts), *_of_logs(setup)]
    checks = [Check(line.name, "ok", line.told, line.mend) for line in lines]
    config = None if setup.collected is None else setup.collected.aws
    if config is not None:
        checks.append(_sum(setup, config, lines, amounts))
    return Group("what it costs, at list price", (*checks, *_routes_not_taken(setup, amounts), *_pace(setup, amounts)))


def overdraft(setup: Setup, amounts: Sequence[Amount]) -> Check | None:
    """Return what a day costs where that is more than it may, with the mend; None where it is not, or nothing stops."""
    config = None if setup.collected is None else setup.collected.aws
    if config is None or config.max_usd_per_day is None:
        return None
    told = _sum(setup, config, [*_of_sources(setup, amounts), *_of_logs(setup)], amounts)
    return told if told.state == "warning" else None


def _of_sources(setup: Setup, amounts: Sequence[Amount]) -> Iterator[_Line]:
    asked = setup.collected
    if asked is None:
        return
    if asked.catalog is not None:
        yield _Line("table-catalog", Cost(0, ""), "its calls are free")
    if asked.changes is not None:
        yield _Line("changes", Cost(0, ""), "its calls are free")
    if asked.metrics is not None:
        series, compared = _total(one.series for one in amounts), _total(one.compared for one in amounts)
        every = format_duration(asked.metrics.every_ms)
        cost = metrics_month(series, asked.metrics.every_ms / 1000, compared)
        yield _Line("cloudwatch-metrics", cost, f"{series:,} metrics every {every}, and their past")
    if asked.insights is not None:
        rules = _total(one.rules for one in amounts)
        every = format_duration(asked.insights.every_ms)
        cost = insights_month(rules, 0, every_seconds=asked.insights.every_ms / 1000)
        told = f"{rules:,} rules that are switched on, read every {every}; their events are billed beside it"
        yield _Line("contributor-insights", cost, told)


def _of_logs(setup: Setup) -> Iterator[_Line]:
    log = setup.request_log
    for bucket in log.s3:
        cost = lists_month(bucket.poll_ms / 1000)
        told = f"three lists every {format_duration(bucket.poll_ms)}"
        yield _Line(bucket.path, cost, f"{told}{_written_by_trail(bucket.layout)}")
    for group in log.cloudwatch_logs:
        yield _Line(group.path, Cost(0, ""), "reading is free; what is written into it is billed by the GB")
    for traces in log.xray:
        told = "looking is nearly free; a million traces that are fetched are 0.50 dollars"
        yield _Line(traces.path, Cost(0, ""), told, None if traces.filter else "a `filter` fetches fewer traces")


def _written_by_trail(layout: str) -> str:
    if layout != "cloudtrail":
        return ""
    day = trail_month(_MUCH_TRAFFIC).dollars / _DAYS_A_MONTH
    return f"; data events themselves are about {day:,.0f} dollars a day for {_MUCH_TRAFFIC:,} requests a second"


def _sum(setup: Setup, config: AwsConfig, lines: Sequence[_Line], amounts: Sequence[Amount]) -> Check:
    """Compare what a day costs with what a day may cost."""
    name = "aws.max_usd_per_day"
    day = sum(line.dollars for line in lines) / _DAYS_A_MONTH
    told = f"all of it is about {day:,.2f} dollars a day"
    if config.max_usd_per_day is None:
        return Check(name, "warning", f"{told}, and nothing stops it", "set a number of dollars")
    if day <= config.max_usd_per_day:
        return Check(name, "ok", f"{told}; reading stops at {config.max_usd_per_day:g}")
    hour = config.max_usd_per_day / day * 24
    clock = f"{int(hour):02d}:{int(hour * 60) % 60:02d}"
    stops = f"{told}, and {config.max_usd_per_day:g} are allowed: reading stops at about {clock} UTC, until midnight"
    return Check(name, "warning", stops, _cheaper(setup, config.max_usd_per_day, amounts))


def _cheaper(setup: Setup, allowed: float, amounts: Sequence[Amount]) -> str:
    """Say what would fit: a longer pause, no past, fewer tables, or more money."""
    asked = setup.collected
    if asked is None or asked.metrics is None:
        return "look at fewer tables (aws.tables), or raise it"
    series, compared = _total(one.series for one in amounts), _total(one.compared for one in amounts)
    fitting = []
    for past, more in ((compared, ""), (0, " with baselines: false")):
        every = affordable_every(series, allowed, past)
        if every is not None:
            fitting.append(f"cloudwatch_metrics.every: {format_duration(every * 1000)}{more}")
    if fitting:
        return f"{', or '.join(fitting)}; or look at fewer tables (aws.tables), or raise it"
    least = metrics_month(series, _LONGEST_SECONDS, 0).dollars / _DAYS_A_MONTH
    longest = f"cloudwatch_metrics.every: {format_duration(_LONGEST_SECONDS * 1000)} with baselines: false"
    return f"look at fewer tables (aws.tables), or raise it: even {longest} costs about {least:,.2f}"


def _routes_not_taken(setup: Setup, amounts: Sequence[Amount]) -> Iterator[Check]:
    """Tell of routes that would show keys, before anybody switches them on."""
    places = _total(one.tables + one.indexes for one in amounts)
    enabled = _total(one.insights for one in amounts)
    if setup.collected is not None and places > enabled:
        rules = (places - enabled) * 4
        cost = insights_month(rules, 1000)
        told = f"{places - enabled:,} tables and indexes without it: {_money(cost.dollars)} with {rules:,} rules, "
        told += "were there 1,000 items a second"
        mend = "dynascope insights watch TABLE --for 30m tells what one table costs, and takes half an hour of it"
        yield Check("contributor-insights, not switched on", "unchecked", told, mend)
    if not any(one.layout == "cloudtrail" for one in setup.request_log.s3):
        day = trail_month(_MUCH_TRAFFIC).dollars / _DAYS_A_MONTH
        told = f"for {_MUCH_TRAFFIC:,} requests a second: about {day:,.0f} dollars a day"
        yield Check("CloudTrail data events, not read", "unchecked", told, "a sampler or OpenTelemetry costs less")


def _pace(setup: Setup, amounts: Sequence[Amount]) -> Iterator[Check]:
    """Compare the calls of one poll with AWS's rates, of which we take a share; each place has rates of its own."""
    asked = setup.collected
    if asked is None:
        return
    slowest: tuple[float, str, int] | None = None
    for name, api, count, every_ms, key in _calls(setup, amounts):
        seconds = count / (rate_of(*api) * asked.aws.rate_share)
        if seconds * 1000 > every_ms:
            told = f"{count:,} {api[1]} a poll take {seconds:,.0f} s at {asked.aws.rate_share:.0%} of AWS's rate"
            yield Check(f"{name}: API quota", "warning", told, f"a longer {key}, fewer tables, or a larger rate_share")
        if slowest is None or seconds > slowest[0]:
            slowest = (seconds, api[1], count)
    if slowest is not None:
        seconds, operation, count = slowest
        share = f"{asked.aws.rate_share:.0%} of AWS's rate"
        told = f"the slowest of a poll are {count:,} {operation}, {seconds:,.0f} s at {share}"
        yield Check("API quotas", "ok", told)


def _calls(setup: Setup, amounts: Sequence[Amount]) -> Iterator[tuple[str, tuple[str, str], int, int, str]]:
    """Yield of each source the API that it calls most in its largest place: how often, and how soon again."""
    asked = setup.collected
    if asked is None:
        return
    if asked.catalog is not None:
        count = max((one.tables for one in amounts), default=0)
        yield "table-catalog", ("dynamodb", "DescribeTable"), count, asked.catalog.every_ms, "table_catalog.every"
    if asked.metrics is not None:
        series = max((one.series for one in amounts), default=0)
        count = _DOUBLE * -(-series // 500)
        yield (
            "cloudwatch-metrics",
            ("cloudwatch", "GetMetricData"),
            count,
            asked.metrics.every_ms,
            ("cloudwatch_metrics.every"),
        )
    if asked.insights is not None:
        count = max((one.rules for one in amounts), default=0)
        yield (
            "contributor-insights",
            ("cloudwatch", "GetInsightRuleReport"),
            count,
            asked.insights.every_ms,
            ("contributor_insights.every"),
        )


def _total(numbers: Iterable[int]) -> int:
    return sum(numbers)


def _money(dollars: float) -> str:
    if not dollars:
        return "nothing"
    return f"about {dollars:,.0f} dollars a month" if dollars >= 10 else f"about {dollars:,.2f} dollars a month"  # noqa: PLR2004
