"""What is declared and known of a table or index, apart from its traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.table import Provisioning
from analyzer.model.traffic import Capacity, Declared, Place

if TYPE_CHECKING:
    from analyzer.contract.model import Contract, PatternDeclaration, TableDeclaration
    from analyzer.model.table import IndexDescription, TableDescription, TableSnapshot
    from analyzer.model.target import Target

__all__ = ["place_of"]


def place_of(target: Target, contract: Contract, snapshot: TableSnapshot | None) -> Place:
    """Join a target's declaration with its newest DescribeTable; of keys, the table itself is right."""
    declaration = contract.table(target)
    table = snapshot.table if snapshot is not None else None
    partition_key, sort_key = _keys(target, declaration, table)
    index = table.index(target.index) if table is not None else None
    declared_index = declaration.index(target.index) if declaration is not None else None
    return Place(
        declared=declaration is not None,
        owner=declaration.owner if declaration is not None else None,
        partition_key=partition_key,
        sort_key=sort_key,
        index_keys=_index_keys(declaration, table),
        index_status=index.status if index is not None else None,
        has_lsi=_has_lsi(declaration, table),
        capacity=_capacity(table, index, target),
        staleness_tolerance_seconds=declared_index.staleness_tolerance_seconds if declared_index is not None else None,
        ttl_attribute=declaration.ttl_attribute if declaration is not None else None,
        patterns={p.id: _declared(p, declaration) for p in declaration.patterns} if declaration is not None else {},
        table=table,
        time_to_live=snapshot.ttl if snapshot is not None else None,
    )


def _declared(pattern: PatternDeclaration, table: TableDeclaration) -> Declared:
    return Declared(
        id=pattern.id,
        operations=pattern.operations,
        owner=table.owner,
        callers=pattern.callers,
        discards_at_most=pattern.filter.discards_at_most if pattern.filter is not None else None,
        peak_rate=pattern.rate.peak,
        max_units_per_second=pattern.max_units_per_second,
    )


def _keys(
    target: Target, declaration: TableDeclaration | None, table: TableDescription | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    described = table if table is None or target.index is None else table.index(target.index)
    if described is not None and described.partition_key:
        return described.partition_key, described.sort_key
    return declaration.schema(target.index) if declaration is not None else ((), ())


def _index_keys(declaration: TableDeclaration | None, table: TableDescription | None) -> dict[str, tuple[str, ...]]:
    keys = {index.name: index.partition_key for index in declaration.indexes} if declaration is not None else {}
    return keys | ({index.name: index.partition_key for index in table.indexes} if table is not None else {})


def _has_lsi(declaration: TableDeclaration | None, table: TableDescription | None) -> bool | None:
    if table is not None and table.partition_key:
        return table.has_lsi
    if declaration is not None:
        return any(index.kind == "lsi" for index in declaration.indexes)
    return None


def _capacity(table: TableDescription | None, index: IndexDescription | None, target: Target) -> Capacity:
    if table is None:
        return Capacity()
    told = table.provisioning if target.index is None else index.provisioning if index is not None else Provisioning()
    return Capacity(
        billing_mode=table.billing_mode,
        read_units=told.read_units,
        write_units=told.write_units,
        table_class=table.table_class,
    )
