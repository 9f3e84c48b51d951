"""One line of a request log becomes a call of the book; asked only for the few lines that are kept."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from analyzer.model.calls import Call, CallPart, CallTry, Notable, ReturnedItem, TtlValue
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.instant import parse_instant
from analyzer.model.request import RequestError, Returned, Stratum, Try, TtlSeen
from analyzer.requests.digest_parts import PartReader
from analyzer.requests.digest_rare import code_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.counts import Cell
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_columns import Rows
    from analyzer.requests.digest_keys import KeySpace
    from analyzer.requests.digest_rare import Failure
    from analyzer.requests.digest_routes import Route, Router
    from analyzer.requests.tokens import Salt

__all__ = ["LARGE_BYTES", "CallReader", "notable_of"]

LARGE_BYTES = 350 * 1024
"""From here on an item is near the 400 KB that DynamoDB stores at most."""

_READ_INDEX_KEYS = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_READ_ERROR = msgspec.json.Decoder(RequestError).decode
_READ_TRIES = msgspec.json.Decoder(list[Try]).decode
_READ_HANDED_BACK = msgspec.json.Decoder(list[int]).decode
_READ_RETURNED = msgspec.json.Decoder(list[Returned]).decode
_READ_TTL = msgspec.json.Decoder(TtlSeen).decode
_READ_STRATA = msgspec.json.Decoder(list[Stratum]).decode
_MOST = 100
"""Of members, tries, index keys and items returned so many are told at most: DynamoDB's own bound of a transaction."""


_GREATEST = 2**40
_DIGITS = 3
"""Of milliseconds."""


class Source(NamedTuple):
    """Where a call stands: its line, the number of the line and of the row, the rows, and what failed."""

    line: Line
    at: int
    row: int
    rows: Rows
    failure: Failure | None


class CallReader:
    """Reads calls; with `collect`, a salt, `write` makes tokens of what is clear."""

    def __init__(self, router: Router, write: Callable[[str, str], str] | None, collect: Salt | None) -> None:
        self._router = router
        self._write = write
        self._collect = collect

    def read(self, source: Source, route: Route, cell: Cell) -> Call:
        """Return the call of a row of requests; what cannot be read is not known."""
        line, rows, row = source.line, source.rows, source.row
        error = None if source.failure is None or source.failure.code is None else source.failure
        told = _read(_READ_ERROR, line.error) if error is not None else None
        cancellation = tuple(None if c is None else code_word(c) for c in (told.cancellation if told else None) or ())
        placed = PartReader.placed(line, route) if route.is_parted else []
        table = cell.target.table
        strata = {stratum.by for stratum in _read(_READ_STRATA, line.strata) or ()} if line.strata else frozenset()
        is_whole = line.sample_rate >= 1
        trace = None if not line.trace_id else self._opaque(line.trace_id.encode("utf-8", "replace"))
        key = None if route.is_parted else self._key_of(source, table)
        return Call(
            time=_instant(line.time, int(rows.seconds[row])),
            target=cell.target,
            shape=cell.shape,
            caller=cell.caller,
            trace=trace,
            key=key,
            asked=self._asked(line),
            trace_whole=trace is not None and (is_whole or "trace" in strata),
            key_whole=key is not None and (is_whole or "key" in strata),
            shape_whole=trace is None and key is None and is_whole,
            sample_rate=line.sample_rate,
            count=_known(line.count),
            scanned=_known(line.scanned),
            limit=_sane(line.limit),
            more=line.more,
            resumed=line.resumed,
            unprocessed=max(0, line.unprocessed),
            item_bytes=_known(line.item_bytes),
            returned_bytes=_known(line.returned_bytes),
            latency_ms=None if line.latency_ms < 0 else line.latency_ms,
            attempts=_known(line.attempts),
            tries=_tries(line) if line.tries else (),
            error=None if error is None else error.code,
            message="" if error is None else error.message,
            cancellation=cancellation[:_MOST],
            members=len(placed),
            parts=self._parts(line, route, placed, table, cancellation),
            index_keys=self._index_keys(line, route, table) if line.index_keys else (),
            returned=self._returned(line, table) if line.returned else None,
            token_sent=line.token_sent,
            ttl=_ttl(line) if line.ttl_seen else None,
            read_units=_units(rows.read[row]),
            write_units=_units(rows.write[row]),
        )

    def _text(self, table: str, value: bytes) -> str:
        text = value.decode("utf-8", "replace")
        return text if self._write is None else self._write(table, text)

    def _key(self, table: str, part: bytes, sort: bytes) -> KeyName:
        level = KeyLevel.ITEM if sort else KeyLevel.PARTITION
        return KeyName(level, self._text(table, part), self._text(table, sort) if sort else None)

    def _key_of(self, source: Source, table: str) -> KeyName | None:
        keys = source.rows.of_lines
        known = keys.is_known[source.at]
        return self._key(table, keys.parts[source.at], keys.sorts[source.at]) if known else None

    def _opaque(self, text: bytes) -> str:
        """Return a hash; with a salt one that nobody can try texts against."""
        hashed = blake2b(text, digest_size=8).hexdigest()
        return hashed if self._collect is None else self._collect.token(hashed)

    def _asked(self, line: Line) -> str:
        parts = (bytes(line.key), bytes(line.values), bytes(line.parts), str(line.limit).encode())
        return self._opaque(b"\n".join(parts))

    def _parts(
        self,
        line: Line,
        route: Route,
        placed: list[tuple[str, Any]],
        table: str,
        cancellation: tuple[str | None, ...],
    ) -> tuple[CallPart, ...]:
        if not placed:
            return ()
        space = self._router.space(table, None, route.record.keys)
        back = _read(_READ_HANDED_BACK, line.handed_back)
        if back is None and not line.unprocessed and not line.error:
            back = ()
        return tuple(
            CallPart(
                position=position,
                operation=member.op if member.op in _OPERATIONS else "",
                table=table,
                key=self._member_key(space, table, bytes(member.key)),
                item_bytes=_sane(member.item_bytes),
                has_condition=member.condition is not None or member.op == "ConditionCheck",
                canceled=_word_at(cancellation, position),
                is_handed_back=None if back is None else position in back,
            )
            for position, (place, member) in enumerate(placed[:_MOST])
            if place == table
        )

    def _member_key(self, space: KeySpace, table: str, raw: bytes) -> KeyName | None:
        _, part, sort = space.parse(raw) if raw else (0, b"", b"")
        return self._key(table, part, sort) if part else None

    def _index_keys(self, line: Line, route: Route, table: str) -> tuple[tuple[str, KeyName], ...]:
        raw = bytes(line.index_keys)
        found = []
        for index in list(_read(_READ_INDEX_KEYS, line.index_keys) or ())[:_MOST]:
            entry = self._router.space(table, index, route.record.keys).entry(raw, index)
            if entry is not None:
                found.append((index, self._key(table, *entry)))
        return tuple(found)

    def _returned(self, line: Line, table: str) -> tuple[ReturnedItem, ...] | None:
        items = _read(_READ_RETURNED, line.returned)
        if items is None:
            return None
        found = []
        for item in items[:_MOST]:
            part, _, sort = item.key.encode("utf-8", "replace").partition(b"\t")
            version = None if item.version is None else self._text(table, item.version.encode("utf-8", "replace"))
            found.append(ReturnedItem(self._key(table, part, sort), version))
        return tuple(found)


_OPERATIONS = frozenset({"Get", "Put", "Update", "Delete", "ConditionCheck"})


def notable_of(line: Line, failure: Failure | None) -> Notable | None:
    """Say why a call is worth keeping whatever its names; None where nothing makes it so."""
    if line.unprocessed > 0:
        return Notable.UNPROCESSED
    if failure is not None and failure.code is not None:
        return _failed(failure)
    if line.item_bytes >= LARGE_BYTES:
        return Notable.LARGE
    ttl = _ttl(line)
    if ttl is not None and ttl.expired_returned:
        return Notable.EXPIRED
    return None if ttl is None or ttl.type is None else Notable.TTL


def _failed(failure: Failure) -> Notable:
    if failure.code == "TransactionCanceledException":
        return Notable.CANCELED
    return Notable.THROTTLED if failure.is_throttled else Notable.FAILED


def _read(decode: Callable[[Any], Any], raw: msgspec.Raw) -> Any:  # noqa: ANN401 - what the decoder reads
    try:
        return decode(raw) if raw else None
    except (ValueError, RecursionError):
        return None


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _sane(number: int | None) -> int | None:
    """Return a number that can be, None for what no state could hold."""
    return number if number is not None and 0 <= number <= _GREATEST else None


def _units(halves: int) -> float | None:
    return None if halves < 0 else int(halves) / 2


def _instant(time: str, second: int) -> int:
    """Return the milliseconds of a time of which the second is known."""
    fraction = time[20:-1]
    if len(fraction) == _DIGITS and time[19] == "." and fraction.isdecimal():
        return second * 1000 + int(fraction)
    try:
        return parse_instant(time.upper())
    except ValueError:
        return second * 1000


def _tries(line: Line) -> tuple[CallTry, ...]:
    tries = _read(_READ_TRIES, line.tries) or ()
    return tuple(CallTry(one.at_ms, None if one.code is None else code_word(one.code)) for one in tries[:_MOST])


def _word_at(words: tuple[str | None, ...], position: int) -> str | None:
    return words[position] if position < len(words) else None


def _ttl(line: Line) -> TtlValue | None:
    seen = _read(_READ_TTL, line.ttl_seen)
    if seen is None:
        return None
    kind, value = next(iter((seen.value or {}).items()), (None, None))
    return TtlValue(
        attribute=seen.attribute,
        type=kind,
        number=_number(value),
        expired_returned=_sane(seen.expired_returned),
    )


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None
