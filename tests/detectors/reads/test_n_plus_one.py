from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.detectors.money import cost_of
from analyzer.detectors.reads.n_plus_one import NPlusOne
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.target import Target
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call

LIST = shape("Query", "list")
OTHER = Target("111122223333", "us-east-1", "customers")


def fan(reads: int = 10, every: float = 0.05, trace: str = "a", **fields: Any) -> list[Call]:
    first = call("Query", 0, of=fields.pop("of", LIST), trace=trace, count=fields.pop("count", reads))
    fields = dict[str, Any]({"read_units": 0.5, "trace": trace}) | fields
    return [first, *(call("GetItem", 0.1 + every * n, key=item(f"C#{trace}{n}", "M"), **fields) for n in range(reads))]


def found(*calls: Call, **fields: Any) -> list[Finding | Skipped]:
    return list(NPlusOne().detect(traffic(calls=book(*calls), rows=(row(LIST),), **fields)))


def only(*calls: Call, **fields: Any) -> Finding:
    (one,) = found(*calls, **fields)
    assert isinstance(one, Finding)
    return one


def test_a_query_and_a_read_of_each_of_its_results_one_after_another_is_medium() -> None:
    one = only(*fan())
    assert (one.severity, one.confidence, one.pattern) == (Severity.MEDIUM, Confidence.CERTAIN, "load-case")
    assert (one.evidence["reads"], one.evidence["results"], one.evidence["seconds"]) == (10, 10, 0.45)
    assert "followed by 10 GetItem calls, one key each, in its trace (once): up to 0.45 seconds" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "batch-reads", "change-key"]


@pytest.mark.parametrize(("count", "said"), [(12, Confidence.LIKELY), (None, Confidence.POSSIBLE)])
def test_reads_without_keys_count_each_and_are_less_sure(count: int | None, said: Confidence) -> None:
    calls = [msgspec.structs.replace(one, key=None) for one in fan(12, count=count)]
    one = only(*calls)
    assert (one.evidence["reads"], one.confidence) == (12, said)
    assert one.because == "the request log shows no keys: some of the reads may ask for one item again"
    assert "followed by 12 GetItem calls in its trace" in one.summary


def test_one_query_without_a_key_again_and_again_is_no_list_of_results() -> None:
    assert found(*(call("Query", 0.1 * n, of=LIST, trace="a", count=20) for n in range(14))) == []


def test_nine_reads_are_soon_done() -> None:
    assert found(*fan(9)) == []


def test_reads_at_once_cost_nobody_time() -> None:
    assert only(*fan(every=0.002)).severity is Severity.LOW


def test_reads_that_cost_five_dollars_a_month_are_medium_even_so() -> None:
    assert only(*fan(every=0.002, read_units=500.0)).severity is Severity.MEDIUM


def test_where_more_is_read_than_was_returned_it_is_likely() -> None:
    assert only(*fan(count=100)).confidence is Confidence.LIKELY
    assert only(*fan(count=None)).confidence is Confidence.LIKELY


def test_reads_of_another_table_are_told_at_the_table_that_is_queried() -> None:
    one = only(*fan(target=OTHER))
    assert (one.table, "calls of customers" in one.summary) == ("cases", True)


def test_every_trace_counts() -> None:
    assert only(*fan(), *fan(trace="b")).evidence["traces"] == 2


def test_queries_after_a_query_are_not_to_be_batched() -> None:
    first = call("Query", 0, of=LIST, trace="a", count=10)
    edges = [call("Query", 0.1 * n, of=shape("Query", "edge"), key=item(f"E#{n}"), trace="a") for n in range(1, 11)]
    assert [advice.action for advice in only(first, *edges).advice] == ["fix-caller", "change-key"]


def test_after_a_query_of_an_index_its_projection_may_do() -> None:
    listed = shape("Query", "of-index", index="GSI2")
    calls = fan(of=listed)
    moved = [type(calls[0])(**{f: getattr(calls[0], f) for f in calls[0].__struct_fields__} | {"target": GSI2})]
    (one,) = NPlusOne().detect(traffic(GSI2, calls=book(*moved, *calls[1:])))
    assert isinstance(one, Finding)
    assert "Project what is needed into GSI2" in one.advice[-1].text


def test_without_traces_it_cannot_be_known() -> None:
    (skipped,) = found(call("Query"))
    assert isinstance(skipped, Skipped)
    assert (skipped.reason, skipped.needs) == (SkipReason.NOT_COVERED, ("whole traces",))


def test_where_nothing_was_queried_nothing_was_missed() -> None:
    assert found(call("GetItem")) == []
    assert list(NPlusOne().detect(traffic())) == []


def test_of_several_traces_the_longest_is_told() -> None:
    one = only(*fan(12, every=1.0), *fan(10, trace="b"))
    assert (one.evidence["reads"], one.evidence["seconds"], one.evidence["read_units"]) == (12, 11.0, 11.0)
    assert "followed by 12 GetItem calls, one key each, in its trace (2 times): up to 11 seconds" in one.summary


def test_the_caller_of_the_first_read_is_named() -> None:
    first, begin, *_ = fan(10, caller="web")
    assert only(first, begin, *fan(10, caller="api")[2:]).caller == "web"


def test_units_that_nobody_told_are_unknown() -> None:
    assert only(*fan(read_units=None)).evidence["read_units"] is None


@pytest.mark.parametrize(
    ("results", "confidence"),
    [
        ((12,), Confidence.CERTAIN),
        ((8,), Confidence.CERTAIN),
        ((13,), Confidence.LIKELY),
        ((7,), Confidence.LIKELY),
        ((10, 100), Confidence.CERTAIN),
        ((10, 100, 100), Confidence.LIKELY),
    ],
    ids=str,
)
def test_ten_reads_are_of_the_results_where_these_are_about_as_many(
    results: tuple[int, ...], confidence: Confidence
) -> None:
    """In half of the traces at least."""
    assert only(*(one for n, count in enumerate(results) for one in fan(trace=f"t{n}", count=count))).confidence is (
        confidence
    )


@pytest.mark.parametrize(("seconds", "severity"), [(0.3, Severity.MEDIUM), (0.299, Severity.LOW)])
def test_three_tenths_of_a_second_are_slow(seconds: float, severity: Severity) -> None:
    assert only(*fan(every=seconds / 9)).severity is severity


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.MEDIUM), (0.01, Severity.LOW)])
def test_what_costs_just_so_much_is_dear(less: float, severity: Severity) -> None:
    evidence = traffic(calls=book(*fan(every=0.002, read_units=500.0)), rows=(row(LIST),))
    dollars = cost_of(5000, evidence, Direction.READ).dollars
    (one,) = NPlusOne(dear_dollars=dollars + less).detect(evidence)
    assert isinstance(one, Finding)
    assert one.severity is severity


def test_batches_take_a_hundred_keys_each() -> None:
    batch, key = only(*fan(101)).advice[1:]
    assert "100 keys a call: 2 instead of 101" in batch.text
    assert [(each.risk, each.reversible) for each in (batch, key)] == [(Risk.LOW, True), (Risk.HIGH, True)]


def test_one_query_among_calls_without_traces_may_have_been_followed() -> None:
    (skipped,) = found(call("Query"), call("GetItem"))
    assert isinstance(skipped, Skipped)
