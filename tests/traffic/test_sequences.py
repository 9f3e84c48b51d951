from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.calls import Call, CallPart
from analyzer.traffic.sequences import (
    fan_outs,
    follows,
    handed_back,
    intervals,
    pages,
    repeats,
    runs_by_key,
    sizes,
)
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, shape

LATER = 3_600_000
"""An hour on, when everything is settled."""


def query(at: float, **fields: Any) -> Call:
    return call("Query", at, **fields)


def states(*calls: Call, until: int = LATER) -> list[str]:
    found = pages(book(*calls), CASES, until)
    return ["followed" if page.follower else "left" if page.is_left else "open" for page in found]


class TestPages:
    def test_of_a_trace_are_followed_by_the_next(self) -> None:
        calls = [query(n, trace="t", more=n < 3, resumed=n > 0) for n in range(4)]
        assert states(*calls) == ["followed"] * 3

    def test_are_left_where_nothing_of_the_trace_goes_on(self) -> None:
        assert states(query(0, trace="t", more=True), query(1, trace="u", resumed=True)) == ["left"]

    def test_without_a_trace_are_followed_by_the_same_caller_within_a_minute(self) -> None:
        assert states(query(0, more=True), query(59, resumed=True)) == ["followed"]
        assert states(query(0, more=True), query(61, resumed=True)) == ["left"]
        assert states(query(0, more=True), query(1, resumed=True, caller="worker")) == ["left"]
        assert states(query(0, more=True), query(1, resumed=True, key=item("CASE#8"))) == ["left"]

    def test_of_two_readers_the_newest_is_followed_first(self) -> None:
        assert states(query(0, more=True), query(1, more=True), query(2, resumed=True)) == ["left", "followed"]

    def test_go_on_whatever_the_limit_of_the_next(self) -> None:
        more = query(0, more=True, of=shape("Query", "f1", limit_bucket=32))
        rest = query(1, resumed=True, of=shape("Query", "f2", limit_bucket=8))
        assert states(more, rest) == ["followed"]
        other = query(1, resumed=True, of=shape("Query", "f3", index="GSI1"))
        assert states(more, other) == ["left"]

    def test_of_the_last_minute_may_still_be_followed(self) -> None:
        assert states(query(0, more=True), until=59_999) == ["open"]
        assert states(query(0, more=True), until=60_000) == ["left"]

    def test_say_nothing_where_their_sequence_is_not_whole(self) -> None:
        assert states(query(0, more=True, key_whole=False)) == []


def parts(*keys: str, back: tuple[str, ...] | None = ()) -> tuple[CallPart, ...]:
    return tuple(
        CallPart(
            position=n,
            operation="Put",
            table="cases",
            key=item(key),
            is_handed_back=None if back is None else key in back,
        )
        for n, key in enumerate(keys)
    )


def batch(at: float, *keys: str, back: tuple[str, ...] | None = (), unprocessed: int = 0, **fields: Any) -> Call:
    fields.setdefault("trace", "t")
    made = parts(*keys, back=back)
    return call("BatchWriteItem", at, key=None, members=len(keys), parts=made, unprocessed=unprocessed, **fields)


class TestHandedBack:
    def test_is_not_dropped_where_every_key_is_sent_again(self) -> None:
        calls = book(
            batch(0, "1", "2", "3", back=("2", "3"), unprocessed=2),
            batch(1, "2"),
            call("PutItem", 2, key=item("3"), trace="t"),
        )
        (one,) = handed_back(calls, CASES, LATER)
        assert (one.missing, one.is_sent_again, one.is_dropped) == ((), True, False)

    def test_names_what_was_never_sent_again(self) -> None:
        (one,) = handed_back(book(batch(0, "1", "2", back=("2",), unprocessed=1), batch(1, "1")), CASES, LATER)
        assert [part.position for part in one.missing or ()] == [1]
        assert one.is_dropped

    def test_may_still_be_sent_again_for_a_minute(self) -> None:
        (one,) = handed_back(book(batch(0, "1", back=("1",), unprocessed=1)), CASES, 30_000)
        assert (one.is_open, one.is_dropped) == (True, False)

    def test_of_unknown_positions_is_followed_by_a_batch_of_its_keys(self) -> None:
        first = batch(0, "1", "2", back=None, unprocessed=1)
        for then, is_dropped in (
            (batch(1, "2"), False),
            (batch(1, "9"), True),
            (batch(1), False),
            (call("BatchGetItem", 1, key=None, trace="t"), True),
        ):
            one, *_ = handed_back(book(first, then), CASES, LATER)
            assert (one.missing, one.is_dropped) == (None, is_dropped)

    def test_without_a_trace_is_followed_by_the_same_caller_within_a_minute(self) -> None:
        first = batch(0, "1", back=("1",), unprocessed=1, trace=None)
        for then, is_dropped in (
            (batch(59, "1", trace=None), False),
            (batch(61, "1", trace=None), True),
            (batch(1, "1", trace=None, caller="worker"), True),
        ):
            one, *_ = handed_back(book(first, then), CASES, LATER)
            assert one.is_dropped is is_dropped

    def test_without_a_trace_says_nothing_where_calls_are_missing(self) -> None:
        first = batch(0, "1", back=("1",), unprocessed=1, trace=None)
        assert handed_back(book(first, share=0.5), CASES, LATER) == []

    def test_comes_in_the_order_of_time(self) -> None:
        found = handed_back(book(*(batch(n, str(n), back=(str(n),), unprocessed=1) for n in range(3))), CASES, LATER)
        assert [one.call.time for one in found] == [0, 1000, 2000]


class TestRepeats:
    def test_are_the_same_call_again(self) -> None:
        same = [query(n, asked="a") for n in range(3)]
        others = [query(4, asked="b"), query(5, asked="a", caller="worker"), query(6, asked="a", key=item("CASE#8"))]
        (one,) = repeats([*same, *others])
        assert (one.caller, one.fingerprint, one.key, one.calls) == ("api", "query", item(), tuple(same))
        assert intervals(one.calls) == [1.0, 1.0]

    def test_further_pages_are_none(self) -> None:
        assert repeats([query(0, more=True), query(1, resumed=True)]) == []

    def test_calls_of_traces_alone_count_where_all_are_there(self) -> None:
        scans = [call("Scan", n, key=None, trace=f"t{n}") for n in range(2)]
        assert repeats(scans) == []
        assert len(repeats(scans, has_all=True)) == 1
        assert len(repeats([call("Scan", n, key=None) for n in range(2)])) == 1

    def test_of_a_statement_whose_parameters_are_not_told_are_none(self) -> None:
        asked = [
            shape("ExecuteStatement", text, statement=f"SELECT * FROM cases{text}") for text in (" WHERE a = ?", "")
        ]
        found = repeats([call("ExecuteStatement", n, of=of, key=None) for n in range(2) for of in asked])
        assert [one.fingerprint for one in found] == [""]


class TestRunsByKey:
    def test_hold_the_calls_at_each_whole_key(self) -> None:
        calls = book(call(at=2), call("PutItem", 1), call(at=3, key=item("CASE#8"), key_whole=False))
        runs = runs_by_key(calls, CASES)
        assert [one.operation for one in runs[item()]] == ["PutItem", "GetItem"]
        assert set(runs) == {item()}

    def test_hold_parts_of_transactions_too(self) -> None:
        assert len(runs_by_key(book(call(), batch(1, "CASE#7")), CASES)[item()]) == 2

    def test_of_another_target_are_its_own(self) -> None:
        assert runs_by_key(book(call()), GSI2) == {}


STRONG = shape("GetItem", consistent=True)
EVENTUAL = shape("GetItem", consistent=False)


class TestSizes:
    @pytest.mark.parametrize(
        ("one", "bounds"),
        [
            (call("PutItem", item_bytes=5000), (5000, 5000)),
            (call("PutItem", write_units=60.0), (59 * 1024 + 1, 60 * 1024)),
            (call("UpdateItem", write_units=1.0), (1, 1024)),
            (call(of=STRONG, read_units=3.0), (2 * 4096 + 1, 3 * 4096)),
            (call(of=EVENTUAL, read_units=0.5, count=1), (1, 4096)),
        ],
    )
    def test_are_told_or_follow_from_the_units(self, one: Call, bounds: tuple[int, int]) -> None:
        (size,) = sizes([one], has_sort_key=False)
        assert (size.low, size.high, size.is_exact) == (*bounds, bounds[0] == bounds[1])

    @pytest.mark.parametrize(
        "one",
        [
            call("DeleteItem", write_units=3.0),
            call("PutItem", item_bytes=10, error="ConditionalCheckFailedException"),
            call("Query", read_units=3.0),
            call("PutItem"),
            call(read_units=3.0),
            call(of=STRONG, read_units=1.0, count=0),
            call("PutItem", item_bytes=10, key=None),
        ],
    )
    def test_are_unknown_otherwise(self, one: Call) -> None:
        assert sizes([one], has_sort_key=False) == []

    def test_of_a_partition_say_nothing_of_an_item(self) -> None:
        assert sizes([call("PutItem", item_bytes=10)], has_sort_key=True) == []
        assert len(sizes([call("PutItem", item_bytes=10, key=item("CASE#7", "META"))], has_sort_key=True)) == 1


class TestFollows:
    def test_are_the_next_fitting_call_of_the_trace(self) -> None:
        put, get, late = call("PutItem", 0, trace="t"), call(at=0.2, trace="t"), call(at=0.3, trace="t")
        calls = book(put, get, late, call(at=0.1, trace="u"), call(at=0.1))
        found = list(follows(calls, lambda one: one.shape.writes, lambda _, then: not then.shape.writes))
        assert [(one.first, one.then, one.after_ms) for one in found] == [(put, get, 200)]

    def test_end_with_the_time_allowed(self) -> None:
        calls = book(call("PutItem", 0, trace="t"), call(at=2, trace="t"))
        assert list(follows(calls, lambda one: one.shape.writes, lambda *_: True, 1999)) == []
        assert len(list(follows(calls, lambda one: one.shape.writes, lambda *_: True, 2000))) == 1

    def test_may_be_nobody(self) -> None:
        calls = book(call("PutItem", 0, trace="t"), call(at=2, trace="t"))
        assert list(follows(calls, lambda one: one.shape.writes, lambda *_: False)) == []


class TestFanOuts:
    def test_are_a_query_and_one_read_a_result(self) -> None:
        first = query(0, trace="t", key=item("LIST"), count=10)
        reads = [call(at=1 + n, trace="t", key=item(str(n))) for n in range(10)]
        (fan,) = fan_outs(book(first, *reads), CASES, 10)
        assert (fan.first, fan.reads) == (first, tuple(reads))
        assert fan_outs(book(first, *reads), CASES, 11) == []
        assert fan_outs(book(first, *reads), GSI2, 10) == []

    def test_the_same_key_again_and_further_pages_do_not_count(self) -> None:
        first = query(0, trace="t", key=item("LIST"))
        same = [call(at=1 + n, trace="t") for n in range(10)]
        further = [query(20 + n, trace="t", key=item("LIST"), resumed=True) for n in range(10)]
        assert fan_outs(book(first, *same, *further), CASES, 2) == []

    def test_may_be_of_one_shape_where_the_first_returned_so_many(self) -> None:
        reads = [query(1 + n, trace="t", key=item(str(n))) for n in range(10)]
        for count, found in ((10, 1), (9, 0), (None, 0)):
            first = query(0, trace="t", key=item("LIST"), count=count)
            assert len(fan_outs(book(first, *reads), CASES, 10)) == found

    def test_reads_without_a_beginning_are_none(self) -> None:
        reads = [call(at=n, trace="t", key=item(str(n))) for n in range(10)]
        scans = [call("Scan", 20, trace="t", key=None)]
        assert fan_outs(book(*reads, *scans), CASES, 1) == []
