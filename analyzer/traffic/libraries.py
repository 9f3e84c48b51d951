"""Tables of well-known libraries among those that nobody declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.contract.known import Library, library_of
from analyzer.contract.model import Contract
from analyzer.correlator.attribute import attribute as attribute_to
from analyzer.model.shape import AttributionKind
from analyzer.traffic.place import patterns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from analyzer.model.counts import Cell, Counts
    from analyzer.model.shape import Attribution
    from analyzer.model.table import TableSnapshot
    from analyzer.model.target import Target
    from analyzer.model.traffic import Place

__all__ = ["at_libraries", "libraries_among", "with_library"]

_OF_ITEMS = frozenset({"GetItem", "UpdateItem", "DeleteItem"})
"""Operations whose key is that of the table, whole."""


def libraries_among(counts: Counts | None, snapshots: Mapping[Target, TableSnapshot]) -> dict[Target, Library]:
    """Return the library of each table that has one, by its description, else by the key of its requests."""
    keys: dict[Target, set[tuple[str, ...]]] = {}
    for cell in () if counts is None else counts.cells:
        if cell.shape.operation in _OF_ITEMS and cell.shape.key:
            keys.setdefault(cell.target.base, set()).add(tuple(predicate.attribute for predicate in cell.shape.key))
    found = {table: library_of(*seen) for table, seen in keys.items() if len(seen) == 1}
    for table, snapshot in snapshots.items():
        if snapshot.table.partition_key:
            found[table] = library_of(snapshot.table.partition_key, snapshot.table.sort_key)
    return {table: library for table, library in found.items() if library is not None}


def at_libraries(
    attribute: Callable[[Cell], Attribution], libraries: Mapping[Target, Library], contract: Contract
) -> Callable[[Cell], Attribution]:
    """Return how to attribute cells when the tables of libraries that nobody declared have their own fragments."""
    fragments = {
        table: Contract((msgspec.structs.replace(library.table, name=table.table),))
        for table, library in libraries.items()
        if contract.table(table) is None
    }
    if not fragments:
        return attribute

    def attributed(cell: Cell) -> Attribution:
        fragment = fragments.get(cell.target.base)
        if fragment is not None and cell.shape.tagged is None:
            found = attribute_to(cell.shape, cell.target, cell.caller, fragment)
            if found.kind is AttributionKind.DECLARED:
                return found
        return attribute(cell)

    return attributed


def with_library(place: Place, library: Library | None) -> Place:
    """Return a place with the name of its library, and its patterns where nobody declared any."""
    if library is None:
        return place
    patterns = place.patterns if place.declared else patterns_of(library.table)
    return msgspec.structs.replace(place, library=library.name, patterns=patterns)
