"""The floor of the bench: what it costs merely to decode a log into slim typed records, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from msgspec import Struct

__all__ = ["SlimConsumed", "SlimRecord", "count_records"]

_BLOCK = 256 * 1024


class SlimConsumed(Struct):
    """The units of one call."""

    total: float = 0.0


class SlimRecord(Struct):
    """The fields without which there is no analysis."""

    time: str
    op: str
    table: str | None = None
    index: str | None = None
    key: dict[str, dict[str, str]] | None = None
    key_condition: str | None = None
    filter: str | None = None
    consumed: SlimConsumed | None = None
    count: int | None = None
    scanned: int | None = None
    latency_ms: float | None = None
    caller: str | None = None
    sample_rate: float = 1.0


def count_records(path: Path) -> int:
    """Decode a file in blocks of whole lines and count its records."""
    decode = msgspec.json.Decoder(SlimRecord).decode_lines
    records = 0
    rest = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            lines, _, tail = block.rpartition(b"\n")
            records += len(decode(rest + lines))
            rest = tail
    return records + len(decode(rest))


if __name__ == "__main__":
    print(count_records(Path(sys.argv[1])))
