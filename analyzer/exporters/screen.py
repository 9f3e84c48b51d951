"""The page and what it reads: each answer is made once a judgement, beside the loop, when it is first asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from analyzer.exporters.api import changes_object, gsi_object, honesty_object, patterns_object, targets_object
from analyzer.exporters.api_map import map_object, row_labels
from analyzer.exporters.asked import read_question
from analyzer.exporters.assets import asset, index_page
from analyzer.exporters.atlas import NO_CALLS
from analyzer.exporters.docs import landing_page
from analyzer.exporters.events import Events
from analyzer.exporters.openapi import openapi_document
from analyzer.figures.lag import index_strip
from analyzer.figures.plots import heat_figure, lag_figure, shares_figure, top_figure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable

    from analyzer.exporters.asked import MapQuestion
    from analyzer.exporters.atlas import Atlas
    from analyzer.exporters.events import Parts
    from analyzer.exporters.shown import Shown
    from analyzer.model.heatmap import HeatMap
    from analyzer.model.report import Report
    from analyzer.model.traffic import Traffic

__all__ = ["PAGE_POLICY", "Screen"]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'"
)
"""The page runs scripts of this address alone; plotly writes styles into its own elements."""

_MOST_KEPT = 64
"""Answers that are kept until the next judgement: a few people who look at a few maps."""

_SMALL_BYTES = 16 * 1024
"""What is larger is packed beside the loop."""


class Screen:
    """The routes of the page and of what it draws; `shown` is the report as the show policy allows."""

    def __init__(self, shown: Shown) -> None:
        self.atlas: Atlas | None = None
        self._shown = shown
        self.events = Events(self.parts, self.drawn)
        self._kept: dict[Hashable, asyncio.Task[Any]] = {}

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, to be added to an application."""
        return [
            web.get("/", self._page),
            web.get("/page/{name}", self._asset),
            web.get("/api/v1/openapi.json", self._openapi),
            web.get("/api/v1/patterns", self._patterns),
            web.get("/api/v1/changes", self._changes),
            web.get("/api/v1/targets", self._targets),
            web.get("/api/v1/heatmap", self._heat_map),
            web.get("/api/v1/gsi", self._gsi),
            web.get("/api/v1/honesty", self._honesty),
            web.get("/api/v1/figures/{name}", self._figure),
            web.get("/api/v1/events", self._events),
        ]

    def forget(self) -> None:
        """Let go of every answer: something new was judged, or keys are to be shown in another way."""
        self._kept = {}
        self.events.wake()

    async def parts(self) -> tuple[str, Parts]:
        """Return what an update may tell: when it was judged, and every part by name."""
        document = await self._shown.document()
        parts = {name: document[name] for name in ("verdict", "findings")}
        parts["patterns"] = (await self._once("patterns of an update", self.patterns))["patterns"]
        parts["gsi"] = (await self._once("gsi of an update", self.gsi))["indexes"]
        parts["honesty"] = await self.honesty()
        return str(document["as_of"]), parts

    async def patterns(self) -> dict[str, Any]:
        """Return the patterns with their calls over time."""
        report, document = self._shown.judged(), await self._shown.document()
        calls = NO_CALLS if self.atlas is None else await self.atlas.calls(report)
        return await asyncio.to_thread(patterns_object, document, calls)

    async def changes(self) -> dict[str, Any]:
        """Return marks and changes, the newest first."""
        return changes_object(await self._shown.document())

    async def targets(self) -> dict[str, Any]:
        """Return the tables and indexes to choose from."""
        return await asyncio.to_thread(targets_object, self._shown.judged())

    async def gsi(self) -> dict[str, Any]:
        """Return how indexes keep up."""
        return await asyncio.to_thread(gsi_object, self._shown.judged())

    async def honesty(self) -> dict[str, Any]:
        """Return how far to trust it all."""
        report, document = self._shown.judged(), await self._shown.document()
        health = None if self.atlas is None else self.atlas.health()
        return await asyncio.to_thread(honesty_object, report, document, health)

    async def drawn(self, question: MapQuestion) -> HeatMap | None:
        """Return a map, None where there is no such target."""
        report = self._shown.judged()
        atlas = self.atlas
        if atlas is None:
            return None
        found: HeatMap | None = await self._once(("map", question), lambda: atlas.heat_map(question, report))
        return found

    async def _once(self, name: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 -- as it is made
        """Return an answer, made by the first who asks; the oldest makes room."""
        kept = self._kept
        if name not in kept:
            if len(kept) >= _MOST_KEPT:
                del kept[next(iter(kept))]
            kept[name] = asyncio.ensure_future(_awaited(make))
        made = kept[name]
        try:
            return await asyncio.shield(made)
        finally:
            if made.done() and (made.cancelled() or made.exception() is not None):
                kept.pop(name, None)  # it is tried again; one who left meanwhile changes nothing for the others

    async def answer(self, name: str, make: Callable[[], Awaitable[dict[str, Any]]]) -> web.Response:
        """Answer with what is made once a judgement; raises HTTPServiceUnavailable before the first."""
        self._shown.judged()

        async def written() -> bytes:
            return await asyncio.to_thread(_json_bytes, await make())

        return _json(await self._once(name, written))

    async def _page(self, _request: web.Request) -> web.Response:
        page = index_page()
        if page is None:
            return web.Response(text=landing_page(await self._shown.verdict()), content_type="text/html")
        headers = {"Content-Security-Policy": PAGE_POLICY}
        return web.Response(text=page, content_type="text/html", headers=headers)

    async def _asset(self, request: web.Request) -> web.Response:
        found = await asyncio.to_thread(asset, request.match_info["name"])
        if found is None:
            raise web.HTTPNotFound
        tag = f'"{found.tag}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag, "Vary": "Accept-Encoding"}
        if tag in request.headers.get("If-None-Match", ""):
            return web.Response(status=304, headers=headers)
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return web.Response(body=found.packed, content_type=found.content_type, headers=headers)
        return web.Response(body=found.plain, content_type=found.content_type, headers=headers)

    async def _openapi(self, _request: web.Request) -> web.Response:
        return _json(_json_bytes(openapi_document()))

    async def _patterns(self, _request: web.Request) -> web.Response:
        return await self.answer("patterns", self.patterns)

    async def _changes(self, _request: web.Request) -> web.Response:
        return await self.answer("changes", self.changes)

    async def _targets(self, _request: web.Request) -> web.Response:
        return await self.answer("targets", self.targets)

    async def _gsi(self, _request: web.Request) -> web.Response:
        return await self.answer("gsi", self.gsi)

    async def _honesty(self, _request: web.Request) -> web.Response:
        return await self.answer("honesty", self.honesty)

    async def _heat_map(self, request: web.Request) -> web.Response:
        question = _question(request)
        report = self._shown.judged()

        async def written() -> bytes:
            heat_map = _found(await self.drawn(question))
            return await asyncio.to_thread(self._map_bytes, heat_map, report, question)

        return _json(await self._once(("bytes", question), written))

    async def _figure(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name == _LAG_FIGURE:
            return await self.answer(name, self._lag_figure)
        if name not in _FIGURES:
            raise web.HTTPNotFound(reason=f"no such figure; known: {', '.join([*_FIGURES, _LAG_FIGURE])}")
        question = _question(request)
        self._shown.judged()

        async def written() -> bytes:
            heat_map = _found(await self.drawn(question))
            labels = row_labels(heat_map, self._shown.policy, self._shown.salt)
            return await asyncio.to_thread(lambda: _json_bytes(_FIGURES[name](heat_map, labels, question)))

        return _json(await self._once((name, question), written))

    async def _lag_figure(self) -> dict[str, Any]:
        traffics = self._shown.judged().traffic
        return await asyncio.to_thread(_lag_of, traffics)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        question = _question(request)
        return await self.events.stream(request, None if question.table is None else question)

    def _map_bytes(self, heat_map: HeatMap, report: Report, question: MapQuestion) -> bytes:
        look = self._shown.policy, self._shown.salt
        return _json_bytes(map_object(heat_map, report.as_of, *look, is_relative=question.is_relative))


_LAG_FIGURE = "gsi-lag"
_FIGURES: dict[str, Callable[[HeatMap, list[str], MapQuestion], dict[str, Any]]] = {
    "heatmap": lambda of, labels, asked: heat_figure(of, labels, with_heat=False, is_relative=asked.is_relative),
    "top": lambda of, _labels, _asked: top_figure(of),
    "shares": lambda of, labels, _asked: shares_figure(of, labels),
}


def _lag_of(traffics: Iterable[Traffic]) -> dict[str, Any]:
    return lag_figure([index_strip(traffic) for traffic in traffics if traffic.target.index is not None])


async def _awaited(make: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 -- as it is made
    return await make()


def _question(request: web.Request) -> MapQuestion:
    """Read what is asked for; what is wrong is refused with 400 and the reason."""
    try:
        return read_question(request.query)
    except ValueError as error:
        raise web.HTTPBadRequest(reason=str(error)) from None


def _found(heat_map: HeatMap | None) -> HeatMap:
    if heat_map is None:
        raise web.HTTPNotFound(reason="no such table or index was seen; see /api/v1/targets")
    return heat_map


def _json_bytes(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document) + b"\n"


def _json(body: bytes) -> web.Response:
    answer = web.Response(body=body, content_type="application/json", zlib_executor_size=_SMALL_BYTES)
    answer.enable_compression()
    return answer
