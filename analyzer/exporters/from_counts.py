"""Counters from everything that the digest ever counted: each cell weighed by how likely its records were kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from analyzer.exporters.metrics import DURATION_BUCKETS
from analyzer.model.counts import LATENCY_BOUNDS_MS, Count
from analyzer.model.sight import SourceName
from analyzer.traffic.throttles import limit_place, told_indexes

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.exporters.series import SeriesTable
    from analyzer.model.counts import Cell, Counts
    from analyzer.model.target import Target

__all__ = ["Carried", "bucket_of", "count_cells", "count_once", "target_labels"]

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9.]{0,79}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{0,255}")
_LOG = SourceName.REQUEST_LOG.value
_UNITS = {
    "dynascope_read_units_total": (Count.READ_HALF_UNITS, 0.5),
    "dynascope_write_units_total": (Count.WRITE_HALF_UNITS, 0.5),
    "dynascope_wasted_read_units_total": (Count.WASTED_HALF_UNITS, 0.5),
    "dynascope_items_scanned_total": (Count.SCANNED, 1.0),
    "dynascope_items_returned_total": (Count.RETURNED, 1.0),
}

_STARTS = [0, *(place + 1 for place in DURATION_BUCKETS)]
"""Where the histogram's coarse buckets begin among the digest's fine ones: a bound of theirs is always one of ours."""


class Carried(Struct, frozen=True):
    """What to add to a counter so that it goes on from where it stood when the contract changed.

    Totals are attributed anew under a new contract; without this, counters would jump. Sums stay as they are,
    whatever pattern they are over: what one series gains, another loses.
    """

    values: dict[str, dict[tuple[str, ...], float]] = {}

    def apply(self, table: SeriesTable) -> None:
        """Add what is carried to the counters of a table."""
        for name, values in self.values.items():
            for labels, value in values.items():
                table.add(name, labels, value)

    @classmethod
    def between(cls, before: SeriesTable, after: SeriesTable) -> Carried:
        """Return what makes the counters `after` (with nothing carried) stand where `before` left them."""
        return cls(
            {
                name: {
                    labels: difference
                    for labels in {**before.values(name), **after.values(name)}
                    if (difference := before.values(name).get(labels, 0.0) - after.values(name).get(labels, 0.0))
                }
                for name in ("dynascope_requests_total", "dynascope_request_errors_total", *_UNITS)
            }
        )


def target_labels(target: Target, account: str | None = None, region: str | None = None) -> tuple[str, str, str, str]:
    """Return the four labels of a target; account and region stand in where the log does not say."""
    return (
        _name(target.account or account or ""),
        _name(target.region or region or ""),
        _name(target.table),
        _name(target.index or ""),
    )


def count_cells(
    table: SeriesTable,
    counts: Counts,
    pattern_of: Callable[[Cell], str],
    place_of: Callable[[Target], tuple[str, ...]] = target_labels,
) -> None:
    """Add requests, units, items, throttles, errors and durations of every cell."""
    patterns = [pattern_of(cell) for cell in counts.cells]
    places = {target: place_of(target) for target in {cell.target for cell in counts.cells}}
    words = {operation: _word(operation) for operation in {cell.shape.operation for cell in counts.cells}}
    rates = np.array([cell.sample_rate for cell in counts.cells])[:, None]
    every: list[list[float]] = (counts.values / rates).tolist()
    durations: list[list[float]] = (np.add.reduceat(counts.latency, _STARTS, axis=1) / rates).tolist()
    for cell, pattern, values, buckets in zip(counts.cells, patterns, every, durations, strict=True):
        where = places[cell.target]
        if not cell.secondary:
            operation = words[cell.shape.operation]
            table.add("dynascope_requests_total", (*where, operation, pattern), values[Count.REQUESTS])
            if values[Count.LATENCY_KNOWN]:
                seconds = values[Count.LATENCY_US] / 1e6
                table.observe("dynascope_request_duration_seconds", (*where, operation), buckets, seconds)
        for name, (column, factor) in _UNITS.items():
            if values[column]:
                table.add(name, (*where, pattern), values[column] * factor)
    for refusal in counts.refusals:
        cell = counts.cells[refusal.cell]
        labels = (*place_of(cell.target), _word(cell.shape.operation), patterns[refusal.cell], _word(refusal.code))
        table.add("dynascope_request_errors_total", labels, refusal.calls / cell.sample_rate)
    told = told_indexes(counts)
    for throttle in counts.throttles:
        target, cause = limit_place(throttle, counts, told)
        labels = (*place_of(target), throttle.direction.value, cause, _LOG)
        table.add("dynascope_throttles_total", labels, throttle.tries / counts.cells[throttle.cell].sample_rate)


def count_once(table: SeriesTable, name: str, values: dict[tuple[str, ...], float]) -> None:
    """Add counters that are kept elsewhere."""
    for labels, value in values.items():
        table.add(name, labels, value)


def _name(text: str) -> str:
    """Return a name that AWS could have given as it is, `other` for anything else."""
    return text if _NAME.fullmatch(text) else "other"


def _word(text: str) -> str:
    """Return an operation or code as it is, `other` where it is no name: logs hold anything."""
    return text if _WORD.fullmatch(text) else "other"


def bucket_of(seconds: float) -> int:
    """Return the place of the histogram's bucket that a duration falls into."""
    bounds = [LATENCY_BOUNDS_MS[place] / 1000 for place in DURATION_BUCKETS]
    return next((place for place, bound in enumerate(bounds) if seconds <= bound), len(bounds))
