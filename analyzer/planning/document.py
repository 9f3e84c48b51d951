"""The three artifacts of a design: access patterns, key design with a record for each index, capacity and its risks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import UNNAMED
from analyzer.model.finding import Direction
from analyzer.model.window import Window
from analyzer.planning.capacity import Capacity
from analyzer.planning.expected import is_reached
from analyzer.planning.partitions import HotKey, declared_partitions, hot_keys, same_text
from analyzer.planning.pattern_costs import PatternCost, pattern_costs
from analyzer.traffic.heat import ceiling_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.contract.model import Contract, IndexDeclaration, KeyTemplate, PatternDeclaration, TableDeclaration
    from analyzer.model.report import KeyLine, Report
    from analyzer.planning.capacity_evidence import Observed
    from analyzer.planning.partitions import Partition

__all__ = [
    "Design",
    "Designs",
    "EntityKeys",
    "IndexRecord",
    "PatternEntry",
    "Risk",
    "Seen",
    "design_of",
    "seen_in_plan",
    "seen_in_report",
]

_WARM = 0.5
"""From half of what one partition serves on, a peak that nobody foresaw is enough."""


class Seen(Struct, frozen=True, kw_only=True):
    """What traffic showed of one table, from whatever source: requests a second by pattern, and the hottest keys.

    `plan` is there where there is enough for one: a request log, and not a daemon's report.
    """

    window: Window
    rates: dict[str, float]
    keys: tuple[HotKey, ...] = ()
    plan: Capacity | None = None
    source: str = "a request log"


class PatternEntry(Struct, frozen=True, kw_only=True):
    """One line of the access-pattern list; `seen` is requests a second as observed."""

    id: str
    title: str | None
    entity: str | None
    key_condition: str
    read_write: str
    frequency: str
    seen: float | None
    served_by: str


class EntityKeys(Struct, frozen=True, kw_only=True):
    """How one entity's keys are written, and which patterns each place serves of it."""

    entity: str
    encoding: str
    item_bytes: int | None
    served_by: dict[str, tuple[str, ...]]


class IndexRecord(Struct, frozen=True, kw_only=True):
    """What is to be known of one index; None is "not declared".

    `written_by` follows from what is declared, `seen_writing` was observed.
    """

    name: str
    kind: str
    patterns: tuple[str, ...]
    keys: str
    projection: str | None
    is_sparse: bool | None
    rate: str | None
    written_by: tuple[str, ...]
    seen_writing: tuple[str, ...]
    write_amplification: str | None
    staleness_tolerance_seconds: float | None
    backfill_impact: str | None
    hot_key_risk: str | None
    owner: str | None


class Risk(Struct, frozen=True, kw_only=True):
    """The hottest partition key of one template: declared and observed share of what one partition serves."""

    place: str
    direction: Direction
    template: str
    declared: float | None
    words: str
    seen: float | None
    verdict: str


class Design(Struct, frozen=True, kw_only=True):
    """The artifacts of one table."""

    table: str
    owner: str | None
    source_of_truth: bool | None
    patterns: tuple[PatternEntry, ...]
    entities: tuple[EntityKeys, ...]
    indexes: tuple[IndexRecord, ...]
    risks: tuple[Risk, ...]
    costs: tuple[PatternCost, ...]
    faults: tuple[str, ...] = ()
    seen: Seen | None = None


class Designs(Struct, frozen=True):
    """The artifacts of all tables of a contract."""

    tables: tuple[Design, ...]


def design_of(table: TableDeclaration, seen: Seen | None = None, faults: tuple[str, ...] = ()) -> Design:
    """Write the artifacts of a table; what traffic did not show, and nobody declared, stays unknown."""
    plan = None if seen is None else seen.plan
    return Design(
        table="the table" if table.name == UNNAMED else table.name,
        owner=table.owner,
        source_of_truth=table.source_of_truth,
        patterns=tuple(_entry(pattern, seen) for pattern in table.patterns),
        entities=tuple(_entities(table)),
        indexes=tuple(_record(table, index, seen) for index in table.indexes),
        risks=tuple(_risks(declared_partitions(table), seen)),
        costs=pattern_costs((), table) if plan is None else plan.patterns,
        faults=faults,
        seen=seen,
    )


def seen_in_plan(plan: Capacity, observed: Observed, source: str = "a request log") -> Seen:
    """Return what a source showed of a table, its capacity plan with it."""
    rates = {one.pattern: one.requests_a_second or 0.0 for one in plan.patterns}
    return Seen(window=plan.window, rates=rates, keys=hot_keys(observed.traffics), plan=plan, source=source)


def seen_in_report(report: Report, contract: Contract) -> dict[str, Seen]:
    """Return what a daemon's report shows of each declared table, by the name it is declared with."""
    seconds = report.window.rate_seconds
    found: dict[str, Seen] = {}
    for table in contract.tables:
        names = {line.table for line in report.patterns if line.table and fnmatchcase(line.table, table.name)}
        rates: dict[str, float] = {}
        for line in report.patterns:
            if line.table in names and line.pattern is not None:
                rates[line.pattern] = rates.get(line.pattern, 0.0) + line.requests / seconds
        if names:
            keys = tuple(_hot_key(key) for key in report.keys if key.table in names)
            found[table.name] = Seen(window=report.window, rates=rates, keys=keys, source="a daemon")
    return found


def _hot_key(line: KeyLine) -> HotKey:
    text = " ".join(f"{name}={template}" for name, template in line.key_template.items())
    units = line.heat * ceiling_of(line.direction)
    return HotKey(index=line.index, direction=line.direction, template=text, units=units)


def _entry(pattern: PatternDeclaration, seen: Seen | None) -> PatternEntry:
    return PatternEntry(
        id=pattern.id,
        title=pattern.title,
        entity=pattern.entity,
        key_condition=_together(pattern).join(dict.fromkeys(_key_text(key) for key in pattern.keys)) or "none",
        read_write="write" if pattern.writes else "read",
        frequency=_frequency(pattern),
        seen=None if seen is None else seen.rates.get(pattern.id, 0.0),
        served_by=f"{pattern.index or 'base table'} {', '.join(pattern.operations)}",
    )


def _together(pattern: PatternDeclaration) -> str:
    return " and " if any(operation.startswith("Transact") for operation in pattern.operations) else " or "


def _key_text(key: Iterable[KeyTemplate]) -> str:
    return ", ".join(
        f"{one.attribute} {one.template.text}"
        if one.template.operator != "="
        else f"{one.attribute}={one.template.text}"
        for one in key
    )


def _frequency(pattern: PatternDeclaration) -> str:
    rate = pattern.rate
    told = [f"{word} {value:g}/s" for word, value in (("p95", rate.p95), ("peak", rate.peak)) if value is not None]
    words = [pattern.frequency, ", ".join(told), pattern.schedule and f"at {pattern.schedule}"]
    return "; ".join(word for word in words if word) or "not declared"


def _entities(table: TableDeclaration) -> Iterable[EntityKeys]:
    for entity in table.entities:
        served: dict[str, tuple[str, ...]] = {}
        for pattern in table.patterns:
            if pattern.entity == entity.name:
                place = pattern.index or "base table"
                served[place] = (*served.get(place, ()), pattern.id)
        yield EntityKeys(
            entity=entity.name, encoding=_key_text(entity.key), item_bytes=entity.item_bytes, served_by=served
        )


def _record(table: TableDeclaration, index: IndexDeclaration, seen: Seen | None) -> IndexRecord:
    served = [pattern for pattern in table.patterns if pattern.index == index.name]
    reached = {p.id: is_reached(table, p, index) for p in table.patterns if p.writes}
    projection = "+".join(index.projection) if isinstance(index.projection, tuple) else index.projection
    return IndexRecord(
        name=index.name,
        kind=index.kind,
        patterns=tuple(pattern.id for pattern in served),
        keys=", ".join("+".join(part) for part in (index.partition_key, index.sort_key) if part),
        projection=projection,
        is_sparse=index.sparse,
        rate=_rate_words(served, seen),
        written_by=tuple(name for name, is_sure in reached.items() if is_sure),
        seen_writing=tuple(_writing(index, seen)),
        write_amplification=_amplification(index, [name for name, sure in reached.items() if sure is None], seen),
        staleness_tolerance_seconds=index.staleness_tolerance_seconds,
        backfill_impact=index.backfill_impact,
        hot_key_risk=index.hot_key_risk,
        owner=index.owner,
    )


def _rate_words(served: Iterable[PatternDeclaration], seen: Seen | None) -> str | None:
    listed = list(served)
    peaks = [pattern.rate.most for pattern in listed]
    known = [peak for peak in peaks if peak is not None]
    words = f"up to {sum(known):g} reads a second" if known else None
    if words is not None and len(known) < len(listed):
        words += f", {len(listed) - len(known)} of {len(listed)} patterns without a rate"
    if seen is None or not listed:
        return words
    observed = f"{sum(seen.rates.get(pattern.id, 0.0) for pattern in listed):.3g} observed"
    return observed if words is None else f"{words}, {observed}"


def _writing(index: IndexDeclaration, seen: Seen | None) -> Iterable[str]:
    """Yield the patterns that were observed to write to an index."""
    costs = () if seen is None or seen.plan is None else seen.plan.patterns
    yield from (cost.pattern for cost in costs if cost.index_units.get(index.name))


def _amplification(index: IndexDeclaration, unsure: list[str], seen: Seen | None) -> str | None:
    """Say what the index makes of its table's writes: declared, observed, or why it is not known."""
    words = []
    if index.expected_write_amplification is not None:
        words.append(f"{index.expected_write_amplification:g} declared, in units of the table's writes")
    costs = () if seen is None or seen.plan is None else seen.plan.patterns
    written = sum(cost.write_units or 0.0 for cost in costs)
    at_index = sum(cost.index_units.get(index.name, 0.0) for cost in costs)
    if written:
        words.append(f"{at_index / written:.2f} observed")
    if not words and unsure:
        return "not known: no entity declares the key of the index, so that nobody can tell which writes reach it"
    return ", ".join(words) or None


def _risks(partitions: Sequence[Partition], seen: Seen | None) -> Iterable[Risk]:
    """Return the risks, the hottest first, those that were observed and are not declared with them."""
    keys = () if seen is None else seen.keys
    risks = [_risk(one, one.seen(keys)) for one in partitions]
    known = {(one.index, one.direction, same_text(one.template)) for one in partitions}
    others: dict[tuple[str | None, Direction, str], HotKey] = {}
    for key in sorted(keys, key=lambda key: key.units):
        if key.place not in known:
            others[key.place] = key
    risks += [_undeclared_risk(key) for key in others.values()]
    return sorted(risks, key=lambda risk: -max(risk.declared or 0.0, risk.seen or 0.0))


def _undeclared_risk(key: HotKey) -> Risk:
    heat = key.units / ceiling_of(key.direction)
    return Risk(
        place=key.index or "base table",
        direction=key.direction,
        template=key.template,
        declared=None,
        words="observed; nothing declared tells this key",
        seen=heat,
        verdict=_verdict(None, heat),
    )


def _risk(one: Partition, observed: float | None) -> Risk:
    words = " + ".join(f"{load.pattern}: {load.words}" for load in one.loads)
    if words:
        words = f"({words}) ÷ {ceiling_of(one.direction):,}"
    if one.unknown:
        lack = f"too little is declared: {', '.join(one.unknown)}"
        words = f"{words}; {lack}" if words else lack
    return Risk(
        place=one.index or "base table",
        direction=one.direction,
        template=one.template,
        declared=one.heat,
        words=words,
        seen=observed,
        verdict=_verdict(one.heat, observed),
    )


def _verdict(declared: float | None, seen: float | None) -> str:
    known = [heat for heat in (declared, seen) if heat is not None]
    if not known:
        return "not known"
    heat = max(known)
    if heat >= 1:
        return "throttles: mend the key"
    return "little headroom" if heat >= _WARM else "low"
