"""History beside a loop: closed minutes are written down, old ones tidied, and the past is read for detectors.

Nothing waits for a disk or for S3. What cannot be written is tried again while the daemon still knows it, then counted
as lost; it is logged once, stands as a gap in every report while it lasts, and the daemon goes on: the hole is in
history itself, which says what it covers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, TypeVar

from msgspec import json

from analyzer.correlator.attributor import Attributor
from analyzer.history.columns import Kind
from analyzer.history.compaction import tidy
from analyzer.history.daily import finding_rows, table_rows
from analyzer.history.files import HistoryError
from analyzer.history.minutes import minute_of, shape_rows
from analyzer.history.names import DAY_MS, HOUR_MS, FileName
from analyzer.history.past import load_past
from analyzer.history.together import Together, pair_rows, together_in, together_of
from analyzer.model.finding import Finding
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import MINUTE_MS, format_instant
from analyzer.model.shape import Shape
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.table import TableSnapshot
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from structlog.typing import FilteringBoundLogger

    from analyzer.closing import Closed
    from analyzer.contract.model import Contract
    from analyzer.history.compaction import Keeping
    from analyzer.history.dataset import Dataset
    from analyzer.history.minutes import Minute
    from analyzer.model.calls import CallBook
    from analyzer.model.instant import Instant

__all__ = ["HistoryKeeper"]

T = TypeVar("T")

_MOST_WAITING = 120
"""Minutes that wait to be written: two hours, more than the daemon would know again."""
_TOLD_MS = 4 * HOUR_MS
"""How long a hole is told of after it ended: two hours in which its minutes waited, and two for somebody to look."""
_MOST_HOLES = 16
_DAILY_MS = 600_000
"""How often what a day has one file of is written anew."""
_TOGETHER_MS = 900_000
"""How often traces are looked at: calls are kept for twice as long."""
_WRITING, _TIDYING = "history cannot be written", "history cannot be tidied"
_HINTS = {
    _WRITING: "make room, or mend the access: it is tried again every minute, and what waits over two hours is lost",
    _TIDYING: "minutes are not made hours, and detectors know the past as it was read before: mend the access",
}


class HistoryKeeper:
    """Writes one daemon's history; `past` is what detectors know of the weeks before."""

    def __init__(self, dataset: Dataset, keeping: Keeping, log: FilteringBoundLogger, contract: Contract) -> None:
        self._dataset = dataset
        self._keeping = keeping
        self._log = log
        self._waiting: deque[Closed] = deque()
        self._wake = asyncio.Event()
        self._failing: dict[str, str] = {}
        self._holes: deque[Window] = deque(maxlen=_MOST_HOLES)
        self._day = _Day(0)
        self._tidied: Instant | None = None
        self.past: History = EMPTY
        self.lost = 0
        self.adopt(contract)

    def adopt(self, contract: Contract) -> None:
        """Attribute what is written from now on under another contract."""
        self._attribute = Attributor(contract)
        self._name = contract.caller_of

    def take(self, minutes: Iterable[Closed]) -> None:
        """Take in minutes that have closed; of more than wait at most the oldest are lost."""
        for closed in minutes:
            self._waiting.append(closed)
            self._turn(closed.counts.window.start)
        while len(self._waiting) > _MOST_WAITING:
            self._lose(self._waiting.popleft().counts.window.start)
        if self._waiting:
            self._wake.set()

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
        self._turn(at)
        self._day.note(at, findings, snapshots, book)

    def _turn(self, at: Instant) -> None:
        """Begin a new day where one has come."""
        if at // DAY_MS > self._day.number:
            self._day = _Day(at // DAY_MS)

    async def run(self, clock: Callable[[], Instant]) -> None:
        """Load the past, then write what closes until it is cancelled."""
        await self._resume(clock() // DAY_MS)
        while True:
            now = clock()
            if self._tidied is None or now - self._tidied >= HOUR_MS or now < self._tidied:
                self._tidied = now
                await self._tidy(now)
            await self._wake.wait()
            self._wake.clear()
            await self.write()

    async def write(self) -> None:
        """Write all that waits; where that fails it waits on."""
        while self._waiting:
            closed = self._waiting.popleft()
            minute = await asyncio.to_thread(minute_of, closed.counts, self._attribute, self._name)
            if not await self._try(self._write_minute(minute, late=closed.is_late), _WRITING):
                self._waiting.appendleft(closed)
                return
        for kind, rows in self._day.due():
            start = self._day.number * DAY_MS
            if not await self._try(self._dataset.write_day(kind, start, rows), _WRITING):
                self._day.failed(kind)

    async def _write_minute(self, minute: Minute, *, late: bool) -> None:
        await self._dataset.write_minutes([minute], late=late)
        self._day.note_shapes(minute.shapes)

    async def _resume(self, number: int) -> None:
        """Go on with the files of today: one that is written anew must hold what it held."""
        day = self._day = _Day(number)
        for kind in day.kinds:
            name = FileName(kind, number * DAY_MS, DAY_MS, self._dataset.daemon)
            try:
                rows, _ = await self._dataset.load(name)
            except (HistoryError, KeyError):
                continue
            day.resume(kind, rows)

    async def _tidy(self, now: Instant) -> None:
        try:
            tidied = await tidy(self._dataset, self._keeping, now)
            for name in tidied.torn:
                self._log.error("history set aside: it cannot be read", file=name)
            self.past = await load_past(self._dataset, now)
        except HistoryError as error:
            self._tell(_TIDYING, str(error))
        else:
            self._tell(_TIDYING, None)

    async def _try(self, work: object, what: str) -> bool:
        try:
            await work  # type: ignore[misc] # a coroutine
        except HistoryError as error:
            self._tell(what, str(error))
            return False
        self._tell(what, None)
        return True

    def _tell(self, what: str, because: str | None) -> None:
        """Say once that something fails, and once that it works again."""
        before = self._failing.pop(what, None)
        if because is not None:
            self._failing[what] = because
        if because is not None and before is None:
            self._log.error(what, because=because, lost=self.lost)
        if because is None and before is not None:
            self._log.info("mended", what=what, was=before, lost=self.lost)


def _read(texts: Iterable[str], kind: type[T]) -> list[T]:
    return [json.decode(text, type=kind) for text in texts]


class _Day:
    """What one day has one file of, so far."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._shapes: dict[str, Shape] = {}
        self._findings: dict[str, Finding] = {}
        self._snapshots: dict[object, TableSnapshot] = {}
        self._together = Together()
        self._looked: Instant | None = None
        self._noted: Instant | None = None
        self._changed: set[Kind] = set()

    kinds = (Kind.SHAPES, Kind.FINDINGS, Kind.TABLES, Kind.PAIRS)

    def resume(self, kind: Kind, rows: pa.Table) -> None:
        """Take in what a file of the day held."""
        columns = rows.to_pydict()
        if kind is Kind.SHAPES:
            self._shapes = {one.fingerprint: one for one in _read(columns["shape"], Shape)} | self._shapes
        elif kind is Kind.FINDINGS:
            self._findings = {one.id: one for one in _read(columns["finding"], Finding)} | self._findings
        elif kind is Kind.TABLES:
            self._snapshots = {one.target: one for one in _read(columns["snapshot"], TableSnapshot)} | self._snapshots
        else:
            self._together.add(together_of(rows))

    def note(
        self, at: Instant, findings: Iterable[Finding], snapshots: Iterable[TableSnapshot], book: Callable[[], CallBook]
    ) -> None:
        """Take in what is known now; every ten minutes what changed becomes due."""
        for finding in findings:
            self._findings[finding.id] = finding
        for snapshot in snapshots:
            self._snapshots[snapshot.target] = snapshot
        if self._noted is None or at - self._noted >= _DAILY_MS:
            self._noted = at
            self._changed |= {Kind.FINDINGS} if self._findings else set()
            self._changed |= {Kind.TABLES} if self._snapshots else set()
        if self._looked is None:
            self._looked = at
        elif at - self._looked >= _TOGETHER_MS:
            self._together.add(together_in(book(), Window(self._looked, at)))
            self._looked = at
            self._changed |= {Kind.PAIRS} if self._together.pairs else set()

    def note_shapes(self, shapes: Iterable[Shape]) -> None:
        """Take in what fingerprints stand for; a new one makes the file due."""
        found = {shape.fingerprint: shape for shape in shapes if shape.fingerprint not in self._shapes}
        if found:
            self._shapes |= found
            self._changed.add(Kind.SHAPES)

    def failed(self, kind: Kind) -> None:
        """Take note that a file could not be written."""
        self._changed.add(kind)

    def due(self) -> list[tuple[Kind, pa.Table]]:
        """Return the files that are to be written now."""
        start = self.number * DAY_MS
        make = {
            Kind.SHAPES: lambda: shape_rows(start, self._shapes.values()),
            Kind.FINDINGS: lambda: finding_rows(start, self._findings.values()),
            Kind.TABLES: lambda: table_rows(start, self._snapshots.values()),
            Kind.PAIRS: lambda: pair_rows(start, self._together),
        }
        due, self._changed = sorted(self._changed), set()
        return [(kind, make[kind]()) for kind in due]
