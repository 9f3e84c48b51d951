"""The seam of decoders: what a shape of request log is to the rest, and what may become of its content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from analyzer.model.instant import Instant
from analyzer.model.request import RequestRecord

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from analyzer.model.sight import Sight
    from collectors.request_log.decoders.schema import DeclaredKeys

__all__ = ["Broken", "Decoded", "Decoder", "Decoding", "Piece", "Read", "Reader", "Sample", "UnreadableError"]


class Piece(Struct, frozen=True):
    """One JSON object of a log; `before` is the text before it on its line, `time` what its envelope says."""

    value: dict[str, Any]
    before: str = ""
    time: Instant | None = None


class Broken(Struct, frozen=True):
    """Text that begins like a JSON object and is none; `text` is its beginning."""

    text: str


class Sample(Struct, frozen=True):
    """The beginning of a log, as bytes and as the objects that lie whole in it."""

    first: bytes
    pieces: tuple[Piece, ...] = ()


class UnreadableError(Exception):
    """A request that cannot be read; its text says why, and holds nothing of the request."""


class Decoded(Struct, frozen=True):
    """What became of some content: request records, one a line; what could not be read, by reason.

    `others` counts objects that are no DynamoDB requests at all: they are nobody's loss.
    """

    lines: bytes
    bad: dict[str, int]
    others: int = 0


class Decoding(Protocol):
    """One log being decoded, chunk by chunk: it remembers what is unfinished, in bounded memory.

    `bad` counts requests that could not be read by reason, `others` objects that are no requests.
    """

    bad: Counter[str]
    others: int

    def feed(self, chunk: bytes) -> bytes:
        """Take in the next bytes, cut anywhere; return the records that are whole, one a line."""
        ...

    def finish(self) -> bytes:
        """Return what is left at the end of the log."""
        ...


Read = RequestRecord | UnreadableError | dict[str, Any]
"""What a reader makes of a request: a record, why there is none, or a record that was one already."""


class Reader(Protocol):
    """Turns the objects of one log into records, in their order: it remembers a request until its answer comes."""

    def read(self, piece: Piece) -> Iterable[Read] | None:
        """Return the records of an object, None where it is no request; raises UnreadableError, or returns some."""
        ...

    def finish(self) -> Iterable[Read]:
        """Return what still waits at the end of the log."""
        ...


class Decoder(Protocol):
    """One shape of request log. `name` is what the user writes, `title` what people call it.

    `sights` is what this shape can give at best; what it cannot give is absent from its records, so that detectors
    which need it are skipped.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @property
    def sights(self) -> frozenset[Sight]:
        """Return what this shape can give at best."""
        ...

    def recognizes(self, sample: Sample) -> float:
        """Return the share of a log's beginning that is of this shape, 0 where none is."""
        ...

    def begin(self, declared: Sequence[DeclaredKeys] = ()) -> Decoding:
        """Begin to decode a log of this shape; what is declared of tables' keys tells those of items that are put."""
        ...
