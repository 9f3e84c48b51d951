"""Snoozes over HTTP: which stand, one more, one less. They are kept elsewhere; here they are read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from aiohttp import web
from msgspec import Struct

from analyzer.errors import DynascopeError
from analyzer.exporters.posted import answered, posted, refuse_strangers
from analyzer.lifecycle.snooze import snooze_of, unknown
from analyzer.model.instant import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from analyzer.model.instant import Instant
    from analyzer.model.life import Life, Snooze

__all__ = ["SnoozeDesk", "SnoozeKeeper", "read_snooze", "snooze_object"]

_LONGEST_ID = 64


class SnoozeKeeper(Protocol):
    """Who keeps snoozes; each of it raises DynascopeError where they cannot be read or written."""

    async def known(self) -> Collection[str]:
        """Return the ids of all findings that there are and were."""
        ...

    async def listed(self, at: Instant) -> tuple[tuple[Snooze, Life | None], ...]:
        """Return the snoozes that stand, each with the life of its finding."""
        ...

    def lost(self) -> str | None:
        """Say that snoozes were lost, None where none were."""
        ...

    async def add(self, snooze: Snooze) -> None:
        """Keep a snooze, in place of one of the same finding."""
        ...

    async def end(self, identity: str) -> bool:
        """End a snooze; return whether there was one."""
        ...


class _Told(Struct, forbid_unknown_fields=True):
    id: str
    until: str
    reason: str
    who: str | None = None


def read_snooze(body: bytes, known: Collection[str], now: Instant) -> Snooze:
    """Read the JSON of a snooze: `id`, `until` (a day, or a time), `reason`, and perhaps `who`.

    Raises ValueError with what is wrong, fit for whoever sent it.
    """
    try:
        told = msgspec.json.decode(body, type=_Told)
    except msgspec.DecodeError as error:
        raise ValueError(f"it is no snooze: {error}") from None
    return snooze_of((told.id, told.until, told.reason, told.who), known, now)


def snooze_object(snooze: Snooze, life: Life | None) -> dict[str, Any]:
    """Return a snooze as JSON has it, with what is snoozed, where that is known."""
    place = {name: getattr(life, name, None) for name in ("detector", "table", "index", "severity", "status")}
    times = {"until": format_instant(snooze.until), "at": format_instant(snooze.at)}
    return {"id": snooze.id, **times, "reason": snooze.reason, "who": snooze.who, **place}


class SnoozeDesk:
    """The routes of `/api/v1/snoozes`; `keeper` is there once the daemon has opened its state."""

    def __init__(self, clock: Callable[[], Instant]) -> None:
        self.keeper: SnoozeKeeper | None = None
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, to be added to an application."""
        return [
            web.get("/api/v1/snoozes", self._list),
            web.post("/api/v1/snoozes", self._take),
            web.delete("/api/v1/snoozes/{id}", self._end),
        ]

    def _kept(self) -> SnoozeKeeper:
        if self.keeper is None:
            raise web.HTTPServiceUnavailable(reason="nothing judged yet")
        return self.keeper

    async def _list(self, _request: web.Request) -> web.Response:
        try:
            listed = await self._kept().listed(self._clock())
        except DynascopeError as error:
            return _refused(503, str(error))
        told = [snooze_object(snooze, life) for snooze, life in listed]
        return answered({"v": 1, "snoozes": told, "lost": self._kept().lost()})

    async def _take(self, request: web.Request) -> web.Response:
        body, keeper = await posted(request), self._kept()
        try:
            snooze = read_snooze(body, await keeper.known(), self._clock())
            await keeper.add(snooze)
            life = dict(await keeper.listed(self._clock())).get(snooze)
        except ValueError as error:
            return _refused(400, str(error))
        except DynascopeError as error:
            return _refused(503, str(error))
        return answered({"v": 1, **snooze_object(snooze, life)}, 201)

    async def _end(self, request: web.Request) -> web.Response:
        refuse_strangers(request)
        identity, keeper = request.match_info["id"][:_LONGEST_ID], self._kept()
        try:
            if await keeper.end(identity):
                return answered({"v": 1, "id": identity})
            snoozed = [snooze.id for snooze, _ in await keeper.listed(self._clock())]
        except DynascopeError as error:
            return _refused(503, str(error))
        return _refused(400, unknown(identity, snoozed, "snoozed finding"))


def _refused(status: int, reason: str) -> web.Response:
    return web.Response(status=status, text=f"{reason}\n")
