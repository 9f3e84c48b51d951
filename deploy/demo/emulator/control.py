"""The paths under /_demo/: how a test or the demo fills tables, plants a history, moves the clock and scripts faults.

Bodies are JSON, times milliseconds since the epoch. What is not understood is a 400 with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web
from msgspec import Struct, field

from deploy.demo.emulator.clock import MINUTE, minute_of
from deploy.demo.emulator.faults import Fault
from deploy.demo.emulator.insights import ACCESSED, MODES
from deploy.demo.emulator.minutes import Resource
from deploy.demo.emulator.overlay import UnknownTable
from deploy.demo.emulator.plant import Planting, plant
from deploy.demo.emulator.refusal import Refused, ThrottleReason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from deploy.demo.emulator.services import Services

__all__ = ["add_routes"]

_ACCOUNT = "123456789012"
_REGION = "us-east-1"


class _Placed(Struct, forbid_unknown_fields=True, kw_only=True):
    account: str = _ACCOUNT
    region: str = _REGION

    @property
    def place(self) -> tuple[str, str]:
        return self.account, self.region


class _Seed(_Placed):
    table: str
    items: list[dict[str, Any]]


class _ClockMove(Struct, forbid_unknown_fields=True):
    at: int | None = None
    """Stand at this time."""
    advance_ms: int | None = None
    """Stand so much later."""
    run: bool = False
    """Go with the machine's clock."""


class _Watched(_Placed):
    table: str
    index: str | None = None
    mode: str = ACCESSED
    since: int | None = None
    """Since when the rules count; None is since now, and passes through ENABLING."""
    failure: str | None = None
    """FAILED with this exception."""


class _Throttled(_Placed):
    table: str
    reason: str
    index: str | None = None
    times: int = 1


class _Repeated(Struct, forbid_unknown_fields=True):
    seconds: float
    """How long what was counted took."""
    at: int
    """The first minute in which it is to stand."""
    minutes: int


class _Described(_Placed):
    table: str
    patch: dict[str, Any]


class _Scaled(_Placed):
    member: str
    entries: list[dict[str, Any]]


class _Event(_Placed):
    name: str
    at: int
    service: str = "dynamodb"
    user: str = "demo"
    parameters: dict[str, Any] = field(default_factory=dict)


class _Rate(Struct, forbid_unknown_fields=True):
    service: str
    operation: str
    calls_a_second: float | None
    """None lifts the limit."""


class _Settings(Struct, forbid_unknown_fields=True):
    metrics_delay_seconds: float | None = None
    insights_delay_seconds: float | None = None
    trail_delay_seconds: float | None = None
    enabling_seconds: float | None = None
    rule_quota: int | None = None
    top_set: int | None = None


class _Control:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def seed(self, raw: bytes) -> object:
        asked = msgspec.json.decode(raw, type=_Seed)
        return {"items": self._services.overlay.seed(asked.place, asked.table, asked.items)}

    async def reset(self, _: bytes) -> object:
        await self._services.reset()
        return {}

    async def clock(self, raw: bytes) -> object:
        asked, clock = msgspec.json.decode(raw, type=_ClockMove), self._services.clock
        if asked.run:
            clock.run()
        if asked.at is not None:
            self._services.stand(asked.at / 1000)
        if asked.advance_ms is not None:
            clock.advance(asked.advance_ms / 1000)
        return {"at": int(clock.now() * 1000)}

    async def plant(self, raw: bytes) -> object:
        plant(msgspec.json.decode(raw, type=Planting), self._services.meter)
        return {}

    async def insights(self, raw: bytes) -> object:
        asked, services = msgspec.json.decode(raw, type=_Watched), self._services
        if asked.mode not in MODES:
            raise ValueError(f"{asked.mode} is none of {', '.join(MODES)}")
        schema = services.schema(asked.place, asked.table, asked.index)
        resource = Resource(asked.place, asked.table, asked.index)
        since = None if asked.since is None else asked.since / 1000
        watch = services.insights.enable(resource, schema, asked.mode, since)
        if asked.failure is not None:
            watch.failure, watch.rules = asked.failure, {}
        return {"rules": {rule: name for rule, (name, _) in watch.rules.items()}}

    async def repeat(self, raw: bytes) -> object:
        asked = msgspec.json.decode(raw, type=_Repeated)
        first = minute_of(asked.at / 1000)
        self._services.meter.minutes.repeat(asked.seconds, range(first, first + asked.minutes * MINUTE, MINUTE))
        return {}

    async def describe(self, raw: bytes) -> object:
        asked, overlay = msgspec.json.decode(raw, type=_Described), self._services.overlay
        overlay.catalog.say(asked.place, asked.table, asked.patch)
        warm = asked.patch.get("WarmThroughput")
        if warm is not None and overlay.has(asked.place, asked.table):
            overlay.buckets.warm(overlay.find(asked.place, asked.table), warm)
        return {}

    async def scaling(self, raw: bytes) -> object:
        asked = msgspec.json.decode(raw, type=_Scaled)
        self._services.scaling.plant(asked.place, asked.member, asked.entries)
        return {}

    async def trail(self, raw: bytes) -> object:
        asked = msgspec.json.decode(raw, type=_Event)
        at = asked.at / 1000
        self._services.trail.add(asked.place, asked.name, asked.service, at, asked.parameters, asked.user)
        return {}

    async def faults(self, raw: bytes) -> object:
        self._services.faults.add(msgspec.json.decode(raw, type=Fault))
        return {}

    async def clear_faults(self, _: bytes) -> object:
        self._services.faults.clear()
        return {}

    async def rates(self, raw: bytes) -> object:
        asked = msgspec.json.decode(raw, type=_Rate)
        self._services.rates.set(asked.service, asked.operation, asked.calls_a_second)
        return {}

    async def throttles(self, raw: bytes) -> object:
        asked = msgspec.json.decode(raw, type=_Throttled)
        self._services.schema(asked.place, asked.table, asked.index)
        arn = self._services.overlay.find(asked.place, asked.table).resource(asked.index)
        self._services.overlay.buckets.squeeze(ThrottleReason(asked.reason, arn), asked.times)
        return {}

    async def settings(self, raw: bytes) -> object:
        asked, services = msgspec.json.decode(raw, type=_Settings), self._services
        holders: tuple[tuple[object, str, float | None], ...] = (
            (services.cloudwatch, "delay_seconds", asked.metrics_delay_seconds),
            (services.reports, "delay_seconds", asked.insights_delay_seconds),
            (services.trail, "delay_seconds", asked.trail_delay_seconds),
            (services.insights, "enabling_seconds", asked.enabling_seconds),
            (services.insights, "rule_quota", asked.rule_quota),
            (services.reports, "top_set", asked.top_set),
        )
        for holder, name, value in holders:
            if value is not None:
                setattr(holder, name, value)
        return {}

    async def served(self, _: bytes) -> object:
        return self._services.overlay.journal.tell()

    async def calls(self, _: bytes) -> object:
        services = self._services
        return {
            "calls": [
                {"service": service, "operation": operation, "count": count}
                for (service, operation), count in services.calls.items()
            ],
            "metrics_asked": services.cloudwatch.metrics_asked,
        }


def _route(do: Callable[[bytes], Awaitable[object]]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def serve(request: web.Request) -> web.Response:
        try:
            told = await do(await request.read())
        except UnknownTable as unknown:
            return web.json_response({"message": f"there is no table {unknown}"}, status=404)
        except (msgspec.ValidationError, msgspec.DecodeError, ValueError, Refused) as error:
            return web.json_response({"message": str(error)}, status=400)
        return web.Response(body=msgspec.json.encode(told), content_type="application/json")

    return serve


def add_routes(app: web.Application, services: Services) -> None:
    """Add the paths of our own."""
    control = _Control(services)
    for name, do in (
        ("seed", control.seed),
        ("reset", control.reset),
        ("clock", control.clock),
        ("plant", control.plant),
        ("insights", control.insights),
        ("describe", control.describe),
        ("repeat", control.repeat),
        ("scaling", control.scaling),
        ("trail", control.trail),
        ("faults", control.faults),
        ("rates", control.rates),
        ("settings", control.settings),
        ("throttles", control.throttles),
    ):
        app.router.add_post(f"/_demo/{name}", _route(do))
    app.router.add_delete("/_demo/faults", _route(control.clear_faults))
    app.router.add_get("/_demo/served", _route(control.served))
    app.router.add_get("/_demo/calls", _route(control.calls))
