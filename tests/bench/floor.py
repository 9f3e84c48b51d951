"""The floor of the bench: what it costs merely to decode a log into slim typed records, and nothing else.

The records hold what the report is made of, and no more: structure, keys, units, counts, latency, who, and the request
id. Run as `python -m tests.bench.floor FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from msgspec import Struct

__all__ = ["SlimRecord", "count_records"]

_BLOCK = 256 * 1024

_Item = dict[str, dict[str, str]]


class SlimConsumed(Struct):
    """The units of one call, by what they were consumed on."""

    total: float | None = None
    read: float | None = None
    write: float | None = None
    table: float | None = None
    indexes: dict[str, float] | None = None


class SlimPart(Struct):
    """One member of a batch or transaction."""

    op: str
    table: str | None = None
    key: _Item | None = None
    index_keys: dict[str, _Item] | None = None
    condition: str | None = None
    update: str | None = None


class SlimRecord(Struct):
    """The fields without which there is no report."""

    time: str
    op: str
    table: str | None = None
    index: str | None = None
    region: str | None = None
    account: str | None = None
    key: _Item | None = None
    index_keys: dict[str, _Item] | None = None
    key_condition: str | None = None
    filter: str | None = None
    projection: str | None = None
    update: str | None = None
    condition: str | None = None
    names: dict[str, str] | None = None
    values: _Item | None = None
    consistent: bool | None = None
    forward: bool | None = None
    limit: int | None = None
    consumed: SlimConsumed | None = None
    count: int | None = None
    scanned: int | None = None
    more: bool | None = None
    returned_bytes: int | None = None
    latency_ms: float | None = None
    attempts: int | None = None
    parts: list[SlimPart] | None = None
    caller: str | None = None
    trace_id: str | None = None
    request_id: str | None = None
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
