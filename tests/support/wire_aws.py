"""AWS on the wire, as botocore 1.40 speaks to it: CloudWatch and STS in query and XML, DynamoDB in JSON; and faults."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Reply = Callable[["WireAws", web.Request], Awaitable[web.StreamResponse]]

__all__ = ["CLOUDWATCH_FAULTS", "JSON_FAULTS", "WireAws", "error_xml", "json_error", "json_text", "text"]

Answer = dict[str, Any]


def _listed(form: Mapping[str, str]) -> Answer:
    """Return a form's `A.member.1.B` as nested dictionaries and lists."""
    root: Answer = {}
    for name, value in form.items():
        place = root
        *path, last = name.split(".")
        for step in path:
            place = place.setdefault(step, {})
        place[last] = value
    return dict(_with_lists(root))


def _with_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if set(value) == {"member"}:
        return [_with_lists(value["member"][number]) for number in sorted(value["member"], key=int)]
    return {name: _with_lists(one) for name, one in value.items()}


def _xml(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(f"<{name}>{_xml(one)}</{name}>" for name, one in value.items())
    if isinstance(value, list):
        return "".join(f"<member>{_xml(one)}</member>" for one in value)
    return escape(value.isoformat() if hasattr(value, "isoformat") else str(value))


def text(body: str, status: int = 200, kind: str = "text/xml") -> Reply:
    async def reply(_: WireAws, __: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=body, content_type=kind)

    return reply


def error_xml(code: str, status: int = 400, message: str = "no") -> Reply:
    body = f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
    return text(body + "<RequestId>r</RequestId></ErrorResponse>", status)


def json_error(code: str, status: int = 400, message: str = "no") -> Reply:
    return text(f'{{"__type": "com.amazon#{code}", "message": "{message}"}}', status, "application/x-amz-json-1.0")


def json_text(body: str, status: int = 200) -> Reply:
    return text(body, status, "application/x-amz-json-1.0")


async def _silence(wire: WireAws, _: web.Request) -> web.StreamResponse:
    await wire.stopped.wait()
    return web.Response()


async def _hang_up(_: WireAws, request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def _break_off(_: WireAws, request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "text/xml"})
    await response.prepare(request)
    await response.write(b"<GetMetricDataResponse><GetMetricDataResult>")
    assert request.transport is not None
    request.transport.close()
    return response


_HTML = "<html><body><h1>Bad Gateway</h1></body></html>"
_VALUES = "<Id>m0</Id><Timestamps><member>noon</member></Timestamps><Values><member>many</member></Values>"

CLOUDWATCH_FAULTS: dict[str, Reply] = {
    "denied": error_xml("AccessDenied", 403),
    "throttled": error_xml("Throttling"),
    "timeout": _silence,
    "connection lost": _hang_up,
    "truncated body": _break_off,
    "half an answer": text("<GetMetricDataResponse><GetMetricDataResult><MetricDataResults>"),
    "500 HTML": text(_HTML, 500, "text/html"),
    "200 HTML": text(_HTML, 200, "text/html"),
    "wrong XML": text("<Other><Thing>1</Thing></Other>"),
    "wrong values": text(
        "<GetMetricDataResponse><GetMetricDataResult><MetricDataResults><member>"
        f"{_VALUES}</member></MetricDataResults></GetMetricDataResult></GetMetricDataResponse>"
    ),
    "service fault": error_xml("InternalServiceFault", 500),
    "expired token": error_xml("ExpiredToken", 403),
    "clock skew": error_xml("SignatureDoesNotMatch", 403, "Signature expired: 20261130T100000Z is now earlier"),
    "unknown key": error_xml("InvalidClientTokenId", 403),
}

JSON_FAULTS: dict[str, Reply] = {
    "denied": json_error("AccessDeniedException"),
    "throttled": json_error("ThrottlingException"),
    "absent": json_error("ResourceNotFoundException"),
    "unsupported": json_error("ValidationException"),
    "half an answer": json_text('{"Table": {"TableName": "or'),
    "200 HTML": text(_HTML, 200, "text/html"),
    "500 HTML": text(_HTML, 500, "text/html"),
    "wrong JSON": json_text('{"Table": [1, 2]}'),
    "clock skew": json_error("InvalidSignatureException", 400, "Signature not yet current: 20261130T110000Z"),
}


class WireAws:
    """Serves `answers` (operation → function of its parameters); `faults` (operation → reply) come before them.

    `script` holds replies for the next requests, whatever they ask for. `requests` are operation and parameters.
    """

    def __init__(self, answers: Mapping[str, Callable[[Answer], Answer]]) -> None:
        self.answers = dict(answers)
        self.faults: dict[str, Reply] = {}
        self.script: list[Reply] = []
        self.requests: list[tuple[str, Answer]] = []
        self.headers: list[Mapping[str, str]] = []
        self.stopped = asyncio.Event()
        self.url = ""
        self._runner: web.AppRunner | None = None

    async def start(self) -> WireAws:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def stop(self) -> None:
        self.stopped.set()
        if self._runner is not None:
            await self._runner.cleanup()

    def asked(self, operation: str) -> list[Answer]:
        return [params for name, params in self.requests if name == operation]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        target = request.headers.get("X-Amz-Target")
        if target is None:
            form = dict(parse_qsl(body, keep_blank_values=True))
            operation, params = form.pop("Action", request.path), _listed(form)
        else:
            operation, params = target.rpartition(".")[2], json.loads(body)
        self.requests.append((operation, params))
        self.headers.append(request.headers.copy())
        if self.script:
            return await self.script.pop(0)(self, request)
        if operation in self.faults:
            return await self.faults[operation](self, request)
        answer = self.answers[operation](params)
        if target is not None:
            return web.json_response(answer, content_type="application/x-amz-json-1.0")
        whole = f"<{operation}Response><{operation}Result>{_xml(answer)}</{operation}Result></{operation}Response>"
        return web.Response(text=whole, content_type="text/xml")
