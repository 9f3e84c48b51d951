"""The requests of a log that went to one key, for `dynascope whatif`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.knowledge.operations import READS, WRITES
from analyzer.knowledge.throttling import is_throttle
from analyzer.model.instant import parse_instant
from analyzer.model.request import Capacity, RequestRecord
from analyzer.planning.whatif import Asked
from analyzer.requests.digest_routes import table_name
from analyzer.requests.tokens import Salt, key_text, split_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from analyzer.cli.seen_beside import SeenBeside
    from analyzer.model.instant import Instant
    from analyzer.model.request import Consumed, Part

__all__ = ["KeyAsked", "requests_at"]

_DECODE = msgspec.json.Decoder(RequestRecord).decode
_PART_WRITES = frozenset({"Put", "Update", "Delete", "ConditionCheck"})
_PLAIN = {True: 1.0, False: 0.5}
"""What a request costs at least where it does not tell: one unit a write, half a unit a read."""


class KeyAsked(Struct, frozen=True, kw_only=True):
    """The key that is meant: `value` in clear; with a salt tokens of it are known too. `index` None is the table."""

    table: str
    attribute: str
    value: str
    index: str | None = None
    salt: Salt | None = None

    def is_at(self, key: Mapping[str, dict[str, Any]] | None) -> bool:
        """Whether a key holds the value."""
        found = {} if key is None else key.get(self.attribute, {})
        text = key_text(found)
        value = (key_text({"N": self.value}) or self.value) if "N" in found else self.value  # 1.0 and 1 are one key
        return text is not None and (text == value or self._is_token(text, value))

    def _is_token(self, text: str, value: str) -> bool:
        if self.salt is None:
            return False
        clear, told = split_key(value), split_key(text)
        pairs = zip(clear, told, strict=False)
        return len(clear) == len(told) and all(seen in {part, self.salt.token(part)} for part, seen in pairs)

    def sort_of(self, key: Mapping[str, dict[str, Any]] | None) -> str | None:
        """Return the other attribute's value, None where there is none."""
        others = [value for name, value in (key or {}).items() if name != self.attribute]
        return key_text(others[0]) if others else None


def requests_at(key: KeyAsked, blocks: Iterable[bytes], seen: SeenBeside | None = None) -> Iterator[Asked]:
    """Yield the requests of some blocks of lines that went to the key; a line that is no record is passed over.

    `units` that were not told are the least that such a request costs. `seen` is told of every record.
    """
    for block in blocks:
        for line in block.splitlines():
            try:
                record = _DECODE(line)
                time = parse_instant(record.time)
            except (msgspec.MsgspecError, ValueError):
                if seen is not None:
                    seen.pass_over(line)
                continue
            if seen is not None:
                seen.take(record)
            yield from _asked(record, time, key)


def _asked(record: RequestRecord, time: Instant, key: KeyAsked) -> Iterator[Asked]:
    if record.parts:
        yield from _of_parts(record, record.parts, time, key)
    elif table_name(record.table) == key.table:
        written = (record.index_keys or {}).get(key.index) if key.index is not None else record.key
        is_write = record.op in WRITES
        place = written if is_write else record.key if record.index == key.index else None
        if key.is_at(place) and (is_write or record.op in READS):
            yield _one(record, time, key, place, is_write=is_write)


def _one(
    record: RequestRecord, time: Instant, key: KeyAsked, place: Mapping[str, Any] | None, *, is_write: bool
) -> Asked:
    sort = key.sort_of(place)
    units = _units(record.consumed, key.index, is_write=is_write)
    return Asked(
        time=time,
        units=_PLAIN[is_write] if units is None else units,
        is_write=is_write,
        is_range=record.op == "Query" and sort is None,
        sort=sort,
        tries=_refused(record),
        weight=1 / record.sample_rate,
    )


def _of_parts(record: RequestRecord, parts: list[Part], time: Instant, key: KeyAsked) -> Iterator[Asked]:
    """Yield the parts of a batch or transaction at the key, with equal shares of what it cost."""
    of_table = [part for part in parts if table_name(part.table or record.table) == key.table]
    at_key = []
    for part in of_table:
        place = part.key if key.index is None else (part.index_keys or {}).get(key.index)
        if key.is_at(place):
            at_key.append((part, key.sort_of(place)))
    reads = [part for part, _ in at_key if part.op not in _PART_WRITES]
    for part, sort in at_key:
        is_write = part.op in _PART_WRITES
        units = _units(record.consumed, key.index, is_write=is_write)
        yield Asked(
            time=time,
            units=_PLAIN[is_write] if units is None else units / len(of_table),
            is_write=is_write,
            is_range=len(reads) > 1 and not is_write,
            sort=sort,
            tries=_refused(record),
            weight=1 / record.sample_rate,
        )


def _refused(record: RequestRecord) -> int:
    return sum(1 for one in record.tries or () if is_throttle(one.code))


def _units(consumed: Consumed | None, index: str | None, *, is_write: bool) -> float | None:
    """Return what a request cost its table or index; the total where that is not told apart."""
    if consumed is None:
        return None
    place = consumed.table if index is None else (consumed.indexes or {}).get(index)
    if isinstance(place, Capacity):
        place = place.write if is_write else place.read
    return consumed.total if place is None and index is None else place
