"""Marks: changes that nobody but people and their tools can tell, such as a deploy. Bounded, kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.errors import closest
from analyzer.model.batch import Batch
from analyzer.model.finding import Change
from analyzer.model.instant import parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["Marks", "read_mark"]

_MOST = 1000
_KEPT_MS = 86_400_000
_LONGEST = 200
_AHEAD_MS = 60_000
"""Clocks differ; what lies further ahead than a minute has not happened."""
_DEPLOY = "deploy"
_KINDS = (
    _DEPLOY,
    "billing-mode",
    "capacity",
    "index-created",
    "index-deleted",
    "insights",
    "replica",
    "restore",
    "scaling",
    "stream",
    "table-created",
    "table-deleted",
    "ttl",
)
"""What may be changed (docs/reference/formats.md, 2): how long its effect is looked for depends on it."""


class _Mark(Struct, forbid_unknown_fields=True):
    detail: str
    what: str = _DEPLOY
    time: str | None = None
    table: str | None = None
    index: str | None = None
    who: str | None = None


class Marks:
    """The marks of the last day, a thousand at most; what did not fit is counted.

    `is_written` is False where the daemon cannot write them down, as on a full disk: a restart forgets them.
    """

    def __init__(self, known: Iterable[Change] = ()) -> None:
        self._known: list[Change] = list(known)[-_MOST:]
        self.dropped = 0
        self.is_written = True

    def add(self, mark: Change) -> None:
        """Keep a mark; the oldest makes room."""
        if mark in self._known:
            return
        self._known = sorted([*self._known, mark], key=lambda one: one.time)
        self.dropped += max(0, len(self._known) - _MOST)
        self._known = self._known[-_MOST:]

    def known(self) -> tuple[Change, ...]:
        """Return all that are kept, the oldest first: what a checkpoint is to hold."""
        return tuple(self._known)

    def batch(self, window: Window) -> Batch:
        """Return what a judgement of a window is to know of them: those of the day before its end."""
        since = window.end - _KEPT_MS
        self._known = [mark for mark in self._known if mark.time >= since]
        return Batch(window=window, changes=tuple(mark for mark in self._known if mark.time <= window.end))


def read_mark(body: bytes, now: Instant) -> Change:
    """Read the JSON of a mark: `detail`, and perhaps `what` (deploy), `time` (now), `table`, `index`, `who`.

    Raises ValueError with what is wrong, fit for whoever sent it.
    """
    try:
        told = msgspec.json.decode(body, type=_Mark)
    except msgspec.DecodeError as error:
        raise ValueError(f"it is no mark: {error}") from None
    texts: dict[str, Any] = {name: getattr(told, name) for name in ("detail", "what", "table", "index", "who")}
    for name, text in texts.items():
        if text is not None and (not text.strip() or len(text) > _LONGEST or not text.isprintable()):
            raise ValueError(f"{name} is a line of 1 to {_LONGEST} characters")
    if told.what not in _KINDS:
        meant = closest(told.what, _KINDS)
        raise ValueError(f"what is one of {', '.join(_KINDS)}" + (f"; did you mean {meant}?" if meant else ""))
    if told.index is not None and told.table is None:
        raise ValueError("an index needs its table")
    try:
        time = now if told.time is None else parse_instant(told.time)
    except ValueError:
        raise ValueError("time is RFC 3339, such as 2026-06-01T10:00:00Z") from None
    if not now - _KEPT_MS <= time <= now + _AHEAD_MS:
        raise ValueError("time lies within the last day")
    return Change(time=time, source="mark", **texts)
