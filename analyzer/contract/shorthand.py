"""Short ways to write a contract, rewritten into the one structure of formats.md §4 before anything is judged.

A plain list of rows, `patterns:` at top level, tables or patterns as mappings by name, `query_type` for `operation`,
`pk` and `sk` for the attributes of the key. What is not recognised is left as it stands, for the form to refuse.
"""

from __future__ import annotations

import re
from typing import Any

from analyzer.contract.conditions import equality, parse_key_condition
from analyzer.contract.document import ListNode, MapNode
from analyzer.contract.fields import operation_named
from analyzer.contract.form import ASSUMED, EMPTY_KEY
from analyzer.contract.nothing import is_nothing, names_no_index

__all__ = ["ROW_LISTS", "SPELLINGS", "as_list", "canonical", "infer_keys", "slug"]

_TOP = frozenset({"version", "callers", "tables"})
ROW_LISTS = ("patterns", "access_patterns", "accessPatterns")
_TABLE_NAMES = {
    "table": "name",
    "table_name": "name",
    "pk": "partition_key",
    "sk": "sort_key",
    "access_patterns": "patterns",
    "accessPatterns": "patterns",
}
_INDEX_NAMES = {"index_name": "name", "pk": "partition_key", "sk": "sort_key"}
_PATTERN_NAMES = {
    "query_type": "operation",
    "queryType": "operation",
    "operations": "operation",
    "op": "operation",
    "pattern_id": "id",
    "pattern": "id",
    "description": "title",
    "index_name": "index",
    "batch_size": "page_size",
    "limit": "page_size",
    "access_frequency": "frequency",
    "est_freq": "frequency",
    "gsi": "index",
    "partition_key": "pk",
    "partitionKey": "pk",
    "sort_key": "sk",
    "sortKey": "sk",
    "filter_expression": "filter",
}
SPELLINGS = {**_TABLE_NAMES, **_INDEX_NAMES, **_PATTERN_NAMES}
"""Other names of fields, and what they stand for."""

_REMARKS = ("notes", "note", "comment", "comments")
"""What people write to one another in a row, and nothing is made of."""

_CALL = re.compile(r"\s*begins_with\s*\(\s*(?:([A-Za-z_][\w.-]*)\s*,\s*)?[\"']?([^,]+?)[\"']?\s*\)\s*", re.IGNORECASE)
_KEY_NAME = re.compile(r"(?:(?:g|l)si_?\d*_?)?[ps]k", re.IGNORECASE)


def slug(text: str) -> str:
    """Make an id of a title: lower case, words joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"'s?\b", "", text.lower())).strip("-")


def canonical(document: Any) -> Any:  # noqa: ANN401 (a document is what its author wrote)
    """Rewrite a document in place into formats.md §4; None declares nothing."""
    if document is None:
        return MapNode()
    if isinstance(document, ListNode):
        document = MapNode([("patterns", document)], document.line)
    if not isinstance(document, MapNode):
        return document
    if "tables" not in document and any(name in document for name in (*ROW_LISTS, "table")):
        document = _gather(document)
    tables = as_list(document.get("tables"), "name")
    if "tables" in document:
        document["tables"] = tables
    for table in tables if isinstance(tables, ListNode) else ():
        if isinstance(table, MapNode):
            _rewrite_table(table)
    return document


def _gather(document: MapNode) -> MapNode:
    """Make tables of what stands at top level; a row that names a table goes to it."""
    root = MapNode(line=document.line)
    table = MapNode(line=document.line)
    if isinstance(document.get("table"), MapNode):
        table = document.pop("table")
    for key in list(document):
        (root if key in _TOP else table).take(key, document, key)
    _rename(table, _TABLE_NAMES)
    rows = as_list(table.pop("patterns", None), "id")
    tables = ListNode(line=document.line)
    named: dict[str, MapNode] = {}
    listed = rows if isinstance(rows, ListNode) else ListNode()
    for row, line in zip(listed, listed.lines, strict=True):
        name = table.get("name")
        if isinstance(row, MapNode):
            name = row.pop("table", row.pop("table_name", name))
        name = "*" if name is None else str(name)
        if name not in named:
            named[name] = MapNode(table.items() if table.get("name", name) == name else (), table.line)
            named[name].lines = dict(table.lines)
            named[name] |= {"name": name, "patterns": ListNode(line=table.line)}
            tables.append(named[name])
            tables.lines.append(table.line)
        named[name]["patterns"].append(row)
        named[name]["patterns"].lines.append(line)
    if not tables:
        table.setdefault("name", "*")
        if rows is not None and not isinstance(rows, ListNode):
            table["patterns"] = rows
        tables.append(table)
        tables.lines.append(table.line)
    for each in tables:
        each[ASSUMED] = True
    root["tables"] = tables
    return root


def as_list(value: object, name: str) -> object:
    """Make a list of a mapping by name; a list stays."""
    if not isinstance(value, MapNode):
        return value
    listed = ListNode(line=value.line)
    for key, body in value.items():
        member = body if isinstance(body, MapNode) else MapNode(line=value.line_of(key))
        if isinstance(body, str):
            member["operation"] = body
        if name not in member:
            member.put(name, key, value.line_of(key))
        listed.append(member)
        listed.lines.append(value.line_of(key))
    return listed


def _rename(node: MapNode, names: dict[str, str]) -> None:
    for old, new in names.items():
        if old in node and new not in node:
            node.take(old, node, new)
        elif old in node and _says(node[old]) == _says(node[new]):
            del node[old]


def _says(value: object) -> object:
    """Return what two spellings of one value share: `Query`, `query` and `[Query]`."""
    listed = value if isinstance(value, list) and len(value) == 1 else [value]
    return str(operation_named(str(listed[0])) or listed[0])


def _rewrite_table(table: MapNode) -> None:
    _rename(table, _TABLE_NAMES)
    for part, name in (("patterns", "id"), ("indexes", "name"), ("entities", "name")):
        if part in table:
            table[part] = as_list(table[part], name)
    for index in _maps(table, "indexes"):
        _rename(index, _INDEX_NAMES)
    for pattern in _maps(table, "patterns"):
        _rewrite_pattern(pattern)
    is_short = table.get(ASSUMED) is True
    if is_short:
        _imply_indexes(table)
    for pattern in _maps(table, "patterns"):
        place = next((i for i in _maps(table, "indexes") if i.get("name") == pattern.get("index")), table)
        _rewrite_key(pattern, place, is_short=is_short)
    for entity in _maps(table, "entities"):
        _rewrite_entity(entity, table)
    if is_short:
        infer_keys(table)


def _maps(node: MapNode, part: str) -> list[MapNode]:
    members = node.get(part)
    return [member for member in members if isinstance(member, MapNode)] if isinstance(members, ListNode) else []


def _rewrite_pattern(pattern: MapNode) -> None:
    _rename(pattern, _PATTERN_NAMES)
    for remark in _REMARKS:
        pattern.pop(remark, None)
    if "name" in pattern:
        if "id" not in pattern:
            name = str(pattern["name"])
            _rename(pattern, {"name": "id"})
            if re.search(r"\s", name):
                pattern["id"] = slug(name)
                pattern.setdefault("title", name)
        else:
            _rename(pattern, {"name": "title"})
    if "id" not in pattern and isinstance(pattern.get("title"), str):
        pattern.put("id", slug(pattern["title"]), pattern.line_of("title"))
    if names_no_index(pattern.get("index")):
        pattern.pop("index", None)


def _imply_indexes(table: MapNode) -> None:
    """Declare the indexes that rows name, where the table lists none of its own."""
    if "indexes" in table:
        return
    indexes = ListNode(line=table.line)
    for pattern in _maps(table, "patterns"):
        name = pattern.get("index")
        if isinstance(name, str) and name not in {index["name"] for index in indexes}:
            indexes.append(MapNode([("name", name), (ASSUMED, True)], pattern.line_of("index")))
            indexes.lines.append(pattern.line_of("index"))
    table["indexes"] = indexes


def _rewrite_key(pattern: MapNode, place: MapNode, *, is_short: bool) -> None:
    """Put `pk`, `sk` and a key condition written as text under `key`, by the names of the key attributes."""
    key = pattern.get("key")
    if "key" not in pattern and isinstance(pattern.get("key_condition"), str):
        pattern.take("key_condition", pattern, "key")
        key = pattern["key"]
    line = pattern.line_of("key")
    if isinstance(key, str):
        try:
            pairs, _ = parse_key_condition(key)
        except ValueError:
            return  # the form refuses a text here, and says what a key is
        key = MapNode(pairs, line)
        pattern["key"] = key
    shorts = [field for field in pattern if _KEY_NAME.fullmatch(field)]
    if shorts and key is None:
        key = MapNode(line=pattern.line_of(shorts[0]))
        pattern.put("key", key, key.line)
    if isinstance(key, MapNode):
        for short in shorts:
            if short not in key:
                key.take(short, pattern, short)
                _take_attribute(pattern, key, short, is_short=is_short)
    for each in _key_maps(pattern):
        for attribute in list(each):
            _take_call(each, attribute)
        _name_roles(each, place)


def _take_attribute(pattern: MapNode, key: MapNode, short: str, *, is_short: bool) -> None:
    """Read `pk: "PK=USER#<id>"` as the attribute PK, and what names nothing as no condition."""
    value = key[short]
    if is_nothing(value):
        del key[short]
        if value is None and short[-2:].lower() == "pk":
            pattern[EMPTY_KEY] = True
        return
    told = equality(value) if is_short and isinstance(value, str) else None
    if told is not None and _KEY_NAME.fullmatch(told[0]):
        key.take(short, key, told[0])
        key[told[0]] = told[1]


def _take_call(key: MapNode, attribute: str) -> None:
    """Read `begins_with(ORDER#)` and `begins_with(SK, ORDER#)` as `begins_with ORDER#`."""
    called = _CALL.fullmatch(key[attribute]) if isinstance(key[attribute], str) else None
    if called is None:
        return
    key[attribute] = f"begins_with {called[2]}"
    named = called[1]
    if named is not None and named.lower() != attribute.lower() and named not in key and attribute in {"pk", "sk"}:
        items = [(named if name == attribute else name, value) for name, value in key.items()]
        key.lines = {named if name == attribute else name: line for name, line in key.lines.items()}
        key.clear()
        key.update(items)


def _name_roles(key: MapNode, place: MapNode) -> None:
    """Rename `pk` and `sk` in a key to the attributes that they stand for, where the place names other ones."""
    for short, part in (("pk", "partition_key"), ("sk", "sort_key")):
        names = place.get(part)
        name = names[0] if isinstance(names, list) and len(names) == 1 else names
        known = _attributes(place)
        if short in key and isinstance(name, str) and short not in known and name not in key:
            lines = dict(key.lines)
            items = [(name if k == short else k, v) for k, v in key.items()]
            key.clear()
            key.update(items)
            key.lines = {name if k == short else k: line for k, line in lines.items()}


def _attributes(place: MapNode) -> set[str]:
    listed = (place.get("partition_key"), place.get("sort_key"))
    return {str(name) for names in listed for name in (names if isinstance(names, list) else [names]) if name}


def _rewrite_entity(entity: MapNode, table: MapNode) -> None:
    key = entity.get("key")
    if isinstance(key, MapNode):
        for attribute in list(key):
            if attribute not in entity:
                entity.take(attribute, key, attribute)
        del entity["key"]
    _name_roles(entity, table)


def infer_keys(table: MapNode) -> None:
    """Name the key attributes of a table, and of indexes, that were left out, as its patterns use them."""
    for place in (table, *_maps(table, "indexes")):
        if place.get("partition_key"):
            place.pop(ASSUMED, None)
            continue
        index = None if place is table else place.get("name")
        keys = [k for p in _maps(table, "patterns") if p.get("index") == index for k in _key_maps(p)]
        names = list(dict.fromkeys(str(attribute) for key in keys for attribute in key))
        partition = next((name for name in names if name != "sk"), None)
        sort = next((name for name in names if name != partition), None)
        place[ASSUMED] = partition in (None, "pk")
        place["partition_key"] = partition or "pk"
        if sort is not None and "sort_key" not in place:
            place["sort_key"] = sort
        for key in keys:
            _name_roles(key, place)


def _key_maps(pattern: MapNode) -> list[MapNode]:
    key = pattern.get("key")
    return [
        k
        for k in ([key] if isinstance(key, MapNode) else key if isinstance(key, ListNode) else ())
        if isinstance(k, MapNode)
    ]
