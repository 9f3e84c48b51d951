"""The dataset of history: files written by one daemon, read by anybody. It stores, it does not judge.

Every file is there whole or not at all, and writing one again replaces it: a daemon that goes on from a checkpoint
writes the same minutes once more, and nothing counts twice. What cannot be read is counted and left out.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from analyzer.errors import CollectError, because
from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.files import HistoryError, Label, TornError, decode, encode, label_of, stretches
from analyzer.history.merging import keys_rolled_up, rolled_up
from analyzer.history.names import DAY_MS, HOUR_MS, LATE, FileName, days_of
from analyzer.history.standing import counting
from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from analyzer.history.minutes import Minute
    from analyzer.interfaces import BlobStore

__all__ = ["Dataset", "Reading"]

_ASIDE, _TORN = ".", ".torn"
"""Around the name of a file that was set aside: no reader of a whole folder takes what begins with a dot for rows."""
_LOOKS = 4
"""So often files are listed and read again where some of them became an hour meanwhile."""


_ROLLED: dict[Kind, tuple[Kind, Callable[..., pa.Table]]] = {
    Kind.HOURS: (Kind.REQUESTS, rolled_up),
    Kind.KEY_HOURS: (Kind.KEYS, keys_rolled_up),
}
"""Kinds of hours, the minutes that they are made of, and how."""


class Reading(NamedTuple):
    """Rows of a window, which stretches of it anybody looked at, and the names of files that could not be read."""

    rows: pa.Table
    covered: tuple[Window, ...] = ()
    torn: tuple[str, ...] = ()


class _GoneError(Exception):
    """A file was there when it was listed, and is not any more: its rows are in another one now."""


class _Found(NamedTuple):
    """What some files hold; `known` are leaves of names whose rows are in them."""

    parts: list[pa.Table]
    minutes: list[Instant]
    torn: list[str]
    known: set[str]


class Dataset:
    """History in one place; `daemon` is who writes (lower-case letters and digits), nobody where it is only read."""

    def __init__(self, store: BlobStore, daemon: str = "") -> None:
        self._store = store
        self.daemon = daemon

    async def write_minutes(self, minutes: Iterable[Minute], *, late: bool = False, number: int = 0) -> None:
        """Write closed minutes, in place of what this daemon wrote of them before; raises HistoryError.

        `late`: these are only rows that came after their minute was let go; they stand beside it. `number` tells
        batches apart; one that is written again has the same one, and replaces itself.
        """
        for minute in minutes:
            mark = f"{LATE}{number}" if late else ""
            await self._write(Kind.REQUESTS, minute.start, minute.requests, mark)
            if len(minute.keys):
                await self._write(Kind.KEYS, minute.start, minute.keys, mark)

    async def _write(self, kind: Kind, start: Instant, rows: pa.Table, mark: str) -> None:
        label = Label(self.daemon, (start,))
        content = await asyncio.to_thread(encode, kind, rows, label)
        await self.put(FileName(kind, start, MINUTE_MS, self.daemon, mark), content)

    async def forget_late(self, known: int) -> None:
        """Let go of what this daemon wrote late after the batch that its checkpoint knows: all of that comes again.

        Raises HistoryError.
        """
        for kind in (Kind.REQUESTS, Kind.KEYS):
            for name in await self.everything(kind):
                if name.daemon == self.daemon and name.late > known:
                    await self.drop(name)

    async def write_day(self, kind: Kind, start: Instant, rows: pa.Table, minutes: tuple[Instant, ...] = ()) -> None:
        """Write one file of a day, in place of the one before; raises HistoryError.

        `minutes` are those that rows of hours cover.
        """
        content = await asyncio.to_thread(encode, kind, rows, Label(self.daemon, minutes))
        await self.put(FileName(kind, start, DAY_MS, self.daemon), content)

    async def read_range(self, kind: Kind, window: Window, *, by_day: bool = False) -> Reading:
        """Return the rows of a kind that begin in a window; raises NewerHistoryError or HistoryError.

        Rows of one minute and series may be several, of several daemons: they add up (`merging.merged`).
        Of kinds of hours `by_day` makes a row a day and series: many weeks then take a twentieth of the memory.
        """
        if kind in _ROLLED:
            return await self._again(lambda: self._read_hours(kind, window, DAY_MS if by_day else HOUR_MS))
        return await self._again(lambda: self._read_rows(kind, window))

    async def _again(self, look: Callable[[], Awaitable[Reading]]) -> Reading:
        """Look, and look once more where files became an hour meanwhile; raises HistoryError where they go on to."""
        for _ in range(_LOOKS):
            try:
                return await look()
            except _GoneError as error:
                gone = str(error)
        raise HistoryError(f"cannot read {gone} in {self._store}: it is listed, and not there")

    async def _read_rows(self, kind: Kind, window: Window) -> Reading:
        found = await self._gather(await self.names(kind, window))
        rows = pa.concat_tables([SCHEMAS[kind].empty_table(), *found.parts])
        seen = [minute for minute in found.minutes if window.holds(minute)]
        return Reading(_within(rows, window), stretches(seen), tuple(found.torn))

    async def _read_hours(self, kind: Kind, window: Window, step_ms: int) -> Reading:
        """Return a row a step and series, also of hours that are still minutes, or of which only they are left."""
        of_minutes, roll = _ROLLED[kind]
        make = partial(roll, step_ms=step_ms)
        whole = Window(window.start - window.start % HOUR_MS, window.end)
        hours = await self._gather(await self.names(kind, whole), make=make if step_ms > HOUR_MS else None)
        minutes = await self._gather(await self.names(of_minutes, whole), hours.known, make=make)
        found = [_within(rows, window) for rows in (*hours.parts, *minutes.parts)]
        rows = await asyncio.to_thread(make, pa.concat_tables([SCHEMAS[kind].empty_table(), *found]))
        seen = [minute for minute in (*hours.minutes, *minutes.minutes) if window.holds(minute)]
        return Reading(rows, stretches(seen), (*hours.torn, *minutes.torn))

    async def read_as_it_lies(self, kind: Kind, window: Window, columns: Sequence[str]) -> Reading:
        """Return some columns of a kind of hours, and of minutes that are no hours yet; nothing is united.

        A window of whole hours is meant. Raises NewerHistoryError or HistoryError.
        """
        return await self._again(lambda: self._read_as_it_lies(kind, window, columns))

    async def _read_as_it_lies(self, kind: Kind, window: Window, columns: Sequence[str]) -> Reading:
        hours = await self._gather(await self.names(kind, window), columns=columns)
        minutes = await self._gather(await self.names(_ROLLED[kind][0], window), hours.known, columns=columns)
        nothing = SCHEMAS[kind].empty_table().select(columns)
        rows = await asyncio.to_thread(_within, pa.concat_tables([nothing, *hours.parts, *minutes.parts]), window)
        seen = [minute for minute in (*hours.minutes, *minutes.minutes) if window.holds(minute)]
        return Reading(rows, stretches(seen), (*hours.torn, *minutes.torn))

    async def names(self, kind: Kind, window: Window) -> list[FileName]:
        """Return the names of files whose stretch touches a window, in order; raises HistoryError."""
        found: list[FileName] = []
        for folder in days_of(kind, window):
            found += _names(await self._list(folder))
        return sorted(name for name in found if name.start < window.end and name.window.end > window.start)

    async def everything(self, kind: Kind) -> list[FileName]:
        """Return the names of all files of a kind, in order; raises HistoryError."""
        return sorted(_names(await self._list(f"kind={kind.value}/")))

    async def load(self, name: FileName, columns: Sequence[str] | None = None) -> tuple[pa.Table, Label]:
        """Return one file, or some columns of it; raises TornError, NewerHistoryError or HistoryError.

        Raises KeyError where it is gone.
        """
        return await asyncio.to_thread(decode, name.kind, await self._content(name), str(name), columns)

    async def label(self, name: FileName) -> Label:
        """Return what a file says of itself; raises as `load` does."""
        return label_of(await self._content(name), str(name))

    async def _content(self, name: FileName) -> bytes:
        try:
            return await self._store.read(str(name))
        except (OSError, CollectError) as error:
            raise HistoryError(f"cannot read {name} in {self._store}: {because(error)}") from None

    async def put(self, name: FileName, content: bytes) -> None:
        """Write one file, at once and wholly; raises HistoryError."""
        try:
            await self._store.write(str(name), content)
        except (OSError, CollectError) as error:
            raise HistoryError(f"cannot write {name} to {self._store}: {because(error)}") from None

    async def drop(self, name: FileName) -> None:
        """Let go of one file; raises HistoryError."""
        try:
            await self._store.delete(str(name))
        except (OSError, CollectError) as error:
            raise HistoryError(f"cannot delete {name} in {self._store}: {because(error)}") from None

    async def set_aside(self, name: FileName) -> None:
        """Rename a torn file, so that nobody takes it for rows; raises HistoryError."""
        folder = str(name).removesuffix(name.leaf)
        try:
            await self._store.write(f"{folder}{_ASIDE}{name.leaf}{_TORN}", await self._store.read(str(name)))
        except KeyError:  # another daemon was faster
            return
        except (OSError, CollectError) as error:
            raise HistoryError(f"cannot set {name} in {self._store} aside: {because(error)}") from None
        await self.drop(name)

    async def _list(self, prefix: str) -> tuple[str, ...]:
        try:
            return await self._store.list(prefix)
        except (OSError, CollectError) as error:
            raise HistoryError(f"cannot list {prefix} in {self._store}: {because(error)}") from None

    async def _gather(
        self,
        names: Iterable[FileName],
        known: Iterable[str] = (),
        *,
        make: Callable[[pa.Table], pa.Table] | None = None,
        columns: Sequence[str] | None = None,
    ) -> _Found:
        """Read files, those of hours first: they say which of the others do not count any more. Raises _GoneError."""
        found = _Found([], [], [], set(known))
        for _, same in groupby(sorted(names, key=lambda name: -name.length_ms), key=lambda name: name.length_ms):
            loaded: list[tuple[FileName, Label, pa.Table]] = []
            for name in same:
                if name.leaf in found.known:
                    continue
                try:
                    rows, label = await self.load(name, columns)
                except TornError:
                    found.torn.append(str(name))
                    continue
                except KeyError:
                    raise _GoneError(str(name)) from None
                loaded.append((name, label, rows if make is None else await asyncio.to_thread(make, rows)))
            for _, label, rows in counting(loaded, found.known):
                found.minutes.extend(label.minutes)
                found.parts.append(rows)
        return found


def _names(paths: Iterable[str]) -> list[FileName]:
    return [name for path in paths if (name := FileName.parse(path)) is not None]


def _within(rows: pa.Table, window: Window) -> pa.Table:
    """Return the rows that begin in a window."""
    start = rows["start"].cast(pa.int64())
    return rows.filter(pc.and_(pc.greater_equal(start, window.start), pc.less(start, window.end)))
