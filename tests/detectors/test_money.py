from __future__ import annotations

import msgspec
import pytest

from analyzer.detectors.money import capacity_share, cost_of, dollars_of, prices_at, with_price
from analyzer.knowledge.prices import INFREQUENT_PRICES, LIST_PRICES
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.traffic import Capacity, Place
from analyzer.model.window import Window
from tests.support.evidence import row, traffic

OWN = msgspec.structs.replace(LIST_PRICES, region="eu-west-1", read_million=0.25, source="configured price")
DEAR = Finding(
    detector="polling-read",
    severity=Severity.LOW,
    confidence=Confidence.CERTAIN,
    table="cases",
    summary="dear",
    cost_per_month_usd=3.0,
)


def test_prices_that_somebody_configured_are_reckoned_with() -> None:
    evidence = traffic(rows=(row(read_units=3000),), place=Place(prices=OWN))
    assert prices_at(evidence) == OWN
    assert prices_at(traffic()) == LIST_PRICES
    assert dollars_of(evidence.rows, evidence) == pytest.approx(10 * 0.25 * 2.628)


def test_dollars_say_what_they_were_reckoned_with_where_that_is_no_list_price() -> None:
    there = traffic(place=Place(prices=OWN))
    assert with_price(DEAR, there).evidence == {"price": "configured price of eu-west-1, 2026-08-15"}
    said = msgspec.structs.replace(DEAR, evidence={"price": "on demand, of eu-west-1"})
    free = msgspec.structs.replace(DEAR, cost_per_month_usd=None)
    assert [with_price(one, there) for one in (said, free)] == [said, free]
    assert with_price(DEAR, traffic()) == DEAR


def test_reads_and_writes_are_reckoned_together() -> None:
    rows = (row(read_units=3000), row(write_units=300), row(read_units=9e9, units_known=0.0))
    assert dollars_of(rows, traffic(rows=rows)) == pytest.approx((10 * 0.125 + 1 * 0.625) * 2.628)


def test_provisioned_units_are_reckoned_by_the_hour() -> None:
    evidence = traffic(place=Place(capacity=Capacity("PROVISIONED", 100, 100)))
    assert dollars_of((row(read_units=3000),), evidence) == pytest.approx(10 * 730 * 0.00013)


def test_where_no_units_are_told_nothing_is_known() -> None:
    assert dollars_of((row(units_known=0.0),), traffic()) is None


def test_units_of_either_side_have_a_price_and_a_share_of_what_is_provisioned() -> None:
    ready = Capacity(billing_mode="PROVISIONED", read_units=100, write_units=50)
    evidence = traffic(place=Place(capacity=ready))
    assert [capacity_share(3000, evidence, direction) for direction in Direction] == [0.1, 0.2]
    assert capacity_share(3000, traffic(place=Place(capacity=Capacity("PAY_PER_REQUEST"))), Direction.READ) is None
    assert capacity_share(3000, traffic(place=Place(capacity=Capacity("PROVISIONED"))), Direction.READ) is None
    read, written = (cost_of(3000, traffic(), direction).dollars for direction in Direction)
    assert written == pytest.approx(5 * read)


@pytest.mark.parametrize(("milliseconds", "share"), [(500, 0.9), (1000, 0.9), (1500, 0.6), (300_000, 0.003)])
def test_units_of_less_than_a_second_are_taken_as_a_seconds(milliseconds: int, share: float) -> None:
    ready = Capacity(billing_mode="PROVISIONED", read_units=1000)
    evidence = traffic(place=Place(capacity=ready), window=Window(0, milliseconds))
    assert capacity_share(900, evidence, Direction.READ) == pytest.approx(share)
    dollars = share * 1000 * 730 * 0.00013
    assert cost_of(900, evidence, Direction.READ).dollars == pytest.approx(dollars)
    assert dollars_of((row(read_units=900),), evidence) == pytest.approx(dollars)


def test_units_of_an_index_are_known_without_its_requests() -> None:
    rows = (row(write_units=300, units_known=0.0, secondary=True), row(write_units=9e9, units_known=0.0))
    assert dollars_of(rows, traffic()) == pytest.approx(0.625 * 2.628)


def test_prices_follow_the_class_of_the_table() -> None:
    rare = traffic(place=Place(capacity=Capacity(table_class="STANDARD_INFREQUENT_ACCESS")))
    assert prices_at(rare) == INFREQUENT_PRICES
    assert cost_of(3000, rare, Direction.READ).dollars == pytest.approx(10 * 0.155 * 2.628)
