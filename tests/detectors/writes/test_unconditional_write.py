from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.detectors.writes.unconditional_write import UnconditionalWrite
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.shape import PartShape
from analyzer.model.traffic import Declared, Place
from tests.support.calls import book, call, item
from tests.support.evidence import UNDECLARED, row, shape, traffic

PUT = shape("PutItem", "put")
GUARDED = shape("PutItem", "guarded", condition="attribute_not_exists(PK)")


def declared(condition: str | None) -> Place:
    return Place(declared=True, patterns={"load-case": Declared(id="load-case", condition=condition)})


def found(*calls: Any, condition: str | None = None, **fields: Any) -> list[Finding]:
    given: dict[str, Any] = {"place": declared(condition), "calls": book(*calls)} | fields
    evidence = traffic(**given)
    return [one for one in UnconditionalWrite().detect(evidence) if isinstance(one, Finding)]


def changes(one: Finding) -> list[str]:
    """What is advised to change, which code can show."""
    return [advice.action for advice in one.advice if advice.snippet is not None]


@pytest.mark.parametrize("condition", ["required", "create-only", "version"])
def test_a_pattern_that_requires_a_condition_and_gets_none_is_told(condition: str) -> None:
    others = (row(shape("GetItem", "get"), requests=500), row(shape("PutItem", "other"), UNDECLARED, requests=500))
    (one,) = found(condition=condition, rows=(row(PUT, requests=30), row(GUARDED, requests=70), *others))
    assert (one.severity, one.confidence, one.cause) == (Severity.MEDIUM, Confidence.CERTAIN, "condition-missing")
    assert (one.evidence["unconditional_writes"], one.evidence["writes"]) == (30, 100)
    assert changes(one) == [
        "use-conditional-write",
        "update-less",
        "update-declaration",
    ]
    assert [advice.reversible for advice in one.advice] == [None, True, True, None]


def test_one_call_without_its_condition_is_enough() -> None:
    (one,) = found(condition="required", rows=(row(PUT, requests=1),))
    assert one.summary.startswith("1 write of api to cases came without a condition")


@pytest.mark.parametrize(
    ("condition", "wanted"), [("create-only", "not_exists()"), ("version", "eq(read)"), ("required", "eq(read)")]
)
def test_the_snippet_is_the_condition_that_is_declared(condition: str, wanted: str) -> None:
    (one,) = found(condition=condition, rows=(row(PUT),))
    assert wanted in (one.advice[1].snippet or "")


def test_where_no_write_tells_a_condition_the_log_may_leave_them_out() -> None:
    (one,) = found(condition="required", rows=(row(PUT),))
    assert one.confidence is Confidence.LIKELY


def test_an_update_gets_no_advice_to_update() -> None:
    update = shape("UpdateItem", "u", update="SET a = :0", key=())
    (one,) = found(condition="required", rows=(row(update),))
    assert changes(one) == [
        "use-conditional-write",
        "update-declaration",
    ]


@pytest.mark.parametrize(
    "of",
    [
        GUARDED,
        shape("PutItem", "p", key=()),
        shape("PutItem", "p", parsed=False),
        shape("GetItem", "g"),
        shape("ExecuteStatement", "s", statement="INSERT INTO cases VALUE ?", writes=True),
        shape("TransactWriteItems", "t", writes=True, parts=(PartShape("Put", condition="a = :0"), PartShape("Put"))),
        shape("TransactWriteItems", "t", writes=True, parts=(PartShape("ConditionCheck"), PartShape("Put"))),
    ],
    ids=["has one", "tells nothing", "not parsed", "a read", "a statement", "a part has one", "a check"],
)
def test_a_write_with_a_condition_or_of_which_none_can_be_seen_is_no_fault(of: Any) -> None:
    assert found(condition="required", rows=(row(of),)) == []


def test_a_batch_can_have_no_condition() -> None:
    batch = shape("BatchWriteItem", "b", writes=True, key=(), parts=(PartShape("Put"),))
    assert len(found(condition="create-only", rows=(row(batch),))) == 1


def test_a_pattern_that_asks_for_none_and_costs_of_an_index_are_no_fault() -> None:
    assert found(condition="none", rows=(row(PUT),)) == []
    assert found(condition=None, rows=(row(PUT),)) == []
    assert found(condition="required", rows=(row(PUT, secondary=True),)) == []
    assert (
        list(
            UnconditionalWrite(least_calls=11).detect(
                traffic(rows=(row(PUT, requests=10),), place=declared("required"))
            )
        )
        == []
    )


def put_back(number: int, **fields: Any) -> list[Any]:
    given: dict[str, Any] = {"trace": f"t{number}", "key": item(f"CASE#{number}", "META")} | fields
    return [call("GetItem", 10 * number, **given), call("PutItem", 10 * number + 1, PUT, **given)]


def several(many: int) -> list[Any]:
    return [one for number in range(many) for one in put_back(number)]


def test_three_items_that_are_put_back_are_a_risk() -> None:
    (one,) = found(*several(3), rows=(row(PUT),))
    assert (one.severity, one.confidence, one.cause) == (Severity.MEDIUM, Confidence.LIKELY, "read-then-put")
    assert (one.evidence["put_backs"], one.evidence["gap_median_ms"], one.pattern) == (3, 1000, "load-case")

    assert "eq(read)" in (one.advice[1].snippet or "")


def test_the_time_between_is_the_middle_one() -> None:
    backs = [(*put_back(number), seconds) for number, seconds in enumerate((9, 1, 3, 2, 4))]
    calls = [
        one
        for read, put, seconds in backs
        for one in (read, msgspec.structs.replace(put, time=read.time + seconds * 1000))
    ]
    (one,) = found(*calls, rows=(row(PUT),))
    assert (one.evidence["gap_median_ms"], one.evidence["gap_most_ms"], one.evidence["keys"]) == (3000, 9000, 5)
    assert "put it back whole 3,000 ms (median) later" in one.summary


def test_the_pattern_is_that_of_the_caller_s_own_puts() -> None:
    rows = (row(PUT, UNDECLARED, "other"), row(shape("PutItem", "else"), UNDECLARED), row(PUT))
    (one,) = found(*several(3), rows=rows)
    assert one.pattern == "load-case"


def test_two_are_not() -> None:
    assert found(*several(2), rows=(row(PUT),)) == []


def test_one_that_lost_a_write_of_others_is_harm() -> None:
    other = call("UpdateItem", 0.5, shape("UpdateItem", "u"), key=item("CASE#0", "META"), trace="u")
    (one,) = found(*put_back(0), other, rows=())
    assert (one.severity, one.confidence) == (Severity.HIGH, Confidence.CERTAIN)
    assert "once somebody else" in one.summary
    (several_lost,) = found(*put_back(0), other, *put_back(0, trace="again"), rows=())
    assert several_lost.evidence["writes_lost"] == 2
    assert "2 times somebody else" in several_lost.summary


def test_what_is_meant_what_a_library_does_and_what_was_told_already_is_silent() -> None:
    assert found(*several(3), condition="none", rows=(row(PUT),)) == []
    library = Place(library="session store")
    assert found(*several(3), place=library, rows=(row(PUT),)) == []
    assert len(found(*several(3), condition="required", rows=(row(PUT),))) == 1


def test_without_calls_and_declarations_there_is_nothing() -> None:
    assert found(calls=None) == []
