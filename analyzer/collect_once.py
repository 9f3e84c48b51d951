"""What one look at a table asks AWS for: in two rounds, what depends on nothing and what needs its description."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.errors import CollectError
from analyzer.model.batch import Batch
from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.window import Window
from analyzer.sources import DescribedTables
from collectors.asking import Paging, follow_pages
from collectors.changes.collector import Changes
from collectors.changes.config import ChangesConfig
from collectors.cloudwatch_metrics.collector import CloudWatchMetrics
from collectors.cloudwatch_metrics.config import CloudWatchMetricsConfig
from collectors.cloudwatch_metrics.reading import listing_of
from collectors.contributor_insights.blind_spots import blind_spots
from collectors.contributor_insights.collector import ContributorInsights
from collectors.contributor_insights.config import ContributorInsightsConfig
from collectors.contributor_insights.parse import parse_insights
from collectors.table_catalog.collector import TableCatalog
from collectors.table_catalog.config import TableCatalogConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.ahead import Ahead
    from analyzer.interfaces import AwsCaller
    from collectors.asking import Spot

__all__ = ["Question", "ask_ahead", "collect", "window_of"]

_DELAY_MS = 120_000
"""CloudWatch has most of a minute two minutes after its end; what comes later is read with the next look."""
_PAST_MS = 3_900_000
"""The same minutes an hour before, and some to begin with: they come with the window, at no price of their own."""
_CHANGES_MS = 3 * 3_600_000
"""What takes longest to show its effect, an index, takes some hours."""
_SLOW_DELAY_MS = 360_000

_ORDERS = ("Sum", "Maximum")
"""Asked for both at once, a key that was hot for a minute only is listed without another round of calls."""
_NAME_KEPT = 60
"""Rules have names of 128 letters at most: of a long table name the beginning must do."""
_MOST_RULES = 40
"""Rules of a table and nine indexes; each is asked twice, at 0.01 dollars a thousand."""


class Question(Struct, frozen=True, kw_only=True):
    """What is asked: a table (None: all), an index of it, so long before `at` (None: now)."""

    table: str | None = None
    index: str | None = None
    length_ms: int = 1_800_000
    at: Instant | None = None


def window_of(question: Question, now: Instant) -> Window:
    """Return the stretch that is asked for, as far as it has settled, in whole minutes."""
    newest = now - _DELAY_MS
    end = newest if question.at is None else min(question.at, newest)
    return Window((end - question.length_ms) // MINUTE_MS * MINUTE_MS, end // MINUTE_MS * MINUTE_MS)


def ask_ahead(ahead: Ahead, table: str, spot: Spot) -> None:
    """Ask for what depends on nothing but the table's name."""
    named = {"TableName": table}
    scaling = ("ScalableTargets", "ScalingPolicies", "ScheduledActions", "ScalingActivities")
    asked: list[tuple[str, str, dict[str, object]]] = [
        ("sts", "GetCallerIdentity", {}),
        ("dynamodb", "DescribeTable", dict(named)),
        ("dynamodb", "DescribeTimeToLive", dict(named)),
        ("dynamodb", "DescribeLimits", {}),
        ("dynamodb", "ListContributorInsights", dict(named)),
        ("dynamodb", "DescribeContributorInsights", dict(named)),
        ("cloudwatch", "ListMetrics", listing_of(table)),
        ("cloudwatch", "DescribeInsightRules", {}),
    ]
    asked += [("application-autoscaling", f"Describe{one}", {"ServiceNamespace": "dynamodb"}) for one in scaling]
    for service, operation, params in asked:
        ahead.ask(service, operation, spot.region or "", spot.account, **params)


async def collect(
    ahead: Ahead,
    question: Question,
    spot: Spot,
    account: str | None,
    now: Instant,
    keep: Callable[[str, str], str],
) -> Batch:
    """Ask every source, those that need the table's description after it; each failure is a gap.

    `keep` makes of a table and a clear key value what is to be seen of it.
    """
    window = window_of(question, now)
    meant = (question.table or "",)
    catalog = DescribedTables(
        TableCatalog(ahead.lane(), TableCatalogConfig(include=meant, lookback_ms=_CHANGES_MS), spot, account)
    )
    metrics = CloudWatchMetrics(
        CloudWatchMetricsConfig(
            delay_ms=_DELAY_MS,
            slow_delay_ms=_SLOW_DELAY_MS,
            overlap_ms=_PAST_MS,
            keep_ms=question.length_ms + _PAST_MS,
            include=meant,
        ),
        ahead.lane(),
        region=spot.region,
        account=spot.account,
        targets=catalog.metric_targets,
        clock=lambda: now,
        table=question.table,
    )
    asking = ahead.lane()
    insights = ContributorInsights(
        asking,
        ContributorInsightsConfig(
            include=meant, delay_ms=0, overlap_ms=0, most_questions=0, orders=_ORDERS, concurrent=_MOST_RULES
        ),
        lambda of, _label, value: keep(of, value),
        spot,
        account,
        catalog.targets,
        lambda: now,
    )
    changes = Changes(ahead.lane(), ChangesConfig(include=meant, lookback_ms=_CHANGES_MS), spot, account)
    changed = asyncio.ensure_future(changes.collect(window))
    described = await catalog.collect(window)
    for name in await _rules_of(asking, question.table or "", spot):
        for asked in insights.questions(name, window):
            ahead.ask("cloudwatch", "GetInsightRuleReport", spot.region or "", spot.account, asking.depth, **asked)
    others = await asyncio.gather(metrics.collect(window), insights.collect(window), changed)
    return _united((described, *others), window, account, spot)


async def _rules_of(asking: AwsCaller, table: str, spot: Spot) -> list[str]:
    """Return the names of rules that may be of a table or an index of it; empty where none is enabled.

    They are asked in the round in which it is asked whose they are: a name proves nothing, it only saves the wait.
    """
    paging = Paging("ContributorInsightsSummaries")
    api = ("dynamodb", "ListContributorInsights")
    listed = await follow_pages(asking, api, paging, spot, {"TableName": table}, most=1)
    if all(row.get("ContributorInsightsStatus") == "DISABLED" for row in listed.rows):
        return []
    named = await follow_pages(asking, ("cloudwatch", "DescribeInsightRules"), Paging("InsightRules"), spot, {}, most=1)
    alike = [name for row in named.rows if f"-{table[:_NAME_KEPT]}" in (name := str(row.get("Name")))]
    try:
        answer = await asking.call(
            "dynamodb", "DescribeContributorInsights", region=spot.region, account=spot.account, TableName=table
        )
        own = list(parse_insights(answer).rules.values())
    except (CollectError, ValueError):
        own = []
    return list(dict.fromkeys((*own, *alike)))[:_MOST_RULES]


def _united(batches: Sequence[Batch], window: Window, account: str | None, spot: Spot) -> Batch:
    insights = tuple(one for batch in batches for one in batch.insights)
    metrics = tuple(one for batch in batches for one in batch.metrics)
    gaps = (*(gap for batch in batches for gap in batch.gaps), *blind_spots(insights, metrics))
    return Batch(
        window=window,
        covers=tuple(one for batch in batches for one in batch.covers),
        metrics=metrics,
        insights=insights,
        tables=tuple(one for batch in batches for one in batch.tables),
        scaling=tuple(one for batch in batches for one in batch.scaling),
        changes=tuple(dict.fromkeys(one for batch in batches for one in batch.changes)),
        quotas={name: units for batch in batches for name, units in batch.quotas.items()},
        account=account,
        region=spot.region,
        gaps=tuple(dict.fromkeys(gaps)),
    )
