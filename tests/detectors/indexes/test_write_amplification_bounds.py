"""The bounds of what an index may add to writes just reached and just missed, and the numbers that are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.indexes.write_amplification import WriteAmplification
from analyzer.detectors.money import cost_of, prices_at
from analyzer.knowledge.prices import write_cost
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Skipped
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from tests.support.evidence import CASES, GSI2, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

MOVE = shape("UpdateItem", "move", update="SET status = :0")
NOTE = shape("UpdateItem", "note", update="SET note = :0")
PUT = shape("PutItem", "put")


def only(evidence: Traffic, **thresholds: Any) -> Finding:
    (one,) = WriteAmplification(**thresholds).detect(evidence)
    assert isinstance(one, Finding)
    return one


def at_index(units: float, of: Any = NOTE) -> PatternTraffic:
    return row(of, caller="worker", requests=0, write_units=units, secondary=True)


def written(*pairs: tuple[Any, float, float], **fields: Any) -> Traffic:
    """A table and its index: of each shape, the units on both."""
    base = traffic(CASES, rows=tuple(row(of, caller="worker", requests=n, write_units=n) for of, n, _ in pairs))
    return traffic(GSI2, base=base, rows=tuple(at_index(units, of) for of, _, units in pairs), **fields)


def by_metrics(index: float, table: float, **fields: Any) -> Traffic:
    base = traffic(CASES, rows=(), metrics=(series("ConsumedWriteCapacityUnits", [table] * 5),))
    own = (series("ConsumedWriteCapacityUnits", [index] * 5, target=GSI2),)
    return traffic(GSI2, base=base, rows=(), metrics=own, **fields)


def together(units: float, *at: float, **fields: Any) -> Traffic:
    """A table that took so many units, and indexes of its that took those."""
    indexes = tuple(traffic(CASES.at(f"GSI{n}"), rows=(at_index(own),)) for n, own in enumerate(at))
    return traffic(CASES, rows=(row(NOTE, caller="worker", write_units=units),), indexes=indexes, **fields)


def test_a_hundred_units_are_judged() -> None:
    assert only(written((MOVE, 100.0, 200.0))).severity is Severity.LOW
    (one,) = WriteAmplification().detect(written((MOVE, 99.0, 198.0)))
    assert isinstance(one, Skipped)


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.MEDIUM), (0.01, Severity.LOW)])
def test_moves_that_cost_just_so_much_are_medium(less: float, severity: Severity) -> None:
    evidence = written((MOVE, 500.0, 1000.0))
    dollars = cost_of(1000, evidence, Direction.WRITE).dollars
    assert only(evidence, low_dollars=dollars + less).severity is severity


def test_half_of_its_units_moves_are_many() -> None:
    one = only(written((MOVE, 1500.0, 3000.0), (NOTE, 3000.0, 3000.0)))
    assert (one.severity, one.evidence["moved_share"]) == (Severity.MEDIUM, 0.5)
    assert (one.advice[1].action, (one.advice[1].effect or "")[:3]) == ("change-key", "50%")


def test_the_shape_that_moves_is_told_before_a_heavier_one_that_does_not() -> None:
    place = Place(expected_write_amplification=1.0)
    one = only(written((NOTE, 3000.0, 3000.0), (MOVE, 500.0, 1000.0), place=place))
    assert (one.fingerprint, one.evidence["update"], one.evidence["expected"]) == ("move", "SET status = :0", 1.0)


def test_where_nothing_moves_the_heaviest_writer_is_told() -> None:
    one = only(written((PUT, 5000.0, 5000.0), (NOTE, 10.0, 10.0)))
    assert (one.fingerprint, one.caller, one.confidence) == ("put", "worker", Confidence.CERTAIN)
    assert (one.because, "update" in one.evidence, "expected" in one.evidence) == (None, False, False)
    assert [advice.action for advice in one.advice] == ["fix-caller", "narrow-projection"]


def test_from_metrics_sums_are_told_and_no_single_write() -> None:
    one = only(by_metrics(3000.0, 1000.0))
    assert (one.evidence["amplification"], one.evidence["factor"], one.evidence["moved_share"]) == (3.0, 4.0, 1.0)
    assert (one.caller, one.because) == (None, "metrics tell sums, not what a single write costs")
    assert [advice.action for advice in one.advice] == [
        "fix-caller",
        "change-key",
        "make-index-sparse",
        "narrow-projection",
    ]
    assert (one.advice[1].effect or "").startswith("100% of its units are moves")


def test_what_came_in_less_than_a_second_is_taken_as_a_second_s() -> None:
    evidence = written((MOVE, 500.0, 1000.0), window=Window(0, 500))
    dollars = write_cost(1000.0, None, prices_at(evidence)).dollars
    assert only(evidence).cost_per_month_usd == round(dollars, 2)


# all indexes of a table


def test_a_hundred_units_of_a_table_are_judged() -> None:
    assert only(together(100.0, 100.0, 100.0, 100.0)).evidence["factor"] == 4.0
    assert list(WriteAmplification().detect(together(99.0, 99.0, 99.0, 99.0))) == []


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.MEDIUM), (0.01, Severity.LOW)])
def test_indexes_that_together_cost_just_so_much_are_medium(less: float, severity: Severity) -> None:
    evidence = together(300.0, 300.0, 300.0, 300.0)
    dollars = write_cost(3.0, None, prices_at(evidence)).dollars
    one = only(evidence, low_dollars=dollars + less)
    assert (one.severity, one.cost_per_month_usd) == (severity, round(dollars, 2))


def test_the_dearest_index_is_named() -> None:
    one = only(together(1000.0, 900.0, 1500.0, 800.0))
    assert one.evidence["dearest_index"] == "GSI1"
    assert "its 3 indexes take 3.2: most goes to GSI1" in one.summary


def test_an_index_of_which_a_minute_is_known_costs_what_it_costs_a_minute() -> None:
    """The two of the log took five minutes for what the third took in one."""
    base = (series("ConsumedWriteCapacityUnits", [600.0]),)
    third = traffic(CASES.at("GSI9"), rows=(), metrics=(series("ConsumedWriteCapacityUnits", [1200.0]),))
    two = together(600.0, 600.0, 600.0)
    evidence = traffic(CASES, rows=two.rows, indexes=(*two.indexes, third), metrics=base)
    dollars = write_cost(2.0 + 2.0 + 20.0, None, prices_at(evidence)).dollars
    assert only(evidence).cost_per_month_usd == round(dollars, 2)


# advice


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(partition_key=("status",), sort_key=("due",)), "has to touch GSI2, keyed by status, due"),
        (Place(), "has to touch GSI2, keyed by its key attributes"),
    ],
)
def test_the_owner_is_asked_about_the_key_of_the_index(place: Place, text: str) -> None:
    assert text in only(written((MOVE, 500.0, 1000.0), place=place)).advice[0].text


@pytest.mark.parametrize(("projection", "is_advised"), [("keys_only", False), ("all", True)])
def test_an_index_of_keys_alone_cannot_be_made_narrower(projection: str, *, is_advised: bool) -> None:
    index = IndexDescription(name="GSI2", kind="gsi", projection=projection)
    place = Place(table=TableDescription(name="cases", indexes=(index,)))
    one = only(written((MOVE, 500.0, 1000.0), place=place))
    assert ("narrow-projection" in {advice.action for advice in one.advice}) is is_advised


def test_what_is_advised_can_be_taken_back() -> None:
    assert [(each.risk, each.reversible) for each in only(written((MOVE, 500.0, 1000.0))).advice] == [
        (Risk.NONE, None),
        (Risk.HIGH, True),
        (Risk.LOW, True),
        (Risk.HIGH, True),
    ]
