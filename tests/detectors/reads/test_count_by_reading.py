from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.money import cost_of
from analyzer.detectors.reads.count_by_reading import CountByReading
from analyzer.model.finding import Direction, Finding, Risk, Severity
from analyzer.model.traffic import Capacity, Place
from tests.support.calls import book, call, item
from tests.support.evidence import DECLARED, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

COUNT = shape("Query", "count", select="COUNT")
PROVISIONED = Place(capacity=Capacity("PROVISIONED", 100.0, 10.0))


def counting(units: float = 6000, requests: float = 60, resumed: float = 40, **fields: Any) -> PatternTraffic:
    return row(fields.pop("of", COUNT), DECLARED, requests=requests, resumed=resumed, read_units=units, **fields)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in CountByReading().detect(evidence) if isinstance(one, Finding)]


def test_a_count_of_many_pages_is_paid_like_a_read_of_all_of_them() -> None:
    (one,) = found(traffic(rows=(counting(scanned=300_000),)))
    assert (one.severity, one.caller, one.pattern) == (Severity.MEDIUM, "api", "load-case")
    assert (
        "counts cases by reading it: 3 pages and 300 read units a count, 20 times, 6,000 read units in all"
        in one.summary
    )
    assert (one.evidence["pages_a_count"], one.cost_per_month_usd) == (3, 6.57)
    assert [advice.action for advice in one.advice] == ["fix-caller", "keep-a-counter", "use-stream"]


def test_one_that_costs_little_is_low() -> None:
    (one,) = found(traffic(rows=(counting(4000),)))
    assert one.severity is Severity.LOW


def test_one_that_takes_a_tenth_of_what_is_provisioned_is_medium() -> None:
    (one,) = found(traffic(rows=(counting(3000),), place=PROVISIONED))
    assert one.severity is Severity.MEDIUM
    (less,) = found(traffic(rows=(counting(2990),), place=PROVISIONED))
    assert less.severity is Severity.LOW


def test_one_that_fails_for_want_of_capacity_is_high() -> None:
    (one,) = found(traffic(rows=(counting(throttled_failed=1),)))
    assert one.severity is Severity.HIGH


def test_a_count_within_one_page_or_of_few_units_is_cheap_enough() -> None:
    assert found(traffic(rows=(counting(requests=60, resumed=29),))) == []
    assert found(traffic(rows=(counting(1990),))) == []


def test_units_that_nobody_told_are_unknown() -> None:
    (one,) = found(traffic(rows=(counting(0, units_known=0.0),)))
    assert (one.severity, one.cost_per_month_usd, one.evidence["read_units"]) == (Severity.MEDIUM, None, None)
    assert "a count, units unknown (calls tell them that ask for ReturnConsumedCapacity), 20 times" in one.summary


def test_the_key_is_named_where_there_is_but_one() -> None:
    calls = [call("Query", n, of=COUNT) for n in range(3)]
    (one,) = found(traffic(rows=(counting(),), calls=book(*calls, call("GetItem", 5, key=item("CASE#9")))))
    assert one.key == {"PK": "CASE#7"}
    (many,) = found(traffic(rows=(counting(),), calls=book(*calls, call("Query", 9, of=COUNT, key=item("CASE#8")))))
    assert many.key is None


def test_a_count_of_the_whole_table_may_be_looked_up() -> None:
    (one,) = found(traffic(rows=(counting(of=shape("Scan", "scan", key=(), select="COUNT")),)))
    assert [advice.action for advice in one.advice] == ["keep-a-counter", "keep-a-counter", "use-stream"]
    assert "describe-table --table-name cases" in (one.advice[0].command or "")


def test_to_read_items_is_not_to_count_them() -> None:
    assert found(traffic(rows=(counting(of=shape("Query")), counting(secondary=True)))) == []
    assert found(traffic(rows=())) == []


@pytest.mark.parametrize(
    ("units", "resumed", "many"), [(2000, 40, 1), (1999, 40, 0), (3000, 30, 1), (3100, 29, 0)], ids=str
)
def test_two_pages_and_a_hundred_units_a_count_are_worth_a_counter(units: float, resumed: float, many: int) -> None:
    assert len(found(traffic(rows=(counting(units, resumed=resumed),)))) == many


def test_pages_of_a_count_that_began_earlier_are_of_one_count() -> None:
    (one,) = found(traffic(rows=(counting(requests=5, resumed=5),)))
    assert (one.evidence["counts"], one.evidence["pages_a_count"]) == (1, 5)


def test_one_row_that_tells_units_or_failed_is_enough() -> None:
    (one,) = found(traffic(rows=(counting(), counting(0, units_known=0.0, throttled_failed=1))))
    assert (one.severity, one.evidence["read_units"]) == (Severity.HIGH, 6000)


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.MEDIUM), (0.01, Severity.LOW)])
def test_what_costs_just_so_much_is_medium(less: float, severity: Severity) -> None:
    evidence = traffic(rows=(counting(),))
    dollars = cost_of(6000, evidence, Direction.READ).dollars
    (one,) = CountByReading(low_dollars=dollars + less).detect(evidence)
    assert isinstance(one, Finding)
    assert one.severity is severity


def test_a_counter_can_be_given_up_again() -> None:
    (one,) = found(traffic(rows=(counting(),)))
    assert [(advice.risk, advice.reversible) for advice in one.advice] == [
        (Risk.NONE, None),
        (Risk.LOW, True),
        (Risk.LOW, True),
    ]
