from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.indexes.gsi_stale_read import GsiStaleRead
from analyzer.model.calls import CallPart, ReturnedItem
from analyzer.model.finding import Confidence, Finding, Risk, Severity
from analyzer.model.shape import KeyPredicate, PartShape
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Place, Traffic
from analyzer.traffic.own_reads import own_reads
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, row, shape, traffic

OPEN, DONE = item("OPEN"), item("DONE")
CASE = item("CASE#7", "META")
OTHER = item("CASE#8", "META")
KEYED = Place(partition_key=("status",))


def outcomes(*calls: Any, place: Place = KEYED) -> list[Finding | Skipped]:
    return list(GsiStaleRead().detect(traffic(GSI2, calls=book(*calls), place=place)))


def found(*calls: Any, place: Place = KEYED) -> list[Finding]:
    return [one for one in outcomes(*calls, place=place) if isinstance(one, Finding)]


def write(at: float = 0.0, operation: str = "UpdateItem", update: str | None = "SET status = :0", **fields: Any) -> Any:
    of = shape(operation, "write", update=update, parts=fields.pop("parts_of", ()))
    return call(operation, at, of, **{"trace": "t", "key": CASE} | fields)


def read(
    at: float = 0.5, key: Any = OPEN, returned: Any = None, of: dict[str, Any] | None = None, **fields: Any
) -> Any:
    told = None if returned is None else tuple(ReturnedItem(one, None) for one in returned)
    count = None if returned is None else len(returned)
    asked = shape("Query", "read", index="GSI2", **{"key": (KeyPredicate("status", "=", "OPEN"),)} | (of or {}))
    given = {"trace": "t", "target": GSI2, "key": key, "returned": told, "count": count} | fields
    return call("Query", at, asked, **given)


def lost(at: float = 0.6, **fields: Any) -> Any:
    return write(at, error="ConditionalCheckFailedException", **fields)


def test_a_read_of_the_index_half_a_second_after_a_write_of_its_key_is_a_risk() -> None:
    (one,) = found(write(), read())
    assert (one.severity, one.confidence, one.index) == (Severity.LOW, Confidence.LIKELY, "GSI2")
    assert (one.evidence["gap_median_ms"], one.evidence["results_known"]) == (500, 0)
    assert [advice.action for advice in one.advice] == ["fix-caller", "return-written-value", "read-base-table"]


@pytest.mark.parametrize(("at", "is_found"), [(1.0, True), (1.001, False)])
def test_a_second_later_the_index_has_it(at: float, is_found: bool) -> None:  # noqa: FBT001
    assert bool(found(write(), read(at))) is is_found


def test_a_conditional_write_that_loses_after_it_is_harm() -> None:
    (one,) = found(write(), read(), lost())
    assert (one.severity, one.confidence, one.evidence["failed_conditions"]) == (Severity.MEDIUM, Confidence.LIKELY, 1)
    assert "use-conditional-write" in {advice.action for advice in one.advice}


def test_a_condition_that_fails_five_seconds_after_the_read_still_belongs_to_it() -> None:
    (one,) = found(write(), read(0.5), lost(5.5))
    assert one.evidence["failed_conditions"] == 1


@pytest.mark.parametrize(
    "failed",
    [lost(5.501), lost(key=OTHER), lost(trace="u"), lost(target=CASES.at("GSI1")), write(0.6)],
    ids=["later", "another item", "another trace", "elsewhere", "a write that went well"],
)
def test_what_does_not_follow_from_the_read_is_no_harm_of_it(failed: Any) -> None:
    (one,) = found(write(), read(), failed)
    assert one.evidence["failed_conditions"] == 0


def test_a_transaction_that_is_canceled_by_a_condition_is_harm_too() -> None:
    part = CallPart(position=0, operation="Update", table="cases", key=CASE)
    canceled = lost(key=None, parts=(part,), cancellation=(None, "ConditionalCheckFailed"))
    (one,) = found(write(), read(), canceled)
    assert one.severity is Severity.MEDIUM


def test_an_item_that_is_not_under_its_new_key_is_a_stale_result() -> None:
    (one,) = found(write(index_keys=(("GSI2", OPEN),)), read(returned=[OTHER]))
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.CERTAIN)
    assert one.evidence["stale_results"] == 1


def test_an_item_that_is_there_is_a_fresh_result_and_still_a_risk() -> None:
    (one,) = found(write(index_keys=(("GSI2", OPEN),)), read(returned=[OTHER, CASE]))
    assert (one.severity, one.evidence["results_known"], one.evidence["stale_results"]) == (Severity.LOW, 1, 0)


def test_an_item_that_is_still_under_its_old_key_is_a_stale_result() -> None:
    (one,) = found(write(index_keys=(("GSI2", DONE),)), read(returned=[CASE]))
    assert one.evidence["stale_results"] == 1


def test_an_item_that_left_its_old_key_in_time_is_a_fresh_result() -> None:
    (one,) = found(write(index_keys=(("GSI2", DONE),)), read(returned=[OTHER]))
    assert (one.severity, one.evidence["results_known"], one.evidence["stale_results"]) == (Severity.LOW, 1, 0)


def test_an_item_that_was_deleted_and_is_returned_is_a_stale_result() -> None:
    (one,) = found(write(operation="DeleteItem", update=None), read(returned=[CASE]))
    assert one.evidence["stale_results"] == 1


@pytest.mark.parametrize(
    "cut",
    [
        read(returned=[OTHER], more=True),
        read(returned=[OTHER], of={"filter": "due < :0"}),
        read(returned=[OTHER], of={"key": (KeyPredicate("due", "<", ""),)}),
        read(returned=[OTHER], count=200),
        read(returned=[OTHER], key=item("OPEN", "2026")),
    ],
    ids=["more pages", "a filter", "a sort condition", "more than is told", "one sort key"],
)
def test_an_item_that_may_stand_elsewhere_in_the_answer_proves_nothing(cut: Any) -> None:
    (one,) = found(write(index_keys=(("GSI2", OPEN),)), cut)
    assert one.evidence["results_known"] == 0


@pytest.mark.parametrize(
    "before",
    [
        write(operation="PutItem", update=None, index_keys=(("GSI2", DONE),)),
        write(update="SET note = :0"),
        write(error="ThrottlingException"),
        write(target=CASES.at("GSI1")),
        write(trace="u"),
        write(latency_ms=501.0),
        call("GetItem", 0.1, trace="t"),
    ],
    ids=["another key", "another attribute", "failed", "elsewhere", "another trace", "not answered yet", "a read"],
)
def test_a_write_that_does_not_concern_the_read_makes_no_race(before: Any) -> None:
    assert found(before, read()) == []


def test_an_update_of_another_attribute_concerns_a_read_that_returns_the_item() -> None:
    (one,) = found(write(update="SET note = :0"), read(returned=[CASE]))
    assert one.evidence["results_known"] == 0


@pytest.mark.parametrize(
    ("with_keys", "is_found"), [(None, True), (("GSI2", DONE), False), (("GSI1", DONE), True)], ids=str
)
def test_a_put_without_index_keys_concerns_the_index_where_no_write_tells_them(
    with_keys: Any,
    is_found: bool,  # noqa: FBT001
) -> None:
    told = () if with_keys is None else (write(-9.0, trace="u", index_keys=(with_keys,)),)
    assert bool(found(*told, write(operation="PutItem", update=None), read())) is is_found


def test_a_transaction_of_updates_concerns_the_index_by_what_it_sets() -> None:
    parts = (PartShape("Update", update="SET note = :0"),)
    assert found(write(operation="TransactWriteItems", update=None, parts_of=parts, key=None), read()) == []
    parts = (PartShape("Update", update="SET status = :0"),)
    (one,) = found(write(operation="TransactWriteItems", update=None, parts_of=parts, key=None), read(returned=[CASE]))
    assert one.evidence["results_known"] == 0


def test_reads_that_failed_or_go_on_are_no_reads_after_a_write() -> None:
    assert found(write(), read(error="ThrottlingException"), read(resumed=True)) == []


def test_the_pattern_of_the_read_is_named() -> None:
    evidence = traffic(GSI2, calls=book(write(), read()), place=KEYED, rows=(row(shape("Query", "read")),))
    (one,) = GsiStaleRead().detect(evidence)
    assert isinstance(one, Finding)
    assert (one.pattern, one.caller) == ("load-case", "api")


def test_of_several_reads_the_middle_gap_and_the_caller_of_most_are_told() -> None:
    reads = [
        (write(at, trace=trace), read(at + gap, trace=trace, caller=caller))
        for at, (trace, gap, caller) in enumerate(
            [("a", 0.1, "web"), ("b", 0.2, "api"), ("c", 0.4, "api"), ("d", 0.8, "api"), ("e", 0.9, "web")]
        )
    ]
    (one,) = found(*(call for pair in reads for call in pair))
    assert one.caller == "api"
    assert {name: value for name, value in one.evidence.items() if name.startswith("gap")} == {
        "gap_least_ms": 100,
        "gap_median_ms": 400,
        "gap_most_ms": 900,
    }
    assert one.summary == (
        "5 times api read cases/GSI2 400 ms (median) after its own write of the same trace: the index may not have had"
        " it yet"
    )


def test_what_came_of_it_is_told() -> None:
    (one,) = found(write(index_keys=(("GSI2", OPEN),)), read(returned=[OTHER]), lost())
    assert one.summary.startswith("1 time api read")
    assert one.summary.endswith("trace: 1 result was stale, 1 conditional write that followed lost")


def test_one_whole_trace_among_calls_without_is_enough() -> None:
    assert len(found(read(-3.0, trace=None), write(), read())) == 1


def test_a_strong_read_and_a_condition_can_be_taken_back() -> None:
    (one,) = found(write(), read(), lost())
    assert [(advice.risk, advice.reversible) for advice in one.advice] == [
        (Risk.NONE, None),
        (Risk.LOW, True),
        (Risk.LOW, True),
        (Risk.LOW, True),
    ]


def test_fewer_reads_than_asked_for_are_nothing() -> None:
    evidence = traffic(GSI2, calls=book(write(), read()), place=KEYED)
    assert list(GsiStaleRead(least_reads=2).detect(evidence)) == []


def test_traces_that_do_not_touch_the_index_are_passed_over() -> None:
    elsewhere = write(trace="u")
    assert own_reads(traffic(GSI2), 1000, 5000) == []
    assert len(found(elsewhere, write(), read())) == 1


def test_without_traces_nobodys_own_write_is_known() -> None:
    (one,) = outcomes(write(trace=None), read(trace=None))
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.NOT_COVERED


@pytest.mark.parametrize("evidence", [traffic(GSI2), traffic(CASES, calls=book()), traffic(GSI2, calls=book())])
def test_without_calls_there_is_nothing(evidence: Traffic) -> None:
    assert list(GsiStaleRead().detect(evidence)) == []
