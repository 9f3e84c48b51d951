from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.reports.week import report_week
from analyzer.reports.week_values import ItemKind, WeekReport
from tests.support.history_weeks import PLANTED, Weeks, eight_weeks

if TYPE_CHECKING:
    from analyzer.reports.frame import Frame


@pytest.fixture(scope="module")
def weeks() -> Weeks:
    return eight_weeks()


@pytest.fixture(scope="module")
def found(weeks: Weeks) -> WeekReport:
    return report_week(*weeks.week_and_past(), weeks.contract)


def test_the_items_are_the_three_that_drifted_and_nothing_else(found: WeekReport) -> None:
    assert {(item.table, item.pattern or item.fingerprint, item.caller) for item in found.items} == {
        (one.table, one.pattern or one.fingerprint, one.caller) for one in PLANTED
    }
    assert found.more_items == 0


@pytest.fixture(scope="module")
def nothing(weeks: Weeks) -> Frame:
    """A week of a year ago, of which there is no history."""
    return weeks.frame(-52)


def test_of_a_week_that_nobody_looked_at_nothing_is_said(weeks: Weeks, nothing: Frame) -> None:
    found = report_week(nothing, (), weeks.contract)
    assert found.items == ()
    assert found.dollars is None


def test_without_a_contract_the_strangers_are_all_new(weeks: Weeks) -> None:
    found = report_week(*weeks.week_and_past(), EMPTY_CONTRACT)
    assert [item.kind for item in found.items].count(ItemKind.NEW) == 1
    assert any("No contract was given" in remark for remark in found.remarks)
