from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.batch import MetricSeries
from analyzer.model.finding import Direction
from analyzer.model.window import Window
from analyzer.planning.compared import HOUR_MS, Compared, compare, explaining, rise_words, wanted_units
from tests.support.evidence import CASES, GSI2, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

DAY_MS = 24 * HOUR_MS
NOW = 30 * DAY_MS
STRETCH = Window(NOW, NOW + 5 * 60_000)


def past(metric: str, now: float, day: float, *, stat: str = "Sum", **beside: Any) -> MetricSeries:
    """Values of each minute now and yesterday; nothing is known of an hour and a week ago."""
    last = series(metric, [now * 60] * 5, stat=stat, start=NOW, **beside)
    first = series(metric, [day * 60] * 5, stat=stat, start=NOW - DAY_MS, **beside)
    times, values = first.timestamps + last.timestamps, first.values + last.values
    return MetricSeries(metric, last.dimensions, stat, 60, times, values, is_complete=True)


def calls(operation: str, now: float, day: float) -> MetricSeries:
    return past("SuccessfulRequestLatency", now, day, stat="SampleCount", Operation=operation)


def table(*metrics: MetricSeries, **fields: Any) -> Traffic:
    used = past("ConsumedReadCapacityUnits", 0, 0)
    return traffic(metrics=(used, *metrics), window=STRETCH, rows=(), **fields)


def line(**fields: Any) -> Compared:
    known: dict[str, Any] = {
        "what": "PutItem requests",
        "place": "cases",
        "now": 6.0,
        "hour": None,
        "day": 1.0,
        "week": None,
    }
    return Compared(**known | fields)


def rows(*metrics: MetricSeries) -> dict[str, Compared]:
    return {one.what: one for one in compare(table(*metrics), STRETCH)}


def test_requests_are_those_served_and_those_refused() -> None:
    found = rows(calls("PutItem", 10, 5), past("ThrottledRequests", 20, 0, Operation="PutItem"))
    one = found["PutItem requests"]
    assert (one.now, one.day, one.hour, one.week) == (30, 5, None, None)
    assert (one.operation, one.direction, one.ratio) == ("PutItem", Direction.WRITE, 6)


def test_units_a_request_are_of_the_served_ones() -> None:
    found = rows(calls("PutItem", 10, 10), past("ConsumedWriteCapacityUnits", 40, 10))
    assert (found["units a write"].now, found["units a write"].day) == (4, 1)
    assert found["units a write"].has_risen
    assert "units a read" not in found


def test_what_nobody_reads_of_the_past_is_not_known_and_silence_where_it_was_read_is_nothing() -> None:
    quiet = series("ThrottledRequests", [600.0] * 5, start=NOW, Operation="Scan")
    one = rows(quiet)["Scan requests"]
    assert (one.now, one.day, one.hour) == (10, 0, None)
    assert rise_words(one) == "Scan, of which there was nothing yesterday"


def test_indexes_stand_beside_their_table() -> None:
    index = traffic(GSI2, metrics=(past("ConsumedReadCapacityUnits", 7, 7),), window=STRETCH, rows=())
    found = compare(table(indexes=(index,)), STRETCH)
    assert [(one.what, one.place, one.now) for one in found] == [("read units", str(GSI2), 7)]


def test_the_operation_that_rose_most_explains_before_what_a_request_costs() -> None:
    each = line(what="units a write", direction=Direction.WRITE)
    small = line(what="PutItem requests", operation="PutItem", direction=Direction.WRITE, now=30, day=1)
    large = line(what="UpdateItem requests", operation="UpdateItem", direction=Direction.WRITE, now=900, day=500)
    reads = line(what="Query requests", operation="Query", direction=Direction.READ, now=9_000)
    assert explaining([each, small, large, reads], Direction.WRITE) is large
    assert explaining([each, reads], Direction.WRITE) is each
    assert explaining([line(now=1.2)], None) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"operation": "PutItem"}, "PutItem ×6 against yesterday"),
        ({"what": "units a write", "now": 12.34, "day": None, "week": 1.0}, "units a write ×12 against a week ago"),
        ({"operation": "PutItem", "now": 1.6, "day": None, "hour": 1.0}, "PutItem ×1.6 against an hour ago"),
        ({"day": None}, None),
    ],
)
def test_a_rise_is_told_against_what_is_known(fields: dict[str, object], words: str | None) -> None:
    assert rise_words(line(**fields)) == words


def test_what_is_wanted_serves_demand_with_some_room() -> None:
    units = line(what="write units", direction=Direction.WRITE, now=500)
    asked = line(what="PutItem requests", operation="PutItem", direction=Direction.WRITE, now=600)
    each = line(what="units a write", direction=Direction.WRITE, now=2)
    assert wanted_units([units, asked, each], "cases", Direction.WRITE, 500) == 1500
    assert wanted_units([units], "cases", Direction.WRITE, 500) == 630
    assert (
        wanted_units([line(what="write units", direction=Direction.WRITE, now=3)], "cases", Direction.WRITE, None) == 4
    )
    assert wanted_units([], "cases", Direction.WRITE, None) is None


def test_an_index_wants_its_part_of_what_its_table_refused() -> None:
    refused = [
        line(what="PutItem requests", operation="PutItem", direction=Direction.WRITE, now=5.0),
        line(what="write units", direction=Direction.WRITE, now=1.8),
        line(what="write units", place="cases/by-g", direction=Direction.WRITE, now=1.8),
        line(what="units a write", direction=Direction.WRITE, now=1.0),
    ]
    assert wanted_units(refused, "cases/by-g", Direction.WRITE, 2) == 7
    assert wanted_units(refused[:1] + refused[2:], "cases/by-g", Direction.WRITE, 2) == 3
    assert wanted_units(refused, "cases/by-date", Direction.WRITE, None) is None


def test_the_base_table_is_compared_by_its_own_name() -> None:
    found = rows(past("ConsumedWriteCapacityUnits", 4, 2))
    assert found["write units"].place == str(CASES)
