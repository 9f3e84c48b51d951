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
from tests.support.told import series, table

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
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("check-service-health", None),
        ("read-base-table", True),
    ]


def test_how_far_it_is_behind_is_told_by_its_newest_minute() -> None:
    (one,) = found(latency(*USUAL, 20_000, 15_000, 10_000, 10_000, 12_000))
    assert (one.evidence["latency_ms"], one.evidence["highest_ms"]) == (12_000, 20_000)
    assert one.summary.endswith("after 12,000 ms, 12 times the usual 1,000, for 5 minutes")


@pytest.mark.parametrize(
    ("freshness", "severity"),
    [((5.0, 60.0, None), Severity.HIGH), ((9.999,), Severity.HIGH), ((10.0,), Severity.MEDIUM)],
)
def test_a_pattern_that_promises_fresher_reads_makes_it_high(
    freshness: tuple[float | None, ...], severity: Severity
) -> None:
    patterns = {f"p{number}": Declared(id="p", freshness_seconds=one) for number, one in enumerate(freshness)}
    (one,) = found(latency(*USUAL, *[10_000.0] * 5), place=Place(patterns=patterns))
    assert (one.severity, one.evidence["freshness_ms"]) == (severity, min(filter(None, freshness)) * 1000)


def test_a_second_is_noticed() -> None:
    assert len(found(latency(*(90.0,) * 12, *[1000.0] * 5))) == 1
    assert found(latency(*(90.0,) * 12, *[999.0] * 5)) == []


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


@pytest.mark.parametrize(("past", "count"), [(6, 0), (5, 1)])
def test_six_points_before_the_window_are_a_past(past: int, count: int) -> None:
    assert len(outcomes(latency(*[1000.0] * (past + 5)), minutes=past + 5)) == count


def test_other_series_and_an_index_are_not_looked_at() -> None:
    high = (*USUAL, *[10_000.0] * 5)
    assert outcomes(latency(*high, stat="Maximum"), series("SuccessfulRequestLatency", high, stat="Average")) == []
    assert outcomes(series("ReplicationLatency", high, stat="Average")) == []
    assert list(ReplicationLag().detect(traffic(GSI2, metrics=(latency(*high),)))) == []


@pytest.mark.parametrize(("calls", "severity"), [(10, Severity.HIGH), (9, Severity.MEDIUM)])
def test_writes_that_met_another_regions_were_refused(calls: int, severity: Severity) -> None:
    (one,) = found(refusals=(refused("m", calls, code=CODE), refused("m", 50)), rows=(row(),))
    assert (one.severity, one.cause, one.caller) == (severity, "write-conflict", "api")
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("fix-caller", None),
        ("retry-with-jitter", True),
        ("fix-caller", True),
    ]


def test_the_caller_with_most_refusals_is_named() -> None:
    rows = tuple(row(shape("PutItem", name), caller=name) for name in ("a", "b", "c"))
    told = tuple(refused("m", calls, number, CODE) for number, calls in enumerate((2, 5, 3)))
    (one,) = found(refusals=told, rows=rows)
    assert (one.caller, one.fingerprint, one.evidence["refused_calls"]) == ("b", "b", 10)


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
    assert one.evidence["declared_write_regions"] == "one"
    assert [(advice.action, advice.reversible) for advice in one.advice] == [("fix-caller", None), ("fix-caller", True)]


@pytest.mark.parametrize(("seconds", "count"), [(60.0, 1), (60.001, 0)])
def test_writes_a_minute_apart_meet_and_later_ones_do_not(seconds: float, count: int) -> None:
    put = shape("PutItem", "put")
    west = msgspec.structs.replace(CASES, region="us-west-2")
    calls = book(call("PutItem", 1, put), call("PutItem", 1 + seconds, put, target=west))
    place = Place(table=table(replicas=("us-west-2",)))
    told = found(calls=calls, place=place, window=Window(0, 300_000))
    assert [one.evidence["declared_write_regions"] for one in told] == [None] * count
