"""Changes: what people and their tools did to tables, as CloudTrail keeps it. Read-only."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from analyzer.errors import MalformedError
from analyzer.model.batch import Batch, Check
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.window import Window
from collectors.asking import HERE, Paging, ask_check, follow_pages
from collectors.changes.parse import EVENT_NAMES, newest_first, read_event

if TYPE_CHECKING:
    from analyzer.errors import CollectError
    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from collectors.asking import Spot
    from collectors.changes.config import ChangesConfig
    from collectors.changes.parse import Event

__all__ = ["Changes"]

_API = ("cloudtrail", "LookupEvents")
_PAGE = 50
_MOST_PAGES = 40
"""Two thousand events of one kind a poll; at two calls a second that is 20 seconds."""
_MOST_EVENTS = 2000
_RETENTION_MS = 90 * 86_400_000
_LOOKUPS = (("EventSource", "dynamodb.amazonaws.com"), *(("EventName", name) for name in EVENT_NAMES))


class _Found(NamedTuple):
    """What one lookup gave; where it broke off it is not `is_read`, and is asked for again from where it began."""

    events: list[Event]
    gap: Gap | None = None
    is_read: bool = True


class Changes:
    """Looks events up in one account and region; an event is told once, however often it was read."""

    name: ClassVar[str] = SourceName.CHANGES

    def __init__(self, aws: AwsCaller, config: ChangesConfig, spot: Spot = HERE, account_id: str | None = None) -> None:
        self._aws = aws
        self._config = config
        self._spot = spot
        self._account = spot.account or account_id
        self._events: dict[str, Event] = {}
        self._read_to: dict[str, Instant] = {}

    async def collect(self, window: Window) -> Batch:
        """Return every change of the look-back; only what may be new is asked for."""
        first, *others = _LOOKUPS
        found = {first[1]: await self._look_up(*first, window)}
        if found[first[1]].is_read:  # else the others would fail alike; the next poll asks for them again
            told = await asyncio.gather(*(self._look_up(*lookup, window) for lookup in others))
            found |= {value: one for (_, value), one in zip(others, told, strict=True)}
        gaps = [one.gap for one in found.values() if one.gap is not None]
        for value, one in found.items():
            self._events |= {event.id: event for event in one.events}
            if one.is_read:
                self._read_to[value] = window.end
        since = window.start - self._config.lookback_ms
        self._events = newest_first(self._events, _MOST_EVENTS, since)
        events = reversed(self._events.values())
        changes = (change for event in events for change in event.changes if self._takes(change.table))
        return Batch(
            window=window,
            covers=() if gaps else (Covers(SourceName.CHANGES, Window(since, window.end)),),
            changes=tuple(changes),
            gaps=tuple(dict.fromkeys(gaps)),
            account=self._account,
            region=self._spot.region,
        )

    async def check(self) -> tuple[Check, ...]:
        """Try a lookup."""
        return (await ask_check(self._aws, SourceName.CHANGES, _API, self._spot, MaxResults=1),)

    def _takes(self, table: str | None) -> bool:
        return table is not None and self._config.takes(table)

    async def _look_up(self, attribute: str, value: str, window: Window) -> _Found:
        """Look up what may be new of one kind: since the last poll that went well, with its overlap."""
        start = window.start - self._config.lookback_ms
        known = self._read_to.get(value)
        if known is not None and known <= window.end:
            start = max(start, known - self._config.overlap_ms)
        stretch = Window(max(start, window.end - _RETENTION_MS), window.end)
        asked = {
            "LookupAttributes": [{"AttributeKey": attribute, "AttributeValue": value}],
            "StartTime": stretch.start / 1000,
            "EndTime": stretch.end / 1000,
            "MaxResults": _PAGE,
        }
        paged = await follow_pages(self._aws, _API, Paging("Events"), self._spot, asked, most=_MOST_PAGES)
        events, bad = _read(paged.rows)
        error: CollectError | None = paged.error
        if error is None and bad:
            hint = "look at it with `aws cloudtrail lookup-events`; please report what is unusual about it"
            error = MalformedError(f"LookupEvents: {bad} events cannot be read", hint=hint)
        if error is not None:
            gap = Gap.from_error(SourceName.CHANGES, error, window=stretch)
            return _Found(events, gap, is_read=paged.error is None)
        if paged.is_cut:
            detail = f"LookupEvents: more than {_MOST_PAGES * _PAGE:,} events of {value}; the oldest are left out"
            hint = "make changes.lookback shorter"
            gap = Gap(SourceName.CHANGES, GapReason.LOW_COVERAGE, detail, hint, start=stretch.start, end=stretch.end)
            return _Found(events, gap)
        return _Found(events)


def _read(rows: list[dict[str, Any]]) -> tuple[list[Event], int]:
    """Return the events that can be read, and how many cannot."""
    events: list[Event] = []
    bad = 0
    for row in rows:
        try:
            events.append(read_event(row))
        except ValueError:
            bad += 1
    return events, bad
