"""What if a key were sharded: the requests that were observed at it, replayed against its parts.

Two ways to choose a part: a random suffix, which spreads any writes but makes each read ask all parts; and a suffix
reckoned from the sort key, with which a read of one item still asks one part, but an item stays as hot as it is.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec import Struct

from analyzer.knowledge.limits import READ_UNITS_A_PARTITION, WRITE_UNITS_A_PARTITION
from analyzer.knowledge.shards import imbalance
from analyzer.model.instant import Instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


__all__ = ["Asked", "Outcome", "Side", "replay"]

_LEAST_READ = 0.5
_WARM = 0.5
"""Below half of its ceiling a key needs no parts."""
_UNCHANGED = 0.8
_TOGETHER = 0.5
"""Where half of the reads want several items at once, those belong together."""


class Asked(Struct, frozen=True, kw_only=True):
    """One request at the key: `tries` were refused before it ended; `is_range` reads more than one item of it.

    `weight` is how many requests it stands for. `sort` is its sort key, None where it names none.
    """

    time: Instant
    units: float
    is_write: bool
    is_range: bool = False
    sort: str | None = None
    tries: int = 0
    weight: float = 1.0


class Side(Struct, frozen=True):
    """What one way of choosing parts makes of it: units of the fullest part's fullest second, and of reads a second."""

    hottest_write_units: float
    hottest_read_units: float
    read_units_a_second: float


class Outcome(Struct, frozen=True, kw_only=True):
    """The key as it is, with a random suffix, and with one reckoned from the sort key.

    `useful_parts` is how many parts of the last kind still cool it: an item cannot be split. `co_read_share` is the
    share of reads that want several items at once; None without reads. `advice` is `group` or `split`, and `because`
    says why.
    """

    parts: int
    requests: float
    seconds: int
    is_sampled: bool
    before: Side
    random: Side
    by_item: Side
    useful_parts: int | None
    co_read_share: float | None
    advice: str
    because: str


def replay(asked: Sequence[Asked], parts: int) -> Outcome:
    """Replay requests of one key against so many parts; raises ValueError where there are none."""
    if not asked:
        raise ValueError("no request at that key")
    seconds = {one.time // 1000 for one in asked}
    length = max(seconds) - min(seconds) + 1
    is_sampled = any(one.weight > 1 for one in asked)
    before = Side(_hottest(asked, 1, is_write=True), _hottest(asked, 1, is_write=False), _read_units(asked, length))
    fan_out = [_fanned(one, parts, is_known=False) for one in asked]
    by_item = [_fanned(one, parts, is_known=True) for one in asked]
    reads = sum(one.weight for one in asked if not one.is_write)
    ranges = sum(one.weight for one in asked if one.is_range and not one.is_write)
    co_read = ranges / reads if reads else None
    random = Side(
        _hottest_random(asked, parts, length, before, is_sampled=is_sampled),
        _hottest_reads(asked, parts, is_known=False),
        _read_units(fan_out, length),
    )
    advice, because = _judged(before, random, co_read)
    return Outcome(
        parts=parts,
        requests=sum(one.weight for one in asked),
        seconds=length,
        is_sampled=is_sampled,
        before=before,
        random=random,
        by_item=Side(
            _hottest(asked, parts, is_write=True),
            _hottest_reads(asked, parts, is_known=True),
            _read_units(by_item, length),
        ),
        useful_parts=_useful(asked),
        co_read_share=co_read,
        advice=advice,
        because=because,
    )


def _demand(one: Asked) -> float:
    return one.units * one.weight * (1 + one.tries)


def _part(one: Asked, parts: int) -> int:
    return crc32((one.sort or "").encode()) % parts


def _hottest(asked: Iterable[Asked], parts: int, *, is_write: bool) -> float:
    """Return the demand of the fullest second of the fullest part, parts being reckoned from the sort key."""
    seconds: defaultdict[tuple[int, int], float] = defaultdict(float)
    for one in asked:
        if one.is_write is is_write:
            seconds[one.time // 1000, _part(one, parts)] += _demand(one)
    return max(seconds.values(), default=0.0)


def _hottest_reads(asked: Iterable[Asked], parts: int, *, is_known: bool) -> float:
    """Return the same of reads: one of a range asks all parts, one of an item that part which holds it.

    Where the part is not known the others are asked in vain, for half a unit each.
    """
    seconds: defaultdict[tuple[int, int], float] = defaultdict(float)
    for one in asked:
        if one.is_write:
            continue
        second, times = one.time // 1000, one.weight * (1 + one.tries)
        if one.is_range or one.sort is None:
            for part in range(parts):
                seconds[second, part] += max(_LEAST_READ, one.units / parts) * times
            continue
        own = _part(one, parts)
        for part in (own,) if is_known else range(parts):
            seconds[second, part] += (one.units if part == own else _LEAST_READ) * times
    return max(seconds.values(), default=0.0)


def _hottest_random(asked: Sequence[Asked], parts: int, length: int, before: Side, *, is_sampled: bool) -> float:
    """Return the demand of the fullest second of the fullest part where each write draws one.

    Of a sample a record would put all that it stands for on one part: there the imbalance is reckoned.
    """
    if is_sampled:
        writes = sum(one.weight for one in asked if one.is_write) / length
        return before.hottest_write_units / parts * min(imbalance(parts, writes), parts)
    seconds: defaultdict[tuple[int, int], float] = defaultdict(float)
    for number, one in enumerate(asked):
        if one.is_write:
            seconds[one.time // 1000, crc32(str(number).encode()) % parts] += _demand(one)
    return max(seconds.values(), default=0.0)


def _fanned(one: Asked, parts: int, *, is_known: bool) -> Asked:
    """Return a request with the units that all parts together cost it; with a known part an item is read from one."""
    if one.is_write or (is_known and not one.is_range and one.sort is not None):
        return one
    if one.is_range or one.sort is None:
        units = parts * max(_LEAST_READ, one.units / parts)
    else:
        units = one.units + (parts - 1) * _LEAST_READ
    return Asked(
        time=one.time,
        units=units,
        is_write=False,
        is_range=one.is_range,
        sort=one.sort,
        tries=one.tries,
        weight=one.weight,
    )


def _read_units(asked: Iterable[Asked], length: int) -> float:
    return sum(one.units * one.weight for one in asked if not one.is_write) / length


def _useful(asked: Iterable[Asked]) -> int | None:
    """Return how many parts reckoned from the sort key still cool the key: 1 ÷ the share of its busiest item."""
    items: defaultdict[str, float] = defaultdict(float)
    for one in asked:
        if one.is_write and one.sort is not None:
            items[one.sort] += _demand(one)
    total = sum(items.values())
    return max(1, int(total / max(items.values()))) if total else None


def _judged(before: Side, random: Side, co_read: float | None) -> tuple[str, str]:
    writes = before.hottest_write_units / WRITE_UNITS_A_PARTITION
    reads = before.hottest_read_units / READ_UNITS_A_PARTITION
    if max(writes, reads) < _WARM:
        return "group", f"its fullest second takes {max(writes, reads):.0%} of what one partition serves"
    if writes < _WARM and random.hottest_read_units >= _UNCHANGED * before.hottest_read_units:
        return "group", "its heat is reads of one item, which no suffix cools: cache it"
    if co_read is not None and co_read >= _TOGETHER:
        return "split", f"it is too hot for one partition, though {co_read:.0%} of its reads want several items at once"
    few = "few reads want several of its items at once" if co_read is not None else "no read of it was seen"
    return "split", f"it is too hot for one partition, and {few}"
