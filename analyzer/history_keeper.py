"""History beside a loop: closed minutes are written down, old ones tidied, and the past is read for detectors.

Nothing waits for a disk or for S3. What cannot be written is tried again for two hours, then counted as lost; after a
restart that goes on as far as the daemon knows those minutes again. It is logged once a minute, stands as a gap in
every report while it lasts, and the daemon goes on: the hole is in history itself, which says what it covers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING

from msgspec import DecodeError

from analyzer.correlator.attributor import Attributor
from analyzer.exporters.assemble import HistoryHealth
from analyzer.history.compaction import tidy
from analyzer.history.day import Day
from analyzer.history.files import HistoryError, TornError
from analyzer.history.minutes import minute_of
from analyzer.history.names import DAY_MS, HOUR_MS, FileName
from analyzer.history.past import load_past
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import MINUTE_MS, format_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from structlog.typing import FilteringBoundLogger

    from analyzer.closing import Closed
    from analyzer.contract.model import Contract
    from analyzer.history.columns import Kind
    from analyzer.history.compaction import Keeping
    from analyzer.history.dataset import Dataset
    from analyzer.history.folder import NameClaim
    from analyzer.history.minutes import Minute
    from analyzer.model.calls import CallBook
    from analyzer.model.finding import Finding
    from analyzer.model.instant import Instant
    from analyzer.model.table import TableSnapshot

__all__ = ["HistoryKeeper"]

_MOST_WAITING = 120
"""Minutes that wait to be written: two hours, more than the daemon would know again."""
_TOLD_MS = 4 * HOUR_MS
"""How long a hole is told of after it ended: two hours in which its minutes waited, and two for somebody to look."""
_MOST_HOLES = 16
_MOST_DAYS = 8
"""Days whose files wait to be written; two of them stay when they are, since minutes close after midnight."""
_FINISH_SECONDS = 2.0
"""So long the end waits for what is still to be written."""
_WRITING, _TIDYING = "history cannot be written", "history cannot be tidied"
_READING = "history of the day cannot be read"
_SHARED = "two daemons write history under one name"
_HINTS = {
    _WRITING: "make room, or mend the access: it is tried again every minute, and what waits over two hours is lost",
    _TIDYING: "minutes are not made hours, and detectors know the past as it was read before: "
    "make room, or mend the access",
    _READING: "no file of a day is replaced before it was read: mend the access, it is tried again every minute",
    _SHARED: "each overwrites the minutes of the other: give each a `history.daemon` of its own, or leave it out",
}


def _always() -> bool:
    """Say that history is this daemon's to write."""
    return True


class HistoryKeeper:
    """Writes one daemon's history; `past` is what detectors know of the weeks before.

    `is_ours` says whether it may: where it is False another daemon writes what closes, where it is None nobody is
    known to, and minutes wait.
    """

    def __init__(self, dataset: Dataset, keeping: Keeping, log: FilteringBoundLogger, contract: Contract) -> None:
        self._dataset = dataset
        self._keeping = keeping
        self._log = log
        self._waiting: deque[Closed] = deque()
        self._wake = asyncio.Event()
        self._in_hand: Instant | None = None
        self._failing: dict[str, str] = {}
        self._said: dict[str, Instant] = {}
        self._holes: deque[Window] = deque(maxlen=_MOST_HOLES)
        self._days: dict[int, Day] = {}
        self._today: Day | None = None
        self._looked: Instant = 0
        self._tidied: Instant | None = None
        self._was_ours = False
        self.known_late: int | None = None
        """The last late batch that the checkpoint knows; those after it go before anything is written."""
        self.claim: NameClaim | None = None
        """The name under which it writes to a folder; None where nobody can tell whose it is."""
        self.is_ours: Callable[[], bool | None] = _always
        self.past: History = EMPTY
        self.lost = 0
        self._torn = 0
        self._dropped = 0
        self.adopt(contract)

    def adopt(self, contract: Contract) -> None:
        """Attribute what is written from now on under another contract."""
        self._attribute = Attributor(contract)
        self._name = contract.caller_of

    def take(self, minutes: Iterable[Closed], lost: Iterable[Instant] = ()) -> None:
        """Take in minutes that have closed; of more than wait at most the oldest are lost.

        `lost` are minutes that waited when the daemon ended, and are not known any more.
        """
        for start in lost:
            self._lose(start)
        is_ours = self.is_ours()
        self._was_ours |= bool(is_ours)
        if is_ours is False:
            if not self._was_ours:  # from the start, before it was known whose it is
                self._waiting.clear()
            return
        self._waiting.extend(minutes)
        while len(self._waiting) > _MOST_WAITING:
            self._lose(self._waiting.popleft().counts.window.start)
        if self._waiting:
            self._wake.set()

    @property
    def unwritten(self) -> tuple[Instant, ...]:
        """The minutes that wait to be written, that which is being written among them."""
        waiting = (closed.counts.window.start for closed in self._waiting)
        return (*waiting, *(() if self._in_hand is None else (self._in_hand,)))

    def _lose(self, start: Instant) -> None:
        """Take note of a minute that was never written; those that follow one another make one hole."""
        self.lost += 1
        end = start + MINUTE_MS
        if self._holes and self._holes[-1].end == start:
            start = self._holes.pop().start
        self._holes.append(Window(start, end))

    def gaps(self, at: Instant) -> tuple[Gap, ...]:
        """Return what history lacks as of now: what cannot be done, and the holes of the last hours."""
        return (*self._standing(), *self._missing(at))

    def _standing(self) -> Iterator[Gap]:
        for what, because in self._failing.items():
            waiting = len(self._waiting) if what == _WRITING else 0
            waits = f"; {waiting} {'minute waits' if waiting == 1 else 'minutes wait'}" if waiting else ""
            yield Gap(SourceName.HISTORY, GapReason.LATE, f"{what}: {because}{waits}", _HINTS[what])

    def _missing(self, at: Instant) -> Iterator[Gap]:
        for hole in self._holes:
            if at - hole.end < _TOLD_MS:
                minutes = (hole.end - hole.start) // MINUTE_MS
                some = "1 minute is" if minutes == 1 else f"{minutes} minutes are"
                told = f"{some} missing in history from {format_instant(hole.start)}: it could not be written in time"
                hint = "reports and drift say what they do not cover; nothing brings these minutes back"
                yield Gap(SourceName.HISTORY, GapReason.LOW_COVERAGE, told, hint, start=hole.start, end=hole.end)

    def look(
        self, at: Instant, findings: Iterable[Finding], snapshots: Iterable[TableSnapshot], book: Callable[[], CallBook]
    ) -> None:
        """Take note of what a day has one file of."""
        self._looked = at
        today, number = self._today, at // DAY_MS
        if today is None or number > today.number:
            self._today = self._day_of(at)
            if today is not None:
                today.finish(at)
                self._today.looked = today.looked
        self._day_of(at).note(at, findings, snapshots, book)
        self._remind(at)

    def _remind(self, at: Instant) -> None:
        """Say once a minute what still cannot be done."""
        self._said = {what: self._said.get(what, at) for what in self._failing}
        for what, said in self._said.items():
            if not 0 <= at - said < MINUTE_MS:
                self._said[what] = at
                self._log.error(what, because=self._failing[what], waiting=len(self._waiting), lost=self.lost)

    def _day_of(self, at: Instant) -> Day:
        """Return the day of an instant; one that was let go begins anew, and reads its files before it writes any."""
        return self._days.setdefault(at // DAY_MS, Day(at // DAY_MS))

    async def run(self, clock: Callable[[], Instant], known_late: int | None = None) -> None:
        """Load the past, then write what closes until it is cancelled, and then what is still owed.

        What was written late after `known_late` goes before.
        """
        self.known_late = known_late
        try:
            await self._claim_name()
            while True:
                now = clock()
                if self._tidied is None or now - self._tidied >= HOUR_MS or now < self._tidied:
                    self._tidied = now
                    await self._tidy(now)
                await self._wake.wait()
                self._wake.clear()
                await self.write()
        finally:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._finish(), _FINISH_SECONDS)
            if self.claim is not None:
                self.claim.release()

    async def _finish(self) -> None:
        """Write what is owed, also where the lease was given back a moment ago: nobody else knows of it."""
        if self._today is not None:
            self._today.finish(self._looked)
        is_ours = self.is_ours()
        if is_ours or (is_ours is None and self._was_ours):
            await self._write()

    async def write(self) -> None:
        """Write all that waits, where it is ours to write; where that fails it waits on."""
        await self._claim_name()
        if self.is_ours():
            await self._write()

    async def _claim_name(self) -> None:
        if self.claim is not None:
            is_own = await asyncio.to_thread(self.claim.take)
            self._tell(_SHARED, None if is_own else f"another one is {self._dataset.daemon} there too")

    async def _forget_late(self) -> None:
        if self.known_late is not None:
            await self._dataset.forget_late(self.known_late)
            self.known_late = None

    async def _write(self) -> None:
        if self.known_late is not None and not await self._try(self._forget_late(), _WRITING):
            return
        while self._waiting:
            closed = self._waiting.popleft()
            is_written, self._in_hand = False, closed.counts.window.start
            try:
                minute = await asyncio.to_thread(minute_of, closed.counts, self._attribute, self._name)
                is_written = await self._try(self._write_minute(minute, closed), _WRITING)
            finally:
                self._in_hand = None
                if not is_written:
                    self._waiting.appendleft(closed)
            if not is_written:
                return
        for _, day in sorted(self._days.items()):
            for kind in day.due():
                await self._write_file(day, kind)
        self._let_days_go()

    async def _write_minute(self, minute: Minute, closed: Closed) -> None:
        await self._dataset.write_minutes([minute], late=closed.is_late, number=closed.number)
        self._day_of(minute.start).note_shapes(minute.shapes)

    async def _write_file(self, day: Day, kind: Kind) -> None:
        """Write one file of a day; one that is there must have been read before it is replaced."""
        if kind in day.unread and not await self._try(self._resume(day, kind), _READING):
            return
        is_written, rows = False, day.take(kind)
        try:
            is_written = await self._try(self._dataset.write_day(kind, day.start, rows), _WRITING)
        finally:
            if not is_written:
                day.owe(kind)

    async def _resume(self, day: Day, kind: Kind) -> None:
        """Go on with a file of a day: one that is written anew must hold what it held."""
        name = FileName(kind, day.start, DAY_MS, self._dataset.daemon)
        try:
            rows, _ = await self._dataset.load(name)
            day.resume(kind, rows)
        except KeyError:
            day.resume(kind, None)
        except (TornError, DecodeError):
            await self._dataset.set_aside(name)
            self._note_torn(str(name))
            day.resume(kind, None)

    def _let_days_go(self) -> None:
        """Let go of days that owe nothing, and of the oldest where too many owe something."""
        older = sorted(self._days)[:-2]
        for number in older:
            if not self._days[number].owes:
                self._dropped += self._days.pop(number).dropped
        for number in sorted(self._days)[:-_MOST_DAYS]:
            self._dropped += self._days.pop(number).dropped
            self._log.error("history of a day is lost: it could not be written", day=format_instant(number * DAY_MS))

    async def _tidy(self, now: Instant) -> None:
        newer: str | None = None
        try:
            if self.is_ours():
                await self._forget_late()
                tidied = await tidy(self._dataset, self._keeping, now)
                for name in tidied.torn:
                    self._note_torn(name)
                newer = tidied.newer
            self.past = await load_past(self._dataset, now)
        except HistoryError as error:
            self._tell(_TIDYING, str(error))
        else:
            self._tell(_TIDYING, newer)

    def _note_torn(self, name: str) -> None:
        self._torn += 1
        self._log.error("history set aside: it cannot be read", file=name)

    def health(self) -> HistoryHealth:
        """Return what was lost since the process began."""
        dropped = self._dropped + sum(day.dropped for day in self._days.values())
        return HistoryHealth(torn_files=self._torn, lost=self.lost, dropped_pairs=dropped)

    async def _try(self, work: object, what: str) -> bool:
        try:
            await work  # type: ignore[misc] # a coroutine
        except HistoryError as error:
            self._tell(what, str(error))
            return False
        self._tell(what, None)
        return True

    def _tell(self, what: str, because: str | None) -> None:
        """Say that something fails, which `_remind` repeats, and once that it works again."""
        before = self._failing.pop(what, None)
        if because is not None:
            self._failing[what] = because
        if because is not None and before is None:
            self._log.error(what, because=because, lost=self.lost)
        if because is None and before is not None:
            self._log.info("mended", what=what, was=before, lost=self.lost)
