from __future__ import annotations

import pytest

from analyzer.lifecycle.observing import in_mode, observing_until
from analyzer.model.report import Mode
from tests.lifecycle.test_lifecycle import report

WEEK = 604_800_000
BEGAN = 1_000


@pytest.mark.parametrize(("mode", "until"), [(None, BEGAN + WEEK), (Mode.OBSERVE, None), (Mode.PAGE, 0)], ids=str)
def test_a_new_install_observes_for_a_week_unless_somebody_says_otherwise(mode: Mode | None, until: int | None) -> None:
    assert observing_until(mode, BEGAN, WEEK) == until


@pytest.mark.parametrize(
    ("until", "mode", "told"), [(None, Mode.OBSERVE, None), (11, Mode.OBSERVE, 11), (10, Mode.PAGE, None)], ids=str
)
def test_a_report_says_whether_its_findings_page(until: int | None, mode: Mode, told: int | None) -> None:
    one = in_mode(report(), until)
    assert (one.mode, one.observing_until) == (mode, told)
