"""Minutes become hours: one file with all rows of an hour, series by series, and one with a row an hour and series.

Both are written before a minute goes, and name the files that they replace: whoever is killed in between leaves nothing
that counts twice for our own reader. What is older than it is kept for goes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from analyzer.history.columns import KEY_IDENTITY, Kind
from analyzer.history.files import Label, TornError, encode
from analyzer.history.merging import merged, rolled_up
from analyzer.history.names import DAY_MS, HOUR_MS, FileName, mark_of
from analyzer.model.instant import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.history.dataset import Dataset
    from analyzer.model.instant import Instant

__all__ = ["Keeping", "Tidied", "tidy"]

_OTHERS_AFTER = 2
"""So many times later the minutes of a daemon that went for good are made hours too."""
_MINUTES = (Kind.REQUESTS, Kind.KEYS)


class Keeping(Struct, frozen=True):
    """How long minutes stay files of their own, how long their rows stay, and how long hours and days do."""

    minutes_alone_ms: int = 2 * DAY_MS
    minutes_ms: int = 8 * DAY_MS
    hours_ms: int = 400 * DAY_MS


class Tidied(Struct, frozen=True):
    """What tidying did: hours made, files let go for their age, torn ones set aside."""

    hours: int = 0
    expired: int = 0
    torn: tuple[str, ...] = ()


async def tidy(dataset: Dataset, keeping: Keeping, now: Instant) -> Tidied:
    """Make hours of old minutes, and let go of what is too old; raises HistoryError or NewerHistoryError."""
    hours = 0
    torn: list[str] = []
    for kind in _MINUTES:
        for names in _ripe(await dataset.everything(kind), dataset.daemon, now - keeping.minutes_alone_ms, now):
            hours += await _compact(dataset, kind, names, torn)
    expired = 0
    for kind in Kind:
        kept = keeping.minutes_ms if kind in _MINUTES else keeping.hours_ms
        for name in await dataset.everything(kind):
            if name.window.end <= now - kept:
                await dataset.drop(name)
                expired += 1
    return Tidied(hours, expired, tuple(torn))


def _ripe(names: Sequence[FileName], daemon: str, before: Instant, now: Instant) -> list[list[FileName]]:
    """Return the files of minutes of each hour that has ended long enough ago, one daemon's at a time."""
    found: dict[tuple[Instant, str], list[FileName]] = defaultdict(list)
    for name in names:
        hour = name.start - name.start % HOUR_MS
        own = before if name.daemon == daemon else now - _OTHERS_AFTER * (now - before)
        if name.length_ms == MINUTE_MS and hour + HOUR_MS <= own:
            found[hour, name.daemon].append(name)
    return list(found.values())


async def _compact(dataset: Dataset, kind: Kind, names: list[FileName], torn: list[str]) -> int:
    """Make one hour of the minutes of one daemon; return 1 where there was one to make."""
    parts: list[pa.Table] = []
    minutes: list[Instant] = []
    whole: list[FileName] = []
    for name in names:
        try:
            rows, label = await dataset.load(name)
        except TornError:
            await dataset.set_aside(name)
            torn.append(str(name))
            continue
        except KeyError:  # another daemon was faster
            continue
        parts.append(rows)
        minutes += label.minutes
        whole.append(name)
    if not whole:
        return 0
    first = whole[0]
    hour = FileName(kind, first.start - first.start % HOUR_MS, HOUR_MS, first.daemon)
    if hour in await dataset.everything(kind):  # some came after their hour was made
        hour = hour._replace(mark=mark_of(name.leaf.encode() for name in whole))
    label = Label(first.daemon, tuple(sorted(set(minutes))), tuple(name.leaf for name in whole))
    for name, content in await asyncio.to_thread(_files, hour, pa.concat_tables(parts), label):
        await dataset.put(name, content)
    for name in whole:
        await dataset.drop(name)
    return 1


def _files(hour: FileName, rows: pa.Table, label: Label) -> list[tuple[FileName, bytes]]:
    """Return the files of an hour, the one that is kept longest first."""
    if hour.kind is Kind.KEYS:
        ordered = rows.sort_by([(name, "ascending") for name in (*KEY_IDENTITY, "start")])
        return [(hour, encode(Kind.KEYS, ordered, label))]
    whole = merged(rows)
    return [
        (hour._replace(kind=Kind.HOURS), encode(Kind.HOURS, rolled_up(whole), label)),
        (hour, encode(Kind.REQUESTS, whole, label)),
    ]
