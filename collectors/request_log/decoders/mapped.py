"""Application logs that are JSON objects, such as those of Powertools: a mapping file says where the fields stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.model.request import Consumed, RequestError, RequestRecord
from analyzer.model.sight import Sight
from collectors.request_log.decoders.calls import is_request, place
from collectors.request_log.decoders.fields import flag, mapping, number, text, whole
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.messages import error_code
from collectors.request_log.decoders.moments import instant_of, time_of
from collectors.request_log.decoders.seam import UnreadableError
from collectors.request_log.decoders.statements import masked_statement
from collectors.request_log.decoders.values import key_of, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from collectors.request_log.decoders.mapping_file import Mapping
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader

__all__ = ["MappedDecoder"]

_TYPES: dict[str, Callable[[object], Any]] = {
    **dict.fromkeys(
        ("index", "region", "account", "key_condition", "filter", "projection", "update", "condition", "select"), text
    ),
    **dict.fromkeys(("caller", "caller_version", "principal", "user_agent", "pattern", "trace_id", "request_id"), text),
    **dict.fromkeys(("consistent", "forward", "more", "resumed"), flag),
    **dict.fromkeys(("limit", "count", "scanned", "item_bytes", "returned_bytes", "attempts"), whole),
    "latency_ms": number,
}
_GIVES = {
    Sight.REQUEST_KEYS: ("key", "values"),
    Sight.REQUEST_COUNTS: ("scanned",),
    Sight.REQUEST_UNITS: ("consumed", "read_units", "write_units"),
    Sight.REQUEST_FILTERS: ("filter",),
    Sight.REQUEST_SEQUENCES: ("more",),
}


class MappedDecoder(JsonDecoder):
    """A shape that a user described."""

    name: ClassVar[str] = "mapped"
    title: ClassVar[str] = "application log, as mapped"

    def __init__(self, mapping: Mapping) -> None:
        self.mapping = mapping
        has = {*mapping.fields, *(("key",) if mapping.key else ())}
        self.sights = frozenset({Sight.REQUESTS, *(sight for sight, names in _GIVES.items() if has & set(names))})

    def claims(self, piece: Piece) -> bool:
        """Whether an object has an operation where the mapping says."""
        return self._is_meant(piece) and self.mapping.fields["op"].of(piece.value) is not None

    def _is_meant(self, piece: Piece) -> bool:
        return all(path.of(piece.value) == value for path, value in self.mapping.when)

    def reader(self, _names: KeyNames) -> Reader:
        """Return a reader of mapped entries."""
        return _Reader(self)


class _Reader:
    def __init__(self, decoder: MappedDecoder) -> None:
        self._decoder = decoder
        self._mapping = decoder.mapping

    def read(self, piece: Piece) -> Iterable[RequestRecord] | None:
        if not self._decoder.claims(piece):
            return None
        told = {name: path.of(piece.value) for name, path in self._mapping.fields.items()}
        word = told["op"]
        operation = self._mapping.operations.get(str(word), word)
        if not isinstance(operation, str) or not is_request(operation):
            raise UnreadableError("an entry's `op` is no operation: translate it under `operations`")
        at = instant_of(told["time"])
        if at is None:
            raise UnreadableError("an entry's `time` is no time")
        record = RequestRecord(time=time_of(at), op=operation, v=1)
        for name, read in _TYPES.items():
            if name in told:
                setattr(record, name, read(told[name]))
        table, statement = text(told.get("table")), text(told.get("statement"))
        if table is None and statement is None:
            raise UnreadableError("an entry has no table where the mapping says")
        if table is not None:
            place(record, table)
        record.statement = None if statement is None else masked_statement(statement)
        record.key = key_of({name: path.of(piece.value) for name, path in self._mapping.key.items()})
        _add_rest(record, told)
        return (record,)

    def finish(self) -> Iterable[RequestRecord]:
        return ()


def _add_rest(record: RequestRecord, told: dict[str, Any]) -> None:
    names = {holder: name for holder, name in mapping(told.get("names")).items() if isinstance(name, str)}
    record.names = names or None
    values = {holder: scalar(value) for holder, value in mapping(told.get("values")).items()}
    used = record.key_condition or ""
    record.values = {h: value for h, value in values.items() if value is not None and h in used} or None
    total, read, write = (number(told.get(name)) for name in ("consumed", "read_units", "write_units"))
    consumed = Consumed(total=total, read=read, write=write)
    record.consumed = consumed if consumed != Consumed() else None
    failed = told.get("error")
    if isinstance(failed, str) and failed:
        record.error = RequestError(error_code(failed) or "Error")
    elif failed is True:
        record.error = RequestError("Error")
    rate = number(told.get("sample_rate"))
    record.sample_rate = rate if rate is not None and 0 < rate <= 1 else 1.0
