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
        columns = (where, rows.source[where], rows.cells[where], rows.seconds[where], rows.read[where])
        more = (rows.write[where], routes[rows.source[where]], is_named[where])
        listed = zip(*(column.tolist() for column in (*columns, *more)), *hashes.ranks(where), strict=True)
        keys, lines, cells = rows.of_lines, told.lines, self._cells.cells
        has_key = keys.is_known.tolist()
        for row, at, cell, second, read, write, route, has_name, by_trace, by_key, by_shape in listed:
            line, kind, by_kind = lines[at], None, NO_RANK
            if at in notable:
                rank = rank_of(mixed(hashes.first(row) ^ crc32(line.time.encode())))
                if rank >= table.floor_of(notable[at]):
                    kind, by_kind = notable[at], rank
            if not has_name and by_kind < 0:
                continue
            of_route = self._router.route(route)
            source = Source(
                line,
                instant_of(line.time, second),
                self._reader.trace_of(line),
                of_route.record.keys,
                of_route.is_parted,
                keys.parts[at] if has_key[at] else None,
                keys.sorts[at],
                read,
                write,
                failed.get(at),
            )
            place = cells[cell]
            call = self._reader.tell(source, place, kind)
            table.add(Kept.of(call, source.time, (place, cell), (by_trace, by_key, by_shape), (by_kind, kind)))


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
