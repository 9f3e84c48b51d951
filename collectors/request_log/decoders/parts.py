"""The members of batches and transactions, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.knowledge.names import table_name
from analyzer.model.request import Part
from collectors.request_log.decoders.fields import listed, mapping, text
from collectors.request_log.decoders.statements import key_of_statement, masked_statement, verb_of
from collectors.request_log.decoders.values import item_bytes, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors.request_log.decoders.schema import KeyNames

__all__ = ["PARTED", "handed_back", "parts_of", "table_of_parts"]

PARTED = frozenset(
    {
        "BatchGetItem",
        "BatchWriteItem",
        "TransactGetItems",
        "TransactWriteItems",
        "BatchExecuteStatement",
        "ExecuteTransaction",
    }
)
"""The operations that have members."""

_KINDS = ("Get", "Put", "Update", "Delete", "ConditionCheck")
_VERBS = {"SELECT": "Get", "INSERT": "Put", "UPDATE": "Update", "DELETE": "Delete"}


def parts_of(operation: str, request: Mapping[str, Any], names: KeyNames) -> tuple[list[Part] | None, dict[str, str]]:
    """Return the members of a call, and the names that their expressions use, joined."""
    if operation in {"BatchGetItem", "BatchWriteItem"}:
        return _of_batch(operation, mapping(request.get("RequestItems")), names) or None, {}
    if operation in {"TransactGetItems", "TransactWriteItems"}:
        return _of_transaction(listed(request.get("TransactItems")), names)
    statements = listed(request.get("Statements")) or listed(request.get("TransactStatements"))
    return [_of_statement(mapping(entry), names) for entry in statements] or None, {}


def _of_batch(operation: str, requested: Mapping[str, Any], names: KeyNames) -> list[Part]:
    parts: list[Part] = []
    for given, members in requested.items():
        table = table_name(given)
        if operation == "BatchGetItem":
            for key in map(key_of, listed(mapping(members).get("Keys"))):
                names.learn(table, key or ())
                parts.append(Part("Get", table, key))
            continue
        for member in map(mapping, listed(members)):
            if "DeleteRequest" in member:
                parts.append(_keyed("Delete", table, mapping(member["DeleteRequest"]).get("Key"), names))
            else:
                parts.append(_put(table, mapping(mapping(member.get("PutRequest")).get("Item")), names))
    return parts


def _of_transaction(items: list[Any], names: KeyNames) -> tuple[list[Part] | None, dict[str, str]]:
    parts: list[Part] = []
    joined: dict[str, str] = {}
    for item in map(mapping, items):
        kind = next((kind for kind in _KINDS if isinstance(item.get(kind), dict)), None)
        if kind is None:
            continue
        member = item[kind]
        table = table_name(text(member.get("TableName")) or "") or None
        if kind == "Put":
            part = _put(table, mapping(member.get("Item")), names)
        else:
            part = _keyed(kind, table, member.get("Key"), names)
        renamed = _renamed(mapping(member.get("ExpressionAttributeNames")), joined)
        part.condition = _with(renamed, text(member.get("ConditionExpression")))
        part.update = _with(renamed, text(member.get("UpdateExpression")))
        parts.append(part)
    return parts or None, joined


def _renamed(given: Mapping[str, Any], joined: dict[str, str]) -> dict[str, str]:
    """Add a member's names to those of the others; return what to call those that mean something else there."""
    renamed: dict[str, str] = {}
    for holder, name in given.items():
        if not isinstance(name, str):
            continue
        free = holder
        while joined.get(free, name) != name:
            free += "_"
        joined[free] = name
        if free != holder:
            renamed[holder] = free
    return renamed


def _with(renamed: Mapping[str, str], expression: str | None) -> str | None:
    if expression is not None:
        for holder in sorted(renamed, key=len, reverse=True):
            expression = expression.replace(holder, renamed[holder])
    return expression


def _keyed(op: str, table: str | None, given: object, names: KeyNames) -> Part:
    key = key_of(given)
    names.learn(table, key or ())
    return Part(op, table, key)


def _put(table: str | None, item: Mapping[str, Any], names: KeyNames) -> Part:
    size = item_bytes(item) if item else None
    return Part("Put", table, names.key_in(table, item), names.index_keys_in(table, item), item_bytes=size)


def _of_statement(entry: Mapping[str, Any], names: KeyNames) -> Part:
    statement = text(entry.get("Statement")) or ""
    op = _VERBS.get(verb_of(statement), "Get")
    key = key_of_statement(statement, listed(entry.get("Parameters")), names)
    return Part(op, key=key, statement=masked_statement(statement))


def table_of_parts(parts: list[Part] | None) -> str | None:
    """Return the one table of all parts, None where they are of several or it is not known."""
    tables = {part.table for part in parts or ()}
    return tables.pop() if len(tables) == 1 else None


def handed_back(
    operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]
) -> tuple[int | None, list[int] | None]:
    """Return how many members a batch handed back, and their positions where all of them are known."""
    name = "UnprocessedKeys" if operation == "BatchGetItem" else "UnprocessedItems"
    if name not in answer:
        return None, None
    sent, back = (_members(operation, mapping(part)) for part in (request.get("RequestItems"), answer[name]))
    places: list[int] = []
    for member in back:
        place = next((at for at, other in enumerate(sent) if at not in places and other == member), None)
        if place is None:
            return len(back), None
        places.append(place)
    return len(back), sorted(places) or None


def _members(operation: str, requested: Mapping[str, Any]) -> list[tuple[str, Any]]:
    is_read = operation == "BatchGetItem"
    return [
        (table_name(table), member)
        for table, members in requested.items()
        for member in listed(mapping(members).get("Keys") if is_read else members)
    ]
