"""Logs that tell a request and its answer in two entries, with nothing but their order to join them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.model.request import RequestRecord
from collectors.request_log.decoders.calls import add_answer, error_of, record_of
from collectors.request_log.decoders.context import add_context, moment_of
from collectors.request_log.decoders.fields import mapping, text, whole
from collectors.request_log.decoders.seam import UnreadableError

if TYPE_CHECKING:
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece

__all__ = ["Pairs"]

_MOST_WAITING = 1000
_NO_TIME = "a request has no time: let the logger add one (`timestamp`)"


class _Waiting(Struct):
    request: dict[str, Any]
    record: RequestRecord


class Pairs:
    """Joins answers to requests of the same operation, where only one can be meant; else both stay alone.

    What was answered stays unknown rather than being told of another request's key.
    """

    def __init__(self, names: KeyNames) -> None:
        self._names = names
        self._waiting: dict[str, list[_Waiting]] = {}
        self._passed_over: dict[str, int] = {}

    def asked(self, operation: str, request: dict[str, Any], piece: Piece) -> list[RequestRecord | UnreadableError]:
        """Take a request; return those that wait too long for their answers."""
        at = moment_of(piece)
        if at is None:
            return [UnreadableError(_NO_TIME)]
        record = record_of(operation, request, at, self._names)
        add_context(record, piece)
        waiting = self._waiting.setdefault(operation, [])
        waiting.append(_Waiting(request, record))
        return [waiting.pop(0).record] if len(waiting) > _MOST_WAITING else []

    def answered(
        self, operation: str, answer: dict[str, Any], error: dict[str, Any] | None
    ) -> list[RequestRecord | UnreadableError]:
        """Take an answer, or how the call failed; return the request that it belongs to, or all that it may."""
        waiting = self._waiting.pop(operation, [])
        if len(waiting) != 1 or self._passed_over.get(operation):
            left = self._passed_over.get(operation, 0) + len(waiting) - 1
            self._passed_over[operation] = max(0, left)
            return [one.record for one in waiting]
        (one,) = waiting
        if error is not None:
            one.record.error = error_of(error, one.request)
        else:
            add_answer(one.record, one.request, answer)
        told = mapping(answer.get("$metadata")) or mapping((error or {}).get("$metadata"))
        one.record.request_id = text(told.get("requestId"))
        one.record.attempts = whole(told.get("attempts"))
        return [one.record]

    def left(self) -> list[RequestRecord | UnreadableError]:
        """Return the requests that nobody answered."""
        found: list[RequestRecord | UnreadableError] = [one.record for each in self._waiting.values() for one in each]
        self._waiting.clear()
        return found
