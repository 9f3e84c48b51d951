"""Learning key attributes from calls that DynamoDB accepted, and the partition keys that a call touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynascope_sampler.answers import table_name
from dynascope_sampler.expressions import bound
from dynascope_sampler.keys import Key, capture
from dynascope_sampler.legacy import is_legacy, modernize
from dynascope_sampler.record import RETURNED_KEYS
from dynascope_sampler.schema import Schema, TableSchema, schema_of_description

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from dynascope_sampler.record import Call

__all__ = ["learn_from_answer", "learn_from_call", "partitions_of"]

_KEYED = frozenset({"GetItem", "UpdateItem", "DeleteItem"})


def learn_from_call(schema: Schema, call: Call) -> None:
    """Learn from a call that succeeded. Cheap where nothing is new."""
    params = call.params
    if call.operation in _KEYED:
        _learn_key(schema, params["TableName"], params["Key"])
    elif call.operation == "Query":
        name = table_name(params["TableName"])
        if "IndexName" not in params and not schema.table(name).partition:
            bound_by = _bound_by(params)
            if len(bound_by) == 1:
                schema.learn_partition(name, bound_by[0][0])
    elif "RequestItems" not in params or not all(schema.table(table_name(name)).key for name in params["RequestItems"]):
        for name, content in _members(params):
            if "Key" in content:
                _learn_key(schema, name, content["Key"])


def _learn_key(schema: Schema, given: str, key: Mapping[str, Any]) -> None:
    name = table_name(given)
    if len(schema.table(name).key) != len(key):
        schema.learn_key(name, key)


def learn_from_answer(schema: Schema, operation: str, parsed: Mapping[str, Any]) -> None:
    """Learn from what the application itself asks of the control plane."""
    if operation in {"DescribeTable", "CreateTable", "UpdateTable"}:
        table = parsed.get("Table") or parsed.get("TableDescription")
        if table and table.get("KeySchema"):
            schema.learn(table["TableName"], schema_of_description(table))


def partitions_of(call: Call, parsed: Mapping[str, Any], schema: Schema) -> AbstractSet[str]:
    """Return the base table's partition keys that a call touches: of an index read, those of the items returned.

    Empty where they are not known: then the call is in no key stratum.
    """
    params = call.params
    operation = call.operation
    name = params.get("TableName")
    found: set[str] = set()
    if name is not None:
        name = table_name(name)
        table = schema.table(name)
        if operation not in {"Query", "Scan"}:
            _add(found, name, params.get("Key") or params.get("Item") or {}, table)
        elif "IndexName" in params:
            return _partitions_returned(name, (parsed.get("Items") or ())[:RETURNED_KEYS], table)
        elif operation == "Query":
            bound_by = {attribute: text for attribute, _, text in _bound_by(params)}
            if table.partition and all(attribute in bound_by for attribute in table.partition):
                found.add("\t".join([name, *[bound_by[attribute] for attribute in table.partition]]))
        return found
    for name, content in _members(params):
        name = table_name(name)  # noqa: PLW2901 - an ARN and its name are one table
        _add(found, name, content.get("Key") or content.get("Item") or {}, schema.table(name))
    return found


def _partitions_returned(name: str, items: Any, table: TableSchema) -> set[str]:
    if len(table.partition) == 1:
        (attribute,) = table.partition
        try:  # nearly all keys are strings, and this is run for every item that an index returns
            return {f"{name}\t{item[attribute]['S']}" for item in items}
        except KeyError:
            pass
    found: set[str] = set()
    for item in items:
        _add(found, name, item, table)
    return found


def _members(params: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the table and what is asked of it (`Key` or `Item`) of each member of a batch or transaction."""
    for name, requested in (params.get("RequestItems") or {}).items():
        if isinstance(requested, dict):
            yield from ((name, {"Key": key}) for key in requested["Keys"])
        else:
            yield from ((name, content) for request in requested for content in request.values())
    for member in params.get("TransactItems") or ():
        yield from ((content["TableName"], content) for content in member.values())


def _add(found: set[str], name: str, attributes: Mapping[str, Any], table: TableSchema) -> None:
    joined = name
    for attribute in table.partition:
        value = attributes.get(attribute)
        captured = None if value is None else capture(value)
        if captured is None:
            return
        joined += "\t" + captured[1]
    if joined is not name:
        found.add(joined)


def _bound_by(params: Mapping[str, Any]) -> Key:
    if is_legacy(params):
        params = modernize(params)
    return bound(
        params.get("KeyConditionExpression") or "",
        params.get("ExpressionAttributeNames") or {},
        params.get("ExpressionAttributeValues") or {},
    )
