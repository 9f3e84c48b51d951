"""What decoders of JSON logs have in common: a shape is told by its objects, and read by a reader of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from collectors.request_log.decoders.decoding import JsonDecoding
from collectors.request_log.decoders.schema import KeyNames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.decoders.seam import Decoding, Piece, Reader, Sample

__all__ = ["JsonDecoder"]


class JsonDecoder(ABC):
    """A shape whose logs are JSON objects."""

    def recognizes(self, sample: Sample) -> float:
        """Return the share of a log's first objects that are of this shape."""
        return sum(map(self.claims, sample.pieces)) / max(1, len(sample.pieces))

    def begin(self, declared: Sequence[DeclaredKeys] = ()) -> Decoding:
        """Begin to decode a log; which attributes are keys may be declared."""
        return JsonDecoding(self.reader(KeyNames(declared)))

    @abstractmethod
    def claims(self, piece: Piece) -> bool:
        """Whether an object is of this shape."""

    @abstractmethod
    def reader(self, names: KeyNames) -> Reader:
        """Return what reads the objects of one log."""
