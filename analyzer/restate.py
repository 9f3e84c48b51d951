"""Shapes that were classified under one contract, said again under another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from analyzer.model.counts import Cell
    from analyzer.model.shape import KeyPredicate
    from analyzer.requests.lexicon import Lexicon

__all__ = ["restate"]


def restate(cell: Cell, lexicon: Lexicon) -> Cell:
    """Return a cell whose key predicates tell what another contract declares of them.

    Values are gone; their templates stand for them. What a template cannot decide is no longer known, so that it
    becomes ambiguous and never a false "undeclared". The fingerprint stays.
    """
    shape = cell.shape
    key = tuple(_again(predicate, shape.table, lexicon) for predicate in shape.key)
    parts = tuple(
        msgspec.structs.replace(part, key=tuple(_again(one, shape.table, lexicon) for one in part.key))
        for part in shape.parts
    )
    if (key, parts) == (shape.key, shape.parts):
        return cell
    return msgspec.structs.replace(cell, shape=msgspec.structs.replace(shape, key=key, parts=parts))


def _again(predicate: KeyPredicate, table: str, lexicon: Lexicon) -> KeyPredicate:
    if not predicate.template:
        return msgspec.structs.replace(predicate, declared=())
    between = " and " if predicate.operator == "between" else " or "
    values = tuple(predicate.template.split(between))
    said = lexicon.classify(table, predicate.attribute, predicate.operator, values)
    return predicate if said.template and set(said.declared) == set(predicate.declared) else said
