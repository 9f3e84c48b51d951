from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.calls import CallPart
from analyzer.traffic.lost_updates import PutBack, put_backs
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, shape

CASE = item("CASE#7", "META")
PUT = shape("PutItem", "put")
UPDATE = shape("UpdateItem", "update")


def get(at: float = 0.0, operation: str = "GetItem", **fields: Any) -> Any:
    given: dict[str, Any] = {"trace": "t", "key": CASE, "count": 1} | fields
    return call(operation, at, **given)


def put(at: float = 1.0, of: Any = PUT, **fields: Any) -> Any:
    return call(of.operation, at, of, **{"trace": "t", "key": CASE} | fields)


def backs(*calls: Any) -> list[PutBack]:
    return [one for group in put_backs(book(*calls), CASES).values() for one in group]


def test_an_item_that_is_read_and_put_back_is_seen() -> None:
    (one,) = backs(get(), get(0.5, "Query", key=item()), put())
    assert (one.read.operation, one.put.operation, one.between) == ("GetItem", "PutItem", ())


def test_what_others_wrote_in_between_is_lost() -> None:
    (one,) = backs(get(latency_ms=100.0), put(0.5, UPDATE, trace="u"), put())
    assert [write.trace for write in one.between] == ["u"]


@pytest.mark.parametrize(
    "other",
    [
        put(0.05, UPDATE, trace="u"),
        put(1.5, UPDATE, trace="u"),
        put(0.5, UPDATE, trace="u", error="ThrottlingException"),
        get(0.5, trace="u"),
        put(0.5, UPDATE, trace="u", key=item("CASE#8", "META")),
    ],
    ids=["before it was answered", "after the put", "failed", "a read", "another item"],
)
def test_what_came_at_another_time_is_not_lost(other: Any) -> None:
    (one,) = backs(get(latency_ms=100.0), other, put())
    assert one.between == ()


@pytest.mark.parametrize(
    "calls",
    [
        (get(count=0), put()),
        (put(),),
        (get(), put(of=shape("PutItem", "p", condition="version = :0"))),
        (get(), put(trace="u")),
        (get(), put(key=item("CASE#8", "META"))),
        (get(), put(0.5, UPDATE), put()),
        (get(error="ThrottlingException"), put()),
        (get(target=GSI2), put()),
        (get(), put(key=None)),
    ],
    ids=[
        "nothing was there",
        "no read",
        "a condition",
        "another trace",
        "another item",
        "it wrote itself",
        "the read failed",
        "an index",
        "no key",
    ],
)
def test_what_takes_nothing_from_anybody_is_none(calls: tuple[Any, ...]) -> None:
    assert backs(*calls) == []


def test_a_batch_reads_its_parts() -> None:
    part = CallPart(position=0, operation="Get", table="cases", key=CASE)
    assert len(backs(get(operation="BatchGetItem", key=None, parts=(part,)), put())) == 1
