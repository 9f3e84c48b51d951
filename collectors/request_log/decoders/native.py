"""Dynascope's own request records: they pass through as they are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from analyzer.model.sight import Sight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.decoders.seam import Decoding, Piece, Sample

__all__ = ["NativeDecoder", "is_record"]

_LONGEST_LINE = 1024 * 1024
_TOO_LONG = "line is too long"


class NativeDecoder:
    """Request records, version 1, one a line; who counts them judges each line, good or bad."""

    name: ClassVar[str] = "native"
    title: ClassVar[str] = "Dynascope request records"
    sights: ClassVar[frozenset[Sight]] = frozenset(
        {
            Sight.REQUESTS,
            Sight.REQUEST_KEYS,
            Sight.REQUEST_COUNTS,
            Sight.REQUEST_UNITS,
            Sight.REQUEST_FILTERS,
            Sight.REQUEST_SEQUENCES,
            Sight.RETURNED_KEYS,
        }
    )

    def recognizes(self, sample: Sample) -> float:
        """Return the share of objects that have a version and are requests or counters."""
        alone = [is_record(piece) and not piece.before and piece.time is None for piece in sample.pieces]
        return sum(alone) / max(1, len(alone))

    def begin(self, _declared: Sequence[DeclaredKeys] = ()) -> Decoding:
        """Begin to pass a log through."""
        return _PassingThrough()


def is_record(piece: Piece) -> bool:
    """Whether an object is a request record or a counter of a sampler."""
    value = piece.value
    return isinstance(value.get("v"), int) and ("op" in value or "counter" in value)


class _PassingThrough:
    """Hands on whole lines."""

    def __init__(self) -> None:
        self.bad: Counter[str] = Counter()
        self.others = 0
        self._rest = bytearray()
        self._is_cutting = False

    def feed(self, chunk: bytes) -> bytes:
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._keep(chunk)
            return b""
        begin = chunk.find(b"\n") + 1 if self._is_cutting else 0
        lines = bytes(self._rest) + chunk[begin:end]
        self._rest.clear()
        self._is_cutting = False
        self._keep(chunk[end:])
        return lines

    def _keep(self, rest: bytes) -> None:
        """Keep an unfinished line, unless it is beyond the bound."""
        if self._is_cutting:
            return
        self._rest += rest
        if len(self._rest) > _LONGEST_LINE:
            self.bad[_TOO_LONG] += 1
            self._rest.clear()
            self._is_cutting = True

    def finish(self) -> bytes:
        return bytes(self._rest) + b"\n" if self._rest else b""
