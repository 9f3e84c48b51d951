"""The checked form of a file as the frozen values of `contract.model`, and the faults that only the whole shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.contract.document import ListNode, MapNode, line_at
from analyzer.contract.faults import did_you_mean
from analyzer.contract.model import (
    Allowance,
    CallerNames,
    EntityDeclaration,
    FilterLimit,
    IndexDeclaration,
    KeyTemplate,
    PatternDeclaration,
    PerKey,
    Rate,
    Replicas,
    StreamConsumer,
    TableDeclaration,
    Where,
)
from analyzer.errors import Fault
from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.contract.form import ContractForm, EntityForm, IndexForm, PatternForm, ReplicasForm, TableForm

__all__ = ["freeze"]


def freeze(
    form: ContractForm, document: MapNode, file: str
) -> tuple[tuple[TableDeclaration, ...], tuple[CallerNames, ...], list[Fault]]:
    """Return tables and callers of one file; `document` is what the form was made from, and knows the lines."""
    faults: list[Fault] = []
    tables = []
    for position, table in enumerate(form.tables):
        node = document["tables"][position]
        frozen = _table(table, node, file)
        faults += _faults(frozen, node)
        tables.append(frozen)
    callers = tuple(
        CallerNames(name, tuple(c.services), tuple(c.roles), tuple(c.user_agents)) for name, c in form.callers.items()
    )
    return tuple(tables), callers, faults


def _table(form: TableForm, node: MapNode, file: str) -> TableDeclaration:
    return TableDeclaration(
        name=form.name,
        where=Where(tuple(form.where.accounts), tuple(form.where.regions), dict(form.where.tags)),
        partition_key=tuple(form.partition_key),
        sort_key=tuple(form.sort_key),
        owner=form.owner,
        ttl_attribute=form.ttl_attribute,
        ttl_purpose=form.ttl_purpose,
        source_of_truth=form.source_of_truth,
        rebuild=form.rebuild,
        replicas=_replicas(form.replicas),
        streams=tuple(StreamConsumer(s.consumer, s.purpose, s.idempotent, s.max_age) for s in form.streams),
        types=dict(form.types),
        entities=tuple(_entity(e, line_at(node, ("entities", i))) for i, e in enumerate(form.entities)),
        indexes=tuple(_index(x, file, line_at(node, ("indexes", i))) for i, x in enumerate(form.indexes)),
        patterns=tuple(_pattern(p, file, line_at(node, ("patterns", i))) for i, p in enumerate(form.patterns)),
        keys_assumed=form.assumed,
        file=file,
        line=node.line,
    )


def _replicas(form: ReplicasForm | None) -> Replicas | None:
    if form is None:
        return None
    regions = form.write_regions
    return Replicas((regions,) if isinstance(regions, str) else tuple(regions or ()), form.consistency)


def _key(templates: Mapping[str, str]) -> tuple[KeyTemplate, ...]:
    return tuple(KeyTemplate(attribute, Template.parse(text)) for attribute, text in templates.items())


def _entity(form: EntityForm, line: int | None) -> EntityDeclaration:
    return EntityDeclaration(form.name, _key(form.__pydantic_extra__ or {}), form.item_bytes, line)


def _index(form: IndexForm, file: str, line: int | None) -> IndexDeclaration:
    return IndexDeclaration(
        name=form.name,
        kind=form.kind,
        partition_key=tuple(form.partition_key),
        sort_key=tuple(form.sort_key),
        projection=tuple(form.projection) if isinstance(form.projection, list) else form.projection,
        sparse=form.sparse,
        staleness_tolerance_seconds=form.staleness_tolerance,
        expected_write_amplification=form.expected_write_amplification,
        backfill_impact=form.backfill_impact,
        hot_key_risk=form.hot_key_risk,
        owner=form.owner,
        types=dict(form.types),
        keys_assumed=form.assumed,
        file=file,
        line=line,
    )


def _pattern(form: PatternForm, file: str, line: int | None) -> PatternDeclaration:
    limit, rate, per_key, transaction, slo = form.filter, form.rate, form.per_key, form.transaction, form.slo
    return PatternDeclaration(
        id=form.id,
        operations=tuple(form.operation),
        title=form.title,
        entity=form.entity,
        index=form.index,
        keys=tuple(_key(key) for key in form.key if key),
        order=form.order,
        page_size=form.page_size,
        returns_all=form.returns_all,
        consistency=form.consistency,
        freshness_seconds=form.freshness,
        filter=None if limit is None else FilterLimit(limit.allowed, limit.discards_at_most, limit.text),
        items_per_key=form.items_per_key,
        item_bytes=form.item_bytes,
        rate=Rate() if rate is None else Rate(rate.p95, rate.peak),
        frequency=form.frequency,
        per_key=PerKey() if per_key is None else PerKey(**per_key.model_dump()),
        surge=dict(form.surge),
        condition=form.condition,
        idempotency=form.idempotency,
        transaction_items=None if transaction is None else transaction.items,
        transaction_because=None if transaction is None else transaction.because,
        slo_p99_seconds=None if slo is None else slo.p99,
        slo_errors=None if slo is None else slo.errors,
        callers=tuple(form.callers),
        failure_mode=form.failure_mode,
        allow=tuple(Allowance(a.detector, a.until, a.reason) for a in form.allow),
        purpose=form.purpose,
        ends=form.ends,
        schedule=form.schedule,
        max_units_per_second=form.max_units_per_second,
        is_key_empty=form.is_key_empty,
        file=file,
        line=line,
    )


def _faults(table: TableDeclaration, node: MapNode) -> Iterable[Fault]:
    """Tell names that stand twice, indexes that no one declared, and key attributes that are none."""
    field = f"tables.{table.name}"
    for part, names in (
        ("patterns", [p.id for p in table.patterns]),
        ("indexes", [i.name for i in table.indexes]),
        ("entities", [e.name for e in table.entities]),
    ):
        for name in (name for name, times in Counter(names).items() if times > 1):
            at = len(names) - 1 - names[::-1].index(name)
            line = line_at(node, (part, at))
            message = f"{name!r} stands twice"
            yield Fault(table.file, line, f"{field}.{part}.{name}", message, "give each a name of its own")
    known = [index.name for index in table.indexes]
    for at, pattern in enumerate(table.patterns):
        if pattern.index is not None and pattern.index not in known:
            line = line_at(node, ("patterns", at, "index"))
            mend = did_you_mean(pattern.index, known) if known else "declare it under indexes, with its key"
            yield Fault(
                table.file,
                line,
                f"{field}.patterns.{pattern.id}.index",
                f"{pattern.index!r} is no declared index",
                mend,
            )
    yield from _index_faults(table, node)
    yield from _entity_faults(table, node)


def _index_faults(table: TableDeclaration, node: MapNode) -> Iterable[Fault]:
    for at, index in enumerate(table.indexes):
        if not index.partition_key and not (isinstance(node["indexes"], ListNode) and index.kind == "vector"):
            line = line_at(node, ("indexes", at))
            mend = "name its partition key attribute: partition_key: GSI1PK"
            yield Fault(table.file, line, f"tables.{table.name}.indexes.{index.name}", "it has no partition key", mend)


def _entity_faults(table: TableDeclaration, node: MapNode) -> Iterable[Fault]:
    places = [(table.partition_key, table.sort_key), *((i.partition_key, i.sort_key) for i in table.indexes)]
    known = sorted({name for partition, sort in places for name in (*partition, *sort)})
    if table.keys_assumed or any(index.keys_assumed for index in table.indexes):
        return
    for at, entity in enumerate(table.entities):
        for attribute in (key.attribute for key in entity.key if key.attribute not in known):
            line = line_at(node, ("entities", at, attribute))
            place = f"tables.{table.name}.entities.{entity.name}.{attribute}"
            mend = did_you_mean(attribute, ["item_bytes", "name", *known])
            yield Fault(table.file, line, place, f"{attribute!r} is no key attribute of the table or an index", mend)
