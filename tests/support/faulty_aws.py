"""AWS on the wire, in the test's own process, with one fault at a time: every protocol that the collectors speak.

What is asked is read, and refusals are written, by the emulator's own hands (deploy/demo/emulator); what is there is a
world's to say: a function for each service and operation, of the members that were asked.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aiohttp import web

from deploy.demo.emulator.faults import replace
from deploy.demo.emulator.wire import Stamp, ask, reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from deploy.demo.emulator.wire import Asked

    Api = tuple[str, str]
    Answers = Mapping[Api, Callable[[dict[str, Any]], Any]]

__all__ = ["PAGED", "FaultyAws"]

PAGED = {
    "ListMetrics": ("Metrics", "NextToken", "NextToken"),
    "GetMetricData": ("MetricDataResults", "NextToken", "NextToken"),
    "DescribeInsightRules": ("InsightRules", "NextToken", "NextToken"),
    "ListContributorInsights": ("ContributorInsightsSummaries", "NextToken", "NextToken"),
    "ListTables": ("TableNames", "LastEvaluatedTableName", "ExclusiveStartTableName"),
    "ListTagsOfResource": ("Tags", "NextToken", "NextToken"),
    "DescribeScalableTargets": ("ScalableTargets", "NextToken", "NextToken"),
    "DescribeScalingPolicies": ("ScalingPolicies", "NextToken", "NextToken"),
    "DescribeScheduledActions": ("ScheduledActions", "NextToken", "NextToken"),
    "DescribeScalingActivities": ("ScalingActivities", "NextToken", "NextToken"),
    "LookupEvents": ("Events", "NextToken", "NextToken"),
    "FilterLogEvents": ("events", "nextToken", "nextToken"),
    "GetTraceSummaries": ("TraceSummaries", "NextToken", "NextToken"),
    "BatchGetTraces": ("Traces", "NextToken", "NextToken"),
    "ListObjectsV2": ("Contents", "NextContinuationToken", "continuation-token"),
}
"""Operations with pages: the member of the rows, and the token of the next page as answered and as asked."""
_REPLACED = frozenset({"denied", "throttled", "expired", "html", "wrong"})
_TOKEN = "page-2"


class FaultyAws:
    """A server for many tests: `serve` says what there is, `struck` lets a fault strike one operation.

    `partial`: the first page comes, the second is throttled; of an answer in parts half of one comes. `duplicate`: the
    second page is the first one again. `late` is the world's own: it is told in `late_for`.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: Counter[Api] = Counter()
        self.late_for: Api | None = None
        self._answers: Answers = {}
        self._fault: tuple[str, Api] | None = None
        self._forgiven = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def start(self) -> FaultyAws:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def stop(self) -> None:
        self._forgiven.set()
        if self._runner is not None:
            await self._runner.cleanup()

    def serve(self, answers: Answers) -> None:
        """Answer by these functions from now on."""
        self._answers = answers

    @contextmanager
    def struck(self, kind: str, api: Api) -> Iterator[None]:
        """Let a fault strike every call of an operation."""
        self._fault = (kind, api)
        self._forgiven = asyncio.Event()
        self.late_for = api if kind == "late" else None
        try:
            yield
        finally:
            self._forgiven.set()
            self._fault = self.late_for = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        asked = ask(request.method, request.path_qs, raw, request.headers, {})
        api = (asked.service, asked.operation)
        self.asked[api] += 1
        kind = self._fault[0] if self._fault is not None and self._fault[1] == api else ""
        if kind in _REPLACED:
            return _replaced(kind, asked)
        params = _params(asked, request, raw)
        told = self._answers[api](params)
        if kind == "timeout":
            await self._forgiven.wait()  # what it asked for was done
        if kind in {"partial", "duplicate"} and asked.operation in PAGED:
            second = params.get(PAGED[asked.operation][2]) is not None
            if kind == "partial" and second:
                return _replaced("throttled", asked)
            told = _page(kind, asked.operation, told, is_second=second)
        written = _written(asked, told)
        if kind == "partial" and isinstance(told, bytes):
            written.body = told[: len(told) // 2]
        return await _half(request, written) if kind == "truncated" else written


def _page(kind: str, operation: str, told: dict[str, Any], *, is_second: bool) -> dict[str, Any]:
    rows, answered, _ = PAGED[operation]
    every = list(told.get(rows, ()))
    kept = every[: (len(every) + 1) // 2] if kind == "partial" else every
    following = {} if is_second else {answered: _TOKEN}
    return {**told, rows: kept, **following} | ({"IsTruncated": not is_second} if "IsTruncated" in told else {})


def _replaced(kind: Any, asked: Asked) -> web.Response:
    told = replace(kind, asked)
    assert told is not None
    return web.Response(status=told.status, body=told.body, headers=told.headers)


async def _half(request: web.Request, whole: web.Response) -> web.StreamResponse:
    """Write half of an answer, and hang up."""
    body = whole.body
    assert isinstance(body, bytes)
    response = web.StreamResponse(status=whole.status, headers={"Content-Type": whole.headers["Content-Type"]})
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.abort()
    return response


def _params(asked: Asked, request: web.Request, raw: bytes) -> dict[str, Any]:
    if asked.service == "s3":
        named = {"key": request.path.partition("/")[2].partition("/")[2]}
        return {**request.query, **named, "range": request.headers.get("Range", "")}
    return dict(asked.body) if asked.protocol != "rest" else dict(json.loads(raw or b"{}"))


def _written(asked: Asked, told: Any) -> web.Response:
    if isinstance(told, bytes):
        return web.Response(status=206, body=told, headers={"Content-Type": "binary/octet-stream"})
    if asked.service == "s3":
        inner = "".join(_xml(name, value) for name, value in told.items())
        return web.Response(body=f"<ListBucketResult>{inner}</ListBucketResult>".encode(), content_type="text/xml")
    written = reply(asked, _stamped(told))
    return web.Response(status=written.status, body=written.body, headers=written.headers)


def _xml(name: str, value: Any) -> str:
    """Write a member as S3 does: a list is its name again and again."""
    if isinstance(value, list):
        return "".join(_xml(name, one) for one in value)
    if isinstance(value, dict):
        return f"<{name}>{''.join(_xml(inner, one) for inner, one in value.items())}</{name}>"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{text}</{name}>"


def _stamped(node: Any) -> Any:
    """Return a tree whose times go out as the protocol has them."""
    if isinstance(node, datetime):
        return Stamp(node.timestamp())
    if isinstance(node, dict):
        return {name: _stamped(value) for name, value in node.items()}
    return [_stamped(one) for one in node] if isinstance(node, list | tuple) else node
