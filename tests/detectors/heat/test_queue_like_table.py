from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.queue_like_table import QueueLikeTable
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.shape import PartShape
from analyzer.model.traffic import Place
from tests.support.evidence import GSI2, exactly, key, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

INDEX = Place(partition_key=("status",), sort_key=("createdAt",))


def poll(limit: int | None = 8, **fields: Any) -> PatternTraffic:
    fields = {"requests": 600, "returned": 400} | fields
    return row(shape("Query", "q", limit_bucket=limit), caller="worker", **fields)


def moves(update: str | None = "SET status = :0", **fields: Any) -> PatternTraffic:
    fields = {"requests": 100} | fields
    return row(shape("UpdateItem", "u", update=update), **fields)


def queue(*rows: PatternTraffic, base: Traffic | None = None, share: float = 0.9, **fields: Any) -> Traffic:
    fields = {"keys": (key(values=("PENDING",), share=exactly(share)),)} | fields
    base = base or traffic(rows=(moves(),))
    return traffic(GSI2, place=INDEX, base=base, rows=rows or (poll(),), **fields)


def found(evidence: Traffic) -> list[Any]:
    return list(QueueLikeTable().detect(evidence))


def test_polls_of_one_index_key_while_items_are_moved_make_a_queue() -> None:
    (one,) = found(queue())
    assert isinstance(one, Finding)
    assert (one.severity, one.confidence, one.caller, one.key) == (
        Severity.MEDIUM,
        Confidence.LIKELY,
        "worker",
        {"PK": "PENDING"},
    )
    assert "600 queries, 400 items" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "use-queue", "make-index-sparse"]


def long(evidence: Traffic, minutes: float) -> Traffic:
    """The same over so many minutes."""
    window = type(evidence.window)(0, round(minutes * 60_000))
    return type(evidence)(**{f: getattr(evidence, f) for f in evidence.__struct_fields__} | {"window": window})


@pytest.mark.parametrize(
    ("evidence", "fires"),
    [
        (queue(poll(16)), True),
        (queue(poll(17)), False),
        (queue(poll(requests=50)), True),
        (queue(poll(requests=49)), False),
        (queue(base=traffic(rows=(moves(requests=5),))), True),
        (queue(base=traffic(rows=(moves(requests=4),))), False),
        (queue(share=0.5), True),
        (queue(share=0.49), False),
        (long(queue(poll(requests=100)), 100), True),
        (long(queue(poll(requests=100)), 100.5), False),
    ],
)
def test_fifty_polls_and_one_a_minute_of_a_key_with_half_of_the_reads_beside_five_moves(
    evidence: Traffic, *, fires: bool
) -> None:
    assert bool(found(evidence)) is fires


def test_the_key_with_most_reads_is_the_head() -> None:
    done = key((1.0,) * 30, values=("DONE",), share=exactly(0.6))
    pending = key(values=("PENDING",), share=exactly(0.7))
    item = key((900.0,) * 30, level=KeyLevel.ITEM, values=("PENDING", "1"), share=exactly(0.6))
    written = key((900.0,) * 30, Direction.WRITE, values=("NEW",), share=exactly(0.6))
    (one,) = found(queue(keys=(done, pending, item, written)))
    assert (one.key, one.evidence["key_share"]) == ({"PK": "PENDING"}, 0.7)


def test_the_shape_that_polls_most_is_named() -> None:
    seldom = row(shape("Query", "seldom", limit_bucket=1), caller="other", requests=60, returned=1)
    for rows in ((seldom, poll()), (poll(), seldom)):
        (one,) = found(queue(*rows))
        assert (one.fingerprint, one.evidence["polls"], one.evidence["index_writes_a_move"]) == ("q", 660, 2)


def test_its_advice_can_be_taken_back() -> None:
    (one,) = found(queue())
    assert [(advice.risk, advice.reversible) for advice in one.advice[1:]] == [(Risk.LOW, True)] * 2


def test_a_move_within_a_transaction_is_one_too() -> None:
    parts = (PartShape("Update", update="SET status = :0"),)
    moved = row(shape("TransactWriteItems", "t", parts=parts), requests=100)
    assert len(found(queue(base=traffic(rows=(moved,))))) == 1


@pytest.mark.parametrize(
    "evidence",
    [
        queue(poll(32)),
        queue(poll(None)),
        queue(poll(requests=49)),
        queue(base=traffic(rows=(moves(requests=4),))),
        queue(base=traffic(rows=(moves("SET lastStatusText = :0"),))),
        queue(base=traffic(rows=(moves(None),))),
        queue(share=0.49),
        queue(keys=()),
        traffic(rows=(poll(),), place=INDEX),
        traffic(GSI2, rows=(poll(),), place=INDEX),
    ],
    ids=[
        "a list is read",
        "all is read",
        "seldom",
        "hardly a move",
        "another attribute",
        "no update",
        "many keys",
        "no key",
        "a table",
        "its table unseen",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert found(evidence) == []


def test_a_worklist_that_people_look_at_all_day_is_no_queue() -> None:
    assert found(long(queue(poll(requests=400)), 24 * 60)) == []
