"""Items that are moved through the states of an index key, and polled at its head: a queue made of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Positive, Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import add, busiest_caller, evidence_of
from analyzer.traffic.queue import is_move, is_poll

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.estimate import Estimate
    from analyzer.model.traffic import KeyHeat, PatternTraffic, Traffic

__all__ = ["QueueLikeTable"]


class _Queue(NamedTuple):
    """Who polls, what moves the items, and the key that is polled."""

    polls: tuple[PatternTraffic, ...]
    polled: Estimate
    moved: Estimate
    head: KeyHeat


class QueueLikeTable(Struct, frozen=True):
    """Judges small queries of one index key beside updates of the attribute that the index is keyed by."""

    most_items: Whole = 16
    least_queries: Whole = 50
    queries_a_minute: Positive = 1.0
    least_updates: Whole = 5
    key_share: Share = 0.5

    name: ClassVar[str] = "queue-like-table"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_SEQUENCES, Sight.TABLE}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_COUNTS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding an index."""
        if traffic.target.index is None or traffic.base is None:
            return
        polls = tuple(row for row in traffic.rows if is_poll(row, self.most_items))
        attributes = (*traffic.place.partition_key, *traffic.place.sort_key)
        moves = [row for row in traffic.base.rows if is_move(row, attributes)]
        polled, moved = add(row.requests for row in polls), add(row.requests for row in moves)
        head = _head(traffic)
        often = self.queries_a_minute * traffic.window.seconds / 60
        if polled.low < max(self.least_queries, often) or moved.low < self.least_updates or head is None:
            return
        if head.share.low >= self.key_share:
            yield self._finding(traffic, _Queue(polls, polled, moved, head))

    def _finding(self, traffic: Traffic, queue: _Queue) -> Finding:
        returned = add(row.returned for row in queue.polls)
        index, table = traffic.target.index, traffic.target.table
        caller = busiest_caller(queue.polls, Direction.READ)
        most = max(queue.polls, key=lambda row: row.requests.value)
        queries = f"{number(queue.polled.value)} queries, {number(returned.value)} items"
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM,
            f"{who(caller)} polls the head of {{key}} in {index} ({queries}) while {counted(queue.moved, 'update')} of"
            f" {table} move items from key to key: it is used as a queue",
            confidence=Confidence.LIKELY,
            because="polls and moves are seen; what they are for is concluded",
            subject="",
            key=queue.head.key,
            key_template=queue.head.key_template,
            pattern=most.attribution.pattern,
            fingerprint=most.shape.fingerprint,
            caller=caller,
            direction=Direction.READ,
            evidence={
                **evidence_of(
                    polls=queue.polled, moves=queue.moved, items_returned=returned, key_share=queue.head.share
                ),
                "index_writes_a_move": 2,
            },
            advice=(
                ask_owner(
                    caller,
                    "how many items wait at most, and how late each may be",
                    "tells whether fewer polls will do until the work goes through a queue",
                ),
                *_advice(str(index)),
            ),
        )


def _advice(index: str) -> tuple[Advice, ...]:
    return (
        advise(
            "use-queue",
            "Hand work over with SQS, or a stream of the table, and keep the table as the record of it",
            effect="no polling, no hot index key, no two index writes for each change of state",
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
            snippet='UpdateExpression="SET #state = :done REMOVE #index_key"',
        ),
    )


def _head(traffic: Traffic) -> KeyHeat | None:
    keys = [key for key in traffic.keys if key.direction is Direction.READ and key.level is KeyLevel.PARTITION]
    return max(keys, key=lambda key: key.units.value, default=None)
