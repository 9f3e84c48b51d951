"""The Markdown access-pattern table as the structure of a contract file (docs/reference/formats.md, 4)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.conditions import parse_key_condition
from analyzer.contract.document import ListNode, MapNode
from analyzer.contract.fields import operation_named
from analyzer.contract.form import ASSUMED
from analyzer.contract.nothing import is_nothing, names_no_index
from analyzer.contract.quantities import parse_rate
from analyzer.contract.shorthand import infer_keys, slug
from analyzer.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_markdown", "read_markdown"]

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*")
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_TABLE_NAME = re.compile(r"[A-Za-z0-9_.*?-]{3,255}")
_COLUMNS = {
    "pattern": "pattern",
    "access pattern": "pattern",
    "title": "pattern",
    "name": "pattern",
    "id": "id",
    "pattern id": "id",
    "entity": "entity",
    "key condition": "key",
    "key": "key",
    "keys": "key",
    "key conditions": "key",
    "pk": "pk",
    "sk": "sk",
    "read/write": "direction",
    "r/w": "direction",
    "est. freq": "frequency",
    "est freq": "frequency",
    "estimated frequency": "frequency",
    "frequency": "frequency",
    "freq": "frequency",
    "rate": "frequency",
    "served by": "served",
    "index": "index",
    "operation": "operation",
    "query type": "operation",
    "query_type": "operation",
    "filter": "filter",
    "consistency": "consistency",
    "order": "order",
    "page size": "page_size",
    "callers": "callers",
    "caller": "callers",
}
_GENERIC = frozenset(
    {
        *("access", "patterns", "pattern", "accesspatterns", "access-patterns", "overview", "tables", "table", "reads"),
        *("indexes", "index", "notes", "contract", "entities", "schema", "design", "keys", "introduction", "readme"),
        *("legend", "glossary", "appendix", "examples", "usage", "writes", "queries", "operations", "summary"),
    }
)
_FREQUENCIES = {"high": "high", "medium": "medium", "low": "low", "very high": "high", "med": "medium", "rare": "low"}


_QUOTED = re.compile(r"^\s{0,3}(?:>\s?)+")
_FILTER = re.compile(
    r"[\s,;(+]+(?:(?:with|then|and)\s+)?(?<![\w#=])filter(?:s|ed|ing|\s*expression)?\b(?![#|/=<>])"
    r"(?:\s+(?:on|by))?\s*:?\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_SCAN = re.compile(r"(?<!no )(?<!not )(?<!never )(?<!without )(?<!without a )(?<!instead of )\bscan(?:s|ned|ning)?\b")


class _Row(Struct, frozen=True):
    """One row under a heading, by column."""

    table: str | None
    cells: dict[str, str]
    line: int


class _Unread(Struct, frozen=True):
    """A table that looks like one of access patterns, and cannot be read."""

    line: int
    message: str
    mend: str


def is_markdown(text: str) -> bool:
    """Whether a text of unknown kind holds a Markdown table."""
    lines = [_QUOTED.sub("", line) for line in text.splitlines()]
    return any("|" in line and _RULE.fullmatch(under) for line, under in pairwise(lines))


def read_markdown(text: str, file: str) -> tuple[MapNode, list[Fault]]:
    """Read every access-pattern table of a text; tables with other columns are none of ours."""
    tables: dict[str, MapNode] = {}
    faults: list[Fault] = []
    for row in _rows(text):
        if isinstance(row, _Unread):
            faults.append(Fault(file, row.line, "", row.message, row.mend))
            continue
        name = row.table or "*"
        table = tables.get(name)
        if table is None:
            table = MapNode([("name", name), ("patterns", ListNode()), ("indexes", ListNode())], row.line)
            tables[name] = table
        try:
            pattern = _pattern(row, table)
        except ValueError as error:
            message, _, mend = str(error).partition("; ")
            faults.append(Fault(file, row.line, row.cells.get("pattern", ""), message, mend))
            continue
        table["patterns"].append(pattern)
        table["patterns"].lines.append(row.line)
    for table in tables.values():
        infer_keys(table)
    listed = ListNode(tables.values())
    return MapNode([("tables", listed)] if tables else ()), faults


def _rows(text: str) -> Iterator[_Row | _Unread]:
    headings: list[tuple[int, str | None]] = []
    columns: list[str | None] | None = None
    lines = [*(_QUOTED.sub("", line) for line in text.splitlines()), ""]
    for number, (line, under) in enumerate(pairwise(lines), start=1):
        heading = _HEADING.fullmatch(line)
        if heading:
            headings = [h for h in headings if h[0] < len(heading[1])]
            headings.append((len(heading[1]), _named_table(heading[2], len(heading[1]))))
            columns = None
        elif "|" not in line:
            columns = None
        elif columns is None:
            found, unread = _columns(line, number, has_rule=bool(_RULE.fullmatch(under)))
            columns = found if unread is None else []
            if unread is not None:
                yield unread
        elif columns and not _RULE.fullmatch(line):
            cells = {c: cell for c, cell in zip(columns, _cells(line), strict=False) if c is not None}
            table = next((name for _, name in reversed(headings) if name is not None), None)
            yield _Row(table, cells, number)


def _columns(line: str, number: int, *, has_rule: bool) -> tuple[list[str | None] | None, _Unread | None]:
    """Return what the columns under a head are, nothing for a table of something else; or what is wrong with it."""
    names = [re.sub(r"[*_`]", "", cell).strip().lower() for cell in _cells(line)]
    columns = [_COLUMNS.get(name) or _COLUMNS.get(cell.lower()) for name, cell in zip(names, _cells(line), strict=True)]
    is_ours = ("pattern" in columns or "id" in columns) and bool({"served", "operation"} & set(columns))
    if is_ours and not has_rule:
        mend = "write |---|---| under its head, a dash column for each of its columns"
        return None, _Unread(number, "this looks like a table of access patterns, without a line under its head", mend)
    if has_rule and not is_ours and {"pattern", "access pattern"} & set(names) and {"key", "pk"} & set(columns):
        message = "this looks like a table of access patterns, without a column that says what serves them"
        return None, _Unread(number, message, "add a column `served by` or `operation`")
    return (columns if is_ours else []) if has_rule else None, None


def _cells(line: str) -> list[str]:
    inner = re.sub(r"(?<!\\)\|\s*$", "", line.strip().removeprefix("|"))
    return [cell.replace(r"\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]


def _named_table(heading: str, level: int) -> str | None:
    """Return the table that a heading names: `Table: cases`, `cases table`, or one word that is no common one.

    A document's own title, one capitalised word at the first level, names none.
    """
    text = re.sub(r"[`*]", "", heading) if "`" in heading else heading
    told = re.fullmatch(r"(?:dynamodb\s+)?tables?\s*[:\s]\s*(\S+)|(\S+)\s+table", text.strip(), re.IGNORECASE)
    if told:
        name = told[1] or told[2]
        return name if _TABLE_NAME.fullmatch(name) and name.lower() not in _GENERIC | {"the", "base"} else None
    is_title = level == 1 and text.isalpha() and text[0].isupper() and "`" not in heading
    return text if _TABLE_NAME.fullmatch(text) and text.lower() not in _GENERIC and not is_title else None


def _pattern(row: _Row, table: MapNode) -> MapNode:
    cells = row.cells
    title = re.sub(r"[*`]", "", cells.get("pattern", ""))
    identity = cells.get("id", "").strip("`") or slug(title)
    if not identity:
        raise ValueError("a row names no pattern; write what it reads or writes in the column `pattern`")
    served, is_sparse = _served(cells)
    said = _take_filter(cells) or served.is_filtered
    pairs, says_sparse = _key(cells)
    pattern = MapNode([("id", identity)], row.line)
    if title and title != identity:
        pattern["title"] = title
    if not is_nothing(cells.get("entity", "")):
        pattern["entity"] = cells["entity"].strip("`")
    pattern["operation"] = ListNode(served.operations)
    if served.index is not None:
        pattern["index"] = served.index
        _declare_index(table, served.index, row.line, is_sparse=is_sparse or says_sparse)
    if pairs:
        pattern["key"] = MapNode(pairs, row.line)
    _add_frequency(pattern, cells.get("frequency", "").strip())
    for column in ("filter", "consistency", "order", "page_size"):
        if not is_nothing(cells.get(column, "")):
            text = cells[column]
            pattern[column] = int(text) if text.isdecimal() else text
    if said:
        pattern.setdefault("filter", said)
    callers = [c.strip(" `") for c in cells.get("callers", "").split(",") if not is_nothing(c)]
    if callers:
        pattern["callers"] = ListNode(callers)
    return pattern


def _take_filter(cells: dict[str, str]) -> str | bool:
    """Take a filter out of the key condition: its text, or that there is one."""
    found = _FILTER.search(cells.get("key", ""))
    if found is None:
        return False
    cells["key"] = cells["key"][: found.start()]
    return found[1].strip(" `)") or True


class _Served(Struct, frozen=True):
    """What serves a pattern: an index or the base table, and operations."""

    index: str | None
    operations: tuple[str, ...]
    is_filtered: bool = False


def _served(cells: dict[str, str]) -> tuple[_Served, bool]:
    """Read "GSI2 (sparse) Query": index, remark in brackets, operation; columns of their own win."""
    text = cells.get("served", "").replace("`", "")
    remarks = " ".join(re.findall(r"\(([^)]*)\)", text)).lower()
    words = re.sub(r"\([^)]*\)", " ", text).split()
    place: list[str] = []
    operations: list[str] = []
    scans = bool(_SCAN.search(remarks))
    operations += ["Scan"] * scans
    filters = [word for word in words if re.fullmatch(r"filter(?:s|ed|ing|expression)?[,;]?", word, re.IGNORECASE)]
    for word in (word for word in words if word not in filters):
        names = [operation_named(part) for part in re.split(r"[/,+&]", word) if part]
        if names and all(names):
            operations += [name for name in names if name is not None]
        elif word.lower() not in ("on", "of", "by", "via", "using", "then", "and", "or", "+", "/", "&", ",", "index"):
            place.append(word.strip(",;"))
    stated = [part for part in re.split(r"[/,+&]", cells.get("operation", "").replace("`", "")) if part.strip()]
    if stated:
        operations = [*(operation_named(part) or _refuse(part.strip()) for part in stated), *operations[:scans]]
    if not operations:
        raise ValueError(f"{text!r} names no operation; write what serves it, such as `base table Query`")
    index = cells.get("index", "").strip("`") or " ".join(place)
    is_main_table = names_no_index(index)
    if not is_main_table and " " in index:
        raise ValueError(f"{index!r} is no index; write the index, a remark in brackets, then the operation")
    is_filtered = bool(filters) or "filter" in remarks
    return _Served(None if is_main_table else index, tuple(dict.fromkeys(operations)), is_filtered), "sparse" in remarks


def _refuse(word: str) -> str:
    raise ValueError(f"{word!r} is no DynamoDB operation; write one such as GetItem, Query or PutItem")


def _key(cells: dict[str, str]) -> tuple[list[tuple[str, str]], bool]:
    pairs, is_sparse = parse_key_condition(cells.get("key", ""))
    for short in ("pk", "sk"):
        text = cells.get(short, "").strip("`")
        if not is_nothing(text):
            pairs.append((short, text))
    return pairs, is_sparse


def _declare_index(table: MapNode, name: str, line: int, *, is_sparse: bool) -> None:
    known = next((index for index in table["indexes"] if index["name"] == name), None)
    if known is None:
        known = MapNode([("name", name), (ASSUMED, True)], line)
        table["indexes"].append(known)
        table["indexes"].lines.append(line)
    if is_sparse:
        known["sparse"] = True


def _add_frequency(pattern: MapNode, text: str) -> None:
    """Keep a word as frequency and a number as rate; other words say nothing that can be counted with."""
    word = _FREQUENCIES.get(text.lower())
    if word is not None:
        pattern["frequency"] = word
        return
    try:
        pattern["rate"] = MapNode([("p95", parse_rate(text.lstrip("~≈ ")))], pattern.line)
    except ValueError:
        return
