"""Whether a document that was only found in a folder declares access patterns, or tries to."""

from __future__ import annotations

import re

from analyzer.contract.document import ListNode, MapNode
from analyzer.contract.fields import operation_named
from analyzer.contract.shorthand import ROW_LISTS, as_list

__all__ = ["is_contract_like"]

_BARE_ROW_LISTS = frozenset({"patterns", "pattern", "accesspatterns", "accesspattern", "queries", "reads", "writes"})
_BARE_MARKS = frozenset({"pattern", "accesspattern", "patternid", "pk", "partitionkey", "keycondition", "index", "gsi"})
_VERBS = frozenset({"get", "put", "update", "delete"})
"""Words that other files hold as well, as methods of HTTP."""


def is_contract_like(document: object) -> bool:
    """Whether a document of an unknown file looks as if it declares access patterns, or as if it tries to."""
    return _is_well_named(document) or _is_attempt(document)


def _is_attempt(document: object) -> bool:
    """Whether rows of a document say what serves them, in whatever spelling: the form tells the right one."""
    bodies = [document]
    if isinstance(document, MapNode):
        bodies = [as_list(body, "id") for name, body in document.items() if _bare(name) in _BARE_ROW_LISTS]
    return any(_tries(row) for body in bodies if isinstance(body, ListNode) for row in body)


def _tries(row: object) -> bool:
    if not isinstance(row, MapNode):
        return False
    names = {_bare(name) for name in row}
    is_served = any(
        isinstance(value, str) and value.lower() not in _VERBS and operation_named(value) is not None
        for value in row.values()
    )
    return "querytype" in names or (is_served and not names.isdisjoint(_BARE_MARKS))


def _bare(name: str) -> str:
    return re.sub(r"[\s_-]", "", name.lower())


def _is_well_named(document: object) -> bool:
    if isinstance(document, ListNode):
        return bool(document) and all(_is_row(row) for row in document)
    if not isinstance(document, MapNode):
        return False
    tables = document.get("tables")
    if "access_pattern_mapping" in document:
        return True
    if isinstance(tables, ListNode | MapNode):
        bodies = tables.values() if isinstance(tables, MapNode) else tables
        marks = ("patterns", "partition_key", "access_patterns", "pk")
        return any(isinstance(body, MapNode) and any(mark in body for mark in marks) for body in bodies)
    rows = next((document[name] for name in ROW_LISTS if name in document), None)
    if isinstance(rows, MapNode):
        rows = list(rows.values())
    return isinstance(rows, list) and any(_is_row(row) for row in rows)


def _is_row(row: object) -> bool:
    marks = ("operation", "query_type", "queryType", "operations", "pk", "PK", "key")
    return isinstance(row, MapNode) and any(mark in row for mark in marks)
