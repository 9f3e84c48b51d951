from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.counts import LATENCY_BOUNDS_MS
from analyzer.model.traffic import Latency
from analyzer.model.window import Window
from analyzer.traffic.client_wait import client_wait, waits_now
from tests.support.calls import book, call, item
from tests.support.evidence import row, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call
    from analyzer.model.traffic import PatternTraffic
    from analyzer.traffic.client_wait import ClientWait

DAY = 86_400
NOW = Window(3 * DAY * 1000, (3 * DAY + 300) * 1000)


def waiting(ms: float, calls: int = 100, caller: str | None = "api") -> PatternTraffic:
    buckets = [0] * (len(LATENCY_BOUNDS_MS) + 1)
    buckets[next(number for number, bound in enumerate(LATENCY_BOUNDS_MS) if bound >= ms)] = calls
    return row(caller=caller, latency=Latency(tuple(buckets), ms * calls, calls))


def day(number: int, calls: int = 100, at: float = 0, ms: float | None = 8.0, **fields: Any) -> list[Call]:
    return [
        call(at=number * DAY + at + second, latency_ms=ms, key=item(f"CASE#{second}"), **fields)
        for second in range(calls)
    ]


def waited(*calls: Call, rows: tuple[PatternTraffic, ...] = (waiting(512.0),)) -> ClientWait | None:
    return client_wait(list(rows), "GetItem", traffic(rows=rows, calls=book(*calls), window=NOW))


def test_past_days_are_those_of_the_book_at_the_same_time_of_day() -> None:
    assert waited(*day(0), *day(1, at=1500), *day(2, ms=128.0), *day(3, ms=900.0)) == (512.0, 8.0, 3, "api")


@pytest.mark.parametrize(
    "past",
    [
        [],
        day(2, calls=99),
        day(2, ms=None),
        day(2, at=2200),
        day(2, at=-2000),
        day(3),
        day(2, operation="Query"),
        day(2, key_whole=False),
    ],
    ids=["no call", "few", "no latency", "later", "earlier", "today", "another operation", "kept for what befell them"],
)
def test_a_day_of_other_or_too_few_calls_tells_nothing(past: list[Call]) -> None:
    assert waited(*past) is None


def test_without_a_book_or_enough_calls_now_nothing_is_known() -> None:
    rows = [waiting(512.0)]
    assert client_wait(rows, "GetItem", traffic(window=NOW)) is None
    assert waited(*day(2), rows=(waiting(512.0, calls=99),)) is None
    assert waits_now([]) is None


def test_who_waits_longest_is_told_by_name() -> None:
    told = waited(*day(2), rows=(waiting(8.0, 200), waiting(512.0, 300, "cart"), waiting(900.0, 9, "cron")))
    assert told is not None
    assert told.caller == "cart"


def test_waits_beyond_all_measure_are_no_number() -> None:
    assert waited(*day(1), *day(2, ms=10.0**9)) == (512.0, 8.0, 1, "api")
