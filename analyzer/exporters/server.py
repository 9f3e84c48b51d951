"""What the daemon serves over HTTP: metrics, health, documentation, the last report; it takes marks and snoozes."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from analyzer.errors import UsageError
from analyzer.exporters.access import OPEN, Access
from analyzer.exporters.address import host_of, is_loopback
from analyzer.exporters.connections import USUAL, Bounds, Connections
from analyzer.exporters.docs import detector_page, docs_index, metrics_page, prometheus_page
from analyzer.exporters.gate import Gate
from analyzer.exporters.marks import Marks, read_mark
from analyzer.exporters.posted import answered, posted
from analyzer.exporters.prometheus import NOTHING_YET, OPENMETRICS_TYPE, TEXT_TYPE, Exposition, lease_told
from analyzer.exporters.screen import Screen
from analyzer.exporters.shown import Shown
from analyzer.exporters.snoozes import SnoozeDesk
from analyzer.exporters.standing import Standing
from analyzer.model.instant import format_instant

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from analyzer.model.instant import Instant
    from analyzer.model.report import Report
    from analyzer.render.show import Policy
    from analyzer.requests.tokens import Salt

_INDEX_PATHS = ("/docs", "/docs/", "/docs/detectors", "/docs/detectors/")
__all__ = ["Server"]

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_OF_REFUSALS = ("Allow", "Retry-After", "WWW-Authenticate")
_CLOSE_SECONDS = 1.0
_STALE_MS = 300_000
"""Judging takes seconds at 500 busy tables: whoever judged nothing for so long hangs, or its machine does."""
_STRANGE = (HttpProcessingError, web.RequestPayloadError, ConnectionError)


class Server:
    """An exporter that keeps the last report and the last rendering of the metrics, and hands them out.

    Requests never judge: what they get was concluded in the analysis before, and what is drawn of it is drawn once.
    """

    def __init__(
        self,
        pages: Mapping[str, Path],
        policy: Policy = "template",
        salt: Salt | None = None,
        marks: Marks | None = None,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000_000,
        access: Access = OPEN,
        bounds: Bounds = USUAL,
    ) -> None:
        self.shown = Shown(policy, salt)
        self.marks = Marks() if marks is None else marks
        self.standing: Callable[[], Standing] = lambda: Standing.ALONE
        """Whether this daemon reads AWS, another does, or nobody is known to."""
        self.snoozes = SnoozeDesk(clock)
        self.screen = Screen(self.shown)
        self._clock = clock
        self._pages = pages
        self._exposition: Exposition = NOTHING_YET
        self._runner: web.AppRunner | None = None
        self._connections = Connections(bounds)
        self._is_local = True
        self._judged_at: Instant = 0
        self.gate = Gate(access)

    @property
    def policy(self) -> Policy:
        """How keys are shown."""
        return self.shown.policy

    @property
    def salt(self) -> Salt | None:
        """What makes the tokens of keys that are shown."""
        return self.shown.salt

    def look(self, policy: Policy, salt: Salt | None = None) -> None:
        """Show keys in another way from now on."""
        self.shown.policy, self.shown.salt = policy, salt
        self.shown.forget()
        self.screen.forget()

    async def export(self, report: Report) -> None:
        """Show a report from now on."""
        self.shown.take(report)
        self._judged_at = self._clock()
        self.screen.forget()

    def publish(self, exposition: Exposition) -> None:
        """Serve a rendering of the metrics from now on."""
        self._exposition = exposition

    def admit(self, access: Access) -> None:
        """Ask this of clients from now on; another certificate of the server takes a new start.

        Streams end where anything of it changed, since they were let in by what was asked before.
        """
        if access != self.gate.access:
            self.screen.events.end_streams()
        self.gate = Gate(access)

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port; raises UsageError where the address cannot be had."""
        tls = self.gate.access.tls
        self._is_local = is_loopback(host)
        logging.getLogger("aiohttp.server").addFilter(_is_ours)
        app = web.Application(middlewares=[self._guard])
        app.on_response_prepare.append(_be_careful)
        app.add_routes(
            [
                web.get("/metrics", self._metrics),
                web.get("/healthz", self._health),
                web.get("/readyz", self._ready),
                *(web.get(path, self._docs_index) for path in _INDEX_PATHS),
                web.get("/docs/metrics", self._metrics_page),
                web.get("/docs/prometheus", self._prometheus_page),
                web.get("/docs/detectors/{name}", self._detector),
                web.get("/api/v1/report", self._api_report),
                web.get("/api/v1/findings", self._api_findings),
                web.post("/api/v1/changes", self._api_changes),
                *self.snoozes.routes(),
                *self.screen.routes(),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=_CLOSE_SECONDS)
        await self._runner.setup()
        served = cast("web.Server", self._runner.server)
        try:
            taken = await self._connections.listen(served, host, port, tls.context() if tls else None)
        except OSError as error:
            await self._runner.cleanup()
            raise UsageError(
                f"cannot listen on {host}:{port}: {error.strerror}; choose another with `listen`"
            ) from None
        if taken is not None:
            return taken
        await self._runner.cleanup()
        raise UsageError(f"cannot listen on {host}:{port}: no such address here, or too many open files")

    def dropped(self) -> dict[str, int]:
        """Return how often there was no room for a client, by what it was."""
        return dict.fromkeys(("connections", "unread-answers"), 0) | dict(self._connections.dropped)

    async def stop(self) -> None:
        """Stop listening."""
        self.screen.events.close()
        self._connections.close()
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse names that a foreign page made up for this machine, and clients that may not ask."""
        self._connections.note(request)
        if self._is_local and not is_loopback(host_of(request.headers.get("Host", "localhost"))):
            return web.Response(status=403, text="this address is served to this machine alone\n")
        try:
            self.gate.check(request)
            response = await handler(request)  # its name is aiohttp's, which passes it by keyword
        except web.HTTPException as refusal:
            kept = {name: refusal.headers[name] for name in _OF_REFUSALS if name in refusal.headers}
            response = web.Response(status=refusal.status, text=f"{refusal.reason}\n", headers=kept)
        return response

    async def _metrics(self, request: web.Request) -> web.Response:
        is_open = "application/openmetrics-text" in request.headers.get("Accept", "")
        body = self._exposition.openmetrics if is_open else self._exposition.text
        body = lease_told(body, self.standing())
        return web.Response(body=body, headers={"Content-Type": OPENMETRICS_TYPE if is_open else TEXT_TYPE})

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _request: web.Request) -> web.Response:
        """Say whether it works; one that stands by does, and is ready to take over."""
        standing = self.standing()
        if standing is Standing.UNKNOWN:
            return web.Response(status=503, text="the lease cannot be reached, nobody is known to read AWS\n")
        if standing is Standing.WAITS:
            return web.Response(text="standby\n")
        if self.shown.report is None:
            return web.Response(status=503, text="nothing judged yet\n")
        if self._clock() - self._judged_at > _STALE_MS:
            return web.Response(status=503, text="nothing judged for over five minutes\n")
        return web.Response(text="ok\n")

    async def _docs_index(self, _request: web.Request) -> web.Response:
        return _html(docs_index(self._pages))

    async def _metrics_page(self, _request: web.Request) -> web.Response:
        return _html(metrics_page())

    async def _prometheus_page(self, _request: web.Request) -> web.Response:
        page = prometheus_page()
        if page is None:
            raise web.HTTPNotFound
        return _html(page)

    async def _detector(self, request: web.Request) -> web.Response:
        page = detector_page(self._pages, request.match_info["name"].removesuffix(".md"))
        if page is None:
            raise web.HTTPNotFound
        return _html(page)

    async def _api_report(self, _request: web.Request) -> web.Response:
        return await self.screen.answer("report", self.shown.document)

    async def _api_findings(self, _request: web.Request) -> web.Response:
        async def findings() -> dict[str, Any]:
            document = await self.shown.document()
            return {name: document[name] for name in ("v", "window", "as_of", "verdict", "findings")}

        return await self.screen.answer("findings", findings)

    async def _api_changes(self, request: web.Request) -> web.Response:
        """Take a mark."""
        body = await posted(request)
        try:
            mark = read_mark(body, self._clock())
        except ValueError as error:
            return web.Response(status=400, text=f"{error}\n")
        self.marks.add(mark)
        told = {"time": format_instant(mark.time), "what": mark.what, "detail": mark.detail}
        return answered({"v": 1, **told, "written": self.marks.is_written}, 201)


async def _be_careful(_request: web.Request, response: web.StreamResponse) -> None:
    """Give every answer the same careful headers; the page has a policy of its own."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)


def _is_ours(told: logging.LogRecord) -> bool:
    """Whether the web server speaks of a bug of ours, and not of what a stranger sent, or cut, that is no HTTP."""
    return told.exc_info is None or not isinstance(told.exc_info[1], _STRANGE)


def _html(page: str) -> web.Response:
    return web.Response(text=page, content_type="text/html")
