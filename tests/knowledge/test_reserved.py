from __future__ import annotations

import pytest

from analyzer.knowledge.prices import LIST_PRICES
from analyzer.knowledge.reserved import BLOCK_UNITS, RESERVED


def test_a_year_s_payment_is_spread_over_its_hours() -> None:
    assert RESERVED.write_unit_hour == pytest.approx(1.50 / 8760 + 0.000128)
    assert RESERVED.read_unit_hour == pytest.approx(0.30 / 8760 + 0.000025)


def test_reserved_saves_about_half_of_the_list_price() -> None:
    assert 0.5 < 1 - RESERVED.write_unit_hour / LIST_PRICES.write_unit_hour < 0.6
    assert 0.5 < 1 - RESERVED.read_unit_hour / LIST_PRICES.read_unit_hour < 0.6
    assert BLOCK_UNITS == 100
