"""The log of the AWS SDK for JavaScript v3, where the client's logger writes JSON: bare client and document client.

Shape: `@aws-sdk/middleware-logger`, `{clientName, commandName, input, output | error, metadata}`. It has no time of its
own; the logger around it adds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.model.request import RequestError
from analyzer.model.sight import Sight
from collectors.request_log.decoders.calls import add_answer, error_of, is_request, record_of
from collectors.request_log.decoders.context import add_context, moment_of
from collectors.request_log.decoders.fields import mapping, number, text, whole, within
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.seam import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.request import RequestRecord
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader

__all__ = ["AwsSdkJsDecoder"]

_COMMAND = "Command"
_DOCUMENT = {
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "BatchGet": "BatchGetItem",
    "BatchWrite": "BatchWriteItem",
    "TransactGet": "TransactGetItems",
    "TransactWrite": "TransactWriteItems",
}
"""Commands of `@aws-sdk/lib-dynamodb` that have another name than the operation that they send."""
_DEEPEST = 3
"""Loggers put what they are given under a name of their own: `message`, `data`, `context`."""


class AwsSdkJsDecoder(JsonDecoder):
    """The SDK's logger with a JSON logger."""

    name: ClassVar[str] = "aws-sdk-js"
    title: ClassVar[str] = "AWS SDK for JavaScript v3"
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
        """Whether an object is, or holds, one of the SDK's for DynamoDB."""
        found = _entry(piece.value)
        return found is not None and _is_dynamodb(found)

    def reader(self, names: KeyNames) -> Reader:
        """Return a reader that learns the keys of tables."""
        return _Reader(names)


def _entry(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the SDK's own object."""
    return within(value, _is_entry, _DEEPEST)


def _is_entry(value: dict[str, Any]) -> bool:
    return isinstance(value.get("commandName"), str) and isinstance(value.get("clientName"), str)


def _is_dynamodb(entry: dict[str, Any]) -> bool:
    client = entry["clientName"]
    return client.startswith("DynamoDB") and not client.startswith("DynamoDBStreams")


class _Reader:
    def __init__(self, names: KeyNames) -> None:
        self._names = names

    def read(self, piece: Piece) -> Iterable[RequestRecord] | None:
        entry = _entry(piece.value)
        command = "" if entry is None else entry["commandName"].removesuffix(_COMMAND)
        operation = _DOCUMENT.get(command, command)
        if entry is None or not _is_dynamodb(entry) or not is_request(operation):
            return None
        at = moment_of(piece, entry)
        if at is None:
            raise UnreadableError("a request has no time: let the logger add one (`timestamp`)")
        request = entry.get("input")
        if not isinstance(request, dict):
            raise UnreadableError("a request has no input: the logger leaves it out")
        record = record_of(operation, request, at, self._names)
        add_context(record, piece)
        _add_outcome(record, request, entry)
        return (record,)

    def finish(self) -> Iterable[RequestRecord]:
        return ()


def _add_outcome(record: RequestRecord, request: dict[str, Any], entry: dict[str, Any]) -> None:
    error, output = entry.get("error"), entry.get("output")
    told = mapping(entry.get("metadata")) or mapping(mapping(error).get("$metadata"))
    if isinstance(error, dict):
        record.error = error_of(error, request)
    elif error:
        record.error = RequestError("Error")
    elif isinstance(output, dict):
        add_answer(record, request, output)
    record.request_id = text(told.get("requestId")) or record.request_id
    record.attempts = whole(told.get("attempts"))
    record.latency_ms = number(entry.get("duration"))
