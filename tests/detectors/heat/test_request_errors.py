from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.request_errors import RequestErrors
from analyzer.model.finding import Change, Confidence, Direction, Finding, Risk, Severity
from tests.support.calls import book, call
from tests.support.evidence import refused, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

INVALID = "One or more parameter values were invalid"


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in RequestErrors().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def failing(count: float = 10, message: str = INVALID, code: str = "ValidationException", **fields: Any) -> Traffic:
    return traffic(refusals=(refused(message, count, code=code),), **fields)


def test_one_call_in_a_hundred_that_is_refused_is_medium() -> None:
    one = only(failing())
    assert (one.severity, one.cause, one.caller, one.direction) == (
        Severity.MEDIUM,
        "validation",
        "api",
        Direction.READ,
    )
    assert (one.evidence["refused_share"], one.evidence["code"]) == (0.01, "ValidationException")
    assert one.summary.endswith(INVALID)


def test_half_of_a_shape_is_high() -> None:
    assert only(failing(500)).severity is Severity.HIGH


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("AccessDeniedException", "access"),
        ("ExpiredTokenException", "access"),
        ("ResourceNotFoundException", "missing-table"),
        ("KMSDisabledException", "key-unusable"),
        ("SerializationException", "validation"),
    ],
)
def test_the_code_says_what_is_wrong(code: str, cause: str) -> None:
    one = only(failing(code=code, message=""))
    assert one.cause == cause
    assert one.summary.endswith(code)


def test_a_look_at_the_place_is_offered_where_it_helps() -> None:
    look, mend = only(failing(code="KMSDisabledException")).advice
    assert (look.command or "").endswith("# read-only")
    assert [(one.action, one.risk) for one in (look, mend)] == [("check-client", Risk.NONE), ("fix-caller", Risk.LOW)]
    assert only(failing()).advice[0].command is None


def test_an_index_key_of_the_wrong_type_is_a_wrong_request() -> None:
    message = "Type mismatch for Index Key status Expected: S Actual: NULL IndexName: by-status"
    assert only(failing(message=message)).cause == "validation"


def test_of_two_callers_of_one_shape_the_one_that_meets_it_more_is_named() -> None:
    rows = (row(), row(caller="batch", requests=20), row(caller="job"))
    told = (refused(INVALID, 10), refused(INVALID, 10, of_row=1), refused(INVALID, 20, of_row=2))
    one = only(traffic(rows=rows, refusals=told))
    assert one.caller == "batch"


def test_of_two_callers_that_meet_it_alike_the_first_is_named() -> None:
    told = (refused(INVALID, 10), refused(INVALID, 10, of_row=1))
    assert only(traffic(rows=(row(), row(caller="batch")), refusals=told)).caller == "api"


def test_an_error_that_is_another_detector_s_hides_none_beside_it() -> None:
    told = (refused("The table does not have the specified index: GSI9", 90), refused(INVALID, 10))
    assert only(traffic(refusals=told)).evidence["refused_calls"] == 10


@pytest.mark.parametrize(("calls", "fires"), [(5, True), (4, False)])
def test_five_refused_calls_are_enough(calls: float, *, fires: bool) -> None:
    assert bool(found(failing(calls, rows=(row(requests=calls),)))) is fires


def test_a_rare_error_that_is_new_since_a_deploy_is_told() -> None:
    deploy = Change(time=100_000, what="deploy")
    of = shape(fingerprint="f0")
    before = book(call(of=of, at=50))
    one = only(failing(5, changes=(deploy,), calls=before))
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.LIKELY)
    assert "new since a change (deploy)" in one.summary


def test_one_call_in_a_hundred_is_told_as_certain_whatever_changed() -> None:
    changed: dict[str, Any] = {
        "changes": (Change(time=100_000, what="deploy"),),
        "calls": book(call(of=shape(), at=50)),
    }
    assert only(failing(10, **changed)).confidence is Confidence.CERTAIN
    assert only(failing(9.9, **changed)).confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    ("at", "is_suspect"), [(-3_300_000, True), (-3_300_001, False), (299_999, True), (300_000, False)]
)
def test_a_change_of_the_hour_before_the_end_of_the_window_is_suspect(at: int, *, is_suspect: bool) -> None:
    long_ago = book(call(of=shape(), at=-4000))
    assert bool(found(failing(5, changes=(Change(time=at, what="deploy"),), calls=long_ago))) is is_suspect


def test_of_two_changes_the_later_is_suspect_and_an_error_between_them_clears_it() -> None:
    both = (Change(time=200_000, what="deploy"), Change(time=100_000, what="ttl"))
    good, bad = (call(of=shape(), at=50), call(of=shape(), at=150, error="ValidationException"))
    assert "new since a change (deploy)" in only(failing(5, changes=both, calls=book(good))).summary
    assert found(failing(5, changes=both, calls=book(good, bad))) == []


def test_a_call_in_the_moment_of_a_change_tells_nothing_of_before() -> None:
    deploy = (Change(time=100_000, what="deploy"),)
    assert found(failing(5, changes=deploy, calls=book(call(of=shape(), at=100)))) == []


@pytest.mark.parametrize(
    ("change", "before"),
    [
        (Change(time=100_000, what="deploy"), [call(of=shape(), at=50, error="ValidationException")]),
        (Change(time=100_000, what="deploy"), [call(of=shape(), at=150)]),
        (Change(time=100_000, what="capacity"), [call(of=shape(), at=50)]),
        (Change(time=-3_600_000, what="deploy"), [call(of=shape(), at=-4000)]),
    ],
    ids=["it was there before", "nothing is known of before", "another kind of change", "long ago"],
)
def test_a_rare_error_that_is_not_known_to_be_new_is_not(change: Change, before: list[Any]) -> None:
    assert found(failing(5, changes=(change,), calls=book(*before))) == []


@pytest.mark.parametrize(
    "evidence",
    [
        failing(9),
        failing(4, rows=(row(requests=4),)),
        failing(code="ProvisionedThroughputExceededException"),
        failing(code="ConditionalCheckFailedException"),
        failing(message="The table does not have the specified index: GSI9"),
        failing(message="Item size has exceeded the maximum allowed size"),
        failing(message="Consistent reads are not supported on global secondary indexes: Consistent read"),
        failing(5, changes=(Change(time=0, what="deploy"),)),
        traffic(),
    ],
    ids=["few", "few calls", "throttle", "condition", "index", "size", "strong read", "calls unknown", "none"],
)
def test_just_below_another_s_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert found(evidence) == []
