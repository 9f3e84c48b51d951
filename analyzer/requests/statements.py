"""What a parsed statement means for a table's keys: the bounds on them, the rest as filter, and whether it scans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.requests.expressions import bound_of
from analyzer.requests.grammar import ExpressionError
from analyzer.requests.masking import mask_statement
from analyzer.requests.partiql import Statement, is_pinned, parse_statement
from analyzer.requests.rendering import (
    attributes_of,
    canonical_condition,
    canonical_projection,
    canonical_update,
)
from analyzer.requests.tree import And, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.requests.lexicon import Lexicon
    from analyzer.requests.tree import Condition

__all__ = ["Reading", "read_statement", "scanned_by", "table_of"]

_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE) ("(?:[^"]|"")*"|[\w-]+)')

KeyBound = tuple[str, str, tuple[int, ...]]
"""Attribute, operator, and the places of its values among the `?` of the masked text."""


class Reading(Struct, frozen=True):
    """A statement seen through a table's keys; without them nothing is taken for a filter, for it may be the key."""

    statement: Statement
    bounds: tuple[KeyBound, ...]
    filter: str | None
    filter_attributes: tuple[str, ...]
    projection: tuple[str, ...]
    condition: str | None
    update: str | None
    scans: bool


def read_statement(masked: str, lexicon: Lexicon | None, hinted: frozenset[str], told: frozenset[int]) -> Reading:
    """Read a masked statement; raises ExpressionError.

    Where the lexicon does not know the keys, `hinted` attributes are keys, and those compared with the `?` at the
    places `told`: a record tells the values of key attributes only.
    """
    statement = parse_statement(masked)
    schema = None if lexicon is None else lexicon.schema(statement.table, statement.index)
    keys = hinted if schema is None else frozenset(schema[0] + schema[1])
    bounds: list[KeyBound] = [
        (name, "=", _places((operand,)))
        for name, operand in statement.item
        if isinstance(operand, Value) and (name in keys or (schema is None and told.intersection(_places((operand,)))))
    ]
    rest: list[Condition] = []
    for condition in _members(statement.where):
        bound = bound_of(condition)
        places = () if bound is None else tuple(int(name[1:]) for name in bound.values if name[1:])
        is_key = bound is not None and (bound.attribute in keys or (schema is None and bool(told.intersection(places))))
        if bound is not None and is_key and bound.operator != "<>":
            bounds.append((bound.attribute, bound.operator, places))
        else:
            rest.append(condition)
    is_known = schema is not None or bool(bounds)
    left = _joined(rest) if is_known else None
    is_read = statement.verb == "SELECT"
    text = None if left is None else canonical_condition(left)
    return Reading(
        statement=statement,
        bounds=tuple(bounds),
        filter=text if is_read else None,
        filter_attributes=tuple(sorted(attributes_of(left))) if left is not None and is_read else (),
        projection=canonical_projection(statement.projection),
        condition=None if is_read else text,
        update=canonical_update(statement.actions) or None,
        scans=is_read and _scans(statement.where, schema),
    )


def scanned_by(statement: str, schema: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the attributes that a SELECT filters by when DynamoDB runs it as a Scan, for these key attributes.

    None where it is no Scan, or not to be understood. The text is canonical, with its values masked.
    """
    try:
        parsed = parse_statement(statement)
    except ExpressionError:
        return None
    if parsed.verb != "SELECT" or not _scans(parsed.where, schema):
        return None
    return () if parsed.where is None else tuple(sorted(attributes_of(parsed.where)))


def table_of(statement: str) -> str:
    """Return the table that a statement names, even one that cannot be parsed; "" where none can be seen."""
    found = _TABLE.search(mask_statement(statement))
    return "" if found is None else found.group(1).strip('"').replace('""', '"')


def _scans(where: Condition | None, schema: tuple[tuple[str, ...], tuple[str, ...]] | None) -> bool:
    if schema is None:
        return where is None
    return not all(is_pinned(where, attribute) for attribute in schema[0])


def _members(where: Condition | None) -> Iterable[Condition]:
    if isinstance(where, And):
        for member in where.conditions:
            yield from _members(member)
    elif where is not None:
        yield where


def _joined(conditions: list[Condition]) -> Condition | None:
    if len(conditions) < 2:  # noqa: PLR2004 - one stands alone
        return conditions[0] if conditions else None
    return And(tuple(conditions))


def _places(operands: tuple[Value, ...]) -> tuple[int, ...]:
    return tuple(int(operand.name[1:]) for operand in operands if operand.name[1:])
