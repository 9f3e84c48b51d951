"""What records did to keys, as columns that wait to be folded into sketches."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["KeyRows"]

_OF_NOTHING = hash(b"")


class KeyRows(NamedTuple):
    """What records did to keys, one row each: `halves` of units, `sampled` 1 for a record, and throttled `tries`.

    `parts` and `sorts` are partition and sort keys (empty: none), `hashes` and `pair_hashes` theirs, good within
    one process, `marks` others that every process agrees on.
    """

    seconds: np.ndarray
    cells: np.ndarray
    halves: np.ndarray
    sampled: np.ndarray
    tries: np.ndarray
    forms: np.ndarray
    hashes: np.ndarray
    pair_hashes: np.ndarray
    marks: np.ndarray
    has_sort: np.ndarray
    parts: list[bytes]
    sorts: list[bytes]

    @classmethod
    def of(
        cls,
        seconds: np.ndarray,
        cells: np.ndarray,
        halves: np.ndarray,
        forms: np.ndarray,
        parts: list[bytes],
        sorts: list[bytes],
        tries: np.ndarray | None = None,
    ) -> KeyRows:
        """Make rows of records, or, with `tries`, of refused tries."""
        count = len(parts)
        hashes = np.fromiter(map(hash, parts), np.int64, count)
        sort_hashes = np.fromiter(map(hash, sorts), np.int64, count)
        return cls(
            seconds,
            cells,
            halves,
            np.full(count, 1 if tries is None else 0),
            np.zeros(count, dtype=np.int64) if tries is None else tries,
            forms,
            hashes,
            hashes * 1_000_003 ^ sort_hashes,
            np.fromiter(map(crc32, parts), np.int64, count),
            sort_hashes != _OF_NOTHING,
            parts,
            sorts,
        )

    @classmethod
    def joined(cls, rows: Sequence[KeyRows]) -> KeyRows:
        """Put rows one after the other."""
        *columns, parts, sorts = zip(*rows, strict=True)
        arrays: list[Any] = [np.concatenate(column) for column in columns]
        texts = [list(chain.from_iterable(column)) for column in (parts, sorts)]
        return cls(*(arrays + texts))
