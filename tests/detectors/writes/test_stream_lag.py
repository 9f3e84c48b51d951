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
    assert (one.because, one.evidence["retention_seconds"]) == (None, 86_400)
    assert one.summary == "changes of cases wait 60 seconds for indexer, which may be 60 seconds behind"
    assert "--function-name indexer" in (one.advice[0].command or "")
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("check-client", None),
        ("use-stream", True),
    ]


def test_without_a_declared_age_five_minutes_are_patience() -> None:
    (one,) = found(age(*[300_001.0] * 5))
    assert (one.confidence, one.evidence["consumer"], one.advice[0].command) == (Confidence.LIKELY, None, None)
    assert one.because == "no consumer declares a max_age"
    assert one.summary.endswith("wait 5 minutes for its consumer, which may be 5 minutes behind")
    assert found(age(*[300_000.0] * 5)) == []


def test_half_a_day_is_close_to_being_lost() -> None:
    (one,) = found(age(*[43_200_000.0] * 5))
    assert one.severity is Severity.HIGH
    assert "12 hours" in one.summary
    assert found(age(*[43_199_999.0] * 5))[0].severity is Severity.MEDIUM


def test_the_oldest_minute_tells_what_may_be_lost() -> None:
    (one,) = found(age(400_000, 400_000, 43_200_000))
    assert (one.severity, one.evidence["age_ms"], one.evidence["highest_age_ms"]) == (
        Severity.HIGH,
        400_000,
        43_200_000,
    )


@pytest.mark.parametrize("values", [(), (900_000.0, 1.0, 1.0, 1.0, 1.0)])
def test_one_old_minute_or_none_is_no_lag(values: tuple[float, ...]) -> None:
    assert found(age(*values), place=INDEXER) == []


def test_records_that_failed_to_arrive_are_lost() -> None:
    (one,) = found(series("FailedToReplicateRecordCount", (0.0, 7.0), DelegatedOperation="PutRecord"))
    assert (one.severity, one.cause, one.evidence["failed_records"]) == (Severity.HIGH, "failed-replication", 7.0)


@pytest.mark.parametrize(("refused", "served", "count"), [(10, 990, 1), (10, 0, 1), (9, 9, 0), (10, 991, 0)])
def test_readers_that_are_refused_are_too_many(refused: float, served: float, count: int) -> None:
    told = found(*reads(refused, served))
    assert len(told) == count
    for one in told:
        assert (one.cause, one.evidence["served_reads"], one.evidence["throttled_puts"]) == (
            "readers-throttled",
            served,
            0,
        )
        assert [(advice.action, advice.reversible) for advice in one.advice] == [
            ("check-client", None),
            ("use-stream", True),
        ]


def test_how_many_consumers_are_declared_is_told() -> None:
    (one,) = found(*reads(10, 990), place=INDEXER)
    (other,) = found(*reads(10, 990))
    assert (one.evidence["declared_consumers"], other.evidence["declared_consumers"]) == (3, None)


def test_a_stream_with_too_few_shards_is_told() -> None:
    puts: dict[str, Any] = {"stat": "Maximum", "DelegatedOperation": "PutRecord"}
    (one,) = found(series("ThrottledPutRecordCount", (4.0, 6.0), **puts))
    assert (one.cause, one.severity) == ("puts-throttled", Severity.MEDIUM)
    assert (one.evidence["throttled_puts"], one.evidence["throttled_share"]) == (10, 0)
    assert "read-only" in (one.advice[0].command or "")
    assert "StreamMode: ON_DEMAND" in (one.advice[1].snippet or "")
    assert found(series("ThrottledPutRecordCount", (4.0, 5.0), **puts)) == []


def test_series_without_points_say_nothing() -> None:
    names = ("FailedToReplicateRecordCount", "ThrottledRequests")
    assert found(*(series(name, (), Operation="GetRecords") for name in names)) == []


def test_a_quiet_stream_and_an_index_are_silent() -> None:
    assert found(age(*[2000.0] * 5), *reads(0, 500), place=INDEXER) == []
    assert list(StreamLag().detect(traffic(GSI2, metrics=(age(*[9e7] * 5),)))) == []
    assert found(series("AgeOfOldestUnreplicatedRecord", (9e7,) * 5, stat="Average")) == []
