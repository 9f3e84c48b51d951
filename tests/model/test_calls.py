from __future__ import annotations

from analyzer.model.calls import CallBook, CallPart, DeferredBook, Notable
from analyzer.model.target import Target
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, shape


def test_calls_are_found_by_target() -> None:
    at_table, at_index = call(at=1), call("Query", 2, target=GSI2)
    calls = book(at_index, at_table)
    assert calls.of(CASES) == (at_table,)
    assert calls.of(GSI2) == (at_index,)
    assert calls.of(CASES.at("GSI9")) == ()


def test_traces_are_those_that_are_whole() -> None:
    one, two = call(at=1, trace="t"), call(at=2, trace="t")
    calls = book(two, one, call(trace="u", trace_whole=False), call())
    assert calls.by_trace() == {"t": (one, two)}


def test_a_key_has_the_calls_and_the_parts_at_it() -> None:
    part = CallPart(position=0, operation="Put", table="cases", key=item())
    own, batch = call(at=1), call("BatchWriteItem", 2, key=None, parts=(part, part))
    calls = book(own, batch, call(key=None))
    assert calls.by_key(CASES) == {item(): (own, batch)}
    assert calls.by_key(GSI2) == {}


def test_sight_is_told_by_target() -> None:
    calls = book(call(), call("Query", target=GSI2, key_whole=False, returned=()))
    assert (calls.has_whole(CASES), calls.has_whole(GSI2)) == (True, False)
    assert (calls.has_returned(CASES), calls.has_returned(GSI2)) == (False, True)


def test_a_book_moves_home_with_its_callers() -> None:
    home = Target("1", "eu-west-1", "cases")
    calls = book(call(), call(at=1, caller="svc"), share=0.5, since=7, dropped=3, notable={Notable.TTL: 0.25})
    names = {"api": "front", "svc": "svc"}
    moved = calls.at_home(lambda _: home, lambda caller: names[caller or ""])
    assert [(one.target, one.caller) for one in moved.calls] == [(home, "front"), (home, "svc")]
    assert (moved.share, moved.since, moved.dropped, moved.notable) == (0.5, 7, 3, calls.notable)
    some = calls.at_home(lambda target: target, lambda caller: names[caller or ""])
    assert [one.caller for one in some.calls] == ["front", "svc"]
    assert calls.at_home(lambda target: target, lambda caller: caller) is calls


def test_a_call_says_what_its_shape_says() -> None:
    one = call("Query", of=shape("Query", "f", condition="a = :0", consistent=True))
    assert (one.fingerprint, one.operation, one.condition, one.consistent) == ("f", "Query", "a = :0", True)
    assert (one.sort_operator, one.units, one.failed, one.is_whole) == (None, None, False, True)
    assert call(read_units=1.5).units == 1.5
    assert call(write_units=2.0).units == 2.0


def test_a_book_tells_its_size_and_share() -> None:
    calls = CallBook([call()], share=0.5)
    assert len(calls) == 1
    assert repr(calls) == "CallBook(1 calls, share=0.5, since=None, dropped=0)"
    assert calls.notable[Notable.FAILED] == 1.0


def test_a_deferred_book_is_opened_once_when_somebody_reads_it() -> None:
    opened = []

    def open_it() -> CallBook:
        opened.append(1)
        return book(call(), share=0.5, dropped=2)

    deferred = DeferredBook(open_it)
    moved = deferred.at_home(lambda target: target, lambda caller: "svc" if caller == "api" else caller)
    assert (opened, isinstance(moved, DeferredBook)) == ([], True)
    assert [one.caller for one in moved.of(CASES)] == ["svc"]
    assert (moved.share, moved.dropped, moved.since, len(moved)) == (0.5, 2, None, 1)
    assert opened == [1]
    assert not hasattr(deferred, "pages")
