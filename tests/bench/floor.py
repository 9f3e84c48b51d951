"""The floor of the bench: what it costs merely to decode a log into slim typed records, and nothing else.

The records have the fields of the digest's own lines, in their order, which a test compares; what the digest looks into
on every line is decoded to the bottom, what it looks into on few stays raw. Decision 0007 gives the reasons.
Run as `python -m tests.bench.floor FILE`.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

__all__ = ["SlimRecord", "count_records"]

_BLOCK = 256 * 1024

_ABSENT = Raw()
_Item = dict[str, dict[str, str]]


class SlimConsumed(Struct, gc=False):
    """The units of one call, by what they were consumed on."""

    total: float | None = None
    read: float | None = None
    write: float | None = None
    table: float | None = None
    indexes: dict[str, float] | None = None


class SlimPart(Struct, gc=False):
    """One member of a batch or transaction."""

    op: str
    table: str | None = None
    key: _Item | None = None
    index_keys: dict[str, _Item] | None = None
    condition: str | None = None
    update: str | None = None
    statement: str | None = None
    item_bytes: int | None = None


class SlimRecord(Struct, gc=False):
    """The fields of `analyzer.requests.digest_block.Line`."""

    v: int
    time: str = ""
    op: str = ""
    table: str | None = None
    index: str | None = None
    region: str | None = None
    account: str | None = None
    keys: str | None = None
    salt_id: str | None = None
    key_condition: str | None = None
    filter: str | None = None
    projection: str | None = None
    update: str | None = None
    condition: str | None = None
    statement: str | None = None
    consistent: bool | None = None
    forward: bool | None = None
    limit: int | None = None
    select: str | None = None
    total_segments: int | None = None
    caller: str | None = None
    pattern: str | None = None
    sample_rate: float = 1.0
    names: dict[str, str] | None = None
    key: _Item | None = None
    index_keys: dict[str, _Item] | None = None
    consumed: SlimConsumed | None = None
    tries: Raw = _ABSENT
    error: Raw = _ABSENT
    latency_ms: float | None = None
    attempts: int | None = None
    scanned: int | None = None
    count: int | None = None
    returned_bytes: int | None = None
    more: bool | None = None
    resumed: bool | None = None
    unprocessed: int | None = None
    item_bytes: int | None = None
    ttl_seen: Raw = _ABSENT
    trace_id: str | None = None
    request_id: str | None = None
    values: _Item | None = None
    parts: list[SlimPart] | None = None
    handed_back: Raw = _ABSENT
    returned: Raw = _ABSENT
    strata: Raw = _ABSENT
    token_sent: bool | None = None
    counter: str | None = None


def count_records(path: Path) -> int:
    """Decode a file in blocks of whole lines and count its records; nothing looks for cycles, for there are none."""
    gc.disable()
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
