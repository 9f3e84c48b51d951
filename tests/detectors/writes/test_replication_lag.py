from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.detectors.writes.replication_lag import ReplicationLag
from analyzer.model.finding import Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Declared, Place
from analyzer.model.window import Window
from tests.support.calls import book, call
from tests.support.evidence import CASES, GSI2, refused, row, shape, traffic
from tests.support.told import series

USUAL = (1000.0,) * 12
CODE = "ReplicatedWriteConflictException"


def latency(*values: float, period: int = 60, **fields: Any) -> Any:
    fields = {"stat": "Average", "ReceivingRegion": "eu-west-1"} | fields
    return series("ReplicationLatency", values, period_seconds=period, **fields)


def outcomes(*metrics: Any, minutes: int = 17, **fields: Any) -> list[Finding | Skipped]:
    window = Window((minutes - 5) * 60_000, minutes * 60_000)
    return list(ReplicationLag().detect(traffic(metrics=metrics, **({"window": window} | fields))))


def found(*metrics: Any, **fields: Any) -> list[Finding]:
    return [one for one in outcomes(*metrics, **fields) if isinstance(one, Finding)]


def test_five_minutes_at_ten_times_the_usual_is_a_replica_behind() -> None:
    (one,) = found(latency(*USUAL, *[10_000.0] * 5))
    assert (one.severity, one.cause, one.index) == (Severity.MEDIUM, "replica-behind", None)
    assert (one.evidence["ratio"], one.evidence["for_seconds"]) == (10, 300)
    assert "--region eu-west-1  # read-only" in (one.advice[0].command or "")


def test_a_pattern_that_promises_fresher_reads_makes_it_high() -> None:
    fresh = Place(patterns={"a": Declared(id="a", freshness_seconds=5.0), "b": Declared(id="b")})
    (one,) = found(latency(*USUAL, *[10_000.0] * 5), place=fresh)
    assert one.severity is Severity.HIGH


@pytest.mark.parametrize(
    "values",
    [
        (*USUAL, *[9_900.0] * 5),
        (*USUAL, 1000.0, *[10_000.0] * 4),
        (*USUAL, *[10_000.0] * 4, 1000.0),
        (*(90.0,) * 12, *[950.0] * 5),
    ],
    ids=["below ten times", "four minutes", "over", "nobody notices"],
)
def test_less_is_silent(values: tuple[float, ...]) -> None:
    assert outcomes(latency(*values)) == []


def test_without_a_past_there_is_no_median() -> None:
    (one,) = outcomes(latency(*[10_000.0] * 5), minutes=5)
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.TOO_LITTLE


def test_other_series_and_an_index_are_not_looked_at() -> None:
    high = (*USUAL, *[10_000.0] * 5)
    assert outcomes(latency(*high, stat="Maximum"), series("SuccessfulRequestLatency", high, stat="Average")) == []
    assert outcomes(series("ReplicationLatency", high, stat="Average")) == []
    assert list(ReplicationLag().detect(traffic(GSI2, metrics=(latency(*high),)))) == []


@pytest.mark.parametrize(("calls", "severity"), [(10, Severity.HIGH), (9, Severity.MEDIUM)])
def test_writes_that_met_another_regions_were_refused(calls: int, severity: Severity) -> None:
    (one,) = found(refusals=(refused("m", calls, code=CODE), refused("m", 50)), rows=(row(),))
    assert (one.severity, one.cause, one.caller) == (severity, "write-conflict", "api")


def test_items_that_two_regions_write_are_told() -> None:
    put = shape("PutItem", "put")
    west = msgspec.structs.replace(CASES, region="us-west-2")
    calls = book(call("PutItem", 1, put), call("PutItem", 3, put, target=west))
    place = Place(declared=True, write_regions=("one",))
    (one,) = found(calls=calls, place=place, window=Window(0, 300_000))
    assert (one.cause, one.evidence["other_region"], one.evidence["least_seconds_apart"]) == (
        "two-writers",
        "us-west-2",
        2.0,
    )
