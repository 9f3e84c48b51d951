"""GetMetricData in batches of 500 and ListMetrics, page by page; a failure is a value beside what came before it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.errors import CollectError, MalformedError
from collectors.cloudwatch_metrics.facts import NAMESPACE
from collectors.cloudwatch_metrics.parse import Points, parse_listing, parse_page, unite
from collectors.cloudwatch_metrics.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.interfaces import AwsCaller
    from collectors.cloudwatch_metrics.parse import Found, Page
    from collectors.cloudwatch_metrics.stretches import Stretch

__all__ = ["QUERIES_A_CALL", "Reader", "Reading", "listing_of"]

QUERIES_A_CALL = 500
"""API Reference, "GetMetricData", read 2026-11-30."""

_MOST_PAGES = 1000
"""Half a million metrics listed, or a hundred million points: more is a service that turns in a circle."""

_CIRCLE_HINT = "CloudWatch gave pages without an end; it is asked again with the next window"


class Reading(Struct, frozen=True):
    """What came of some series; `error` is why the rest did not, None where all was answered."""

    series: tuple[Series, ...]
    points: dict[Series, Points]
    error: CollectError | None = None


def listing_of(table: str | None) -> dict[str, object]:
    """Return the members with which ListMetrics is asked for the metrics of one table, None for those of all."""
    of_table: dict[str, object] = {"Dimensions": [{"Name": "TableName", "Value": table}]}
    return {"Namespace": NAMESPACE} | ({} if table is None else of_table)


class Reader:
    """CloudWatch of one account and region; `table` is the one whose metrics are listed, None for all."""

    def __init__(self, aws: AwsCaller, region: str | None, account: str | None, table: str | None = None) -> None:
        self._aws = aws
        self._listed = listing_of(table)
        self._region = region
        self._account = account

    async def call(self, operation: str, **params: object) -> dict[str, Any]:
        """Make one call; raises CollectError."""
        return await self._aws.call("cloudwatch", operation, region=self._region, account=self._account, **params)

    async def read(self, series: Sequence[Series], stretch: Stretch) -> list[Reading]:
        """Ask for series of a stretch, as few calls as it takes, side by side."""
        parts = [series[start : start + QUERIES_A_CALL] for start in range(0, len(series), QUERIES_A_CALL)]
        return list(await asyncio.gather(*(self._read(tuple(part), stretch) for part in parts)))

    async def metrics(self) -> frozenset[Found]:
        """List every metric of DynamoDB that had a point in the last two weeks; raises CollectError."""
        found: frozenset[Found] = frozenset()
        token: str | None = None
        for _ in range(_MOST_PAGES):
            following = {} if token is None else {"NextToken": token}
            page, token = parse_listing(await self.call("ListMetrics", **self._listed, **following))
            found |= page
            if token is None:
                return found
        raise MalformedError("ListMetrics: pages without an end", hint=_CIRCLE_HINT)

    async def _read(self, series: tuple[Series, ...], stretch: Stretch) -> Reading:
        pages: list[Page] = []
        error: CollectError | None = None
        try:
            await self._pages(series, stretch, pages)
        except CollectError as failed:
            error = failed
        named = unite(pages)
        points = {one: named[f"m{number}"] for number, one in enumerate(series) if f"m{number}" in named}
        return Reading(series, points, error)

    async def _pages(self, series: tuple[Series, ...], stretch: Stretch, pages: list[Page]) -> None:
        """Read every page into a list, so that those before a failure are kept."""
        asked: dict[str, Any] = {
            "MetricDataQueries": [one.query(number, stretch.period_seconds) for number, one in enumerate(series)],
            "StartTime": stretch.window.start // 1000,
            "EndTime": stretch.window.end // 1000,
            "ScanBy": "TimestampAscending",
        }
        tokens: set[str] = set()
        while True:
            page = parse_page(await self.call("GetMetricData", **asked))
            pages.append(page)
            if page.next_token is None:
                return
            if page.next_token in tokens or len(tokens) >= _MOST_PAGES:
                raise MalformedError("GetMetricData: pages without an end", hint=_CIRCLE_HINT)
            tokens.add(page.next_token)
            asked["NextToken"] = page.next_token
