"""A trace for a bucket: which request to look at when a latency stands out. One record a block is looked at."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from analyzer.exporters.from_counts import bucket_of
from analyzer.exporters.series import Exemplar
from analyzer.model.instant import parse_instant
from analyzer.model.target import Target

__all__ = ["Exemplars", "Known"]

Known = dict[tuple[Target, str], dict[int, Exemplar]]
"""The newest traced request of each bucket, by target and operation."""

_TRACE = re.compile(r"[0-9a-f]{16,32}|1-[0-9a-f]{8}-[0-9a-f]{24}")
_MOST_SERIES = 300
_LONGEST_LINE = 64 * 1024


class _Glimpse(Struct):
    time: str
    op: str
    table: str
    index: str | None = None
    region: str | None = None
    account: str | None = None
    latency_ms: float | None = None
    trace_id: str | None = None


class Exemplars:
    """Keeps the newest traced request of each bucket, for at most 300 series."""

    def __init__(self) -> None:
        self._known: Known = {}
        self._decoder = msgspec.json.Decoder(_Glimpse)

    def known(self) -> Known:
        """Return what is known by now; what comes later does not change it."""
        return {place: dict(of_place) for place, of_place in self._known.items()}

    def look(self, lines: bytes) -> None:
        """Take the last record of a block if it tells its trace and how long it took."""
        start = lines.rfind(b"\n", 0, len(lines) - 1) + 1
        if not 0 < len(lines) - start <= _LONGEST_LINE:
            return
        try:
            glimpse = self._decoder.decode(memoryview(lines)[start:])
            at = parse_instant(glimpse.time)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return
        if glimpse.latency_ms is None or glimpse.trace_id is None or not _TRACE.fullmatch(glimpse.trace_id):
            return
        target = Target(glimpse.account, glimpse.region, glimpse.table.rpartition("/")[2], glimpse.index)
        place = (target, glimpse.op)
        if place not in self._known and len(self._known) >= _MOST_SERIES:
            return
        seconds = glimpse.latency_ms / 1000
        self._known.setdefault(place, {})[bucket_of(seconds)] = Exemplar(glimpse.trace_id, seconds, at / 1000)
