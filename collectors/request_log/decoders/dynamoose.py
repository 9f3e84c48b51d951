"""The log of Dynamoose: a category, " - ", and the request or the response as JSON over several lines.

Shape: dynamoose-logger's console provider, and its providers that write the whole message as JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.model.sight import Sight
from collectors.request_log.decoders.calls import is_request
from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.pairs import Pairs
from collectors.request_log.decoders.spans import parsed_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.request import RequestRecord
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader, UnreadableError

__all__ = ["DynamooseDecoder"]

_CATEGORY = re.compile(r"aws:dynamodb:([A-Za-z]+):(request|response|error)\b")


class DynamooseDecoder(JsonDecoder):
    """What dynamoose-logger prints."""

    name: ClassVar[str] = "dynamoose"
    title: ClassVar[str] = "Dynamoose"
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
        """Whether an object stands behind one of Dynamoose's categories."""
        return _entry(piece) is not None

    def reader(self, names: KeyNames) -> Reader:
        """Return a reader that joins responses to requests."""
        return _Reader(names)


def _entry(piece: Piece) -> tuple[str, str, dict[str, Any]] | None:
    """Return operation, what it is, and the request or response."""
    category = piece.value.get("category")
    found = _CATEGORY.search(category if isinstance(category, str) else piece.before)
    if found is None:
        return None
    body = parsed_json(piece.value.get("message")) if isinstance(category, str) else piece.value
    operation = found[1][:1].upper() + found[1][1:]
    return (operation, found[2], body) if isinstance(body, dict) and is_request(operation) else None


class _Reader:
    def __init__(self, names: KeyNames) -> None:
        self._pairs = Pairs(names)

    def read(self, piece: Piece) -> Iterable[RequestRecord | UnreadableError] | None:
        entry = _entry(piece)
        if entry is None:
            return None
        operation, what, body = entry
        if what == "request":
            return self._pairs.asked(operation, body, piece)
        return self._pairs.answered(operation, body, body if what == "error" else None)

    def finish(self) -> Iterable[RequestRecord | UnreadableError]:
        return self._pairs.left()
