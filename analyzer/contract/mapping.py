"""The `access_pattern_mapping.json` that the AWS DynamoDB MCP server generates, as the structure of formats.md §4.

It names operations, indexes and parameters, but neither tables nor key attributes: those are assumed, so that traffic
is `ambiguous` rather than `undeclared` where they matter. Source: awslabs/mcp, dynamodb-mcp-server, read 2026-11-30.
"""

from __future__ import annotations

import re

from analyzer.contract.document import ListNode, MapNode
from analyzer.contract.form import ASSUMED
from analyzer.contract.nothing import names_no_index
from analyzer.contract.shorthand import infer_keys

__all__ = ["read_mapping"]

_ONE_KEY = frozenset({"GetItem", "DeleteItem"})
_KEPT = {"pattern_id": "id", "description": "title", "entity": "entity", "operation": "operation"}


def read_mapping(document: MapNode) -> MapNode:
    """Turn a mapping into one unnamed table; what is no pattern in it is left for the form to refuse."""
    entries = document["access_pattern_mapping"]
    rows = entries.values() if isinstance(entries, MapNode) else entries if isinstance(entries, ListNode) else ()
    table = MapNode([("name", "*"), ("indexes", ListNode()), ("patterns", ListNode())], document.line)
    for position, row in enumerate(rows):
        pattern = _pattern(row, table) if isinstance(row, MapNode) else row
        line = getattr(pattern, "line", None) or (entries.lines[position] if isinstance(entries, ListNode) else None)
        table["patterns"].append(pattern)
        table["patterns"].lines.append(line)
    infer_keys(table)
    for place in (table, *table["indexes"]):
        place[ASSUMED] = True
    return MapNode([("tables", ListNode([table]))], document.line)


def _pattern(row: MapNode, table: MapNode) -> MapNode:
    pattern = MapNode(line=row.line)
    for old, new in _KEPT.items():
        if row.get(old) is not None:
            pattern.put(new, row[old], row.line_of(old))
    index = None if names_no_index(row.get("index_name")) else row.get("index_name")
    if isinstance(index, str):
        pattern.put("index", index, row.line_of("index_name"))
        if index not in {known["name"] for known in table["indexes"]}:
            table["indexes"].append(MapNode([("name", index), (ASSUMED, True)], row.line_of("index_name")))
            table["indexes"].lines.append(row.line_of("index_name"))
    if row.get("consistent_read") is True:
        pattern["consistency"] = "strong"
    if isinstance(row.get("filter_expression"), MapNode):
        pattern["filter"] = True
    key = _key(row)
    if key and pattern.get("operation") != "Scan":
        prefix = index if isinstance(index, str) else ""
        pattern["key"] = MapNode([(prefix + short, text) for short, text in key.items()], row.line_of("parameters"))
    return pattern


def _key(row: MapNode) -> dict[str, str]:
    """Guess the key from the parameters: the first is the partition key, those of a range condition the sort key."""
    listed = row.get("parameters")
    parameters = [p for p in listed if isinstance(p, MapNode)] if isinstance(listed, ListNode) else []
    names = [re.sub(r"[^\w-]", "_", str(p.get("name"))) for p in parameters]
    if not names:
        return {}
    key = {"PK": f"<{names[0]}>"}
    operator = row.get("range_condition")
    if operator == "between" and names[2:]:
        key["SK"] = f"between <{names[1]}> and <{names[2]}>"
    elif isinstance(operator, str) and operator and names[1:]:
        key["SK"] = f"{operator} <{names[1]}>"
    elif row.get("operation") in _ONE_KEY and names[1:]:
        key["SK"] = f"<{names[1]}>"
    return key
