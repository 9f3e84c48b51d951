"""What cells are called under a contract, and shapes that were classified under an earlier one, said again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.correlator.attribute import attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.contract.model import Contract
    from analyzer.model.counts import Cell
    from analyzer.model.shape import KeyPredicate
    from analyzer.requests.lexicon import Lexicon

__all__ = ["Namer", "restate", "restated_cells"]


class Namer:
    """Names the pattern of each cell as it was first called; `patterns` are the names so far, by `name`."""

    def __init__(self, contract: Contract, patterns: Mapping[str, str], restated: Mapping[Cell, Cell]) -> None:
        self.patterns = dict(patterns)
        self._contract = contract
        self._restated = restated

    def __call__(self, cell: Cell) -> str:
        """Return the pattern of a cell."""
        name = self.name(cell)
        if name not in self.patterns:
            said = self._restated.get(cell, cell)
            self.patterns[name] = attribute(said.shape, said.target, said.caller, self._contract).label
        return self.patterns[name]

    @staticmethod
    def name(cell: Cell) -> str:
        """Name what a cell's pattern depends on."""
        return "\x1f".join((cell.shape.fingerprint, cell.caller or "", *cell.target.order()))


def restated_cells(cells: Iterable[Cell], lexicon: Lexicon) -> dict[Cell, Cell]:
    """Return the cells that another contract says otherwise, each with what it says."""
    said = ((cell, restate(cell, lexicon)) for cell in cells)
    return {cell: other for cell, other in said if other is not cell}


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
