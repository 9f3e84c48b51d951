"""A first contract from traffic: what was asked, by whom, how often; a file for its owners to edit."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct, field

from analyzer.contract.lint import lint
from analyzer.contract.load import contract_from
from analyzer.model.counts import Count
from analyzer.model.instant import SLICE_MS
from analyzer.model.shape import Shape
from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.counts import Cell, Counts
    from analyzer.model.shape import KeyPredicate

__all__ = ["Draft", "SetAside", "induce"]

_MOST_PATTERNS = 200
_MOST_ENTITIES = 50
_MOST_MAPS = 10
_NEVER_ANSWERED = "every call was refused; nothing shows that it is meant"
_LEAST_SLICES = 6
_VERBS = {
    "GetItem": "get",
    "Query": "list",
    "Scan": "scan",
    "PutItem": "put",
    "UpdateItem": "update",
    "DeleteItem": "delete",
    "BatchGetItem": "batch-get",
    "BatchWriteItem": "batch-write",
    "TransactGetItems": "transact-get",
    "TransactWriteItems": "transact-write",
}
_SORT_LIKE = re.compile(r"(?:.*[_-])?(?:s(?:ort)?_?k(?:ey)?|range.*)|.*SK", re.IGNORECASE)
_ITEM_OPERATIONS = frozenset({"GetItem", "PutItem", "UpdateItem", "DeleteItem"})
_NO_NAMES = frozenset({"META", "METADATA", "PROFILE", "INFO", "DETAILS", "ROOT", "#"})
_HEAT_RULES = frozenset({"peak-over-ceiling", "constant-index-key"})

Key = tuple[tuple[str, str], ...]
"""Attribute and template text, in the order of the request."""


class SetAside(Struct, frozen=True):
    """A pattern that was seen and is not declared: it would not pass `check`, and why."""

    table: str
    pattern: dict[str, Any]
    because: str


class Draft(Struct, frozen=True):
    """A document of formats.md §4, what was left out of it, and the names that are guesses."""

    document: dict[str, Any]
    set_aside: tuple[SetAside, ...] = ()
    notes: dict[str, str] = {}


class _Seen(Struct):
    """All shapes that are one pattern, and the cells that hold their counts."""

    shape: Shape
    keys: tuple[Key, ...]
    cells: list[int] = field(default_factory=list)
    requests: float = 0.0


def induce(counts: Counts) -> Draft:
    """Draft the contract that these requests keep; whatever `check` would fail is set aside with the reason."""
    tables: dict[str, dict[tuple[object, ...], _Seen]] = {}
    answered: set[tuple[object, ...]] = set()
    for number, cell in enumerate(counts.cells):
        requests = int(counts.values[number, Count.REQUESTS])
        if cell.secondary or not requests or not cell.shape.parsed:
            continue
        keys = _keys(cell.shape)
        seen = tables.setdefault(cell.shape.table, {}).setdefault(_identity(cell.shape, keys), _Seen(cell.shape, keys))
        seen.cells.append(number)
        seen.requests += requests / cell.sample_rate
        if requests > _refused(counts, number):
            answered.add((cell.shape.table, _identity(cell.shape, keys)))
    notes: dict[str, str] = {}
    listed, refused = [], []
    for name in sorted(tables):
        meant = [seen for identity, seen in tables[name].items() if (name, identity) in answered]
        listed += [_table(name, meant, counts, notes)] if meant else []
        others = [seen for identity, seen in tables[name].items() if (name, identity) not in answered]
        refused += [SetAside(name, _pattern(seen, {}, Counter(), counts), _NEVER_ANSWERED) for seen in others]
    draft = _checked(Draft({"version": 1, "tables": listed}, notes=notes))
    return msgspec.structs.replace(draft, set_aside=(*draft.set_aside, *refused))


def _refused(counts: Counts, number: int) -> int:
    """Return how many calls of a cell failed for what they asked, not for a limit or an unmet condition."""
    values = counts.values[number]
    return int(values[Count.FAILED] - values[Count.THROTTLED_FAILED] - values[Count.CONDITION_FAILED])


def _identity(shape: Shape, keys: tuple[Key, ...]) -> tuple[object, ...]:
    """Return what makes two shapes one pattern: limit, projection, condition and update are none of it."""
    is_descending = shape.operation == "Query" and shape.forward is False
    return (shape.index, _operation(shape), keys, shape.filter is not None, is_descending)


def _operation(shape: Shape) -> str:
    return "Scan" if shape.scans else shape.operation


def _keys(shape: Shape) -> tuple[Key, ...]:
    if shape.scans:
        return ()
    maps = dict.fromkeys(_key(part.key) for part in shape.parts) if shape.parts else {_key(shape.key): None}
    return tuple(key for key in list(maps)[:_MOST_MAPS] if key)


def _key(predicates: Sequence[KeyPredicate]) -> Key:
    return tuple((p.attribute, _text(p)) for p in predicates)


def _text(predicate: KeyPredicate) -> str:
    """Write a request's condition as a template; what cannot be written so is a variable."""
    value = predicate.template.replace("<n>", "<id>")
    if predicate.operator == "IN" or not value:
        value = f"<{re.sub(r'[^A-Za-z0-9_]', '_', predicate.attribute)}>"
    text = value if predicate.operator in ("=", "IN") else f"{predicate.operator} {value}"
    operator = "=" if predicate.operator == "IN" else predicate.operator
    for written in (text, f'"{text}"'):
        try:
            if Template.parse(written).operator == operator:
                return written
        except ValueError:
            continue
    return "<value>" if operator in ("=", "between") else f"{operator} <value>"


def _table(name: str, seen: list[_Seen], counts: Counts, notes: dict[str, str]) -> dict[str, Any]:
    seen.sort(key=lambda s: (-s.requests, s.shape.fingerprint))
    partition, sort = _schema([s for s in seen if s.shape.index is None], counts, name, None)
    notes[f"{name}.key"] = "seen in requests" if partition else "not seen: put the names of the key attributes here"
    table: dict[str, Any] = {"name": name, "partition_key": partition or "PK"}
    if sort:
        table["sort_key"] = sort
    indexes = [_index(index, seen, counts, name, notes) for index in sorted({s.shape.index or "" for s in seen} - {""})]
    entities = _entities(seen, partition, sort)
    table |= {"entities": list(entities.values())} if entities else {}
    table |= {"indexes": indexes} if indexes else {}
    used: Counter[str] = Counter()
    table["patterns"] = [_pattern(s, entities, used, counts) for s in seen[:_MOST_PATTERNS]]
    if len(seen) > _MOST_PATTERNS:
        notes[f"{name}.patterns"] = f"{len(seen) - _MOST_PATTERNS} rarer ones are left out"
    return table


def _schema(seen: Iterable[_Seen], counts: Counts, table: str, index: str | None) -> tuple[str | None, str | None]:
    """Guess partition and sort key: a range condition names the sort key, a lone equality the partition key."""
    for heavy in counts.keys:
        if heavy.target.table == table and heavy.target.index == index and heavy.attributes:
            return heavy.attributes[0], heavy.attributes[1] if len(heavy.attributes) > 1 else None
    listed = [key for s in seen for key in s.keys]
    names = list(dict.fromkeys(attribute for key in listed for attribute, _ in key))
    ranged = {attribute for key in listed for attribute, text in key if Template.parse(text).operator != "="}
    alone = {key[0][0] for key in listed if len(key) == 1} | {
        attribute for key in listed for attribute, _ in key if ranged & {a for a, _ in key} and attribute not in ranged
    }
    ordered = sorted(names, key=lambda n: (n in ranged, n not in alone, bool(_SORT_LIKE.fullmatch(n))))
    return (ordered[0] if ordered else None, ordered[1] if len(ordered) > 1 else None)


def _index(name: str, seen: list[_Seen], counts: Counts, table: str, notes: dict[str, str]) -> dict[str, Any]:
    readers = [s for s in seen if s.shape.index == name]
    partition, sort = _schema(readers, counts, table, name)
    is_strong = any(s.shape.consistent for s in readers)
    index: dict[str, Any] = {"name": name, "kind": "lsi" if is_strong else "gsi"}
    notes[f"{table}.{name}"] = "a guess: lsi or gsi, and which attributes are its key"
    index["partition_key"] = partition or f"{name}PK"
    return index | ({"sort_key": sort} if sort else {})


def _entities(seen: list[_Seen], partition: str | None, sort: str | None) -> dict[Key, dict[str, Any]]:
    """Return the kinds of items that item operations name, by key."""
    entities: dict[Key, dict[str, Any]] = {}
    names: Counter[str] = Counter()
    for one in seen:
        if one.shape.operation not in _ITEM_OPERATIONS or len(entities) >= _MOST_ENTITIES:
            continue
        for key in one.keys:
            known = {attribute: text for attribute, text in key if attribute in (partition, sort)}
            words = _words(known.get(sort or "", "")) or _words(known.get(partition or "", ""))
            if key in entities or not words or any(Template.parse(t).operator != "=" for t in known.values()):
                continue
            if words[0].upper() in _NO_NAMES:
                words = _words(known.get(partition or "", "")) or words
            entities[key] = {"name": _unique("".join(w.title() for w in words[:1]), names)} | known
    return entities


def _words(text: str) -> list[str]:
    """Return the words among a template's literals."""
    template = Template.parse(text)
    literals = [e for operand in template.operands for e in operand if isinstance(e, str)]
    return re.findall(r"[A-Za-z0-9]+", " ".join(literals))


def _unique(name: str, used: Counter[str]) -> str:
    used[name] += 1
    return name if used[name] == 1 else f"{name}-{used[name]}"


def _pattern(seen: _Seen, entities: dict[Key, dict[str, Any]], used: Counter[str], counts: Counts) -> dict[str, Any]:
    shape = seen.shape
    operation = _operation(shape)
    words = [w.lower() for key in seen.keys[:1] for _, text in key for w in _words(text)]
    place = [shape.index.lower()] if shape.index is not None else []
    verb = _VERBS.get(operation, re.sub(r"(?<!^)(?=[A-Z])", "-", operation).lower())
    stem = "-".join([verb, *(place if not words else ()), *(words[:4] or ([] if place else [shape.table.lower()]))])
    pattern: dict[str, Any] = {"id": _unique(re.sub(r"[^a-z0-9-]+", "-", stem).strip("-"), used)}
    entity = next((entities[key]["name"] for key in seen.keys if key in entities), None)
    pattern |= {"entity": entity} if entity else {}
    pattern["operation"] = operation
    pattern |= {"index": shape.index} if shape.index is not None else {}
    if seen.keys:
        maps = [dict(key) for key in seen.keys]
        pattern["key"] = maps[0] if len(maps) == 1 else maps
    return pattern | _usage(seen, [counts.cells[n] for n in seen.cells], counts)


def _usage(seen: _Seen, cells: list[Cell], counts: Counts) -> dict[str, Any]:
    """Return how a pattern is used: order, consistency, filter, rate and callers."""
    usage: dict[str, Any] = {}
    if seen.shape.operation == "Query" and seen.shape.forward is False:
        usage["order"] = "descending"
    usage |= {"consistency": "strong"} if all(c.shape.consistent for c in cells) else {}
    if seen.shape.filter is not None:
        usage["filter"] = _filter(seen, counts)
    usage |= _rate(seen, counts)
    callers = sorted({c.caller for c in cells if c.caller is not None})
    return usage | ({"callers": callers} if callers else {})


def _filter(seen: _Seen, counts: Counts) -> dict[str, Any]:
    """Return what a filter threw away, rounded up to 5 %."""
    limit: dict[str, Any] = {"text": seen.shape.filter}
    scanned, returned = (int(counts.values[seen.cells, column].sum()) for column in (Count.SCANNED, Count.RETURNED))
    if scanned:
        limit["discards_at_most"] = f"{min(100, -(-(scanned - returned) * 100 // scanned // 5) * 5)}%"
    return limit


def _rate(seen: _Seen, counts: Counts) -> dict[str, Any]:
    """Return requests a second, of slices; a stretch too short tells nothing."""
    if counts.series.shape[0] < _LEAST_SLICES:
        return {}
    weights = np.array([1 / counts.cells[n].sample_rate for n in seen.cells])
    rates = (counts.series[:, seen.cells, 0] * weights).sum(axis=1) / (SLICE_MS / 1000)
    return {"rate": {"p95": _rounded(float(np.percentile(rates, 95))), "peak": _rounded(float(rates.max()))}}


def _rounded(rate: float) -> float | int:
    rounded = float(f"{rate:.2g}")
    return int(rounded) if rounded.is_integer() else rounded


def _checked(draft: Draft) -> Draft:
    """Set aside what `check` fails, until nothing is left that it would."""
    aside: list[SetAside] = []
    tables = {table["name"]: table for table in draft.document["tables"]}
    failing = True
    while failing:
        failing = False
        for remark in lint(contract_from(draft.document)):
            patterns = tables[remark.table]["patterns"]
            pattern = next((p for p in patterns if p["id"] == remark.field), None)
            if remark.severity != "fail" or pattern is None:
                continue
            failing = True
            if remark.rule in _HEAT_RULES and pattern.pop("rate", None) is not None:
                draft.notes[f"{remark.table}.{remark.field}"] = remark.message
                continue
            patterns.remove(pattern)
            aside.append(SetAside(remark.table, pattern, f"{remark.message}; {remark.mend}"))
    return Draft(draft.document, tuple(aside), draft.notes)
