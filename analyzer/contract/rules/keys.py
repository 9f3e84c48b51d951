"""Rules over key templates: what they name, how many values they have, whether they sort."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.contract.faults import did_you_mean
from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.contract.model import PatternDeclaration
    from analyzer.requests.templates import Template, Variable

__all__ = [
    "braces_in_template",
    "condition_in_item_key",
    "foreign_key_attribute",
    "has_few_values",
    "low_cardinality_key",
    "no_partition_key",
    "no_sort_key",
    "unsortable_dates",
]

_BY_WHOLE_KEY = frozenset({"GetItem", "UpdateItem", "DeleteItem", "BatchGetItem"})
_FEW = frozenset(
    {
        *("status", "state", "type", "kind", "flag", "active", "enabled", "deleted", "archived", "gender", "bool"),
        *("boolean", "priority", "severity", "stage", "level", "category", "region", "country", "env", "environment"),
        *("tier", "phase", "day", "weekday", "month"),
    }
)
_MOST_FEW = 20
_DAY, _MONTH, _YEAR = "(?:d{1,2}|day)", "(?:m{1,3}|mon|month)", "(?:y{2,4}|year)"
_BACKWARDS = re.compile(
    rf"(?<![a-z])(?:{_DAY}[^a-z]*{_MONTH}|{_MONTH}[^a-z]*{_DAY})[^a-z]*{_YEAR}(?![a-z])"
    r"|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{4}\b"
    r"|rfc_?-?(?:1123|2822|822)|month_?name|weekday|locale|us_?date|human_?date"
)


def no_sort_key(scope: Scope) -> Iterator[Objection]:
    """Find item operations without a sort key: an item is found by its whole key."""
    sort = scope.table.sort_key
    for pattern in scope.table.patterns:
        wrong = [operation for operation in pattern.operations if operation in _BY_WHOLE_KEY]
        if not (wrong and sort and pattern.keys and pattern.index is None):
            continue
        if any(pattern.template(name) is None for name in sort):
            message = f"its {wrong[0]} names no sort key, and {scope.table.name} has one: {', '.join(sort)}"
            yield of_pattern(WARN, pattern, message, f"add {sort[0]} to its key, or make it a Query")


def no_partition_key(scope: Scope) -> Iterator[Objection]:
    """Refuse keys that do not bind every partition key attribute by equality."""
    for pattern in scope.table.patterns:
        partition, sort = scope.table.schema(pattern.index)
        if pattern.scans:
            continue
        if pattern.is_key_empty:
            mend = "write it; one that begins with # needs quotes, or YAML takes it for a comment"
            yield of_pattern(FAIL, pattern, "its partition key has no value", mend)
            continue
        is_sure = scope.table.has_sure_keys(pattern.index)
        if not pattern.keys or not (is_sure or any(pattern.template(name) is not None for name in sort)):
            continue
        for name in partition:
            template = pattern.template(name)
            if template is None:
                message = f"its key does not name {name}, the partition key of {_place(scope, pattern)}"
                yield of_pattern(FAIL, pattern, message, f"add {name} to its key, or name the index that serves it")
            elif template.operator != "=":
                message = f"{template.operator} is asked of {name}, and a partition key takes equality alone"
                yield of_pattern(FAIL, pattern, message, "move what varies into the sort key")


def condition_in_item_key(scope: Scope) -> Iterator[Objection]:
    """Refuse conditions where whole keys are needed: only a Query takes one on the sort key."""
    for pattern in scope.table.patterns:
        wrong = [operation for operation in pattern.operations if operation in _BY_WHOLE_KEY | {"PutItem"}]
        conditions = [k for key in pattern.keys for k in key if k.template.operator != "="]
        if wrong and conditions:
            asked = conditions[0]
            message = f"{wrong[0]} takes whole keys, and {asked.attribute} is declared as {asked.template.text!r}"
            yield of_pattern(FAIL, pattern, message, "make it a Query, or name the whole sort key")


def foreign_key_attribute(scope: Scope) -> Iterator[Objection]:
    """Refuse attributes that are no key of the target; an item written may bear those of indexes."""
    table = scope.table
    indexed = {name for index in table.indexes for part in (index.partition_key, index.sort_key) for name in part}
    for pattern in table.patterns:
        partition, sort = table.schema(pattern.index)
        known = {*partition, *sort, *(indexed if pattern.writes else ())}
        strangers = dict.fromkeys(k.attribute for key in pattern.keys for k in key if k.attribute not in known)
        if not table.has_sure_keys(pattern.index) or pattern.scans:
            continue
        for name in strangers:
            message = f"{name} is no key attribute of {_place(scope, pattern)}"
            yield of_pattern(FAIL, pattern, message, did_you_mean(name, sorted(known)))


def braces_in_template(scope: Scope) -> Iterator[Objection]:
    """Find variables in braces: they are taken for what the key really holds."""
    for pattern in scope.table.patterns:
        for template in (k.template for key in pattern.keys for k in key):
            braced = re.search(r"\$?\{+\s*([\w.]+)\s*\}+", template.text)
            if braced:
                message = f"{braced[0]} in {template.text!r} is taken literally"
                yield of_pattern(WARN, pattern, message, f"write the variable as <{braced[1]}>")


def low_cardinality_key(scope: Scope) -> Iterator[Objection]:
    """Find partition keys with few values: they gather all traffic on few partitions."""
    seen: set[tuple[str | None, tuple[str, ...]]] = set()
    for pattern in scope.table.patterns:
        templates = _partition(scope, pattern)
        texts = tuple(template.text for template in templates)
        if not templates or (pattern.index, texts) in seen or not has_few_values(templates):
            continue
        seen.add((pattern.index, texts))
        message = (
            f"{' + '.join(texts)} has few values: all its traffic meets on few partitions of {_place(scope, pattern)}"
        )
        mend = "add an attribute of many values to the key, or a shard suffix <0..9>"
        yield of_pattern(WARN, pattern, message, mend)


def _partition(scope: Scope, pattern: PatternDeclaration) -> list[Template]:
    partition, _ = scope.table.schema(pattern.index)
    found = [pattern.template(name) for name in partition]
    return [template for template in found if template is not None]


def has_few_values(templates: Sequence[Template]) -> bool:
    """Whether the values of a partition key can be counted on a few hands: constant, listed, or named like a status."""
    slots = [slot for template in templates for slot in template.slots]
    return not any(slot.is_shard for slot in slots) and all(_is_few(slot) for slot in slots)


def _is_few(slot: Variable) -> bool:
    if slot.values:
        return len(slot.values) <= _MOST_FEW
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", slot.name)
    return bool(words) and words[-1].lower() in _FEW


def unsortable_dates(scope: Scope) -> Iterator[Objection]:
    """Find dates that do not sort: strings sort from the left, so a date begins with its year."""
    for pattern in scope.table.patterns:
        _, sort = scope.table.schema(pattern.index)
        for template in _templates(pattern, sort):
            if _BACKWARDS.search(re.sub(r"[<>]", " ", template.text).lower()):
                message = f"the date in {template.text!r} does not sort: it does not begin with its year"
                yield of_pattern(WARN, pattern, message, "write dates as 2026-11-30T09:00:00Z (RFC 3339, UTC)")


def _templates(pattern: PatternDeclaration, names: Iterable[str]) -> list[Template]:
    return [k.template for key in pattern.keys for k in key if k.attribute in tuple(names)]


def _place(scope: Scope, pattern: PatternDeclaration) -> str:
    return pattern.index or scope.table.name
