"""One account and region: who we are there, what may be read, and how much of it there is. One that fails is alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.detectors.words import counted
from analyzer.doctor.examined import Group
from analyzer.errors import CollectError
from analyzer.knowledge.limits import RULE_QUOTA
from analyzer.model.batch import Check
from analyzer.model.window import Window
from analyzer.sources import DescribedTables
from collectors.asking import Paging, Spot, follow_pages
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.contributor_insights.collector import ContributorInsights

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from analyzer.interfaces import Source
    from analyzer.model.instant import Instant
    from collectors.aws.session import Aws, Place

__all__ = ["Amount", "PlaceExamined", "amount_of", "examine_place"]

_TABLES = "table-catalog: tables"
_PATIENCE_SECONDS = 180.0
"""Hundreds of tables are described in a minute; a place that takes longer than three says no more."""
_SKEW_MS = 30_000
_TOO_MUCH_SKEW_MS = 240_000
"""AWS refuses a signature that is five minutes off; points of a minute slip long before that."""


class Amount(Struct, frozen=True, kw_only=True):
    """How much there is to read in one place; what was not looked at is 0.

    `compared` series have their past read too. `rules` are those of Contributor Insights that are polled.
    """

    tables: int = 0
    indexes: int = 0
    series: int = 0
    compared: int = 0
    insights: int = 0
    rules: int = 0


class PlaceExamined(Struct, frozen=True):
    """What was checked in one place, and how much there is to read."""

    group: Group
    amount: Amount = Amount()


async def examine_place(
    aws: Aws, place: Place, sources: Sequence[Source], clock: Callable[[], Instant], expected: str | None = None
) -> PlaceExamined:
    """Check one place; whatever happens there is told, and delays no other.

    `expected` is the account that the place should be. Where nobody lets us in, no source is tried.
    """
    title = str(place).removeprefix("in ")
    identity = await _in_time(_identify(aws, place, expected), "identity")
    if any(check.state == "error" for check in identity):
        closed = tuple(Check(source.name, "unchecked", "nobody lets us in there") for source in sources)
        return PlaceExamined(Group(title, (*identity, *closed)))
    first = next((source for source in sources if isinstance(source, DescribedTables)), None)
    told = () if first is None else await _in_time(_tables(first, clock()), _TABLES)
    checks = await asyncio.gather(*(_in_time(source.check(), source.name) for source in sources))
    quota = await _quota(aws, place, sources)
    flat = tuple(dict.fromkeys((*identity, *told, *(check for some in checks for check in some), *quota)))
    return PlaceExamined(Group(title, flat), amount_of(sources))


async def _in_time(work: Awaitable[tuple[Check, ...]], name: str) -> tuple[Check, ...]:
    """Wait for checks, and not for ever."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await work
    except TimeoutError:
        told = f"no answer within {_PATIENCE_SECONDS:.0f} s"
        return (Check(name, "error", told, "look at the network and at endpoints"),)


async def _identify(aws: Aws, place: Place, expected: str | None) -> tuple[Check, ...]:
    """Say who we are, whether that is who we should be, and how far the clocks are apart."""
    name = "identity"
    try:
        answer = await aws.call("sts", "GetCallerIdentity", region=place.region, account=place.account)
    except CollectError as error:
        return (Check(name, "error", str(error), error.hint),)
    account, arn = str(answer.get("Account")), str(answer.get("Arn"))
    if expected is not None and account != expected:
        mend = "mend account or role under `aws`, or use the credentials of that account"
        return (Check(name, "error", f"this is account {account}, not {expected}", mend),)
    return (Check(name, "ok", arn), *_clock(aws.skew_ms))


def _clock(skew_ms: int | None) -> tuple[Check, ...]:
    if skew_ms is None:
        return ()
    told = f"{abs(skew_ms) / 1000:.0f} s {'ahead of' if skew_ms > 0 else 'behind'} AWS's"
    mend = "set the clock (NTP): times of requests and of metrics must meet"
    if abs(skew_ms) >= _TOO_MUCH_SKEW_MS:
        return (Check("clock", "error", told, mend),)
    if abs(skew_ms) >= _SKEW_MS:
        return (Check("clock", "warning", told, mend),)
    return (Check("clock", "ok", "that of AWS, to within 30 s"),)


async def _tables(catalog: DescribedTables, now: Instant) -> tuple[Check, ...]:
    """Describe every table: what one poll will do."""
    batch = await catalog.describe(Window(now - 1, now))
    failed = [Check(_TABLES, "warning", f"{gap.table or ''}: {gap.detail}".strip(": "), gap.hint) for gap in batch.gaps]
    if not batch.tables:
        mend = "check region and account, and aws.tables"
        return (*failed, Check(_TABLES, "warning", "there is none that is meant", mend))
    indexes = len(catalog.targets()) - len(batch.tables)
    return (*failed, Check(_TABLES, "ok", f"{counted(len(batch.tables), 'table')}, {counted(indexes, 'GSI')}"))


async def _quota(aws: Aws, place: Place, sources: Sequence[Source]) -> tuple[Check, ...]:
    """Count the rules that the account has, where somebody reads them; the quota is AWS's default."""
    if not any(isinstance(source, ContributorInsights) for source in sources):
        return ()
    name = "contributor-insights: rule quota"
    api = ("cloudwatch", "DescribeInsightRules")
    paged = await follow_pages(aws, api, Paging("InsightRules"), Spot(place.region, place.account), {})
    if paged.error is not None:
        return (Check(name, "unchecked", str(paged.error), paged.error.hint),)
    used = len(paged.rows)
    told = f"{used} of {RULE_QUOTA} rules are used, if the quota is AWS's default"
    if used >= RULE_QUOTA:
        return (Check(name, "warning", told, "ask AWS for more before you switch it on for another table"),)
    return (Check(name, "ok", told),)


def amount_of(sources: Sequence[Source]) -> Amount:
    """Return how much the sources of one place found to read."""
    tables = indexes = series = compared = insights = rules = 0
    for source in sources:
        if isinstance(source, DescribedTables):
            tables = len(source.tables or ())
            indexes = len(source.targets()) - tables
        elif isinstance(source, CloudWatchMetrics):
            series, compared = source.asked()
        elif isinstance(source, ContributorInsights):
            insights = len(source.enabled())
            rules = sum(len(one.insights.rules) for one in source.enabled())
    return Amount(tables=tables, indexes=indexes, series=series, compared=compared, insights=insights, rules=rules)
