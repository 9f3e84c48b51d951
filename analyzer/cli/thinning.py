"""Requests laid down in a file of bounded size: of too many a sample stays, and each says how likely it was kept."""

from __future__ import annotations

import tempfile
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

__all__ = ["MOST_BYTES", "Thinned"]

MOST_BYTES = 256 * 1024 * 1024
"""Some 700,000 requests: a share of 1% of them is known to within 0.03%, and the file, packed, goes with a letter."""


class Thinned:
    """Keeps records in a temporary file; whenever that is full, every one stays with a probability of one half.

    Memory does not follow their number. A sample of single requests tells counts, units and heavy keys of all of them;
    what follows one another in it (pages, retries) is not whole, so that no stratum says so any more.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._file = tempfile.TemporaryFile(prefix="dynascope-")  # noqa: SIM115 -- closed by __exit__
        self._bytes = 0
        self.rate = 1.0
        self.seen = 0
        self.kept = 0

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Let the file go."""
        self._file.close()

    def add(self, record: Mapping[str, Any]) -> None:
        """Keep a record, as long as chance has it; raises OSError."""
        number, self.seen = self.seen, self.seen + 1
        if not self._is_kept(number):
            return
        line = b"%d %s\n" % (number, msgspec.json.encode(record))
        self._file.write(line)
        self.kept += 1
        self._bytes += len(line)
        while self._bytes > self._most:
            self._halve()

    def _is_kept(self, number: int) -> bool:
        """Whether a record stays: by its number alone, so that one that was kept at a lower rate is at a higher."""
        if self.rate >= 1:
            return True
        chance = blake2b(number.to_bytes(8, "little"), digest_size=8).digest()
        return int.from_bytes(chance, "little") < self.rate * 2**64

    def _halve(self) -> None:
        self.rate /= 2
        fresh = tempfile.TemporaryFile(prefix="dynascope-")  # noqa: SIM115 -- it takes the place of the other
        self.kept = self._bytes = 0
        self._file.seek(0)
        for line in self._file:
            if self._is_kept(int(line[: line.index(b" ")])):
                fresh.write(line)
                self.kept += 1
                self._bytes += len(line)
        self._file.close()
        self._file = fresh

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records that stayed, each with its probability."""
        self._file.seek(0)
        for line in self._file:
            record: dict[str, Any] = msgspec.json.decode(line[line.index(b" ") :])
            if self.rate < 1:
                rate = record.get("sample_rate", 1.0) * self.rate
                record |= {"sample_rate": rate, "strata": [{"by": "request", "rate": rate}]}
            yield record
