"""What is declared and known of a table or index, apart from its traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.knowledge.prices import prices_for, prices_of
from analyzer.model.table import Provisioning
from analyzer.model.traffic import Capacity, Consumer, Declared, Place

if TYPE_CHECKING:
    from analyzer.contract.model import Contract, IndexDeclaration, PatternDeclaration, TableDeclaration
    from analyzer.model.observations import Observations
    from analyzer.model.table import IndexDescription, TableDescription, TableSnapshot
    from analyzer.model.target import Target

__all__ = ["patterns_of", "place_of", "with_prices"]


def place_of(target: Target, contract: Contract, snapshot: TableSnapshot | None) -> Place:
    """Join a target's declaration with its newest DescribeTable; of keys, the table itself is right."""
    declaration = contract.table(target)
    table = snapshot.table if snapshot is not None else None
    partition_key, sort_key = _keys(target, declaration, table)
    index = table.index(target.index) if table is not None else None
    declared_index = declaration.index(target.index) if declaration is not None else None
    place = Place(
        partition_key=partition_key,
        sort_key=sort_key,
        index_keys=_index_keys(declaration, table),
        index_status=index.status if index is not None else None,
        has_lsi=_has_lsi(declaration, table),
        capacity=_capacity(table, index, target),
        table=table,
        time_to_live=snapshot.ttl if snapshot is not None else None,
    )
    if declaration is None:
        return place
    return _with_callers(_with_declaration(place, declaration, declared_index), contract)


def with_prices(place: Place, target: Target, observations: Observations) -> Place:
    """Say what the target's units cost, where that is not the list price as it stands."""
    table_class = place.capacity.table_class
    region = target.region or observations.region
    prices = prices_for(region, table_class, observations.prices, observations.window.end)
    return place if prices == prices_of(table_class) else msgspec.structs.replace(place, prices=prices)


def _with_callers(place: Place, contract: Contract) -> Place:
    """Say which callers the contract names anywhere, and of which it tells what sources see of them."""
    mapped = frozenset(one.name for one in contract.callers if one.services or one.roles)
    return msgspec.structs.replace(place, known_callers=contract.callers_named, mapped_callers=mapped)


def _with_declaration(place: Place, table: TableDeclaration, index: IndexDeclaration | None) -> Place:
    return msgspec.structs.replace(
        place,
        declared=True,
        owner=table.owner,
        staleness_tolerance_seconds=index.staleness_tolerance_seconds if index is not None else None,
        expected_write_amplification=index.expected_write_amplification if index is not None else None,
        ttl_attribute=table.ttl_attribute,
        ttl_purpose=table.ttl_purpose,
        source_of_truth=table.source_of_truth,
        write_regions=table.replicas.write_regions if table.replicas is not None else (),
        consumers=tuple(Consumer(stream.consumer, stream.max_age_seconds) for stream in table.streams),
        patterns=patterns_of(table),
    )


def patterns_of(table: TableDeclaration) -> dict[str, Declared]:
    """Return what the patterns of a table promise, by their ids."""
    return {pattern.id: _declared(pattern, table) for pattern in table.patterns}


def _declared(pattern: PatternDeclaration, table: TableDeclaration) -> Declared:
    limit, each = pattern.filter, pattern.per_key
    return Declared(
        id=pattern.id,
        operations=pattern.operations,
        index=pattern.index,
        owner=table.owner,
        callers=pattern.callers,
        order=pattern.order,
        consistency=pattern.consistency,
        freshness_seconds=pattern.freshness_seconds,
        is_filtered=limit.allowed if limit is not None else None,
        discards_at_most=limit.discards_at_most if limit is not None else None,
        page_size=pattern.page_size,
        returns_all=pattern.returns_all,
        items_per_key=pattern.items_per_key,
        item_bytes=pattern.item_bytes,
        p95_rate=pattern.rate.p95,
        peak_rate=pattern.rate.peak,
        frequency=pattern.frequency,
        surge=pattern.surge,
        read_rate_a_key=each.read_rate,
        write_rate_a_key=each.write_rate,
        growth_per_day=each.growth_per_day,
        top_share=each.top_share,
        condition=pattern.condition,
        idempotency=pattern.idempotency,
        transaction_items=pattern.transaction_items,
        transaction_because=pattern.transaction_because,
        slo_p99_seconds=pattern.slo_p99_seconds,
        slo_errors=pattern.slo_errors,
        purpose=pattern.purpose,
        schedule=pattern.schedule,
        ends=pattern.ends,
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
