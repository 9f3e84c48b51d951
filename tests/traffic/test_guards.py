from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.calls import CallPart
from analyzer.traffic.guards import guarding_share
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, shape

if TYPE_CHECKING:
    from analyzer.model.calls import Call

READ = frozenset({"getitem"})
GUARDED = shape("UpdateItem", "guarded", condition="version = :v")


def read(at: float = 0.0, **fields: Any) -> Call:
    return call("GetItem", at, **fields)


def share(*calls: Call) -> float:
    return guarding_share(book(*calls), CASES, READ)


def test_a_read_before_a_conditional_write_of_its_key_guards_it() -> None:
    assert share(read(), call(at=1, of=GUARDED), read(5)) == 0.5


def test_a_write_of_another_key_or_without_a_condition_is_not_guarded() -> None:
    assert share(read(), call(at=1, of=GUARDED, key=item("CASE#8")), call("UpdateItem", 2)) == 0.0


def test_a_transaction_that_checks_the_key_is_guarded() -> None:
    parts = (
        CallPart(position=0, operation="Put", table="cases", key=item("CASE#9")),
        CallPart(position=1, operation="Update", table="cases", key=item(), has_condition=True),
    )
    written = call(at=1, of=shape("TransactWriteItems", "t", key=(), writes=True), key=None, parts=parts)
    assert share(read(), written) == 1.0


def test_what_comes_in_another_trace_or_after_a_minute_does_not_belong_to_it() -> None:
    assert share(read(trace="a"), call(at=1, of=GUARDED, trace="b")) == 0.0
    assert share(read(), call(at=61, of=GUARDED)) == 0.0


def test_reads_that_are_not_whole_and_other_shapes_say_nothing() -> None:
    assert share(read(key_whole=False), call("Query", 1), call(at=2, of=GUARDED)) == 0.0
