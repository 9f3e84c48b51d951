from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.idempotency_mismatch import IdempotencyMismatch
from analyzer.model.calls import CallTry
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Declared, Place
from tests.support.calls import book, call
from tests.support.evidence import refused, row, shape, traffic

CODE = "IdempotentParameterMismatchException"
ADD = shape("UpdateItem", "add", update="ADD hits :0")


def found(*calls: Any, **fields: Any) -> list[Finding]:
    evidence = traffic(**({"calls": book(*calls)} | fields))
    return [one for one in IdempotencyMismatch().detect(evidence) if isinstance(one, Finding)]


def lost(error: str = "ReadTimeoutError") -> Any:
    return call("UpdateItem", 0, ADD, tries=(CallTry(at_ms=1.0, code=error),))


@pytest.mark.parametrize(("calls", "severity"), [(10, Severity.HIGH), (9, Severity.MEDIUM)])
def test_a_reused_token_is_refused_and_told_by_caller(calls: int, severity: Severity) -> None:
    rows = (row(shape("TransactWriteItems", "t"), caller="checkout"), row(caller="other"))
    (one,) = found(rows=rows, refusals=(refused("m", calls, code=CODE), refused("m", 99)))
    assert (one.severity, one.cause, one.caller) == (severity, "token-reused", "checkout")
    assert one.evidence["refused_calls"] == calls
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("fix-caller", None),
        ("check-client", True),
    ]


def test_it_is_one_fault_a_caller_at_the_shape_that_was_refused_most() -> None:
    shapes = [shape("TransactWriteItems", name) for name in ("a", "b", "c")]
    rows = (*(row(of, caller="checkout") for of in shapes), row(shapes[0], caller=None))
    tried = enumerate((2, 5, 3, 4))
    told = found(rows=rows, refusals=tuple(refused("m", calls, number, CODE) for number, calls in tried))
    assert [(one.subject, one.fingerprint, one.evidence["refused_calls"]) for one in told] == [
        ("token\x1fcheckout", "b", 10),
        ("token\x1f", "a", 4),
    ]


def test_without_calls_refusals_are_told_all_the_same() -> None:
    assert len(found(refusals=(refused("m", 1, code=CODE),), calls=None)) == 1


def test_an_addition_that_was_sent_again_may_count_twice() -> None:
    (one,) = found(lost(), rows=(row(ADD, requests=500),))
    assert (one.severity, one.confidence, one.cause) == (Severity.MEDIUM, Confidence.LIKELY, "added-twice")
    assert (one.evidence["share"], one.evidence["error"], one.pattern) == (0.002, "ReadTimeoutError", "load-case")
    assert any("ConditionExpression" in (advice.snippet or "") for advice in one.advice)


@pytest.mark.parametrize(("requests", "severity"), [(1000, Severity.MEDIUM), (1001, Severity.LOW)])
def test_rare_repetitions_are_worth_knowing_and_no_more(requests: float, severity: Severity) -> None:
    (one,) = found(lost(), rows=(row(ADD, requests=requests),))
    assert one.severity is severity


def test_what_others_do_with_the_same_shape_is_not_reckoned() -> None:
    rows = (row(ADD, caller="other", requests=9000), row(shape(), requests=9000), row(ADD, requests=500))
    (one,) = found(lost(), rows=rows)
    assert one.evidence["requests"] == 500
    assert [advice.reversible for advice in one.advice] == [None, True, None]


def test_where_its_row_is_not_there_the_calls_are_all_that_is_known() -> None:
    (one,) = found(lost(), lost(), rows=())
    assert (one.evidence["requests"], one.pattern) == (2, None)
    assert one.summary.startswith("2 updates of api")


@pytest.mark.parametrize(("idempotency", "count"), [("record", 0), ("token", 0), ("natural", 1), (None, 1)])
def test_a_record_of_what_was_done_acquits_and_a_claim_does_not(idempotency: str | None, count: int) -> None:
    place = Place(declared=True, patterns={"load-case": Declared(id="load-case", idempotency=idempotency)})
    assert len(found(lost(), rows=(row(ADD),), place=place)) == count


def test_throttled_tries_and_quiet_tables_are_nothing() -> None:
    assert found(lost("ThrottlingException"), rows=(row(ADD),)) == []
    assert found() == []
