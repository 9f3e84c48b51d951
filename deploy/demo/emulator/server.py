"""The HTTP front: DynamoDB's JSON 1.0 protocol, and a few paths of our own under /_demo/."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from deploy.demo.emulator.overlay import Call, Overlay, UnknownTable
from deploy.demo.emulator.refusal import Refused, invalid
from deploy.demo.emulator.serve_reads import serve_batch_get, serve_get, serve_page, serve_transact_get
from deploy.demo.emulator.serve_writes import serve_batch_write, serve_transact_write, serve_write

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

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


class _Front:
    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    async def serve(self, request: web.Request) -> web.Response:
        raw = await request.read()
        target = request.headers.get("X-Amz-Target", "")
        if not target.startswith(_PREFIX):
            return await self._pass_on(request, raw)
        try:
            body = msgspec.json.decode(raw or b"{}")
            if not isinstance(body, dict):
                raise invalid("The request is no JSON object")
            status, answer = 200, await self._answer(Call(target.removeprefix(_PREFIX), body, request.headers))
        except msgspec.DecodeError:
            status, answer = 400, {"__type": "com.amazon.coral.service#SerializationException"}
        except Refused as refused:
            status, answer = refused.status, refused.body
        return web.Response(
            body=msgspec.json.encode(answer),
            status=status,
            headers={"x-amzn-RequestId": uuid.uuid4().hex.upper(), "Content-Type": "application/x-amz-json-1.0"},
        )

    async def _answer(self, call: Call) -> dict[str, Any]:
        overlay = self._overlay
        if call.operation in _CONTROL:
            return await overlay.control(call)
        if call.operation in _STATEMENTS:
            return await overlay.ask_moto(call)
        serve = _SERVED.get(call.operation)
        if serve is not None:
            try:
                return await serve(overlay, call)
            except UnknownTable:
                pass
        return await overlay.moto.call(call.operation, call.body, call.headers)

    async def _pass_on(self, request: web.Request, raw: bytes) -> web.Response:
        status, headers, body = await self._overlay.moto.forward(request.method, request.path_qs, raw, request.headers)
        return web.Response(body=body, status=status, headers=headers)

    async def seed(self, request: web.Request) -> web.Response:
        asked = msgspec.json.decode(await request.read())
        try:
            count = self._overlay.seed(asked["region"], asked["table"], asked["items"])
        except UnknownTable as unknown:
            return web.json_response({"message": f"there is no table {unknown}"}, status=404)
        return web.json_response({"items": count})

    async def served(self, _: web.Request) -> web.Response:
        return web.json_response(self._overlay.journal.tell())


def build(overlay: Overlay) -> web.Application:
    """Return the application that serves an overlay."""
    front = _Front(overlay)
    app = web.Application(client_max_size=_BODY_BYTES)
    app.router.add_post("/_demo/seed", front.seed)
    app.router.add_get("/_demo/served", front.served)
    app.router.add_route("*", "/{path:.*}", front.serve)
    return app
