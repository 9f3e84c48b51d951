"""Which entities and tables one trace reads together: what speaks for one table, or against it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import pyarrow as pa

from analyzer.history.columns import SCHEMAS, Kind

if TYPE_CHECKING:
    from analyzer.model.calls import Call, CallBook
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["Together", "pair_rows", "together_in", "together_of"]

_MOST = 500
"""Pairs that a day tells of, the most frequent first; a trace of a job may read everything."""
_MOST_A_TRACE = 20

Entity = tuple[str, str]
"""A table, and the shape of its partition key as the contract or the log has it; empty where it is not known."""


class Together:
    """Traces by entity and by pair of entities; what is added later adds up."""

    def __init__(self) -> None:
        self.alone: Counter[Entity] = Counter()
        self.pairs: Counter[tuple[Entity, Entity]] = Counter()

    def add(self, other: Together) -> None:
        """Take in what another stretch told."""
        self.alone.update(other.alone)
        self.pairs.update(other.pairs)


def together_in(book: CallBook, window: Window) -> Together:
    """Count the traces that began in a window, of those that are here with all their calls."""
    found = Together()
    for calls in book.by_trace().values():
        if window.holds(calls[0].time):
            entities = sorted({entity for call in calls if (entity := _entity(call)) is not None})[:_MOST_A_TRACE]
            found.alone.update(entities)
            found.pairs.update(combinations(entities, 2))
    return found


def _entity(call: Call) -> Entity | None:
    """Return what a read asks for; None of a write."""
    if call.shape.writes:
        return None
    first = next((predicate for predicate in call.shape.key if predicate.operator == "="), None)
    if first is None:
        return call.target.table, ""
    return call.target.table, first.declared[0] if first.declared else first.template


def together_of(rows: pa.Table) -> Together:
    """Return what rows told of a day."""
    found = Together()
    for _, *names, traces, ones, others in zip(*rows.to_pydict().values(), strict=True):
        one, other = (names[0], names[1]), (names[2], names[3])
        found.pairs[one, other] += int(traces)
        found.alone[one], found.alone[other] = int(ones), int(others)
    return found


def pair_rows(start: Instant, found: Together) -> pa.Table:
    """Return a row a pair of entities, with the traces that read both, and each."""
    rows = [
        (start, *one, *other, float(traces), float(found.alone[one]), float(found.alone[other]))
        for (one, other), traces in found.pairs.most_common(_MOST)
    ]
    schema = SCHEMAS[Kind.PAIRS]
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(values, pa.int64() if name == "start" else schema.field(name).type)
        for name, values in zip(schema.names, columns, strict=True)
    ]
    return pa.table(arrays, names=schema.names).cast(schema)
