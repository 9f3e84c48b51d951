"""What is declared and known of a table or index, apart from its traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.traffic import Capacity, Declared, Place

if TYPE_CHECKING:
    from analyzer.contract.model import Contract, PatternDeclaration, TableDeclaration
    from analyzer.model.batch import TableSnapshot
    from analyzer.model.target import Target

__all__ = ["place_of"]

_NOTHING: dict[str, Any] = {}


def place_of(target: Target, contract: Contract, snapshot: TableSnapshot | None) -> Place:
    """Join a target's declaration with its newest DescribeTable; of keys, the table itself is right."""
    declaration = contract.table(target)
    description = snapshot.description if snapshot is not None else _NOTHING
    partition_key, sort_key = _keys(target, declaration, description)
    index = _index(description, target.index)
    declared_index = declaration.index(target.index) if declaration is not None else None
    return Place(
        declared=declaration is not None,
        owner=declaration.owner if declaration is not None else None,
        partition_key=partition_key,
        sort_key=sort_key,
        index_keys=_index_keys(declaration, description),
        index_status=index.get("IndexStatus"),
        has_lsi=_has_lsi(declaration, description),
        capacity=_capacity(description, index if target.index is not None else description),
        staleness_tolerance_seconds=declared_index.staleness_tolerance_seconds if declared_index is not None else None,
        ttl_attribute=declaration.ttl_attribute if declaration is not None else None,
        patterns={p.id: _declared(p, declaration) for p in declaration.patterns} if declaration is not None else {},
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
    target: Target, declaration: TableDeclaration | None, description: dict[str, Any]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    described = description if target.index is None else _index(description, target.index)
    if "KeySchema" in described:
        return _key_schema(described["KeySchema"])
    return declaration.schema(target.index) if declaration is not None else ((), ())


def _key_schema(schema: list[dict[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    partition = tuple(key["AttributeName"] for key in schema if key["KeyType"] == "HASH")
    return partition, tuple(key["AttributeName"] for key in schema if key["KeyType"] == "RANGE")


def _indexes(description: dict[str, Any]) -> list[dict[str, Any]]:
    return [*description.get("GlobalSecondaryIndexes", ()), *description.get("LocalSecondaryIndexes", ())]


def _index(description: dict[str, Any], name: str | None) -> dict[str, Any]:
    return next((index for index in _indexes(description) if index.get("IndexName") == name), _NOTHING)


def _index_keys(declaration: TableDeclaration | None, description: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    keys = {index.name: index.partition_key for index in declaration.indexes} if declaration is not None else {}
    described = {index["IndexName"]: _key_schema(index["KeySchema"])[0] for index in _indexes(description)}
    return keys | described


def _has_lsi(declaration: TableDeclaration | None, description: dict[str, Any]) -> bool | None:
    if description:
        return bool(description.get("LocalSecondaryIndexes"))
    if declaration is not None:
        return any(index.kind == "lsi" for index in declaration.indexes)
    return None


def _capacity(description: dict[str, Any], described: dict[str, Any]) -> Capacity:
    if not description:
        return Capacity()
    mode = description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    throughput = described.get("ProvisionedThroughput", {}) if mode == "PROVISIONED" else {}
    return Capacity(
        billing_mode=mode,
        read_units=throughput.get("ReadCapacityUnits"),
        write_units=throughput.get("WriteCapacityUnits"),
        table_class=description.get("TableClassSummary", {}).get("TableClass"),
    )
