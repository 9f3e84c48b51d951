from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.service_fault import ServiceFault
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Around
from tests.support.evidence import GSI2, row, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in ServiceFault().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def around(**fields: int) -> Around:
    return Around(asked=4, **fields)


def answered(errors: float, requests: float = 10_000, **fields: Any) -> Traffic:
    return traffic(rows=(row(requests=requests, failed=errors, server_errors=errors),), **fields)


def lost(calls: float, requests: float = 1000, **fields: Any) -> Traffic:
    return traffic(rows=(row(requests=requests, failed=calls, transport_failures=calls),), **fields)


def measured(*values: float, requests: float = 1000, **fields: Any) -> Traffic:
    metrics = (
        series("SystemErrors", values, Operation="GetItem"),
        series("SuccessfulRequestLatency", (requests,), stat="SampleCount", Operation="GetItem"),
    )
    return traffic(rows=(), metrics=metrics, **fields)


def test_one_answer_in_a_thousand_that_dynamodb_fails_to_give_is_high() -> None:
    one = only(answered(10))
    assert (one.severity, one.cause, one.sources) == (Severity.HIGH, "service", ("request-log",))
    assert (one.evidence["server_errors"], one.evidence["server_error_share"]) == (10, 0.001)
    assert [advice.action for advice in one.advice] == ["check-service-health", "check-client"]


def test_it_is_critical_where_one_call_in_twenty_fails_of_it() -> None:
    assert only(answered(500)).severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("errors", "requests", "severity"),
    [(500, 10_000, Severity.CRITICAL), (499, 10_000, Severity.HIGH), (5, 5, Severity.CRITICAL)],
)
def test_how_many_of_the_calls_fail_of_it(errors: float, requests: float, severity: Severity) -> None:
    one = only(answered(errors, requests))
    assert (one.severity, one.evidence["failed_calls"]) == (severity, errors)


def test_failed_conditions_do_not_make_it_critical() -> None:
    locks = row(requests=10_000, failed=5000, condition_failed=4990, server_errors=10)
    assert only(traffic(rows=(locks,))).severity is Severity.HIGH


def test_two_tables_at_once_need_less_of_it() -> None:
    one = only(answered(5, 50_000, around=around(with_server_errors=2)))
    assert "2 of 4 tables with it" in one.summary
    assert found(answered(5, 50_000, around=around(with_server_errors=1))) == []


def test_metrics_tell_it_too() -> None:
    one = only(measured(4, 6))
    assert (one.severity, one.sources) == (Severity.HIGH, ("cloudwatch-metrics",))
    assert one.evidence == {
        "server_errors": 10,
        "server_error_share": 0.01,
        "failed_calls": None,
        "requests": 1000,
        "tables_with_it": 0,
        "tables_seen": 0,
    }
    assert only(traffic(rows=(), metrics=(series("SystemErrors", (9,)),))).summary.count("share unknown") == 1


def test_injected_errors_are_an_exercise() -> None:
    injected = series("FaultInjectionServiceInducedErrors", (50,), Operation="GetItem")
    one = only(answered(500, metrics=(injected,)))
    assert (one.severity, one.cause, one.advice) == (Severity.LOW, "fault-injection", ())


def test_calls_without_an_answer_over_several_tables_are_the_path() -> None:
    one = only(lost(10, around=around(with_transport_failures=3)))
    assert (one.severity, one.confidence, one.cause, one.caller) == (Severity.HIGH, Confidence.CERTAIN, "path", "api")
    assert "3 of 4 tables" in one.summary
    assert only(lost(50, around=around(with_transport_failures=3))).severity is Severity.CRITICAL


@pytest.mark.parametrize(("tables", "is_path"), [(2, True), (1, False)])
def test_two_tables_without_an_answer_are_the_path(tables: int, *, is_path: bool) -> None:
    one = only(lost(10, around=around(with_transport_failures=tables)))
    assert (one.confidence is Confidence.CERTAIN) is is_path
    assert [advice.action for advice in one.advice] == ["check-client", "check-service-health"]


@pytest.mark.parametrize(
    ("calls", "of", "severity"),
    [(5, 500, Severity.MEDIUM), (5, 100, Severity.HIGH), (49, 1000, Severity.MEDIUM), (50, 1000, Severity.HIGH)],
)
def test_five_calls_and_one_in_a_hundred_are_lost(calls: float, of: float, severity: Severity) -> None:
    assert only(lost(calls, of)).severity is severity


def test_those_of_one_table_alone_may_be_the_client_s_and_page_nobody() -> None:
    one = only(lost(10, around=around(with_transport_failures=1)))
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.POSSIBLE)
    assert one.advice[0].action == "check-client"
    assert only(lost(50)).severity is Severity.HIGH


def test_what_reads_of_an_index_meet_counts_at_its_table() -> None:
    index = traffic(GSI2, rows=(row(requests=1000, server_errors=20), row(requests=0, secondary=True)))
    assert only(traffic(indexes=(index,))).evidence["server_errors"] == 20


def test_of_several_callers_none_is_named() -> None:
    rows = tuple(row(caller=name, requests=500, transport_failures=5) for name in ("api", "batch"))
    assert only(traffic(rows=rows)).caller is None


@pytest.mark.parametrize(
    "evidence",
    [
        answered(4, 1000),
        answered(9),
        answered(4, around=around(with_server_errors=2)),
        lost(4, 100),
        lost(9),
        measured(4),
        measured(),
        traffic(GSI2, rows=(row(server_errors=500),)),
        traffic(),
        traffic(rows=()),
    ],
    ids=[
        "few",
        "small share",
        "few at two tables",
        "few lost",
        "small share lost",
        "few",
        "zero",
        "an index",
        "",
        "none",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert found(evidence) == []
