"""Server-sent events: whoever listens is told after each judgement what changed, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from aiohttp import web
from msgspec import Struct

from analyzer.exporters.api_map import columns_object, heat_bytes, rows_id
from analyzer.model.heatmap import HeatMap, MarkKind
from analyzer.model.instant import SLICE_MS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from analyzer.exporters.asked import MapQuestion

__all__ = ["MOST_LISTENERS", "MOST_OF_ADDRESS", "Events", "Parts", "changed_columns"]

MOST_LISTENERS = 64
"""People who look at the page at one time; each costs a connection and an update every ten seconds."""

MOST_OF_ADDRESS = 16
"""Pages that one address has open at one time, so that it leaves room for others."""

_HEARTBEAT_SECONDS = 10.0
_SEND_SECONDS = 30.0
"""A client that takes nothing for so long is gone."""

Parts = dict[str, Any]
"""The parts of an update by name: verdict, findings, patterns, gsi, honesty."""

_JUST_FETCHED = 12
"""Columns that a judgement or two may have changed between a fetch and the first update."""

_MOVES_ALWAYS = frozenset({"analysis_seconds", "as_of", "records"})
"""What of the part `honesty` differs after every judgement: it comes along, and is no change by itself."""


class News(Struct, frozen=True):
    """What one judgement has to tell: every part, and the text of what of it lasts."""

    as_of: str
    parts: Parts
    texts: dict[str, bytes]


class Told(Struct):
    """What one listener knows: the text of each part, and the map that it looks at."""

    parts: dict[str, bytes] = {}
    heat_map: HeatMap | None = None


class Events:
    """Sends updates; `parts` makes what there is to tell, `draw` the map that a listener looks at."""

    def __init__(
        self,
        parts: Callable[[], Awaitable[tuple[str, Parts]]],
        draw: Callable[[MapQuestion], Awaitable[HeatMap | None]],
        heartbeat_seconds: float = _HEARTBEAT_SECONDS,
    ) -> None:
        self._parts = parts
        self._draw = draw
        self._heartbeat = heartbeat_seconds
        self._listeners: set[asyncio.Event] = set()
        self._of_address: Counter[str] = Counter()
        self._turn = 0
        self._news: asyncio.Task[News] | None = None
        self._news_turn = 0
        self._is_closed = False
        self._era = 0

    def wake(self) -> None:
        """Tell every listener that something was judged; one that is still at the last update gets the newest next."""
        self._turn += 1
        for listener in self._listeners:
            listener.set()

    def end_streams(self) -> None:
        """End every stream that there is: whoever may listen on asks for another."""
        self._era += 1
        for listener in self._listeners:
            listener.set()

    def close(self) -> None:
        """End every stream, also those to come."""
        self._is_closed = True
        self.end_streams()

    async def stream(self, request: web.Request, question: MapQuestion | None) -> web.StreamResponse:
        """Answer a request with updates until its client leaves."""
        address = request.remote or ""
        if len(self._listeners) >= MOST_LISTENERS or self._of_address[address] >= MOST_OF_ADDRESS:
            raise web.HTTPServiceUnavailable(reason="too many pages are open")
        answer = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        )
        woken, era = asyncio.Event(), self._era
        self._listeners.add(woken)
        self._of_address[address] += 1
        try:
            await answer.prepare(request)
            await self._tell(answer, woken, question, era)
        except (ConnectionError, TimeoutError):
            pass  # the client left
        finally:
            self._listeners.discard(woken)
            self._of_address[address] -= 1
            self._of_address += Counter()  # forget addresses that listen no more
        return answer

    async def _tell(
        self, answer: web.StreamResponse, woken: asyncio.Event, question: MapQuestion | None, era: int
    ) -> None:
        told = Told()
        woken.set()
        while not self._is_over(era):
            try:
                await asyncio.wait_for(woken.wait(), self._heartbeat)
            except TimeoutError:
                await _send(answer, b": still here\n\n")
                continue
            woken.clear()
            if self._is_over(era):
                return
            update = await self._update(told, question)
            if update is not None and not self._is_over(era):
                await _send(answer, await asyncio.to_thread(_written, update))

    def _is_over(self, era: int) -> bool:
        return self._is_closed or self._era != era

    async def _update(self, told: Told, question: MapQuestion | None) -> dict[str, Any] | None:
        """Return what this listener does not know yet; None before anything was judged."""
        try:
            news = await self._newest()
            drawn = None if question is None else await self._draw(question)
        except web.HTTPServiceUnavailable:
            return None
        found = {name: part for name, part in news.parts.items() if told.parts.get(name) != news.texts[name]}
        told.parts = news.texts
        if drawn is not None and question is not None:
            columns = changed_columns(told.heat_map, drawn, is_relative=question.is_relative)
            told.heat_map = drawn
            if columns is not None:
                found["heatmap"] = columns
        return {"as_of": news.as_of, "slice_ms": SLICE_MS, "changed": sorted(found), **found}

    async def _newest(self) -> News:
        """Return what there is to tell, made once for all listeners; raises HTTPServiceUnavailable before any of it."""
        if self._news is None or self._news_turn != self._turn:
            self._news_turn, self._news = self._turn, asyncio.ensure_future(self._made())
        made = self._news
        try:
            return await asyncio.shield(made)
        finally:
            if self._news is made and made.done() and (made.cancelled() or made.exception() is not None):
                self._news = None  # it is tried again; one who left meanwhile changes nothing for the others

    async def _made(self) -> News:
        as_of, parts = await self._parts()
        return News(as_of, parts, await asyncio.to_thread(_texts, parts))


def changed_columns(before: HeatMap | None, now: HeatMap, *, is_relative: bool = False) -> dict[str, Any] | None:
    """Return the columns of a map from the first that differs on, none of them where rows, labels or marks are others.

    None where nothing differs. A listener without a map before gets the newest columns: it has just fetched the rest.
    """
    if before is None:
        return columns_object(now, max(0, now.columns - _JUST_FETCHED), is_relative=is_relative)
    shift = (now.start - before.start) // now.step_ms
    if _outline(before) != _outline(now) or shift < 0:
        return columns_object(now, None, is_relative=is_relative)
    kept = max(0, now.columns - shift)
    old, new = _cells(before, is_relative)[:, shift:], _cells(now, is_relative)[:, :kept]
    differs = np.flatnonzero((old != new).any(axis=0))
    first = int(differs[0]) if differs.size else kept
    return None if first == now.columns else columns_object(now, first, is_relative=is_relative)


def _outline(heat_map: HeatMap) -> tuple[Any, ...]:
    """Return what a listener does not get with columns; an end of a label that moves on is no change.

    Nor is the start of a limit that moves on with the map, or how much there is of a finding that began before.
    """
    labels = tuple((label.kind, label.row) for label in heat_map.labels)
    marks = tuple((one.at, one.what if one.kind is MarkKind.CHANGE else None) for one in heat_map.marks)
    limits = (heat_map.limit, *(one.units for one in heat_map.limits), *(one.at for one in heat_map.limits[1:]))
    return rows_id(heat_map), heat_map.step_ms, heat_map.columns, limits, marks, labels


def _cells(heat_map: HeatMap, is_relative: bool) -> np.ndarray:  # noqa: FBT001 -- one of two ways to write it
    top = np.nan_to_num(heat_map.top)[None, :]
    return np.vstack([heat_bytes(heat_map, is_relative=is_relative), np.nan_to_num(heat_map.throttled), top])


def _lasting(part: Any) -> Any:  # noqa: ANN401 -- as JSON has it
    """Return what of a part makes a difference."""
    if not isinstance(part, dict) or "records" not in part:
        return part
    return {name: value for name, value in part.items() if name not in _MOVES_ALWAYS}


def _texts(parts: Parts) -> dict[str, bytes]:
    return {name: msgspec.json.encode(_lasting(part)) for name, part in parts.items()}


def _written(update: dict[str, Any]) -> bytes:
    return b"event: report\ndata: " + msgspec.json.encode(update) + b"\n\n"


async def _send(answer: web.StreamResponse, text: bytes) -> None:
    async with asyncio.timeout(_SEND_SECONDS):
        await answer.write(text)
