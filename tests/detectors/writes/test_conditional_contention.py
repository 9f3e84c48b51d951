from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.conditional_contention import ConditionalContention
from analyzer.model.calls import CallPart
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.shape import PartShape
from analyzer.model.traffic import Declared, Place, Refused
from analyzer.statistics.intervals import estimate_count
from tests.support.calls import book, call, item
from tests.support.evidence import DECLARED, GSI2, UNDECLARED, refused, row, shape, traffic
from tests.support.told import series

KEYED = Place(partition_key=("PK",), sort_key=("SK",))
VERSION = shape("UpdateItem", "version", condition="version = ?")
CREATE = shape("PutItem", "create", condition="attribute_not_exists(PK)")
LEASE = shape("UpdateItem", "lease", condition="leaseCounter = ?")
JOB = item("JOB#7", "META")


def lost(times: int = 40, key: Any = JOB, of: Any = VERSION, **fields: Any) -> list[Any]:
    return [call(at=n, of=of, key=key, error="ConditionalCheckFailedException", **fields) for n in range(times)]


def found(*calls: Any, of: Any = VERSION, requests: float = 100, failures: int = 40, **fields: Any) -> list[Finding]:
    given: dict[str, Any] = {
        "rows": (row(of, UNDECLARED, requests=requests, failed=failures),),
        "refusals": (refused("The conditional request failed", failures, code="ConditionalCheckFailedException"),),
        "calls": book(*calls),
        "place": KEYED,
    }
    return [one for one in ConditionalContention().detect(traffic(**given | fields)) if isinstance(one, Finding)]


def test_version_checks_that_keep_failing_on_one_key_are_medium() -> None:
    (one,) = found(*lost())
    assert (one.severity, one.confidence, one.cause) == (Severity.MEDIUM, Confidence.CERTAIN, "version")
    assert (one.key, one.evidence["failed_share"]) == ({"PK": "JOB#7", "SK": "META"}, 0.4)
    assert one.summary.startswith("40 of 100 UpdateItem of api to {key} in cases (40%) failed")
    assert (one.evidence["keys_seen"], one.evidence["key_failures"]) == (1, 40)
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("check-client", None),
        ("retry-with-jitter", True),
        ("split-item", True),
        ("use-queue", True),
    ]
    assert one.advice[1].text.startswith("Read the item again, strongly")
    assert "ConsistentRead=True" in (one.advice[1].snippet or "")


def of_keys(*times: int) -> list[Any]:
    """Failures at so many keys, each so many times."""
    return [one for number, many in enumerate(times) for one in lost(many, item(f"JOB#{number:02}", "META"))]


@pytest.mark.parametrize(
    ("times", "severity"),
    [((2,) * 10 + (1,) * 20, Severity.MEDIUM), ((2,) * 9 + (1,) * 22, Severity.LOW)],
)
def test_half_of_the_failures_on_keys_that_fail_again_is_a_fight(times: tuple[int, ...], severity: Severity) -> None:
    (one,) = found(*of_keys(*times))
    assert (one.severity, one.key) == (severity, None)
    assert one.summary.startswith("40 of 100 UpdateItem of api to cases (40%) failed")


@pytest.mark.parametrize(
    ("times", "failures"),
    [((20, *(1,) * 20), 20), ((19, *(1,) * 20), None), ((2, 1, 1), 2), ((1,), None)],
    ids=["half", "less than half", "twice", "once is none"],
)
def test_a_key_with_half_of_the_failures_is_the_one_to_look_at(times: tuple[int, ...], failures: int | None) -> None:
    (one,) = found(*of_keys(*times))
    assert one.key == (None if failures is None else {"PK": "JOB#00", "SK": "META"})
    assert (one.evidence["keys_seen"], one.evidence["key_failures"]) == (len(times), failures)


def test_failures_on_a_new_key_each_time_are_low_and_name_none() -> None:
    (one,) = found(*(lost(1, item(f"JOB#{n}", "META"))[0] for n in range(40)))
    assert (one.severity, one.key) == (Severity.LOW, None)
    assert [advice.action for advice in one.advice] == ["check-client", "retry-with-jitter"]


def test_where_keys_are_not_known_version_checks_are_medium() -> None:
    (one,) = found(*lost(key=None, trace="t"))
    assert (one.severity, one.key, one.evidence["keys_seen"]) == (Severity.MEDIUM, None, None)


@pytest.mark.parametrize(
    ("failures", "requests", "count"), [(20, 100, 1), (19, 100, 0), (10, 20, 1), (9, 20, 0), (10, 50, 1), (10, 51, 0)]
)
def test_a_smaller_share_or_few_failures_are_silent(failures: int, requests: float, count: int) -> None:
    assert len(found(*lost(failures), failures=failures, requests=requests)) == count


@pytest.mark.parametrize(
    ("of", "cause"),
    [
        (CREATE, "create-once"),
        (LEASE, "lock"),
        (shape("UpdateItem", "owned", condition="owner = ?"), "lock"),
        (shape("PutItem", "expiry", condition="attribute_not_exists(PK) OR until < ?"), "lock"),
        (shape("DeleteItem", "there", condition="attribute_exists(PK)"), "must-exist"),
        (shape("PutItem", "none"), "unknown"),
        (shape("PutItem", "typed", condition="attribute_type(PK, ?)"), "unknown"),
        (shape("ExecuteStatement", "insert", statement="INSERT INTO cases VALUE ?", writes=True), "create-once"),
    ],
)
def test_what_is_meant_to_fail_is_low(of: Any, cause: str) -> None:
    (one,) = found(*lost(of=of), of=of)
    assert (one.severity, one.cause) == (Severity.LOW, cause)
    assert (one.confidence is Confidence.LIKELY) is (cause == "unknown")
    assert one.advice[1].text.startswith("Take the failure as the answer")
    assert "ReturnValuesOnConditionCheckFailure" in (one.advice[1].snippet or "")


@pytest.mark.parametrize("condition", ["lock_version = ?", "attribute_not_exists(PK) OR version < ?"])
def test_optimistic_locking_is_no_lock(condition: str) -> None:
    of = shape("UpdateItem", "o", condition=condition)
    (one,) = found(*lost(of=of), of=of)
    assert (one.severity, one.cause) == (Severity.MEDIUM, "version")


def test_a_library_s_table_is_low() -> None:
    (one,) = found(*lost(), place=Place(partition_key=("PK",), library="Kinesis Client Library"))
    assert (one.severity, one.evidence["library"]) == (Severity.LOW, "Kinesis Client Library")


def test_a_pattern_that_declares_to_create_only_is_low() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", condition="create-only")})
    (one,) = found(*lost(), rows=(row(VERSION, DECLARED, requests=100, failed=40),), place=place)
    assert (one.severity, one.cause) == (Severity.LOW, "create-once")
    plain = Place(patterns={"load-case": Declared(id="load-case")})
    (one,) = found(*lost(), rows=(row(VERSION, DECLARED, requests=100, failed=40),), place=plain)
    assert one.cause == "version"


def test_a_lease_that_is_declared_as_a_version_is_a_lock() -> None:
    place = Place(patterns={"load-case": Declared(id="load-case", condition="version")})
    (one,) = found(*lost(of=LEASE), of=LEASE, rows=(row(LEASE, DECLARED, requests=100, failed=40),), place=place)
    assert (one.severity, one.cause) == (Severity.LOW, "lock")
    (one,) = found(*lost(of=CREATE), of=CREATE, rows=(row(CREATE, DECLARED, requests=100, failed=40),), place=place)
    assert (one.severity, one.cause) == (Severity.MEDIUM, "version")


def test_a_transaction_canceled_by_a_condition_names_the_item_of_that_part() -> None:
    parts = (PartShape("Put", condition="attribute_not_exists(PK)"), PartShape("Update", condition="version = ?"))
    of = shape("TransactWriteItems", "tw", writes=True, key=(), parts=parts)
    part = CallPart(position=1, operation="Update", table="cases", key=JOB, canceled="ConditionalCheckFailed")
    told: dict[str, Any] = {"error": "TransactionCanceledException", "cancellation": (None, "ConditionalCheckFailed")}
    calls = [call(at=n, of=of, key=None, parts=(part,), **told) for n in range(40)]
    (one,) = found(*calls, of=of, refusals=(refused("", 40, code="TransactionCanceledException"),))
    assert (one.severity, one.key) == (Severity.MEDIUM, {"PK": "JOB#7", "SK": "META"})


def test_the_caller_that_fails_most_is_told() -> None:
    rows = (row(VERSION, caller="a", requests=100, failed=30), row(VERSION, caller="b", requests=100, failed=60))
    code = "ConditionalCheckFailedException"
    refusals = (refused("", 30, 0, code), refused("", 60, 1, code), refused("Bad value", 5, 0))
    (one,) = found(rows=rows, refusals=refusals)
    assert one.caller == "b"


def sample(failures: int, records: int, rate: float = 0.1) -> list[Finding]:
    """Judge so many failed records among all that a sample kept."""
    failed, all_of_them = estimate_count([(failures, rate)]), estimate_count([(records, rate)])
    rows = (row(VERSION, requests=all_of_them, failed=failed, observed=records),)
    refusals = (Refused(0, "ConditionalCheckFailedException", "", failed),)
    return found(*lost(failures), rows=rows, refusals=refusals)


@pytest.mark.parametrize(
    ("failures", "records", "count"),
    [(6, 21, 0), (7, 21, 0), (8, 21, 1), (3, 15, 0), (4, 7, 0), (9, 9, 0), (10, 10, 1), (24, 100, 0), (30, 100, 1)],
)
def test_of_a_sample_the_least_that_the_share_may_be_counts(failures: int, records: int, count: int) -> None:
    assert len(sample(failures, records)) == count


def test_a_sample_tells_the_share_that_it_shows() -> None:
    (one,) = sample(40, 100)
    assert (one.severity, one.evidence["failed_share"], one.evidence["requests"]) == (Severity.MEDIUM, 0.4, 1000.0)


def test_failures_that_are_estimated_alone_are_a_sample_too() -> None:
    refusals = (Refused(0, "ConditionalCheckFailedException", "", Estimate(20.0, 12.0, 31.0)),)
    assert found(*lost(20), refusals=refusals) == []


def test_metrics_alone_are_possible_and_low() -> None:
    told = (
        series("ConditionalCheckFailedRequests", (10,) * 5),
        series("SuccessfulRequestLatency", (20,) * 5, stat="SampleCount", Operation="PutItem"),
        series("SuccessfulRequestLatency", (), stat="SampleCount", Operation="UpdateItem"),
    )
    (one,) = found(rows=(), refusals=(), metrics=told)
    assert (one.severity, one.confidence) == (Severity.LOW, Confidence.POSSIBLE)
    assert one.evidence == {"failed_conditions": 50.0, "failed_share": 0.3333}


@pytest.mark.parametrize(
    "told",
    [
        (),
        (series("ConditionalCheckFailedRequests", (10,) * 5),),
        (
            series("ConditionalCheckFailedRequests", (1,) * 5),
            series("SuccessfulRequestLatency", (20,) * 5, stat="SampleCount", Operation="PutItem"),
        ),
    ],
    ids=["none", "served ones not counted", "few"],
)
def test_metrics_that_do_not_convict_are_silent(told: Any) -> None:
    assert found(rows=(), refusals=(), metrics=told) == []


def test_an_index_is_silent() -> None:
    assert found(*lost(), target=GSI2) == []
