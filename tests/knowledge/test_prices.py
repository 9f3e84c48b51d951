from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from analyzer.knowledge.prices import (
    INFREQUENT_PRICES,
    LIST_PRICES,
    prices_for,
    prices_of,
    provisioned_cost,
    read_cost,
    storage_cost,
    unit_hour,
    write_cost,
)
from analyzer.model.finding import Direction
from analyzer.model.instant import parse_instant

if TYPE_CHECKING:
    from analyzer.model.prices import Prices

NOW = parse_instant("2026-11-30T12:00:00Z")
IRELAND = replace(LIST_PRICES, region="eu-west-1", as_of="2026-11-01", source="configured price", read_million=0.1415)


@pytest.mark.parametrize(
    ("mode", "dollars", "words"),
    [
        ("PAY_PER_REQUEST", 1.6425, "on demand, list price of us-east-1, 2026-08-15"),
        (None, 1.6425, "on demand assumed, list price of us-east-1, 2026-08-15"),
        ("PROVISIONED", 0.4745, "provisioned, list price of us-east-1, 2026-08-15"),
    ],
)
def test_a_write_unit_a_second_costs_by_the_billing_mode(mode: str | None, dollars: float, words: str) -> None:
    cost = write_cost(1.0, mode)
    assert cost.dollars == pytest.approx(dollars)
    assert cost.basis == words


def test_a_read_costs_a_fifth_of_a_write() -> None:
    assert read_cost(5.0, "PAY_PER_REQUEST").dollars == pytest.approx(write_cost(1.0, "PAY_PER_REQUEST").dollars)


def test_provisioned_capacity_costs_whether_it_is_used_or_not() -> None:
    assert provisioned_cost(10, 10).dollars == pytest.approx(5.694)


def test_a_unit_costs_by_the_hour_and_a_write_five_times_a_read() -> None:
    assert [unit_hour(LIST_PRICES, direction) for direction in (Direction.READ, Direction.WRITE)] == [0.00013, 0.00065]


def test_prices_say_that_some_are_nothing_beside_what_else_is_doubted() -> None:
    free = replace(IRELAND, storage_gigabyte=0.0, doubt="over a year old")
    assert free.free == ("storage_gigabyte",)
    assert free.place == "configured price of eu-west-1, 2026-11-01 (over a year old, with prices of $0)"


def test_storage_costs_by_the_gigabyte() -> None:
    assert storage_cost(4 * 2**30).dollars == pytest.approx(1.0)


def test_a_table_class_has_prices_of_its_own() -> None:
    assert prices_of("STANDARD_INFREQUENT_ACCESS") is INFREQUENT_PRICES
    assert prices_of("STANDARD") is prices_of(None) is LIST_PRICES


@pytest.mark.parametrize(
    ("region", "table_class", "prices"),
    [
        ("eu-west-1", None, IRELAND),
        ("eu-west-1", "STANDARD", IRELAND),
        ("eu-west-1", "STANDARD_INFREQUENT_ACCESS", INFREQUENT_PRICES),
        ("us-east-1", None, LIST_PRICES),
        (None, None, LIST_PRICES),
    ],
)
def test_the_prices_of_a_region_and_class_hold_there_alone(
    region: str | None, table_class: str | None, prices: Prices
) -> None:
    assert prices_for(region, table_class, [IRELAND], NOW) == prices


@pytest.mark.parametrize(("day", "is_doubted"), [("2025-12-01", False), ("2025-11-30", True), ("2030-01-01", False)])
def test_prices_over_a_year_old_say_so(day: str, *, is_doubted: bool) -> None:
    old = replace(IRELAND, as_of=day)
    told = prices_for("eu-west-1", None, [old], NOW).place
    assert told == f"configured price of eu-west-1, {day}{' (over a year old)' if is_doubted else ''}"


def test_list_prices_grow_old_too() -> None:
    in_two_years = parse_instant("2028-11-30T12:00:00Z")
    basis = read_cost(1.0, "PAY_PER_REQUEST", prices_for(None, None, (), in_two_years)).basis
    assert basis == "on demand, list price of us-east-1, 2026-08-15 (over a year old)"
