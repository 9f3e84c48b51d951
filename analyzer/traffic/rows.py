"""Cells of the digest become rows of traffic: one a shape and caller, with estimates of all requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.counts import Cell, Count, Counts
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.traffic import Latency, PatternTraffic
from analyzer.statistics.intervals import estimate_count, estimate_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.shape import Attribution
    from analyzer.model.target import Target

__all__ = ["RowIndex", "rows_of"]

RowIndex = dict[int, tuple["Target", int]]
"""Cell number → (target, row number at that target)."""

_NO_LATENCY = Latency((), 0.0, 0)


def rows_of(
    counts: Counts, attribute: Callable[[Cell], Attribution], name: Callable[[str | None], str | None]
) -> tuple[dict[Target, list[PatternTraffic]], RowIndex]:
    """Group the cells that saw anything by target, shape and caller; sample rates are joined into one estimate.

    `name` gives a caller the name that the contract knows it by.
    """
    grouped: dict[tuple[Target, str, str | None, bool], list[int]] = {}
    active = np.flatnonzero(counts.values.any(axis=1))
    for number in active.tolist():
        cell = counts.cells[number]
        caller = name(cell.caller)
        grouped.setdefault((cell.target, cell.shape.fingerprint, caller, cell.secondary), []).append(number)
    rows: dict[Target, list[PatternTraffic]] = {}
    places: RowIndex = {}
    for (target, _, caller, _), numbers in grouped.items():
        at_target = rows.setdefault(target, [])
        for number in numbers:
            places[number] = (target, len(at_target))
        at_target.append(_row(counts, numbers, caller, attribute(counts.cells[numbers[0]])))
    return rows, places


def _row(counts: Counts, numbers: list[int], caller: str | None, attribution: Attribution) -> PatternTraffic:
    cells = [counts.cells[number] for number in numbers]
    sums = _Sums([counts.values[number].tolist() for number in numbers], [cell.sample_rate for cell in cells])
    first = cells[0]
    return PatternTraffic(
        shape=first.shape,
        attribution=attribution,
        caller=caller,
        requests=sums.count(Count.REQUESTS),
        failed=sums.count(Count.FAILED),
        throttled=sums.count(Count.THROTTLED),
        throttled_failed=sums.count(Count.THROTTLED_FAILED),
        throttled_tries=sums.weight(Count.THROTTLED_TRIES),
        read_units=sums.units(Count.READ_HALF_UNITS),
        write_units=sums.units(Count.WRITE_HALF_UNITS),
        wasted_units=sums.units(Count.WASTED_HALF_UNITS),
        scanned=sums.weight(Count.SCANNED),
        returned=sums.weight(Count.RETURNED),
        observed=sums.total(Count.REQUESTS),
        units_known=sums.part(Count.UNITS_KNOWN, Count.REQUESTS),
        counts_known=sums.part(Count.COUNTS_KNOWN, Count.REQUESTS),
        attempts_a_request=sums.ratio(Count.ATTEMPTS, Count.ATTEMPTS_KNOWN),
        latency=_latency(counts, numbers, sums),
        secondary=first.secondary,
        condition_failed=sums.count(Count.CONDITION_FAILED),
        server_errors=sums.count(Count.SERVER_ERRORS),
        transport_failures=sums.count(Count.TRANSPORT_FAILURES),
        returned_bytes=sums.weight(Count.RETURNED_BYTES),
        more=sums.count(Count.MORE),
        resumed=sums.count(Count.RESUMED),
    )


class _Sums:
    """The counts of one row by sample rate, and the estimates made from them."""

    def __init__(self, values: list[list[int]], rates: list[float]) -> None:
        self._strata = list(zip(values, rates, strict=True))
        self._totals = values[0] if len(values) == 1 else [sum(column) for column in zip(*values, strict=True)]
        self._is_exact = min(rates) >= 1

    def total(self, column: Count) -> int:
        return self._totals[column]

    def part(self, column: Count, of: Count) -> float:
        whole = self.total(of)
        return self.total(column) / whole if whole else 0.0

    def ratio(self, column: Count, of: Count) -> float | None:
        whole = self.total(of)
        return self.total(column) / whole if whole else None

    def count(self, column: Count) -> Estimate:
        """Estimate how many calls there were of a kind."""
        total = self._totals[column]
        if self._is_exact or not total:
            return Estimate.exact(float(total)) if total else ZERO
        return estimate_count((values[column], rate) for values, rate in self._strata)

    def units(self, column: Count) -> Estimate:
        """Estimate capacity units, from half-units and their squares."""
        return self.weight(column) / 2

    def weight(self, column: Count) -> Estimate:
        """Estimate a sum over calls.

        Only the squares of units are kept; other weights are taken to scatter about their mean as units do.
        """
        total = self._totals[column]
        if self._is_exact or not total:
            return Estimate.exact(float(total)) if total else ZERO
        return estimate_sum(
            (values[column], self._squares(values, column), values[Count.REQUESTS], rate)
            for values, rate in self._strata
        )

    @staticmethod
    def _squares(values: list[int], column: Count) -> float:
        total = values[column]
        units = values[Count.READ_HALF_UNITS] + values[Count.WRITE_HALF_UNITS]
        if units:
            return total * total * values[Count.UNITS_SQUARED] / (units * units)
        return total * total / max(1, values[Count.REQUESTS])


def _latency(counts: Counts, numbers: list[int], sums: _Sums) -> Latency:
    calls = sums.total(Count.LATENCY_KNOWN)
    if not calls:
        return _NO_LATENCY
    buckets = counts.latency[numbers].sum(axis=0)
    return Latency(tuple(buckets.tolist()), sums.total(Count.LATENCY_US) / 1000, calls)
