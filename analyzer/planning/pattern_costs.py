"""What each pattern costs a month beside what it should: its own requests, and what they write to indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from analyzer.model.shape import AttributionKind
from analyzer.planning.expected import expected_of
from analyzer.planning.tariff import tariff_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.contract.model import PatternDeclaration, TableDeclaration
    from analyzer.model.traffic import PatternTraffic, Traffic
    from analyzer.planning.expected import Expected
    from analyzer.planning.tariff import Tariff

__all__ = ["PatternCost", "Should", "pattern_costs"]


class Should(Struct, frozen=True, kw_only=True):
    """What is declared: units of one request, and dollars a month at the observed rate and at the declared one.

    The declared rate is that of a busy second (p95, else peak): all month long it is more than a month has. None where
    it does not follow from what is declared, or nothing was observed.
    """

    units_a_request: float | None
    words: str
    assumed: tuple[str, ...] = ()
    rate: float | None = None
    dollars_as_observed: float | None = None
    dollars_as_declared: float | None = None


class PatternCost(Struct, frozen=True, kw_only=True):
    """One declared pattern, or all requests of a kind that is none.

    Rates are requests a second, None where no request log was read; `units_a_request` counts table and indexes.
    `index_units` are write units a second by index, `dollars` what it costs a month.
    """

    pattern: str
    kind: str
    operations: tuple[str, ...]
    index: str | None = None
    requests_a_second: float | None = None
    units_a_request: float | None = None
    read_units: float | None = None
    write_units: float | None = None
    index_units: dict[str, float] = {}
    dollars: float | None = None
    should: Should | None = None

    @property
    def drift(self) -> float | None:
        """Units of a request as they were ÷ as they should be."""
        if self.should is None or not self.should.units_a_request or self.units_a_request is None:
            return None
        return self.units_a_request / self.should.units_a_request


class _Seen(Struct):
    """Sums over the window of one label."""

    kind: str
    operations: dict[str, None] = {}
    index: str | None = None
    requests: float = 0.0
    told: float = 0.0
    reads: float = 0.0
    writes: float = 0.0
    index_writes: dict[str, float] = {}


def pattern_costs(traffics: Sequence[Traffic], declared: TableDeclaration | None) -> tuple[PatternCost, ...]:
    """Return the costs of a table's patterns, the dearest first; declared ones that nobody saw come last.

    `traffics` are those of the table and its indexes in one window, the table's first.
    """
    tariff = tariff_of(traffics[0] if traffics else None)
    seconds = traffics[0].window.rate_seconds if traffics else 1.0
    seen = _seen(traffics)
    costs = []
    for label, one in seen.items():
        pattern = None if declared is None else declared.pattern(label)
        cost = _cost(label, one, seconds, tariff)
        if declared is not None and pattern is not None:
            cost = replace(cost, should=_should(pattern, declared, cost.requests_a_second, tariff))
        costs.append(cost)
    has_log = any(one.rows for one in traffics)
    if declared is not None:
        costs += [
            _unseen(pattern, _should(pattern, declared, None, tariff), has_log=has_log)
            for pattern in declared.patterns
            if pattern.id not in seen
        ]
    return tuple(sorted(costs, key=lambda cost: (-(cost.dollars or 0.0), cost.pattern)))


def _seen(traffics: Sequence[Traffic]) -> dict[str, _Seen]:
    """Sum by pattern; what a write cost an index belongs to the write, known by its fingerprint and caller."""
    labels = {
        (row.shape.fingerprint, row.caller): row.attribution
        for one in traffics
        for row in one.rows
        if not row.secondary
    }
    seen: dict[str, _Seen] = {}
    for one in traffics:
        for row in one.rows:
            attribution = labels.get((row.shape.fingerprint, row.caller), row.attribution)
            _add(seen.setdefault(attribution.label, _Seen(attribution.kind.value)), row, one.target.index)
    return seen


def _add(into: _Seen, row: PatternTraffic, index: str | None) -> None:
    into.operations[row.shape.operation] = None
    if row.secondary:
        name = index or ""
        into.index_writes[name] = into.index_writes.get(name, 0.0) + row.write_units.value
        return
    into.index = index
    into.requests += row.requests.value
    into.told += row.requests.value * row.units_known
    into.reads += row.read_units.value
    into.writes += row.write_units.value


def _cost(label: str, seen: _Seen, seconds: float, tariff: Tariff) -> PatternCost:
    at_indexes = sum(seen.index_writes.values())
    units = seen.reads + seen.writes + at_indexes
    is_told = bool(seen.told or at_indexes)
    return PatternCost(
        pattern=label,
        kind=seen.kind,
        operations=tuple(seen.operations),
        index=seen.index,
        requests_a_second=seen.requests / seconds,
        units_a_request=units / seen.told if seen.told else None,
        read_units=seen.reads / seconds if is_told else None,
        write_units=seen.writes / seconds if is_told else None,
        index_units={name: one / seconds for name, one in seen.index_writes.items()},
        dollars=tariff.dollars(seen.reads / seconds, (seen.writes + at_indexes) / seconds) if is_told else None,
    )


def _unseen(pattern: PatternDeclaration, should: Should, *, has_log: bool) -> PatternCost:
    return PatternCost(
        pattern=pattern.id,
        kind=AttributionKind.DECLARED.value,
        operations=pattern.operations,
        index=pattern.index,
        requests_a_second=0.0 if has_log else None,
        dollars=0.0 if has_log else None,
        should=should,
    )


def _should(pattern: PatternDeclaration, declared: TableDeclaration, rate: float | None, tariff: Tariff) -> Should:
    expected = expected_of(declared, pattern)
    asked = pattern.rate.p95 if pattern.rate.p95 is not None else pattern.rate.peak
    return Should(
        units_a_request=expected.total,
        words=expected.words,
        assumed=expected.assumed,
        rate=asked,
        dollars_as_observed=_expected_dollars(expected, rate, tariff, is_write=pattern.writes),
        dollars_as_declared=_expected_dollars(expected, asked, tariff, is_write=pattern.writes),
    )


def _expected_dollars(expected: Expected, rate: float | None, tariff: Tariff, *, is_write: bool) -> float | None:
    if expected.units is None or rate is None:
        return None
    at_indexes = sum(expected.index_units.values())
    read, written = (0.0, expected.units + at_indexes) if is_write else (expected.units, 0.0)
    return tariff.dollars(read * rate, written * rate)
