"""The HTTP front: reads a request, lets a fault strike, and asks who answers.

Paths of our own are under /_demo/, see `control.py`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from deploy.demo.emulator.control import add_routes
from deploy.demo.emulator.faults import bend, bend_written, code_of, replace
from deploy.demo.emulator.meter import Finished
from deploy.demo.emulator.overlay import Call, Overlay, UnknownTable
from deploy.demo.emulator.refusal import Refused, invalid
from deploy.demo.emulator.serve_reads import serve_batch_get, serve_get, serve_page, serve_transact_get
from deploy.demo.emulator.serve_writes import serve_batch_write, serve_transact_write, serve_write
from deploy.demo.emulator.services import INSIGHTS, Services
from deploy.demo.emulator.wire import Rejected, Reply, ask, reject, reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from deploy.demo.emulator.faults import Fault
    from deploy.demo.emulator.wire import Asked

__all__ = ["build"]

_PREFIX = "DynamoDB_20120810."
_BODY_BYTES = 64 * 1024 * 1024
_SERVED: dict[str, Callable[[Overlay, Call], Awaitable[dict[str, Any]]]] = {
    "GetItem": serve_get,
    "Query": serve_page,
    "Scan": serve_page,
    "BatchGetItem": serve_batch_get,
    "TransactGetItems": serve_transact_get,
    "PutItem": serve_write,
    "UpdateItem": serve_write,
    "DeleteItem": serve_write,
    "BatchWriteItem": serve_batch_write,
    "TransactWriteItems": serve_transact_write,
}
_CONTROL = frozenset({"CreateTable", "UpdateTable", "DeleteTable", "DescribeTable"})
_STATEMENTS = frozenset({"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"})
_OK = 200


class _Front:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._overlay = services.overlay

    async def serve(self, request: web.Request) -> web.StreamResponse:
        services, raw = self._services, await request.read()
        asked = ask(request.method, request.path_qs, raw, request.headers, services.accounts)
        services.calls[asked.service, asked.operation] += 1
        fault = services.faults.take(asked)
        if fault is not None:
            return await self._strike(fault, asked, request)
        if not services.rates.admits(asked):
            return _written(replace("throttled", asked) or Reply(503, b"", {}))
        return _written(await self._answer(asked, request))

    async def _answer(self, asked: Asked, request: web.Request, fault: Fault | None = None) -> Reply:
        target = asked.headers.get("X-Amz-Target", "")
        if target.startswith(_PREFIX):
            told = await self._dynamodb(asked, fault)
        else:
            told = await self._other(asked, request, fault)
        if told.status == _OK:
            self._services.learn(asked, told)
        return told

    async def _strike(self, fault: Fault, asked: Asked, request: web.Request) -> web.StreamResponse:
        """Answer as a fault has it."""
        told = replace(fault.kind, asked)
        if told is not None:
            self._count(asked, told.status, code_of(fault.kind), 0.0)
            return _written(told)
        if fault.kind == "timeout":
            await asyncio.sleep(fault.seconds)
        if fault.kind in {"timeout", "reset"}:
            return _cut(request, web.StreamResponse())
        told = await self._answer(asked, request, fault)
        if fault.kind != "truncated":
            return _written(told)
        response = web.StreamResponse(status=told.status, headers=told.headers)
        response.content_length = len(told.body)
        await response.prepare(request)
        await response.write(told.body[: len(told.body) // 2])
        return _cut(request, response)

    async def _dynamodb(self, asked: Asked, fault: Fault | None) -> Reply:
        began = time.perf_counter()
        answer: dict[str, Any]
        try:
            if not asked.body and not isinstance(msgspec.json.decode(asked.raw or b"{}"), dict):
                raise invalid("The request is no JSON object")
            status, answer = _OK, await self._dispatch(Call(asked.operation, asked.body, asked.headers, asked.place))
        except msgspec.DecodeError:
            status, answer = 400, {"__type": "com.amazon.coral.service#SerializationException"}
        except Refused as refused:
            status, answer = refused.status, refused.body
        self._count(asked, status, answer, 1000 * (time.perf_counter() - began))
        if fault is not None:
            answer = bend(fault.kind, answer)
        headers = {"x-amzn-RequestId": uuid.uuid4().hex.upper(), "Content-Type": "application/x-amz-json-1.0"}
        return Reply(status, msgspec.json.encode(answer), headers)

    def _count(self, asked: Asked, status: int, answer: dict[str, Any], milliseconds: float) -> None:
        if asked.service != "dynamodb":
            return
        services, overlay = self._services, self._overlay
        done = Finished(asked.place, asked.operation, asked.body, status, answer, milliseconds)
        services.meter.finish(done, services.clock.now(), lambda name: overlay.has(asked.place, name))

    async def _dispatch(self, call: Call) -> dict[str, Any]:
        overlay = self._overlay
        if call.operation in _CONTROL:
            return await overlay.control(call)
        if call.operation in INSIGHTS:
            return self._services.serve_insights(call)
        if call.operation in _STATEMENTS:
            return await overlay.ask_moto(call)
        serve = _SERVED.get(call.operation)
        if serve is not None:
            try:
                return await serve(overlay, call)
            except UnknownTable:
                pass
        return await overlay.moto.call(call.operation, call.body, call.headers)

    async def _other(self, asked: Asked, request: web.Request, fault: Fault | None) -> Reply:
        try:
            tree = await self._services.serve(asked)
        except Rejected as rejected:
            return reject(asked, rejected)
        if tree is not None:
            return reply(asked, tree if fault is None else bend(fault.kind, tree))
        path = request.path_qs
        status, headers, body = await self._overlay.moto.forward(request.method, path, asked.raw, request.headers)
        told = Reply(status, body, headers)
        return told if fault is None else bend_written(fault.kind, told)


def _written(told: Reply) -> web.Response:
    return web.Response(body=told.body, status=told.status, headers=told.headers)


def _cut(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Close the connection in the middle of an answer."""
    if request.transport is not None:
        request.transport.abort()
    return response


def build(services: Services) -> web.Application:
    """Return the application that serves an emulator."""
    app = web.Application(client_max_size=_BODY_BYTES)
    add_routes(app, services)
    app.router.add_route("*", "/{path:.*}", _Front(services).serve)
    return app
