"""Rules over two patterns: whether one request can fall under both."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import PatternDeclaration

__all__ = ["ambiguous_templates", "same_request"]


def ambiguous_templates(scope: Scope) -> Iterator[Objection]:
    """Refuse two different templates that one value fits, neither more literal: either pattern may be meant."""
    for one, two in _rivals(scope):
        pair = _colliding(scope, one, two)
        if pair is not None and pair[0] != pair[1]:
            message = f"{one.id} and {two.id} overlap: one key can fit {pair[0]} and {pair[1]}"
            mend = "begin each kind of key with a literal of its own, or let the client tag the requests"
            yield of_pattern(WARN if _is_assumed(scope, one) else FAIL, two, message, mend)


def same_request(scope: Scope) -> Iterator[Objection]:
    """Find two patterns of one and the same request: it will be told as ambiguous between them."""
    for one, two in _rivals(scope):
        pair = _colliding(scope, one, two)
        if pair is not None and pair[0] == pair[1]:
            message = f"no request can tell {one.id} and {two.id} apart: same operation, target and key"
            yield of_pattern(
                WARN, two, message, "unite them, give each its callers, or let the client tag the requests"
            )


def _rivals(scope: Scope) -> Iterator[tuple[PatternDeclaration, PatternDeclaration]]:
    for one, two in combinations(scope.table.patterns, 2):
        if one.index != two.index or not set(one.operations) & set(two.operations) or _is_told_apart(one, two):
            continue
        if not (_is_assumed(scope, one) and one.entity != two.entity):  # of which table each is, nobody said
            yield one, two


def _is_assumed(scope: Scope, pattern: PatternDeclaration) -> bool:
    """Whether nobody named the key attributes, and the templates say nothing either: an imported mapping."""
    literals = sum(k.template.literal_characters for key in pattern.keys for k in key)
    return not literals and not scope.table.has_sure_keys(pattern.index)


def _is_told_apart(one: PatternDeclaration, two: PatternDeclaration) -> bool:
    """Whether order, filter or callers tell their requests apart."""
    if one.order is not None and two.order is not None and one.order != two.order:
        return True
    if one.filter is not None and two.filter is not None and one.filter.allowed != two.filter.allowed:
        return True
    return bool(one.callers and two.callers) and not set(one.callers) & set(two.callers)


def _colliding(scope: Scope, one: PatternDeclaration, two: PatternDeclaration) -> tuple[str, str] | None:
    """Return the keys of two patterns, as text, where one request can fall under both and neither is more literal."""
    if one.scans or two.scans or not (one.keys and two.keys):
        same = one.scans == two.scans and bool(one.keys) == bool(two.keys)
        return ("", "") if same else None
    if len(one.keys) > 1 or len(two.keys) > 1:
        mine, theirs = ({_text(p, i) for i in range(len(p.keys))} for p in (one, two))
        return ("", "") if mine == theirs else None
    partition, sort = scope.table.schema(one.index)
    literals = [0, 0]
    for name in (*partition, *sort):
        first, second = one.template(name), two.template(name)
        if first is None and second is None:
            continue
        if first is None or second is None or first.operator != second.operator or not first.overlaps(second):
            return None
        literals = [literals[0] + first.literal_characters, literals[1] + second.literal_characters]
    return (_text(one, 0), _text(two, 0)) if literals[0] == literals[1] else None


def _text(pattern: PatternDeclaration, position: int) -> str:
    return ", ".join(f"{k.attribute} {k.template.text}" for k in pattern.keys[position])
