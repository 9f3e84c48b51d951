from __future__ import annotations

from tests.bench.accuracy.drift import judge_weeks


def test_a_simulated_week_has_no_false_flag_and_nearly_all_changes_are_told() -> None:
    found = judge_weeks(4)
    assert found.false == 0
    assert found.doubled + found.shrunk >= 2 * found.each - 1
