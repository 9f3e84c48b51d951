"""Callers wait longer, and DynamoDB is as quick as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.detectors.heat.latency_shift import LatencyShift
from analyzer.model.finding import Finding, Severity
from analyzer.model.traffic import Latency
from tests.detectors.heat.test_latency_shift import latency, silent, slower
from tests.support.calls import book, call, item
from tests.support.evidence import row
from tests.support.recordings import Recorded, only_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.model.calls import CallBook
    from analyzer.model.traffic import Traffic

DAY = 86_400
FLAT = (10.0,) * 5


def past(days: int = 3, ms: float = 16.0) -> CallBook:
    return book(
        *(
            call(at=day * DAY + second, latency_ms=ms, key=item(f"CASE#{second}"))
            for day in range(days)
            for second in range(100)
        )
    )


def waits(
    ms: float = 128.0, calls: CallBook | None = None, attempts: float = 1.0, service: tuple[float, ...] = FLAT
) -> Traffic:
    rows = (row(latency=latency(ms), attempts_a_request=attempts),)
    return slower(10.0, service, rows=rows, calls=past() if calls is None else calls)


def only(evidence: Traffic) -> Finding:
    (one,) = LatencyShift().detect(evidence)
    assert isinstance(one, Finding)
    return one


def test_the_client_is_slower_though_dynamodb_is_not() -> None:
    one = only(waits())
    assert (one.severity, one.cause, one.caller, one.subject) == (Severity.MEDIUM, "client", "api", "GetItem")
    told = ("client_p99_ms", "usual_client_p99_ms", "p99_ms", "usual_p99_ms", "ratio", "days")
    assert [one.evidence[name] for name in told] == [128, 16, 10, 10, 8, 3]
    assert one.summary.endswith("while DynamoDB takes 10 ms as ever: the time is lost before or after it")
    assert one.advice[0].action == "check-client"


def test_what_was_tried_again_explains_the_wait() -> None:
    one = only(waits(attempts=1.2))
    assert (one.cause, one.summary.rpartition(": ")[2]) == ("retries", "1.20 tries a call")


def test_where_dynamodb_itself_is_slower_that_is_told() -> None:
    assert only(waits(service=(30.0,) * 5)).evidence["usual_p99_ms"] == 10


@pytest.mark.parametrize(
    "evidence",
    [
        waits(16.0),
        waits(calls=past(days=2)),
        waits(calls=past(ms=128.0)),
        waits(calls=past(ms=90.0)),
        slower(10.0, FLAT, rows=(row(latency=Latency((), 0.0, 0)),), calls=past()),
    ],
    ids=["as quick as ever", "two days", "always so slow", "less than double", "no latency told"],
)
def test_clients_that_wait_as_ever_or_whose_past_is_not_known_are_silent(evidence: Traffic) -> None:
    assert silent(evidence)


def test_milliseconds_hurt_nobody() -> None:
    evidence = slower(0.5, (0.5,) * 5, rows=(row(latency=latency(4.0)),), calls=past(ms=1.0))
    assert silent(evidence)


def test_a_recording_of_four_days_shows_it(tmp_path: Path) -> None:
    made = Recorded(minutes=3 * 1440 + 5, table="carts").table("cart", read=100, write=10)
    for day in range(4):
        for number in range(240):
            ms = 300.0 + number % 7 if day == 3 and number % 20 == 0 else 4.0 + number % 5
            key, at = {"cart": f"C{number}"}, day * DAY + number
            made.request("GetItem", at, key=key, units=0.5, latency_ms=ms, attempts=1, caller="shop")
        for stat, value in (("p99", 7.0), ("SampleCount", 120.0)):
            made.metric("SuccessfulRequestLatency", [value] * 5, stat=stat, at=day * DAY, Operation="GetItem")
    one = only_of(made.replayed(tmp_path), "latency-shift")
    assert (one.cause, one.caller, one.evidence["p99_ms"]) == ("client", "shop", 7)
