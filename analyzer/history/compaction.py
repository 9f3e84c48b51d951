"""Minutes become hours: one file with all rows of an hour, series by series, and one with a row an hour and series.

Both are written before a minute goes, and name the files that they replace: whoever is killed in between leaves nothing
that counts twice for our own reader, and the next round goes on there. Later the hours of a day become one file. What
is older than it is kept for goes, and that first: on a full disk nothing can be made before. Minutes that never became
hours stay as long as hours do.

A daemon tidies what it wrote itself, and what one wrote that went for good. Several may do the latter at once: each
gives its file a name of its own, and of two that were made of the same minutes one counts.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import Struct

from analyzer.history.columns import KEY_IDENTITY, Kind
from analyzer.history.files import Label, NewerHistoryError, TornError, encode
from analyzer.history.merging import keys_rolled_up, merged, rolled_up
from analyzer.history.names import DAY_MS, HOUR_MS, FileName, mark_of
from analyzer.history.standing import counting
from analyzer.model.instant import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from analyzer.history.dataset import Dataset
    from analyzer.model.instant import Instant

__all__ = ["Keeping", "Tidied", "tidy"]

T = TypeVar("T")

_GONE_AFTER = 2
"""A daemon of which nothing is newer than so many times what minutes stand alone for is taken for gone: one that lives
writes every minute, and tidies by itself."""
_MINUTES = (Kind.REQUESTS, Kind.KEYS)
_HOURS = (Kind.HOURS, Kind.KEY_HOURS)


class Keeping(Struct, frozen=True):
    """How long minutes stay files of their own, how long their rows stay, and how long hours and days do."""

    minutes_alone_ms: int = 2 * DAY_MS
    minutes_ms: int = 8 * DAY_MS
    hours_ms: int = 400 * DAY_MS


class Tidied(Struct, frozen=True):
    """What tidying did: files made of several, files let go for their age, torn ones set aside.

    `newer` says of one that a newer version wrote: such files are left as they are.
    """

    united: int = 0
    expired: int = 0
    torn: tuple[str, ...] = ()
    newer: str | None = None


async def tidy(dataset: Dataset, keeping: Keeping, now: Instant) -> Tidied:
    """Make hours of old minutes, and let go of what is too old; raises HistoryError."""
    tidied = _Tidying(dataset, now)
    await tidied.look(_GONE_AFTER * keeping.minutes_alone_ms)
    for kind in Kind:
        await tidied.expire(kind, keeping)
    await tidied.settle()
    for kind in _MINUTES:
        await tidied.unite(kind, HOUR_MS, keeping.minutes_alone_ms)
    for kind in _HOURS:
        await tidied.unite(kind, DAY_MS, keeping.minutes_ms)
    for kind in _MINUTES:  # some became hours a moment ago
        await tidied.expire(kind, keeping)
    await tidied.settle()
    return Tidied(tidied.united, tidied.expired, tuple(tidied.torn), tidied.newer)


class _Tidying:
    """One round of tidying."""

    def __init__(self, dataset: Dataset, now: Instant) -> None:
        self._dataset = dataset
        self._now = now
        self.united = self.expired = 0
        self.torn: list[str] = []
        self.newer: str | None = None
        self._aside: set[FileName] = set()
        self._living: set[str] = set()
        self._known_until = now

    async def look(self, gone_after_ms: int) -> None:
        """See who else writes here, and until when history reaches.

        A clock that jumps ahead must not make everything old at once: age is counted from the day after the last but
        one of which there is anything, where that is earlier than now.
        """
        names = [name for kind in (Kind.REQUESTS, Kind.HOURS) for name in await self._dataset.everything(kind)]
        days = sorted({name.start // DAY_MS for name in names})[-2:]
        if days:
            self._known_until = min(self._now, (days[0] + len(days)) * DAY_MS)
        if len(days) > 1:
            self._now = self._known_until
        self._living = {name.daemon for name in names if name.window.end > self._now - gone_after_ms}
        self._living.discard(self._dataset.daemon)

    def _is_ours(self, name: FileName) -> bool:
        return name.daemon not in self._living

    async def expire(self, kind: Kind, keeping: Keeping) -> None:
        """Let go of what is older than it is kept for, and is of history beyond doubt; of minutes what hours hold."""
        names = [name for name in await self._dataset.everything(kind) if self._is_ours(name)]
        made = await self._made(names) if kind in _MINUTES else set()
        for name in names:
            has_hour = kind in _MINUTES and name.length_ms > MINUTE_MS
            kept_ms = keeping.minutes_ms if has_hour else keeping.hours_ms
            if name in made:
                await self._dataset.drop(name)
            elif name.window.end <= self._known_until - kept_ms and await self._is_history(name):
                await self._dataset.drop(name)
                self.expired += 1

    async def _made(self, names: list[FileName]) -> set[FileName]:
        """Return the minutes whose hour is there, whole: who made it was killed, or had no right to delete."""
        found: set[FileName] = set()
        minutes: dict[FileName, list[FileName]] = defaultdict(list)
        for name in names:
            if name.length_ms == MINUTE_MS:
                start = name.start - name.start % HOUR_MS
                minutes[FileName(name.kind, start, HOUR_MS, name.daemon)].append(name)
        for name in names:
            if of_hour := minutes.get(name._replace(mark="")):
                loaded = await self._careful(name, self._dataset.load(name))
                replaced = loaded[1].replaces if loaded else ()
                found.update(one for one in of_hour if one.leaf in replaced)
        return found

    async def _is_history(self, name: FileName) -> bool:
        label = await self._careful(name, self._dataset.label(name))
        return label is not None and label.daemon == name.daemon

    async def unite(self, kind: Kind, length_ms: int, alone_ms: int) -> None:
        """Make one file of the files of each hour or day that has ended long enough ago, one daemon's at a time."""
        names = await self._dataset.everything(kind)
        found: dict[FileName, list[FileName]] = defaultdict(list)
        for name in names:
            whole = FileName(kind, name.start - name.start % length_ms, length_ms, name.daemon)
            if name.length_ms < length_ms and whole.window.end <= self._now - alone_ms and self._is_ours(name):
                found[whole].append(name)
        for whole, parts in found.items():
            before = [name for name in names if name[:4] == whole[:4]]
            try:
                await self._unite(whole, parts, before)
            except NewerHistoryError as error:
                self.newer = self.newer or str(error)
            except KeyError:  # another daemon is making the same one: what it leaves is looked at the next time
                continue
        for of_one in _of_one_stretch(name for name in names if name.length_ms > MINUTE_MS):
            await self._drop_doubles(of_one)

    async def _unite(self, whole: FileName, names: list[FileName], before: list[FileName]) -> None:
        """Make one file; `before` are those of the same stretch that there are: some came after it was made.

        Raises NewerHistoryError, and KeyError where a file is gone since it was listed; then nothing has changed.
        """
        known = {leaf for _, label, _ in await self._load(before) for leaf in label.replaces}
        loaded = await self._load(name for name in names if name.leaf not in known)
        parts = list(counting(loaded, known))
        if parts:
            replaced = [name.leaf for name, _, _ in loaded]
            if before or whole.daemon != self._dataset.daemon:
                whole = whole._replace(mark=mark_of(leaf.encode() for leaf in replaced))
            minutes = {minute for _, label, _ in parts for minute in label.minutes}
            label = Label(whole.daemon, tuple(sorted(minutes)), tuple(replaced))
            rows = pa.concat_tables([rows for _, _, rows in parts])
            for name, content in await asyncio.to_thread(_files, whole, rows, label):
                await self._dataset.put(name, content)
            self.united += 1
        for name in names:
            await self._dataset.drop(name)

    async def _load(self, names: Iterable[FileName]) -> list[tuple[FileName, Label, pa.Table]]:
        """Return files but for torn ones, which are set aside; raises KeyError where one is gone."""
        loaded = []
        for name in names:
            try:
                rows, label = await self._dataset.load(name)
            except TornError:
                await self._set_aside(name)
            else:
                loaded.append((name, label, rows))
        return loaded

    async def _drop_doubles(self, names: list[FileName]) -> None:
        """Let go of files of one stretch whose rows are in the others: two daemons were equally fast."""
        found = [(name, label) for name in names if (label := await self._careful(name, self._dataset.label(name)))]
        known: set[str] = set()
        for name, label in sorted(found, key=lambda one: (-len(one[1].replaces), one[0])):
            if label.replaces and known.issuperset(label.replaces):
                await self._dataset.drop(name)
            known.update(label.replaces)

    async def _careful(self, name: FileName, asked: Awaitable[T]) -> T | None:
        """Return what was asked of a file; None where it is newer than we are, gone, or torn and to be set aside."""
        try:
            return await asked
        except TornError:
            self._aside.add(name)
        except NewerHistoryError as error:
            self.newer = self.newer or str(error)
        except KeyError:
            pass
        return None

    async def settle(self) -> None:
        """Set aside what was found torn; that takes room, for which others were let go before."""
        for name in sorted(self._aside):
            await self._set_aside(name)
        self._aside.clear()

    async def _set_aside(self, name: FileName) -> None:
        await self._dataset.set_aside(name)
        self.torn.append(str(name))


def _of_one_stretch(names: Iterable[FileName]) -> list[list[FileName]]:
    """Return the files of which several are of the same stretch and daemon."""
    found: dict[tuple[object, ...], list[FileName]] = defaultdict(list)
    for name in names:
        found[name[:4]].append(name)
    return [of_one for of_one in found.values() if len(of_one) > 1]


def _files(whole: FileName, rows: pa.Table, label: Label) -> list[tuple[FileName, bytes]]:
    """Return the files of an hour or a day, the one that is kept longest first."""
    if whole.kind in _HOURS:
        rolled = rolled_up(rows) if whole.kind is Kind.HOURS else keys_rolled_up(rows)
        return [(whole, encode(whole.kind, rolled, label))]
    if whole.kind is Kind.KEYS:
        ordered = rows.sort_by([(name, "ascending") for name in (*KEY_IDENTITY, "start")])
        rolled = encode(Kind.KEY_HOURS, keys_rolled_up(rows), label)
        return [(whole._replace(kind=Kind.KEY_HOURS), rolled), (whole, encode(Kind.KEYS, ordered, label))]
    minutes = merged(rows)
    return [
        (whole._replace(kind=Kind.HOURS), encode(Kind.HOURS, rolled_up(minutes), label)),
        (whole, encode(Kind.REQUESTS, minutes, label)),
    ]
