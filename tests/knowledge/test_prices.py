from __future__ import annotations

import pytest

from analyzer.knowledge.prices import (
    INFREQUENT_PRICES,
    LIST_PRICES,
    prices_of,
    provisioned_cost,
    read_cost,
    storage_cost,
    write_cost,
)


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


def test_storage_costs_by_the_gigabyte() -> None:
    assert storage_cost(4 * 2**30).dollars == pytest.approx(1.0)


def test_a_table_class_has_prices_of_its_own() -> None:
    assert prices_of("STANDARD_INFREQUENT_ACCESS") is INFREQUENT_PRICES
    assert prices_of("STANDARD") is prices_of(None) is LIST_PRICES
