"""Which calls of a block the call book keeps: asked for all at once, so that those it does not keep cost little."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from analyzer.requests.digest_block import ABSENT
from analyzer.requests.digest_call_reader import LARGE_BYTES, Source, instant_of, notable_of
from analyzer.requests.digest_columns import WHOLE
from analyzer.requests.digest_kept import NO_RANK, Kept
from analyzer.requests.digest_names import Names, mixed, rank_of

if TYPE_CHECKING:
    from analyzer.model.calls import Notable
    from analyzer.requests.digest_block import Line
    from analyzer.requests.digest_call_reader import CallReader
    from analyzer.requests.digest_calls import CallTable
    from analyzer.requests.digest_cells import CellTable
    from analyzer.requests.digest_columns import Rows
    from analyzer.requests.digest_rare import Failure
    from analyzer.requests.digest_routes import Router
    from analyzer.requests.digest_told import Told

__all__ = ["CallFinder"]

_UNPROCESSED = WHOLE.index("unprocessed")


class CallFinder:
    """Finds the calls to keep."""

    def __init__(self, router: Router, cells: CellTable, reader: CallReader) -> None:
        self._router = router
        self._cells = cells
        self._reader = reader
        self._names = Names(cells)

    def find(
        self, told: Told, rows: Rows, routes: np.ndarray, failures: list[tuple[int, Failure]], table: CallTable
    ) -> None:
        """Add the calls of a block that are to be kept; `routes` are those of its lines."""
        count = int(np.count_nonzero(rows.source >= 0))
        hashes = self._names.of(told, rows, count)
        table.note_seen(count)
        is_named = hashes.within(table.floor)
        notable = _notable(told, rows, failures, count)
        wanted = is_named.copy()
        if notable:
            wanted |= np.isin(rows.source[:count], list(notable))
        where = np.flatnonzero(wanted)
        if not len(where):
            return
        failed = dict(failures)
        columns = (where, rows.source[where], rows.cells[where], is_named[where])
        listed = zip(*(column.tolist() for column in columns), hashes.ranks(where), strict=True)
        for row, at, cell, has_name, ranks in listed:
            kind = notable.get(at)
            by_kind = NO_RANK
            if kind is not None:
                rank = rank_of(mixed(hashes.first(row) ^ crc32(told.lines[at].time.encode())))
                by_kind = rank if rank >= table.floor_of(kind) else NO_RANK
            if not has_name and by_kind < 0:
                continue
            kept_as = kind if by_kind >= 0 else None
            source = self._source(told.lines[at], row, rows, int(routes[at]), failed.get(at))
            place = self._cells.cells[cell]
            call = self._reader.tell(source, place, kept_as)
            table.add(Kept.of(call, source.time, (place, cell), ranks, (by_kind, kept_as)))

    def _source(self, line: Line, row: int, rows: Rows, number: int, failure: Failure | None) -> Source:
        at, keys, route = int(rows.source[row]), rows.of_lines, self._router.route(number)
        return Source(
            line,
            instant_of(line.time, int(rows.seconds[row])),
            self._reader.trace_of(line),
            route.record.keys,
            route.is_parted,
            keys.parts[at] if keys.is_known[at] else None,
            keys.sorts[at],
            int(rows.read[row]),
            int(rows.write[row]),
            failure,
        )


def _notable(told: Told, rows: Rows, failures: list[tuple[int, Failure]], count: int) -> dict[int, Notable]:
    """Return the lines that are worth keeping whatever their names; cheap tests first, for most blocks have none."""
    found = {at: failure for at, failure in failures if failure.code is not None}
    worth: set[int] = set(found)
    back = rows.whole[_UNPROCESSED, :count] > 0
    if back.any():
        worth.update(rows.source[:count][back].tolist())
    sizes = told.item_bytes
    if max(sizes) >= LARGE_BYTES:
        worth.update(at for at, size in enumerate(sizes) if size >= LARGE_BYTES)
    seen = told.ttl_seen
    if seen.count(ABSENT) < len(seen):
        worth.update(at for at, ttl in enumerate(seen) if ttl is not ABSENT)
    kinds = {at: notable_of(told.lines[at], found.get(at)) for at in worth}
    return {at: kind for at, kind in kinds.items() if kind is not None}
