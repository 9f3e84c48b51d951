"""One line of a request log becomes a call of the book; asked only for the few lines that are kept."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from analyzer.model.calls import Call, CallPart, CallTry, Notable, ReturnedItem, TtlValue
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.instant import parse_instant
from analyzer.model.request import RequestError, Returned, Stratum, Try, TtlSeen
from analyzer.requests.digest_drafts import draft_of, line_of
from analyzer.requests.digest_parts import PartReader
from analyzer.requests.digest_rare import code_word, read_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.counts import Cell
    from analyzer.model.instant import Instant
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_drafts import Draft
    from analyzer.requests.digest_keys import KeySpace
    from analyzer.requests.digest_rare import Failure
    from analyzer.requests.digest_routes import Router
    from analyzer.requests.tokens import Salt

__all__ = ["LARGE_BYTES", "CallReader", "Source", "instant_of", "notable_of"]

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
    """What is known of a call: its line, time, opaque trace, the `keys` policy of its record, key, half-units, failure.

    `part` is None where there is no key; half-units are -1 where they were not told.
    """

    line: Line
    time: Instant
    trace: str | None
    policy: str | None
    is_parted: bool
    part: bytes | None
    sort: bytes
    read: int
    write: int
    failure: Failure | None


class CallReader:
    """Reads calls; with `collect`, a salt, `write` makes tokens of what is clear."""

    def __init__(self, router: Router, write: Callable[[str, str], str] | None, collect: Salt | None) -> None:
        self._router = router
        self._write = write
        self._collect = collect

    def tell(self, source: Source, cell: Cell, kind: Notable | None) -> Call | Draft:
        """Return a call, or, where clear keys may be kept, what it can be read from later."""
        draft = draft_of(source) if self._collect is None else None
        return self.read(source, cell, kind) if draft is None else draft

    def finish(self, draft: Draft, time: Instant, cell: Cell, kind: Notable | None) -> Call:
        """Return the call of a draft."""
        line = line_of(draft)
        failure = read_failure(bytes(line.error), b"") if line.error else None
        key = draft.part, draft.sort
        halves = draft.read, draft.write
        is_parted = False
        return self.read(Source(line, time, draft.trace, draft.policy, is_parted, *key, *halves, failure), cell, kind)

    def read(self, source: Source, cell: Cell, kind: Notable | None) -> Call:
        """Return the call of a row of requests, notable for this; what cannot be read is not known."""
        line = source.line
        error = None if source.failure is None or source.failure.code is None else source.failure
        told = _read(_READ_ERROR, line.error) if error is not None else None
        cancellation = tuple(None if c is None else code_word(c) for c in (told.cancellation if told else None) or ())
        placed = PartReader.placed(line) if source.is_parted else []
        table = cell.target.table
        strata = {stratum.by for stratum in _read(_READ_STRATA, line.strata) or ()} if line.strata else frozenset()
        is_whole = line.sample_rate >= 1
        trace = source.trace
        key = None if source.is_parted or source.part is None else self._key(table, source.part, source.sort)
        return Call(
            time=source.time,
            target=cell.target,
            shape=cell.shape,
            caller=cell.caller,
            trace=trace,
            key=key,
            asked=self._asked(line),
            trace_whole=trace is not None and (is_whole or "trace" in strata),
            key_whole=key is not None and (is_whole or "key" in strata),
            shape_whole=trace is None and key is None and is_whole,
            notable=kind,
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
            parts=self._parts(source, placed, table, cancellation),
            index_keys=self._index_keys(source, table) if line.index_keys else (),
            returned=self._returned(line, table) if line.returned else None,
            token_sent=line.token_sent,
            ttl=_ttl(line) if line.ttl_seen else None,
            read_units=_units(source.read),
            write_units=_units(source.write),
        )

    def _text(self, table: str, value: bytes) -> str:
        text = value.decode("utf-8", "replace")
        return text if self._write is None else self._write(table, text)

    def _key(self, table: str, part: bytes, sort: bytes) -> KeyName:
        level = KeyLevel.ITEM if sort else KeyLevel.PARTITION
        return KeyName(level, self._text(table, part), self._text(table, sort) if sort else None)

    def trace_of(self, line: Line) -> str | None:
        """Return the opaque name of a call's trace."""
        return self._opaque(line.trace_id.encode("utf-8", "replace")) if line.trace_id else None

    def _opaque(self, text: bytes) -> str:
        """Return a hash; with a salt one that nobody can try texts against."""
        hashed = blake2b(text, digest_size=8).hexdigest()
        return hashed if self._collect is None else self._collect.token(hashed)

    def _asked(self, line: Line) -> str:
        parts = (bytes(line.key), bytes(line.values), bytes(line.parts), str(line.limit).encode())
        return self._opaque(b"\n".join(parts))

    def _parts(
        self, source: Source, placed: list[tuple[str, Any]], table: str, cancellation: tuple[str | None, ...]
    ) -> tuple[CallPart, ...]:
        if not placed:
            return ()
        line = source.line
        space = self._router.space(table, None, source.policy)
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

    def _index_keys(self, source: Source, table: str) -> tuple[tuple[str, KeyName], ...]:
        raw = bytes(source.line.index_keys)
        found = []
        for index in list(_read(_READ_INDEX_KEYS, source.line.index_keys) or ())[:_MOST]:
            entry = self._router.space(table, index, source.policy).entry(raw, index)
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


def instant_of(time: str, second: int) -> int:
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
