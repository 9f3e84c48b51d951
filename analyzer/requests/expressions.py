"""DynamoDB's expressions: text to tree, and masked text to the canonical form, remembered for what comes again."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.requests.grammar import ExpressionError, run
from analyzer.requests.rendering import (
    attribute_of,
    attributes_of,
    canonical_condition,
    canonical_projection,
    canonical_update,
    turned,
)
from analyzer.requests.tree import And, Between, Call, Comparison, In, Value

if TYPE_CHECKING:
    from analyzer.requests.tree import Action, Condition, Operand, Path

__all__ = [
    "Bound",
    "ExpressionError",
    "Filter",
    "bound_of",
    "filter_of",
    "key_bounds",
    "parse_condition",
    "parse_key_condition",
    "parse_projection",
    "parse_update",
    "projection_of",
    "update_of",
]

_REMEMBERED = 2048


class Bound(Struct, frozen=True):
    """One condition on an attribute: its operator and the placeholders of the values that it compares with."""

    attribute: str
    operator: str
    values: tuple[str, ...]


class Filter(Struct, frozen=True):
    """A condition in canonical form, and the top-level attributes that it looks at."""

    text: str
    attributes: tuple[str, ...]


def parse_condition(text: str) -> Condition:
    """Parse a condition or filter expression; raises ExpressionError."""
    tree: Condition = run("condition", text)
    return tree


def parse_projection(text: str) -> tuple[Path, ...]:
    """Parse a projection expression; raises ExpressionError."""
    paths: tuple[Path, ...] = run("projection", text)
    return paths


def parse_update(text: str) -> tuple[Action, ...]:
    """Parse an update expression into its actions in their order; raises ExpressionError."""
    actions: tuple[Action, ...] = run("update", text)
    return actions


def parse_key_condition(text: str) -> tuple[Bound, ...]:
    """Parse a key condition into one bound an attribute; placeholders of names have to be resolved before.

    Raises ExpressionError also for a condition that may not stand in a key condition.
    """
    tree = parse_condition(text)
    members = tree.conditions if isinstance(tree, And) else (tree,)
    bounds = []
    for member in members:
        nested = member.conditions if isinstance(member, And) else (member,)
        for condition in nested:
            bound = bound_of(condition)
            if bound is None or bound.operator in {"<>", "IN"}:
                raise ExpressionError(
                    0, "a key condition holds comparisons, BETWEEN and begins_with of key attributes, joined by AND"
                )
            bounds.append(bound)
    return tuple(bounds)


def bound_of(condition: Condition) -> Bound | None:
    """Return a condition that compares one attribute with values as a bound; None for any other."""
    if isinstance(condition, Comparison):
        condition = turned(condition)
        return _bound(condition.left, condition.operator, (condition.right,))
    if isinstance(condition, Between):
        return _bound(condition.operand, "between", (condition.low, condition.high))
    if isinstance(condition, In):
        return _bound(condition.operand, "IN", condition.choices)
    if isinstance(condition, Call) and condition.function == "begins_with" and len(condition.operands) > 1:
        return _bound(condition.operands[0], "begins_with", condition.operands[1:])
    return None


def _bound(subject: Operand, operator: str, values: tuple[Operand, ...]) -> Bound | None:
    attribute = attribute_of(subject)
    names = tuple(value.name for value in values if isinstance(value, Value))
    return Bound(attribute, operator, names) if attribute is not None and len(names) == len(values) else None


@lru_cache(maxsize=_REMEMBERED)
def key_bounds(masked: str) -> tuple[Bound, ...]:
    """Return the bounds of a masked key condition."""
    return parse_key_condition(masked)


@lru_cache(maxsize=_REMEMBERED)
def filter_of(masked: str) -> Filter:
    """Return the canonical form of a masked condition or filter."""
    tree = parse_condition(masked)
    return Filter(canonical_condition(tree), tuple(sorted(attributes_of(tree))))


@lru_cache(maxsize=_REMEMBERED)
def projection_of(masked: str) -> tuple[str, ...]:
    """Return the canonical form of a masked projection."""
    return canonical_projection(parse_projection(masked))


@lru_cache(maxsize=_REMEMBERED)
def update_of(masked: str) -> str:
    """Return the canonical form of a masked update."""
    return canonical_update(parse_update(masked))
