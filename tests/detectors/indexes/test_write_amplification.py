from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.indexes.write_amplification import WriteAmplification
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.traffic import Place
from tests.support.evidence import CASES, GSI2, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

MOVE = shape("UpdateItem", "move", update="SET status = :0")
NOTE = shape("UpdateItem", "note", update="SET note = :0")


def outcome(evidence: Traffic) -> Finding | Skipped | None:
    return next(iter(WriteAmplification().detect(evidence)), None)


def finding(evidence: Traffic) -> Finding:
    one = outcome(evidence)
    assert isinstance(one, Finding)
    return one


def at_index(units: float, of: Any = MOVE) -> PatternTraffic:
    return row(of, caller="worker", requests=0, write_units=units, secondary=True)


def at_table(units: float, of: Any = MOVE, requests: float | None = None) -> PatternTraffic:
    return row(of, caller="worker", requests=units if requests is None else requests, write_units=units)


def written(*pairs: tuple[Any, float, float], **fields: Any) -> Traffic:
    """A table and its index: of each shape, the units on both."""
    base = traffic(CASES, rows=tuple(at_table(units, of) for of, units, _ in pairs))
    rows = tuple(at_index(units, of) for of, _, units in pairs if units)
    return traffic(GSI2, base=base, rows=rows, **fields)


def test_moves_from_key_to_key_cost_two_writes_and_are_medium() -> None:
    one = finding(written((MOVE, 500.0, 1000.0), (NOTE, 500.0, 0.0)))
    assert (one.severity, one.index, one.caller, one.fingerprint) == (Severity.MEDIUM, "GSI2", "worker", "move")
    assert (one.evidence["amplification"], one.evidence["factor"], one.evidence["moved_share"]) == (1.0, 3.0, 1.0)
    assert [advice.action for advice in one.advice] == [
        "fix-caller",
        "change-key",
        "make-index-sparse",
        "narrow-projection",
    ]


def test_one_account_is_given_of_what_a_write_costs() -> None:
    all_reach = finding(written((MOVE, 500.0, 1000.0)))
    assert "costs 3 units for each unit of the table, 2 of them in the index: most" in all_reach.summary
    half = finding(written((MOVE, 500.0, 1000.0), (NOTE, 500.0, 0.0)))
    assert "2 of them in the index (1 over all writes of the table): most" in half.summary


def test_under_five_dollars_a_month_moves_are_low() -> None:
    assert finding(written((MOVE, 400.0, 800.0))).severity is Severity.LOW


def test_an_index_that_pays_once_for_each_write_is_low() -> None:
    one = finding(written((NOTE, 5000.0, 5000.0)))
    assert (one.severity, one.cost_per_month_usd) == (Severity.LOW, 27.38)
    assert "paid for again" in one.summary


def test_under_five_dollars_a_month_paying_once_for_each_write_is_nothing() -> None:
    assert outcome(written((NOTE, 900.0, 900.0))) is None


def test_an_index_that_few_writes_reach_is_nothing() -> None:
    assert outcome(written((NOTE, 5000.0, 4000.0))) is None


def test_just_below_half_of_its_units_moves_do_not_dominate() -> None:
    assert finding(written((MOVE, 1400.0, 2800.0), (NOTE, 3000.0, 3000.0))).severity is Severity.LOW


@pytest.mark.parametrize(("expected", "is_found"), [(0.9, True), (1.0, False)])
def test_what_the_contract_expects_is_what_it_is_judged_by(expected: float, is_found: bool) -> None:  # noqa: FBT001
    place = Place(expected_write_amplification=expected)
    one = outcome(written((NOTE, 5000.0, 5000.0), place=place))
    assert isinstance(one, Finding) is is_found
    assert one is None or (isinstance(one, Finding) and one.severity is Severity.MEDIUM)


def test_too_few_writes_are_not_judged() -> None:
    one = outcome(written((MOVE, 99.0, 198.0)))
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.TOO_LITTLE


@pytest.mark.parametrize(("name", "severity"), [("status", Severity.MEDIUM), ("note", None)])
def test_of_an_entry_of_keys_two_units_a_call_are_a_move_however_large_the_item(
    name: str, severity: Severity | None
) -> None:
    index = IndexDescription(name="GSI2", kind="gsi", partition_key=(name,), projection="keys_only")
    place = Place(partition_key=(name,), table=TableDescription(name="cases", indexes=(index,)))
    base = traffic(CASES, rows=(at_table(4000.0, requests=500.0),))
    one = outcome(traffic(GSI2, base=base, rows=(at_index(1000.0),), place=place))
    assert (one.severity if isinstance(one, Finding) else None) is severity


def test_a_write_of_which_the_table_told_no_units_is_no_move() -> None:
    base = traffic(CASES, rows=(at_table(5000.0, NOTE),))
    assert finding(traffic(GSI2, base=base, rows=(at_index(5000.0),))).severity is Severity.LOW


def test_moves_that_the_contract_expects_are_fine() -> None:
    assert outcome(written((MOVE, 500.0, 1000.0), place=Place(expected_write_amplification=2.0))) is None


def by_metrics(index: float, table: float, **fields: Any) -> Traffic:
    base = traffic(CASES, rows=(), metrics=(series("ConsumedWriteCapacityUnits", [table] * 5),))
    own = (series("ConsumedWriteCapacityUnits", [index] * 5, target=GSI2),)
    return traffic(GSI2, base=base, rows=(), metrics=own, **fields)


def test_from_metrics_more_units_on_the_index_than_on_the_table_are_moves() -> None:
    one = finding(by_metrics(1500.0, 1000.0))
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.LIKELY)
    assert (one.evidence["amplification"], one.evidence["moved_share"]) == (1.5, 0.667)


def test_from_metrics_as_many_units_on_the_index_as_on_the_table_are_low() -> None:
    assert finding(by_metrics(1000.0, 1000.0)).severity is Severity.LOW


def test_from_metrics_few_units_on_the_index_are_nothing() -> None:
    assert outcome(by_metrics(100.0, 100.0)) is None


@pytest.mark.parametrize(
    "evidence",
    [traffic(GSI2), traffic(GSI2, base=traffic(CASES)), by_metrics(10.0, 0.0), by_metrics(0.0, 10.0)],
    ids=["no table", "no writes", "no writes of the table", "no writes of the index"],
)
def test_without_writes_of_both_there_is_nothing_to_judge(evidence: Traffic) -> None:
    assert outcome(evidence) is None


def test_many_indexes_that_each_cost_little_cost_much_together() -> None:
    names = [f"GSI{number}" for number in range(3)]
    rows = (at_table(5000.0, NOTE),)
    indexes = tuple(traffic(CASES.at(name), rows=(at_index(5000.0, NOTE),)) for name in names)
    one = finding(traffic(CASES, rows=rows, indexes=indexes))
    assert (one.severity, one.index, one.evidence["factor"]) == (Severity.MEDIUM, None, 4.0)
    assert [advice.action for advice in one.advice] == ["collect-longer", "narrow-projection"]
    assert outcome(traffic(CASES, rows=rows, indexes=indexes[:2])) is None
    expected = traffic(CASES.at("GSI9"), rows=(), place=Place(expected_write_amplification=1.0))
    assert outcome(traffic(CASES, rows=rows, indexes=(*indexes, expected))) is None


def test_many_indexes_of_a_small_table_are_low() -> None:
    indexes = tuple(traffic(CASES.at(f"GSI{n}"), rows=(at_index(200.0, NOTE),)) for n in range(3))
    assert finding(traffic(CASES, rows=(at_table(200.0, NOTE),), indexes=indexes)).severity is Severity.LOW
