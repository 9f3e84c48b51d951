"""The members of batches and transactions, in their order, and the positions of those that were handed back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynascope_sampler.answers import table_name
from dynascope_sampler.expressions import NameTable, assigned
from dynascope_sampler.keys import Key, capture, capture_key
from dynascope_sampler.legacy import is_legacy, modernize
from dynascope_sampler.partiql import read_statement
from dynascope_sampler.schema import Schema, TableSchema
from dynascope_sampler.sizes import item_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Part", "handed_back", "index_keys_of", "item_key", "parts_of"]

Part = dict[str, Any]
"""A part as the record has it, but for `key` and `index_keys`, which hold captured values until they are written."""

_WRITES = (("PutRequest", "Put", "Item"), ("DeleteRequest", "Delete", "Key"))
_MEMBERS = ("Get", "Put", "Update", "Delete", "ConditionCheck")


def item_key(item: Mapping[str, Any], table: TableSchema) -> Key | None:
    """Return the key of an item, None where the table's key attributes are not known."""
    if not table.key:
        return None
    key = []
    for name in table.key:
        value = item.get(name)
        if value is None:
            continue
        text = value.get("S")  # nearly all keys are strings: this line is run for every item that an index returns
        if type(text) is str:
            key.append((name, "S", text))
            continue
        captured = capture(value)
        if captured is not None:
            key.append((name, captured[0], captured[1]))
    return tuple(key)


def index_keys_of(attributes: Mapping[str, Any], table: TableSchema) -> dict[str, Key]:
    """Return the index keys that a whole item has; an index whose attributes it lacks does not hold it."""
    found = {}
    for index, names in table.indexes.items():
        key = []
        for name in names:
            value = attributes.get(name)
            captured = None if value is None else capture(value)
            if captured is None:
                break
            key.append((name, *captured))
        else:
            if key:
                found[index] = tuple(key)
    return found


def index_keys_of_update(key: Mapping[str, Any], params: Mapping[str, Any], table: TableSchema) -> dict[str, Key]:
    """Return the index keys that an update sets in full, from its own values and the item's key."""
    if not table.indexes or not params.get("UpdateExpression"):
        return {}
    fresh = assigned(
        params["UpdateExpression"],
        params.get("ExpressionAttributeNames") or {},
        params.get("ExpressionAttributeValues") or {},
    )
    names = {name for name, _, _ in fresh}
    known = {name: {kind: text} for name, kind, text in fresh}
    known.update(key)
    touched = {index: attributes for index, attributes in table.indexes.items() if not names.isdisjoint(attributes)}
    return index_keys_of(known, TableSchema(indexes=touched))


def parts_of(operation: str, params: Mapping[str, Any], schema: Schema) -> tuple[list[Part], dict[str, str]]:
    """Return the parts of a call and the names that their expressions use."""
    names = NameTable()
    parts: list[Part] = []
    if operation in {"BatchGetItem", "BatchWriteItem"}:
        for given, requested in params["RequestItems"].items():
            table = table_name(given)
            if operation == "BatchGetItem":
                parts += [{"op": "Get", "table": table, "key": capture_key(key)} for key in requested["Keys"]]
            else:
                parts += [_write(request, table, schema.table(table)) for request in requested]
    elif operation in {"TransactGetItems", "TransactWriteItems"}:
        for member in params["TransactItems"]:
            for kind in _MEMBERS:
                if member.get(kind):
                    parts.append(_member(kind, member[kind], schema, names))
    else:
        for entry in params.get("Statements") or params.get("TransactStatements") or ():
            parts.append(_statement(entry, schema))
    return parts, names.names


def _write(request: Mapping[str, Any], table: str, known: TableSchema) -> Part:
    for kind, name, content in _WRITES:
        if request.get(kind):
            part: Part = {"op": name, "table": table}
            if content == "Item":
                _describe_put(part, request[kind]["Item"], known)
            else:
                part["key"] = capture_key(request[kind]["Key"])
            return part
    return {"op": "Put", "table": table}


def _describe_put(part: Part, item: Mapping[str, Any], known: TableSchema) -> None:
    key = item_key(item, known)
    if key:
        part["key"] = key
    index_keys = index_keys_of(item, known)
    if index_keys:
        part["index_keys"] = index_keys
    part["item_bytes"] = item_bytes(item)


def _member(kind: str, request: Mapping[str, Any], schema: Schema, names: NameTable) -> Part:
    if is_legacy(request):
        request = modernize(request)
    table = table_name(request["TableName"])
    part: Part = {"op": kind, "table": table}
    if kind == "Put":
        _describe_put(part, request["Item"], schema.table(table))
    else:
        part["key"] = capture_key(request["Key"])
        if kind == "Update":
            index_keys = index_keys_of_update(request["Key"], request, schema.table(table))
            if index_keys:
                part["index_keys"] = index_keys
    given = request.get("ExpressionAttributeNames")
    for field, parameter in (("condition", "ConditionExpression"), ("update", "UpdateExpression")):
        if request.get(parameter):
            part[field] = names.add(given, request[parameter])
    return part


def _statement(entry: Mapping[str, Any], schema: Schema) -> Part:
    statement = read_statement(
        entry["Statement"], entry.get("Parameters"), lambda table, index: schema.table(table).attributes(index)
    )
    part: Part = {"op": statement.operation, "statement": statement.text}
    if statement.table is not None:
        part["table"] = table_name(statement.table)
    if statement.key:
        part["key"] = statement.key
    return part


def handed_back(operation: str, params: Mapping[str, Any], parsed: Mapping[str, Any]) -> tuple[int, list[int] | None]:
    """Return how many members a batch handed back, and their positions where all of them are known."""
    back = parsed.get("UnprocessedKeys" if operation == "BatchGetItem" else "UnprocessedItems") or {}
    if not back:
        return 0, []
    if operation == "BatchGetItem":
        back = {table: entry.get("Keys") or [] for table, entry in back.items()}
    sent: list[Any] = []
    for table, requested in params["RequestItems"].items():
        members = requested["Keys"] if operation == "BatchGetItem" else requested
        sent += [(table_name(table), member) for member in members]
    returned = [(table_name(table), member) for table, members in back.items() for member in members]
    places: list[int] = []
    taken = set()
    for member in returned:
        place = next((at for at, other in enumerate(sent) if at not in taken and other == member), None)
        if place is None:
            return len(returned), None
        taken.add(place)
        places.append(place)
    return len(returned), sorted(places)
