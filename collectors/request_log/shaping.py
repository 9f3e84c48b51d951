"""Lines of one tailed name become request records, whatever shape it has: its first lines tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.batch import Block
from collectors.request_log.decoders.decoding import JsonDecoding
from collectors.request_log.decoders.recognize import SAMPLE_BYTES, decoder_named, recognize
from collectors.request_log.decoders.seam import Broken
from collectors.request_log.decoders.splitting import Splitter
from collectors.request_log.translating import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.model.batch import Position
    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.decoders.seam import Decoder

__all__ = ["Shaping"]


class Shaping:
    """What stands behind one name, block by block. Our own records pass as they are, and so does what is not known.

    `shape` is the shape that was told or found, None as long as it is not known. A block's position lies before an
    object that is not whole yet, so that a restart reads it again.
    """

    def __init__(self, shape: str = AUTO, declared: Sequence[DeclaredKeys] = ()) -> None:
        self.shape: str | None = None
        self._declared = declared
        self._is_told = shape != AUTO
        self._decoding: JsonDecoding | None = None
        self._inode: int | None = None
        self._looked_at = 0
        self._waiting = b""
        if self._is_told:
            self._take(decoder_named(shape))

    def records(self, block: Block, beginning: Callable[[], bytes] = bytes) -> Block:
        """Return a block of records, one a line, for a block of a file's whole lines; `beginning` are its first."""
        rest = self._turn_to(block, beginning)
        if not self._is_told and (self.shape is None or not self._looked_at) and block.lines:
            block = self._look(block)
        if self._decoding is None:
            return block if not rest else Block(rest + block.lines, block.position, block.overlong, block.bad)
        passed = self._decoding.others + sum(self._decoding.bad.values())
        lines = self._decoding.feed(block.lines)
        is_passed = not lines and self._decoding.others + sum(self._decoding.bad.values()) > passed
        if is_passed and not self._is_told and self._take(recognize(block.lines)):
            return self.records(block)  # another shape begins within the file
        return self._translated(self._decoding, block, rest + lines)

    def _turn_to(self, block: Block, beginning: Callable[[], bytes]) -> bytes:
        """Finish with a file when another comes; return the records that were left in it."""
        inode = None if block.position is None else block.position.inode
        if inode == self._inode:
            return b""
        rest, self._waiting = self._waiting, b""
        rest = rest if self._decoding is None else self._decoding.finish()
        self._inode, self._looked_at = inode, 0
        if not self._is_told:
            self._take(recognize(beginning()))
        return rest

    def _look(self, block: Block) -> Block:
        """Tell the shape by lines, and return them with those that waited for that.

        Lines wait for the end of an object that begins in them. What SAMPLE_BYTES do not tell is looked at no more.
        """
        if self._looked_at >= SAMPLE_BYTES:
            return block
        self._looked_at += len(block.lines)
        lines, self._waiting = self._waiting + block.lines, b""
        if not self._take(recognize(lines[:SAMPLE_BYTES])) and self.shape is None and self._is_cut(lines):
            self._waiting = lines
            return Block(b"", _before(block.position, len(lines)), block.overlong)
        return Block(lines, block.position, block.overlong, block.bad) if len(lines) > len(block.lines) else block

    def _is_cut(self, lines: bytes) -> bool:
        splitter = Splitter()
        for _ in splitter.feed(lines):
            pass
        is_cut = any(isinstance(one, Broken) for one in splitter.finish())
        return is_cut and self._looked_at < SAMPLE_BYTES

    def _take(self, decoder: Decoder | None) -> bool:
        if decoder is None or decoder.name == self.shape:
            return False
        decoding = decoder.begin(self._declared)
        self.shape = decoder.name
        self._decoding = decoding if isinstance(decoding, JsonDecoding) else None
        return True

    @staticmethod
    def _translated(decoding: JsonDecoding, block: Block, lines: bytes) -> Block:
        bad = dict(decoding.bad)
        decoding.bad.clear()
        return Block(lines, _before(block.position, decoding.held), block.overlong, bad)


def _before(position: Position | None, count: int) -> Position | None:
    """Return a position so many bytes before another."""
    return position and msgspec.structs.replace(position, offset=max(0, position.offset - count))
