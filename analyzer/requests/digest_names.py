"""Names of calls become numbers that every process agrees on: they decide which sequences the call book holds.

A name is a trace, a target with a partition key, or a caller with a shape. Its *rank* is the number of leading zeros of
its 64-bit hash: half of all names have rank 0, a quarter rank 1, and so on. What is kept of a call is its names' ranks,
which say nothing of its key.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, cast
from zlib import crc32

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.counts import Cell
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_columns import Rows
    from analyzer.requests.digest_told import Told

__all__ = ["TRACES", "Hashes", "Names", "key_salt", "mixed", "rank_of", "shape_hash"]

_BITS = 64
_HALF = 32
_MASK = (1 << _BITS) - 1
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31
"""The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input changes half of those of the output."""

TRACES = 0x9E3779B97F4A7C15
"""What the marks of traces are mixed with, so that a trace never shares the hash of a key of the same text."""


def mixed(number: int) -> int:
    """Mix the bits of a number of 64 bits."""
    for shift, factor in _STEPS:
        number = (number ^ number >> shift) * factor & _MASK
    return number ^ number >> _LAST_SHIFT


def _mixed(numbers: np.ndarray) -> np.ndarray:
    for shift, factor in _STEPS:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    result: np.ndarray = numbers ^ (numbers >> np.uint64(_LAST_SHIFT))
    return result


def rank_of(hashed: int) -> int:
    """Return the number of leading zeros."""
    return _BITS - hashed.bit_length()


def _ranks(hashed: np.ndarray) -> np.ndarray:
    """Return the same of many; the halves of a number are small enough to be exact as floats."""
    high, low = hashed >> np.uint64(_HALF), hashed & np.uint64((1 << _HALF) - 1)
    of_high, of_low = np.frexp(high.astype(np.float64))[1], np.frexp(low.astype(np.float64))[1]
    result: np.ndarray = _BITS - np.where(high > 0, of_high + _HALF, of_low)
    return result


def _salt(*words: object) -> int:
    return int.from_bytes(blake2b(msgspec.json.encode(words), digest_size=8).digest(), "big")


def key_salt(cell: Cell) -> int:
    """Return what the marks of keys at a cell's target are mixed with."""
    target = cell.target
    return _salt("key", target.account, target.region, target.table, target.index)


def shape_hash(cell: Cell) -> int:
    """Return the hash of a cell's caller and shape."""
    return _salt("shape", cell.caller, cell.target, cell.shape.fingerprint)


class Hashes(NamedTuple):
    """The hashes of the names of some rows; `has_trace` and `has_key` say which count."""

    trace: np.ndarray
    key: np.ndarray
    shape: np.ndarray
    has_trace: np.ndarray
    has_key: np.ndarray

    def within(self, rank: int) -> np.ndarray:
        """Return which rows have a name of this rank or above."""
        most = np.uint64(_MASK >> rank)
        by_name = ((self.trace <= most) & self.has_trace) | ((self.key <= most) & self.has_key)
        result: np.ndarray = by_name | ((self.shape <= most) & ~self.has_trace & ~self.has_key)
        return result

    def ranks(self, rows: np.ndarray) -> tuple[list[int], list[int], list[int]]:
        """Return the ranks of some rows' traces, keys, and callers with shapes; -1 for a name that a row has not."""
        has_trace, has_key = self.has_trace[rows], self.has_key[rows]
        trace, key, shape = (
            np.where(is_there, _ranks(hashed[rows]), -1).tolist()
            for hashed, is_there in ((self.trace, has_trace), (self.key, has_key), (self.shape, ~(has_trace | has_key)))
        )
        return trace, key, shape

    def first(self, row: int) -> int:
        """Return the hash of the first name that a row has."""
        if self.has_trace[row]:
            return int(self.trace[row])
        return int(self.key[row] if self.has_key[row] else self.shape[row])


class Names:
    """Hashes the names of a block's rows; what depends on the cell alone is remembered."""

    def __init__(self, cells: CellTable) -> None:
        self._cells = cells
        self._key_salts = np.zeros(0, dtype=np.uint64)
        self._shapes = np.zeros(0, dtype=np.uint64)

    def _learn(self) -> None:
        """Catch up with the cells; some more than there are, so that it is seldom done."""
        new = self._cells.cells[len(self._key_salts) :]
        if new:
            self._key_salts = np.append(self._key_salts, np.array(list(map(key_salt, new)), dtype=np.uint64))
            self._shapes = np.append(self._shapes, np.array(list(map(shape_hash, new)), dtype=np.uint64))

    def of(self, told: Told, rows: Rows, count: int) -> Hashes:
        """Return the hashes of the first so many rows, which are requests; quick, since it is asked for every block.

        The marks of keys are those that the rows of keys have already: of single calls, in the order of their lines.
        """
        self._learn()
        source, cells = rows.source[:count], rows.cells[:count]
        shape = self._shapes[cells]
        has_key = rows.of_lines.is_known[source] & ~rows.is_parted[:count]
        keyed = np.flatnonzero(has_key)
        key = np.zeros(count, dtype=np.uint64)
        marks = rows.keys.marks[: len(keyed)].astype(np.uint64)
        key[keyed] = _mixed(marks ^ self._key_salts[cells[keyed]])
        traces = told.trace_id
        if not any(traces):
            return Hashes(key, key, shape, np.zeros(count, dtype=bool), has_key)
        texts = _encoded(traces)
        of_lines = np.fromiter(map(crc32, texts), np.uint64, len(texts))
        has_trace = (
            np.ones(count, dtype=bool) if all(texts) else np.fromiter(map(bool, texts), bool, len(texts))[source]
        )
        return Hashes(_mixed(of_lines ^ np.uint64(TRACES))[source], key, shape, has_trace, has_key)


def _encoded(texts: Sequence[str | None]) -> list[bytes]:
    """Encode texts, None as an empty one; all at once where that can be told apart again."""
    if None not in texts:
        joined = "\n".join(cast("Sequence[str]", texts)).encode("utf-8", "replace").split(b"\n")
        if len(joined) == len(texts):
            return joined
    return [text.encode("utf-8", "replace") if text else b"" for text in texts]
