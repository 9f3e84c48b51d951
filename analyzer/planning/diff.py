"""What a change of contract does to heat, cost and indexes at traffic that was observed.

Units and heat under the new contract are those observed, scaled by what each contract says a request costs; where
nothing was observed, the declared rates stand in. A key whose template changes in more than shards spreads in a way
that no old traffic shows: its heat is what the new contract declares, else not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import UNNAMED
from analyzer.planning.diff_fields import changed_fields
from analyzer.planning.diff_heat import HeatChange, heat_changes
from analyzer.planning.diff_units import Side, rate_of
from analyzer.planning.expected import expected_of
from analyzer.planning.partitions import entry_key, parts_of
from analyzer.planning.pattern_costs import pattern_costs
from analyzer.planning.tariff import tariff_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from analyzer.contract.model import Contract, IndexDeclaration, PatternDeclaration, TableDeclaration
    from analyzer.planning.capacity_evidence import Observed
    from analyzer.planning.expected import Expected
    from analyzer.planning.pattern_costs import PatternCost
    from analyzer.planning.tariff import Tariff

__all__ = ["Diff", "IndexChange", "PatternChange", "TableDiff", "diff_contracts"]


class PatternChange(Struct, frozen=True, kw_only=True):
    """One pattern under both contracts; `what` is added, removed, changed or same.

    `rate` is requests a second, `is_observed` where traffic told it. `lost` says why it lost its index.
    """

    pattern: str
    what: str
    fields: tuple[str, ...] = ()
    rate: float | None = None
    is_observed: bool = False
    units_before: float | None = None
    units_after: float | None = None
    dollars_before: float | None = None
    dollars_after: float | None = None
    lost: str | None = None


class IndexChange(Struct, frozen=True, kw_only=True):
    """One index under both contracts; write units a second that it takes, and dollars a month of them."""

    index: str
    what: str
    fields: tuple[str, ...] = ()
    units_before: float | None = None
    units_after: float | None = None
    dollars_before: float | None = None
    dollars_after: float | None = None
    notes: tuple[str, ...] = ()


class TableDiff(Struct, frozen=True, kw_only=True):
    """One table; dollars are of the patterns that are known on both sides.

    `unserved` is traffic that nobody declares any more, requests a second by pattern. `assumed` is what the new
    contract leaves open: it is counted at its least. `is_asked` says that traffic was given, whether or not it holds
    anything of the table.
    """

    table: str
    what: str
    is_observed: bool
    is_asked: bool
    patterns: tuple[PatternChange, ...]
    indexes: tuple[IndexChange, ...]
    heat: tuple[HeatChange, ...]
    dollars_before: float | None
    dollars_after: float | None
    unknown: tuple[str, ...]
    unserved: dict[str, float]
    assumed: tuple[str, ...]
    price: str


class Diff(Struct, frozen=True, kw_only=True):
    """All tables that differ; `breaks` are the reasons not to merge: heat that crosses 1, patterns without an index."""

    tables: tuple[TableDiff, ...]
    same: tuple[str, ...]
    breaks: tuple[str, ...]
    notes: tuple[str, ...] = ()


def diff_contracts(
    before: Contract, after: Contract, observed: Mapping[str, Observed] | None = None, notes: tuple[str, ...] = ()
) -> Diff:
    """Compare two contracts; `observed` is the traffic under the first one, by the name of the table's declaration.

    None is that no traffic was given; what was given, and holds nothing of these tables, is empty.
    """
    seen = observed or {}
    names = list(dict.fromkeys(table.name for contract in (before, after) for table in contract.tables))
    tables = [_table(name, before, after, seen.get(name), is_asked=observed is not None) for name in names]
    differing = tuple(one for one in tables if one.what != "same")
    return Diff(
        tables=differing,
        same=tuple(one.table for one in tables if one.what == "same"),
        breaks=tuple(reason for one in differing for reason in _breaks(one)),
        notes=notes,
    )


def _declared(contract: Contract, name: str) -> TableDeclaration | None:
    return next((table for table in contract.tables if table.name == name), None)


def _table(name: str, before: Contract, after: Contract, observed: Observed | None, *, is_asked: bool) -> TableDiff:
    old, new = _declared(before, name), _declared(after, name)
    traffics = () if observed is None else observed.traffics
    tariff = tariff_of(traffics[0] if traffics else None)
    costs = {one.pattern: one for one in pattern_costs(traffics, old)}
    patterns = tuple(_patterns(old, new, costs, tariff, is_asked=is_asked))
    indexes = tuple(_indexes(old, new, costs, tariff))
    heat = heat_changes(old, new, traffics)
    is_changed = any(one.what != "same" for one in patterns) or any(one.what != "same" for one in indexes)
    known = [one for one in patterns if _is_known(one)]
    return TableDiff(
        table="the table" if name == UNNAMED else name,
        what=_what(old, new, is_changed=is_changed),
        is_observed=bool(traffics),
        is_asked=is_asked,
        patterns=patterns,
        indexes=indexes,
        heat=heat,
        dollars_before=sum(one.dollars_before or 0.0 for one in known) if known else None,
        dollars_after=sum(one.dollars_after or 0.0 for one in known) if known else None,
        unknown=tuple(one.pattern for one in patterns if not _is_known(one)),
        unserved={one.pattern: one.rate for one in patterns if one.what == "removed" and one.is_observed and one.rate},
        assumed=tuple(_assumed(new, patterns)),
        price=tariff.basis,
    )


def _assumed(new: TableDeclaration | None, changes: Iterable[PatternChange]) -> Iterator[str]:
    told: dict[str, None] = {}
    for one in changes:
        pattern = None if new is None else new.pattern(one.pattern)
        if new is not None and pattern is not None and one.what in {"added", "changed"}:
            told.update(dict.fromkeys(f"{one.pattern}: {text}" for text in expected_of(new, pattern).assumed))
    yield from told


def _is_known(one: PatternChange) -> bool:
    """Whether both sides have a price; one that is on one side only needs that one."""
    before = one.what == "added" or one.dollars_before is not None
    return before and (one.what == "removed" or one.dollars_after is not None)


def _breaks(table: TableDiff) -> Iterator[str]:
    for one in table.patterns:
        if one.lost is not None:
            yield f"{table.table}: {one.pattern} loses its index: {one.lost}"
    for heat in table.heat:
        if heat.crosses:
            before = "not known" if heat.before is None else f"{heat.before:.2f}"
            place = heat.index or "the base table"
            yield (
                f"{table.table}: heat of {heat.template} ({heat.direction.value}s of {place}) goes from {before} to "
                f"{heat.after or 0.0:.2f}: one partition serves no more than 1"
            )


def _patterns(
    old: TableDeclaration | None,
    new: TableDeclaration | None,
    costs: Mapping[str, PatternCost],
    tariff: Tariff,
    *,
    is_asked: bool,
) -> Iterator[PatternChange]:
    ids = [pattern.id for table in (old, new) if table is not None for pattern in table.patterns]
    for name in dict.fromkeys(ids):
        yield _pattern(name, old, new, costs.get(name), tariff, is_asked=is_asked)


def _pattern(
    name: str,
    old: TableDeclaration | None,
    new: TableDeclaration | None,
    cost: PatternCost | None,
    tariff: Tariff,
    *,
    is_asked: bool,
) -> PatternChange:
    first = None if old is None else old.pattern(name)
    second = None if new is None else new.pattern(name)
    expected = None if old is None or first is None else expected_of(old, first)
    wanted = None if new is None or second is None else expected_of(new, second)
    observed = None if cost is None or cost.requests_a_second is None else cost
    rate = observed.requests_a_second if observed is not None else rate_of(second or first)
    before = Side.of(observed, expected, first)
    fan = _fan_out(old, new, first, second)
    after = before.scaled(expected, wanted, second, _held(new)).fanned(fan)
    fields = changed_fields(first, second)
    if fan > 1:
        fields = (*fields, f"each read asks {fan:g} parts where it asked one")
    return PatternChange(
        pattern=name,
        what=_what(first, second, is_changed=bool(fields) or _units(expected) != _units(wanted)),
        fields=fields,
        rate=rate,
        is_observed=observed is not None,
        units_before=before.total,
        units_after=after.total,
        dollars_before=before.dollars(rate, tariff),
        dollars_after=after.dollars(rate, tariff),
        lost=_lost(first, second, new, None if observed is None else rate, is_asked=is_asked),
    )


def _fan_out(
    old: TableDeclaration | None,
    new: TableDeclaration | None,
    first: PatternDeclaration | None,
    second: PatternDeclaration | None,
) -> float:
    """Return into how many requests a range read of one key becomes where the key is sharded; 1 where it is not."""
    if old is None or new is None or first is None or second is None or "Query" not in second.operations:
        return 1.0
    parts = [
        parts_of(table, pattern.index, entry_key(table, pattern, pattern.index))
        for table, pattern in ((old, first), (new, second))
    ]
    return max(1.0, parts[1] / parts[0])


def _held(table: TableDeclaration | None) -> frozenset[str]:
    return frozenset(index.name for index in table.indexes) if table is not None else frozenset()


def _units(expected: Expected | None) -> tuple[float | None, dict[str, float]] | None:
    return None if expected is None else (expected.units, expected.index_units)


def _what(first: object, second: object, *, is_changed: bool) -> str:
    if first is None:
        return "added"
    if second is None:
        return "removed"
    return "changed" if is_changed else "same"


def _lost(
    first: PatternDeclaration | None,
    second: PatternDeclaration | None,
    new: TableDeclaration | None,
    observed: float | None,
    *,
    is_asked: bool,
) -> str | None:
    """Say why a pattern has no index any more: it is gone, and the pattern was not moved to another key.

    `observed` are its requests a second, None where nobody looked, or where what they looked at does not tell.
    """
    declared = _held(new)
    if first is None:
        return None
    if second is not None:
        if first.index is not None and first.index not in declared and second.scans:
            return f"{first.index} is gone, and a Scan serves it now"
        return None
    if first.index is None or first.index in declared or observed == 0:
        return None
    unseen = "the traffic that was given does not tell" if is_asked else "nobody looked"
    rest = f"{unseen} whether its requests go on" if observed is None else "its requests go on"
    return f"{first.index} is gone with its declaration, and {rest}"


def _indexes(
    old: TableDeclaration | None, new: TableDeclaration | None, costs: Mapping[str, PatternCost], tariff: Tariff
) -> Iterator[IndexChange]:
    names = [index.name for table in (old, new) if table is not None for index in table.indexes]
    for name in dict.fromkeys(names):
        first = None if old is None else old.index(name)
        second = None if new is None else new.index(name)
        before = _written(name, old, old, costs) if first is not None else None
        after = _written(name, old, new, costs) if second is not None else None
        fields = changed_fields(first, second)
        yield IndexChange(
            index=name,
            what=_what(first, second, is_changed=bool(fields)),
            fields=fields,
            units_before=before,
            units_after=after,
            dollars_before=None if before is None else tariff.dollars(0.0, before),
            dollars_after=None if after is None else tariff.dollars(0.0, after),
            notes=tuple(_notes(first, second)),
        )


def _written(
    name: str, old: TableDeclaration | None, new: TableDeclaration | None, costs: Mapping[str, PatternCost]
) -> float | None:
    """Return the write units a second of an index under the second contract; None where nothing tells them."""
    total, is_told = 0.0, False
    for pattern in () if new is None else new.patterns:
        if new is None or not pattern.writes:
            continue
        first = None if old is None else old.pattern(pattern.id)
        expected = None if old is None or first is None else expected_of(old, first)
        cost = costs.get(pattern.id)
        observed = None if cost is None or cost.requests_a_second is None else cost
        rate = observed.requests_a_second if observed is not None else rate_of(pattern)
        side = Side.of(observed, expected, first).scaled(expected, expected_of(new, pattern), pattern, _held(new))
        if rate is not None:
            total += rate * side.index_units.get(name, 0.0)
            is_told = is_told or name in side.index_units
    return total if is_told else None


def _notes(first: IndexDeclaration | None, second: IndexDeclaration | None) -> Iterator[str]:
    if second is None:
        yield "deleting it cannot be undone but by building it anew; look that nobody reads it for 14 days"
        return
    if first is None:
        yield f"it is built from the whole table: {second.backfill_impact or 'its backfill impact is not declared'}"
        return
    if first.projection != second.projection or (first.partition_key, first.sort_key) != (
        second.partition_key,
        second.sort_key,
    ):
        yield "keys and projection of an index cannot be changed: a new one is built, and the old one deleted"
