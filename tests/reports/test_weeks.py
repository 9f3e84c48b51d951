from __future__ import annotations

import pytest

from analyzer.model.instant import format_instant, parse_instant
from analyzer.reports.weeks import last_week, week_name, week_window


def test_a_week_begins_on_monday_and_ends_before_the_next() -> None:
    window = week_window("2026-W48")
    assert format_instant(window.start) == "2026-11-23T00:00:00.000Z"
    assert format_instant(window.end) == "2026-11-30T00:00:00.000Z"


@pytest.mark.parametrize(
    ("now", "name"),
    [
        ("2026-11-30T00:00:00Z", "2026-W48"),
        ("2026-11-29T23:59:59Z", "2026-W47"),
        ("2027-01-06T10:00:00Z", "2026-W53"),
    ],
)
def test_the_last_week_is_the_one_that_has_ended(now: str, name: str) -> None:
    assert week_name(last_week(parse_instant(now))) == name


def test_a_week_of_the_turn_of_the_year_has_one_name() -> None:
    assert week_name(week_window("2026-W53")) == "2026-W53"


@pytest.mark.parametrize("name", ["2026-48", "W48", "2026-W54", "2027-W53", "2026-W0", "0000-W01", "0001-W01", ""])
def test_what_names_no_week_is_refused_in_words(name: str) -> None:
    with pytest.raises(ValueError, match="week"):
        week_window(name)
