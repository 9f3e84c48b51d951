from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.traffic.pace import Pace, pace_of
from tests.support.calls import book, call
from tests.support.evidence import shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call

SCAN = shape("Scan", "scan", key=())
SHAPES = frozenset({"scan"})


def page(number: int, every: float = 0.1, **fields: Any) -> Call:
    fields = {"more": True, "resumed": number > 0, "read_units": 9.0, "limit": 8, "scanned": 8} | fields
    return call("Scan", number * every, of=SCAN, key=None, **fields)


def test_the_fastest_ten_seconds_make_the_rate() -> None:
    pages = [page(number, 1.0) for number in range(5)] + [page(number, 0.1) for number in range(200, 300)]
    assert pace_of(traffic(calls=book(*pages)), SHAPES).units_a_second == 90.0


def test_pauses_are_from_answer_to_call_where_latency_is_told() -> None:
    pages = [page(number, latency_ms=40.0) for number in range(20)]
    pace = pace_of(traffic(calls=book(*pages)), SHAPES)
    assert (pace.pages, pace.pause_seconds, pace.limit, pace.units_a_page) == (19, 0.06, 8, 9.0)


def test_a_page_that_ended_before_its_limit_was_not_ended_by_it() -> None:
    pages = [page(number, scanned=5) for number in range(20)]
    assert pace_of(traffic(calls=book(*pages)), SHAPES).limit is None


def test_pages_of_other_shapes_and_units_that_nobody_told_say_nothing() -> None:
    other = [call("Query", 0.1 * n, key=None, more=True, resumed=n > 0) for n in range(5)]
    pace = pace_of(traffic(calls=book(*other, page(0, read_units=None, more=False))), SHAPES)
    assert pace == Pace(0.0, 0, None, None, None)


def test_without_calls_there_is_no_pace() -> None:
    assert pace_of(traffic(), SHAPES) == Pace()
    assert pace_of(traffic(calls=book()), SHAPES) == Pace()
