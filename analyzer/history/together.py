"""Which entities and tables one trace reads together: what speaks for one table, or against it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import pyarrow as pa

from analyzer.history.columns import SCHEMAS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.model.calls import Call, CallBook
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["Together", "pair_rows", "together_in", "together_of"]

_MOST = 500
"""Pairs that a day tells of, the most frequent first; a trace of a job may read everything."""
_MOST_A_TRACE = 20
_MOST_KNOWN = 8 * _MOST
"""Pairs, and entities, that are counted at once: what is told of a day is far above what makes room."""

Entity = tuple[str, str]
"""A table, and the shape of its partition key as the contract or the log has it; empty where it is not known."""
Pair = tuple[Entity, Entity]


class Together:
    """Traces by entity and by pair of entities; what is added later adds up.

    Of more than are known at once the rarest half makes room, which `dropped` counts.
    """

    def __init__(self) -> None:
        self.alone: Counter[Entity] = Counter()
        self.pairs: Counter[Pair] = Counter()
        self.dropped = 0

    def add(self, other: Together) -> None:
        """Take in what another stretch told."""
        self.count(other.alone, other.pairs)
        self.dropped += other.dropped

    def count(self, alone: Mapping[Entity, int] | Iterable[Entity], pairs: Mapping[Pair, int] | Iterable[Pair]) -> None:
        """Take in entities, and pairs of them."""
        self.alone.update(alone)
        self.pairs.update(pairs)
        if len(self.pairs) > _MOST_KNOWN:
            self._keep(Counter(dict(self.pairs.most_common(_MOST_KNOWN // 2))), self.alone)
        if len(self.alone) > _MOST_KNOWN:
            paired = {entity for pair in self.pairs for entity in pair}
            ranked = sorted(self.alone.items(), key=lambda one: (one[0] not in paired, -one[1]))
            alone = Counter(dict(ranked[: _MOST_KNOWN // 2]))
            pairs_left = {pair: traces for pair, traces in self.pairs.items() if pair[0] in alone and pair[1] in alone}
            self._keep(Counter(pairs_left), alone)

    def _keep(self, pairs: Counter[Pair], alone: Counter[Entity]) -> None:
        self.dropped += len(self.pairs) - len(pairs) + len(self.alone) - len(alone)
        self.pairs, self.alone = pairs, alone


def together_in(book: CallBook, window: Window) -> Together:
    """Count the traces that began in a window, of those that are here with all their calls."""
    found = Together()
    for calls in book.by_trace().values():
        if window.holds(calls[0].time):
            entities = sorted({entity for call in calls if (entity := _entity(call)) is not None})[:_MOST_A_TRACE]
            found.count(entities, combinations(entities, 2))
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
