"""Requests gathered by the pattern that they are: shapes that differ in what no pattern is made of go together."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

from analyzer.contract.form import RESERVED_IDS
from analyzer.model.counts import Count
from analyzer.model.shape import Shape
from analyzer.requests.templates import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from analyzer.model.counts import Cell, Counts
    from analyzer.model.shape import KeyPredicate

__all__ = [
    "Identity",
    "Key",
    "Seen",
    "as_template",
    "gather",
    "identity_of",
    "key_of",
    "operation_of",
    "tag_of",
    "template_text",
]

_MOST_MAPS = 10
_KNOWN_TEXTS = 4096
_SEVERAL = frozenset({"BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems"})

Key = tuple[tuple[str, str], ...]
"""Attribute and template text, in the order of the request."""

Identity = tuple[object, ...]
"""What makes two requests of one table the same pattern."""


class Seen(Struct):
    """All shapes that are one pattern, and the cells that hold their counts; `shape` is the one seen first.

    `operations` and `keys` hold all that bear one tag, `untagged` what they would be without it. `is_answered` says
    that not every call of it was refused.
    """

    shape: Shape
    keys: tuple[Key, ...]
    identities: set[Identity] = field(default_factory=set)
    untagged: set[Identity] = field(default_factory=set)
    operations: dict[str, None] = field(default_factory=dict)
    cells: list[int] = field(default_factory=list)
    requests: float = 0.0
    is_answered: bool = False

    def take(self, other: Seen) -> None:
        """Add what another one saw."""
        if self.shape.index == other.shape.index:  # what one tag names on two targets is declared of the first
            self.keys = tuple(dict.fromkeys((*self.keys, *other.keys)))[:_MOST_MAPS]
            self.operations |= other.operations
        self.identities |= other.identities
        self.untagged |= other.untagged
        self.cells += other.cells
        self.requests += other.requests
        self.is_answered |= other.is_answered


def gather(counts: Counts, name_of: Callable[[str], str], is_wanted: Callable[[Cell], bool]) -> dict[str, list[Seen]]:
    """Gather the cells of each table that are wanted, the most frequent patterns first."""
    tables: dict[str, dict[Identity, Seen]] = {}
    for number, cell in enumerate(counts.cells):
        requests = int(counts.values[number, Count.REQUESTS])
        if cell.secondary or not requests or not cell.shape.parsed or not is_wanted(cell):
            continue
        shape = cell.shape
        keys = _keys(shape)
        identity = identity_of(shape, keys)
        seen = Seen(
            shape,
            keys,
            {identity},
            {_plain(shape, keys)},
            {operation_of(shape): None},
            [number],
            requests / cell.sample_rate,
            requests > _refused(counts, number),
        )
        table = tables.setdefault(name_of(shape.table), {})
        if identity in table:
            table[identity].take(seen)
        else:
            table[identity] = seen
    return {name: _ordered(_joined(list(found.values()))) for name, found in sorted(tables.items())}


def _ordered(seen: Iterable[Seen]) -> list[Seen]:
    return sorted(seen, key=lambda one: (-one.requests, one.shape.fingerprint))


def _refused(counts: Counts, number: int) -> int:
    """Return how many calls of a cell failed for what they asked, not for a limit or an unmet condition."""
    values = counts.values[number]
    return int(values[Count.FAILED] - values[Count.THROTTLED_FAILED] - values[Count.CONDITION_FAILED])


def _joined(listed: list[Seen]) -> list[Seen]:
    """Join what no request tells apart: what bears a tag with what does not, kinds of members with some of them."""
    kept: list[Seen] = []
    tagged: dict[Identity, Seen] = {}
    for one in _ordered(one for one in listed if tag_of(one.shape) is not None):
        tagged |= dict.fromkeys(one.untagged - tagged.keys(), one)
        kept.append(one)
    left = []
    for one in listed:
        if tag_of(one.shape) is not None:
            continue
        same = next((tagged[each] for each in one.untagged if each in tagged), None)
        if same is None:
            left.append(one)
        else:
            same.take(one)
    return kept + _without_narrower(left)


def _without_narrower(listed: list[Seen]) -> list[Seen]:
    kept: list[Seen] = []
    for one in sorted(listed, key=lambda s: (-len(s.keys), -s.requests, s.shape.fingerprint)):
        wider = next((other for other in kept if _is_within(one, other)), None)
        if wider is None:
            kept.append(one)
        else:
            wider.take(one)
    return kept


def _is_within(one: Seen, other: Seen) -> bool:
    is_several = one.operations.keys() == other.operations.keys() and one.operations.keys() <= _SEVERAL
    return is_several and bool(one.keys) and set(one.keys) <= set(other.keys)


def tag_of(shape: Shape) -> str | None:
    """Return the pattern that the client itself named, where a pattern may be called so."""
    return shape.tagged if shape.tagged and shape.tagged not in RESERVED_IDS else None


def identity_of(shape: Shape, keys: Sequence[Key]) -> Identity:
    """Return what makes two shapes one pattern: limit, projection, condition and update are none of it."""
    tag = tag_of(shape)
    if tag is not None:
        return ("tag", tag)
    return _plain(shape, keys)


def _plain(shape: Shape, keys: Sequence[Key]) -> Identity:
    is_descending = shape.operation == "Query" and shape.forward is False
    return (shape.index, operation_of(shape), tuple(sorted(keys)), shape.filter is not None, is_descending)


def operation_of(shape: Shape) -> str:
    """Return the operation that a pattern of this shape declares."""
    return "Scan" if shape.scans else shape.operation


def _keys(shape: Shape) -> tuple[Key, ...]:
    if shape.scans:
        return ()
    maps = dict.fromkeys(key_of(part.key) for part in shape.parts) if shape.parts else {key_of(shape.key): None}
    return tuple(sorted(key for key in maps if key)[:_MOST_MAPS])


def key_of(predicates: Iterable[KeyPredicate]) -> Key:
    """Return the conditions on key attributes as templates."""
    return tuple((predicate.attribute, template_text(predicate)) for predicate in predicates)


@lru_cache(maxsize=_KNOWN_TEXTS)
def template_text(predicate: KeyPredicate) -> str:
    """Write a request's condition as a template: a declared or learnt one, else its shape, else a variable."""
    operator = "=" if predicate.operator == "IN" else predicate.operator
    for text in predicate.declared:
        if Template.parse(text).operator == operator:
            return text
    value = predicate.template.replace("<n>", "<id>")
    if predicate.operator == "IN" or not value:
        value = f"<{re.sub(r'[^A-Za-z0-9_]', '_', predicate.attribute)}>"
    return as_template(operator, value) or ("<value>" if operator in ("=", "between") else f"{operator} <value>")


def as_template(operator: str, value: str) -> str | None:
    """Write an operator and its operand as a template, quoted where it has to be; None where it cannot be written."""
    text = value if operator == "=" else f"{operator} {value}"
    for written in (text, f'"{text}"'):
        try:
            if Template.parse(written).operator == operator:
                return written
        except ValueError:
            continue
    return None
