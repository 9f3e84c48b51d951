"""Dynascope's own records where a log service or container runtime has wrapped each line up, or put text before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from collectors.request_log.decoders.json_logs import JsonDecoder
from collectors.request_log.decoders.native import NativeDecoder, is_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.sight import Sight
    from collectors.request_log.decoders.schema import KeyNames
    from collectors.request_log.decoders.seam import Piece, Reader

__all__ = ["WrappedDecoder"]


class WrappedDecoder(JsonDecoder):
    """Request records inside of something else; each is handed on as it is."""

    name: ClassVar[str] = "wrapped"
    title: ClassVar[str] = "Dynascope request records in a log service's envelope"
    sights: ClassVar[frozenset[Sight]] = NativeDecoder.sights

    def claims(self, piece: Piece) -> bool:
        """Whether an object is a record that does not stand alone on its line."""
        return is_record(piece) and (piece.before != "" or piece.time is not None)

    def reader(self, _names: KeyNames) -> Reader:
        """Return what takes records out."""
        return _Reader()


class _Reader:
    def read(self, piece: Piece) -> Iterable[dict[str, Any]] | None:
        return (piece.value,) if is_record(piece) else None

    def finish(self) -> Iterable[dict[str, Any]]:
        return ()
