from __future__ import annotations

import pytest

from analyzer.model.finding import Direction
from analyzer.model.traffic import Capacity
from analyzer.model.window import Window
from analyzer.traffic.metric_throttles import metric_throttles
from tests.support.evidence import CASES
from tests.support.told import MINUTE_MS, series

WINDOW = Window(0, 2 * MINUTE_MS)
PROVISIONED = Capacity("PROVISIONED", 50, 50)


@pytest.mark.parametrize(
    ("limit", "cause"),
    [
        ("KeyRangeThroughput", "key-range"),
        ("ProvisionedThroughput", "provisioned"),
        ("MaxOnDemandThroughput", "max-on-demand"),
        ("AccountLimit", "account-limit"),
    ],
)
def test_a_metric_of_a_reason_names_the_cause(limit: str, cause: str) -> None:
    metrics = (series(f"Write{limit}ThrottleEvents", (0, 7)), series("WriteThrottleEvents", (0, 7)))
    (found,) = metric_throttles(metrics, PROVISIONED, WINDOW)
    assert (found.direction, found.cause, found.events, found.is_reason_told) == (Direction.WRITE, cause, 7, True)
    assert (found.minutes, found.period_seconds) == (((MINUTE_MS, 7),), 60)


def test_no_event_is_no_limit() -> None:
    assert metric_throttles((series("ReadThrottleEvents"),), PROVISIONED, WINDOW) == ()
    assert metric_throttles((), PROVISIONED, WINDOW) == ()


def test_refusals_without_a_reason_while_use_stands_at_capacity_are_put_down_to_it() -> None:
    metrics = (series("ReadThrottleEvents", (0, 9)), series("ConsumedReadCapacityUnits", (60, 2900)))
    (found,) = metric_throttles(metrics, PROVISIONED, WINDOW)
    assert (found.cause, found.is_reason_told) == ("provisioned", False)


def test_capacity_is_what_it_was_in_that_minute() -> None:
    metrics = (
        series("ReadThrottleEvents", (0, 9)),
        series("ConsumedReadCapacityUnits", (60, 600)),
        series("ProvisionedReadCapacityUnits", (10, 10), stat="Average"),
    )
    (found,) = metric_throttles(metrics, PROVISIONED, WINDOW)
    assert found.cause == "provisioned"


@pytest.mark.parametrize("consumed", [(), (60, 300)])
def test_refusals_without_a_reason_far_below_capacity_have_no_known_cause(consumed: tuple[float, ...]) -> None:
    metrics = (series("ReadThrottleEvents", (0, 9)), series("ConsumedReadCapacityUnits", consumed))
    (found,) = metric_throttles(metrics, PROVISIONED, WINDOW)
    assert found.cause == "unknown"


def test_on_demand_has_no_capacity_to_stand_at() -> None:
    metrics = (series("ReadThrottleEvents", (0, 9)), series("ConsumedReadCapacityUnits", (60, 2900)))
    (found,) = metric_throttles(metrics, Capacity("PAY_PER_REQUEST"), WINDOW)
    assert found.cause == "unknown"


def test_requests_stand_beside_events_by_operation() -> None:
    metrics = (
        series("ReadThrottleEvents", (4, 0)),
        series("ThrottledRequests", (3, 0), Operation="Query"),
        series("SuccessfulRequestLatency", (90, 9), stat="SampleCount", Operation="Query"),
        series("ThrottledRequests", (8, 0), Operation="PutItem"),
    )
    found, written = metric_throttles(metrics, PROVISIONED, WINDOW)
    assert (written.direction, written.throttled_requests) == (Direction.WRITE, {"PutItem": 8})
    assert (found.throttled_requests, found.served_requests) == ({"Query": 3}, {"Query": 99})


def test_throttled_requests_alone_tell_that_there_was_a_limit() -> None:
    metrics = (series("ThrottledRequests", (85, 0), Operation="Scan"), series("ThrottledRequests", Operation="Query"))
    (found,) = metric_throttles(metrics, PROVISIONED, WINDOW)
    assert (found.direction, found.events, found.cause) == (Direction.READ, 85, "unknown")


@pytest.mark.parametrize(
    ("requests", "events", "is_told"),
    [((0, 40), (0, 40), False), ((5, 40), (9, 55), False), ((5, 40), (0, 80), True), ((0, 40), (0, 39), True)],
)
def test_requests_that_indexes_refused_in_the_same_minutes_are_no_limit_of_the_table(
    requests: tuple[float, ...],
    events: tuple[float, ...],
    *,
    is_told: bool,
) -> None:
    asked = (series("ThrottledRequests", requests, Operation="UpdateItem"),)
    indexes = [(series("WriteThrottleEvents", events, target=CASES.at("GSI1")),), ()]
    assert bool(metric_throttles(asked, PROVISIONED, WINDOW, indexes)) is is_told
    reads = (series("ThrottledRequests", requests, Operation="Query"),)
    assert metric_throttles(reads, PROVISIONED, WINDOW, indexes), "writes of an index are no reads"


def test_several_indexes_and_operations_add_up() -> None:
    asked = tuple(series("ThrottledRequests", (0, 30), Operation=name) for name in ("PutItem", "DeleteItem"))
    indexes = [(series("WriteThrottleEvents", (0, 30), target=CASES.at(name)),) for name in ("GSI1", "GSI2")]
    assert metric_throttles(asked, PROVISIONED, WINDOW, indexes) == ()
    assert metric_throttles(asked, PROVISIONED, WINDOW, indexes[:1])
