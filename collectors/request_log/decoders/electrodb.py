"""The log of ElectroDB's event listener as JSON: a `query` event with the parameters, a `results` event behind it.

Shape: ElectroDB's documentation, "Events and logging". Both events are written together when the answer is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.model.sight import Sight
from collectors.request_log.decoders.fields import mapping, within
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.pairs import Pairs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.request import RequestRecord
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader, UnreadableError

__all__ = ["ElectroDbDecoder"]

_OPERATIONS = {
    "get": "GetItem",
    "put": "PutItem",
    "update": "UpdateItem",
    "delete": "DeleteItem",
    "query": "Query",
    "scan": "Scan",
    "batchGet": "BatchGetItem",
    "batchWrite": "BatchWriteItem",
    "transactGet": "TransactGetItems",
    "transactWrite": "TransactWriteItems",
}
_TYPES = frozenset({"query", "results"})
_DEEPEST = 3


class ElectroDbDecoder(JsonDecoder):
    """The listener's events, each as a JSON object."""

    name: ClassVar[str] = "electrodb"
    title: ClassVar[str] = "ElectroDB"
    sights: ClassVar[frozenset[Sight]] = frozenset(
        {
            Sight.REQUESTS,
            Sight.REQUEST_KEYS,
            Sight.REQUEST_COUNTS,
            Sight.REQUEST_UNITS,
            Sight.REQUEST_FILTERS,
            Sight.REQUEST_SEQUENCES,
        }
    )

    def claims(self, piece: Piece) -> bool:
        """Whether an object is, or holds, one of the listener's events."""
        return _event(piece.value) is not None

    def reader(self, names: KeyNames) -> Reader:
        """Return a reader that joins results to queries."""
        return _Reader(names)


def _event(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event itself."""
    return within(value, _is_event, _DEEPEST)


def _is_event(value: dict[str, Any]) -> bool:
    is_told = "params" in value or "success" in value
    return is_told and value.get("type") in _TYPES and value.get("method") in _OPERATIONS


class _Reader:
    def __init__(self, names: KeyNames) -> None:
        self._pairs = Pairs(names)

    def read(self, piece: Piece) -> Iterable[RequestRecord | UnreadableError] | None:
        event = _event(piece.value)
        if event is None:
            return None
        operation = _OPERATIONS[event["method"]]
        if event["type"] == "query":
            return self._pairs.asked(operation, mapping(event.get("params")), piece)
        results = mapping(event.get("results"))
        return self._pairs.answered(operation, results, None if event.get("success") else results)

    def finish(self) -> Iterable[RequestRecord | UnreadableError]:
        return self._pairs.left()
