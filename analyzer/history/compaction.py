"""Minutes become hours: one file with all rows of an hour, series by series, and one with a row an hour and series.

Both are written before a minute goes, and name the files that they replace: whoever is killed in between leaves nothing
that counts twice for our own reader, and the next round goes on there. Later the hours of a day become one file. What
is older than it is kept for goes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from analyzer.history.columns import KEY_IDENTITY, Kind
from analyzer.history.files import Label, TornError, encode
from analyzer.history.merging import keys_rolled_up, merged, rolled_up
from analyzer.history.names import DAY_MS, HOUR_MS, FileName, mark_of

if TYPE_CHECKING:
    from analyzer.history.dataset import Dataset
    from analyzer.model.instant import Instant

__all__ = ["Keeping", "Tidied", "tidy"]

_OTHERS_AFTER = 2
"""So many times later the minutes of a daemon that went for good are made hours too."""
_MINUTES = (Kind.REQUESTS, Kind.KEYS)
_HOURS = (Kind.HOURS, Kind.KEY_HOURS)


class Keeping(Struct, frozen=True):
    """How long minutes stay files of their own, how long their rows stay, and how long hours and days do."""

    minutes_alone_ms: int = 2 * DAY_MS
    minutes_ms: int = 8 * DAY_MS
    hours_ms: int = 400 * DAY_MS


class Tidied(Struct, frozen=True):
    """What tidying did: files made of several, files let go for their age, torn ones set aside."""

    united: int = 0
    expired: int = 0
    torn: tuple[str, ...] = ()


async def tidy(dataset: Dataset, keeping: Keeping, now: Instant) -> Tidied:
    """Make hours of old minutes, and let go of what is too old; raises HistoryError or NewerHistoryError."""
    tidied = _Tidying(dataset, now)
    for kind in _MINUTES:
        await tidied.unite(kind, HOUR_MS, keeping.minutes_alone_ms)
    for kind in _HOURS:
        await tidied.unite(kind, DAY_MS, keeping.minutes_ms)
    for kind in Kind:
        await tidied.expire(kind, keeping.minutes_ms if kind in _MINUTES else keeping.hours_ms)
    return Tidied(tidied.united, tidied.expired, tuple(tidied.torn))


class _Tidying:
    """One round of tidying."""

    def __init__(self, dataset: Dataset, now: Instant) -> None:
        self._dataset = dataset
        self._now = now
        self.united = self.expired = 0
        self.torn: list[str] = []

    async def expire(self, kind: Kind, kept_ms: int) -> None:
        """Let go of what is older than it is kept for."""
        for name in await self._dataset.everything(kind):
            if name.window.end <= self._now - kept_ms:
                await self._dataset.drop(name)
                self.expired += 1

    async def unite(self, kind: Kind, length_ms: int, alone_ms: int) -> None:
        """Make one file of the files of each hour or day that has ended long enough ago, one daemon's at a time."""
        names = await self._dataset.everything(kind)
        found: dict[FileName, list[FileName]] = defaultdict(list)
        for name in names:
            whole = FileName(kind, name.start - name.start % length_ms, length_ms, name.daemon)
            age = alone_ms * (1 if name.daemon == self._dataset.daemon else _OTHERS_AFTER)
            if name.length_ms < length_ms and whole.window.end <= self._now - age:
                found[whole].append(name)
        for whole, parts in found.items():
            await self._unite(whole, parts, [name for name in names if name[:4] == whole[:4]])

    async def _unite(self, whole: FileName, names: list[FileName], before: list[FileName]) -> None:
        """Make one file; `before` are those of the same stretch that there are: some came after it was made."""
        loaded = [one for name in before if (one := await self._load(name)) is not None]
        counted = {leaf for _, _, label in loaded for leaf in label.replaces}
        parts = [one for name in names if name.leaf not in counted and (one := await self._load(name)) is not None]
        if parts:
            if before:
                whole = whole._replace(mark=mark_of(name.leaf.encode() for name, _, _ in parts))
            minutes = {minute for _, _, label in parts for minute in label.minutes}
            label = Label(whole.daemon, tuple(sorted(minutes)), tuple(name.leaf for name, _, _ in parts))
            rows = pa.concat_tables([rows for _, rows, _ in parts])
            for name, content in await asyncio.to_thread(_files, whole, rows, label):
                await self._dataset.put(name, content)
            self.united += 1
        for name in names:
            await self._dataset.drop(name)

    async def _load(self, name: FileName) -> tuple[FileName, pa.Table, Label] | None:
        """Return one file, None where it is torn, and is set aside, or where another daemon was faster."""
        try:
            return (name, *await self._dataset.load(name))
        except TornError:
            await self._dataset.set_aside(name)
            self.torn.append(str(name))
        except KeyError:
            pass
        return None


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
