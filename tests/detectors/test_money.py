from __future__ import annotations

import pytest

from analyzer.detectors.money import dollars_of
from analyzer.model.traffic import Capacity, Place
from tests.support.evidence import row, traffic


def test_reads_and_writes_are_reckoned_together() -> None:
    rows = (row(read_units=3000), row(write_units=300), row(read_units=9e9, units_known=0.0))
    assert dollars_of(rows, traffic(rows=rows)) == pytest.approx((10 * 0.125 + 1 * 0.625) * 2.628)


def test_provisioned_units_are_reckoned_by_the_hour() -> None:
    evidence = traffic(place=Place(capacity=Capacity("PROVISIONED", 100, 100)))
    assert dollars_of((row(read_units=3000),), evidence) == pytest.approx(10 * 730 * 0.00013)


def test_where_no_units_are_told_nothing_is_known() -> None:
    assert dollars_of((row(units_known=0.0),), traffic()) is None
