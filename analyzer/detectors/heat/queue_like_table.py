"""Items that are moved through the states of an index key, and polled at its head: a queue made of a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, busiest_caller, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import KeyHeat, PatternTraffic, Traffic

__all__ = ["QueueLikeTable"]


class QueueLikeTable(Struct, frozen=True):
    """Judges small queries of one index key beside updates of the attribute that the index is keyed by."""

    most_items: Whole = 16
    least_queries: Whole = 50
    least_updates: Whole = 5
    key_share: Share = 0.5

    name: ClassVar[str] = "queue-like-table"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_SEQUENCES, Sight.TABLE}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset()

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding an index."""
        if traffic.target.index is None or traffic.base is None:
            return
        polls = [row for row in traffic.rows if self._is_poll(row)]
        moves = [row for row in traffic.base.rows if _moves(row, traffic)]
        polled, moved = add(row.requests for row in polls), add(row.requests for row in moves)
        head = _head(traffic)
        if polled.low < self.least_queries or moved.low < self.least_updates or head is None:
            return
        if head.share.low >= self.key_share:
            yield self._finding(traffic, polls, moves, head)

    def _is_poll(self, row: PatternTraffic) -> bool:
        shape = row.shape
        return shape.operation == "Query" and shape.limit_bucket is not None and shape.limit_bucket <= self.most_items

    def _finding(
        self, traffic: Traffic, polls: list[PatternTraffic], moves: list[PatternTraffic], head: KeyHeat
    ) -> Finding:
        polled, moved = add(row.requests for row in polls), add(row.requests for row in moves)
        returned = add(row.returned for row in polls)
        index, table = traffic.target.index, traffic.target.table
        caller = busiest_caller(polls, Direction.READ)
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{who(caller)} polls the head of {{key}} in {index} ({counted(polled, 'query')}, {number(returned.value)}"
            f" items) while {counted(moved, 'update')} of {table} move items from key to key: it is used as a queue",
            subject="",
            key=head.key,
            key_template=head.key_template,
            caller=caller,
            evidence={
                **evidence_of(polls=polled, moves=moved, items_returned=returned, key_share=head.share),
                "writes_to_the_index_a_move": 2,
            },
            advice=(
                advise(
                    "use-queue",
                    "Hand work over with SQS, or a stream of the table, and keep the table as the record of it",
                    effect="no polling, no hot index key, no two writes for each change of state",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                ),
                advise(
                    "make-index-sparse",
                    f"Remove the key attribute of {index} from items that are done, so that they leave the index",
                    effect="one write less an item, and a small index",
                    risk=Risk.LOW,
                    reversible=True,
                    takes="a deploy",
                ),
            ),
        )


def _moves(row: PatternTraffic, traffic: Traffic) -> bool:
    """Whether a row updates an attribute that the index is keyed by: the entry is deleted and written anew."""
    attributes = (*traffic.place.partition_key, *traffic.place.sort_key)
    texts = [row.shape.update, *(part.update for part in row.shape.parts)]
    return any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts if text for name in attributes)


def _head(traffic: Traffic) -> KeyHeat | None:
    keys = [key for key in traffic.keys if key.direction is Direction.READ and key.level is KeyLevel.PARTITION]
    return max(keys, key=lambda key: key.units.value, default=None)
