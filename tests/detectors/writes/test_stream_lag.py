from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.stream_lag import StreamLag
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Consumer, Place
from tests.support.evidence import GSI2, traffic
from tests.support.told import series

INDEXER = Place(declared=True, consumers=(Consumer("indexer", 60.0), Consumer("audit", 3600.0), Consumer("other")))


def age(*values: float, **fields: Any) -> Any:
    return series("AgeOfOldestUnreplicatedRecord", values, stat="Maximum", DelegatedOperation="PutRecord", **fields)


def reads(throttled: float, served: float) -> tuple[Any, ...]:
    return (
        series("ThrottledRequests", (throttled,), Operation="GetRecords"),
        series("SuccessfulRequestLatency", (served,), stat="SampleCount", Operation="GetRecords"),
    )


def found(*metrics: Any, place: Place | None = None, **fields: Any) -> list[Finding]:
    evidence = traffic(metrics=metrics, place=place or Place(), **fields)
    return [one for one in StreamLag().detect(evidence) if isinstance(one, Finding)]


def test_a_record_older_than_the_strictest_consumer_takes_is_told_with_its_name() -> None:
    (one,) = found(age(*[60_001.0] * 5), place=INDEXER)
    assert (one.severity, one.cause, one.confidence) == (Severity.MEDIUM, "behind", Confidence.CERTAIN)
    assert (one.evidence["consumer"], one.evidence["max_age_seconds"]) == ("indexer", 60.0)
    assert "--function-name indexer" in (one.advice[0].command or "")


def test_without_a_declared_age_five_minutes_are_patience() -> None:
    (one,) = found(age(*[300_001.0] * 5))
    assert (one.confidence, one.evidence["consumer"], one.advice[0].command) == (Confidence.LIKELY, None, None)
    assert found(age(*[300_000.0] * 5)) == []


def test_half_a_day_is_close_to_being_lost() -> None:
    (one,) = found(age(*[43_200_000.0] * 5))
    assert one.severity is Severity.HIGH
    assert "12 hours" in one.summary


@pytest.mark.parametrize("values", [(), (900_000.0, 1.0, 1.0, 1.0, 1.0)])
def test_one_old_minute_or_none_is_no_lag(values: tuple[float, ...]) -> None:
    assert found(age(*values), place=INDEXER) == []


def test_records_that_failed_to_arrive_are_lost() -> None:
    (one,) = found(series("FailedToReplicateRecordCount", (0.0, 7.0), DelegatedOperation="PutRecord"))
    assert (one.severity, one.cause, one.evidence["failed_records"]) == (Severity.HIGH, "failed-replication", 7.0)


@pytest.mark.parametrize(("refused", "served", "count"), [(10, 990, 1), (9, 9, 0), (10, 991, 0)])
def test_readers_that_are_refused_are_too_many(refused: float, served: float, count: int) -> None:
    told = found(*reads(refused, served))
    assert len(told) == count
    assert all(one.cause == "readers-throttled" for one in told)


def test_a_stream_with_too_few_shards_is_told() -> None:
    (one,) = found(series("ThrottledPutRecordCount", (4.0, 8.0), stat="Maximum", DelegatedOperation="PutRecord"))
    assert (one.cause, one.severity) == ("puts-throttled", Severity.MEDIUM)
    assert "changes production" in (one.advice[0].command or "")


def test_a_quiet_stream_and_an_index_are_silent() -> None:
    assert found(age(*[2000.0] * 5), *reads(0, 500), place=INDEXER) == []
    assert list(StreamLag().detect(traffic(GSI2, metrics=(age(*[9e7] * 5),)))) == []
    assert found(series("AgeOfOldestUnreplicatedRecord", (9e7,) * 5, stat="Average")) == []
