from __future__ import annotations

from analyzer.model.sight import GapReason
from analyzer.model.window import Window
from analyzer.shortfalls import Shortfalls

WINDOW = Window(0, 20_000)


def test_the_first_look_only_says_where_counters_stand() -> None:
    shortfalls = Shortfalls()
    shortfalls.note(10_000, {"bad": 5})
    assert shortfalls.gaps(WINDOW, (), 0) == ()


def test_a_counter_that_moved_is_a_gap_until_the_window_has_passed() -> None:
    shortfalls = Shortfalls()
    shortfalls.note(0, {"bad": 5})
    shortfalls.note(10_000, {"bad": 7})
    shortfalls.note(20_000, {"bad": 8, "dropped": 0})
    gaps = shortfalls.gaps(WINDOW, (), 0)
    assert [(gap.reason, gap.detail) for gap in gaps] == [
        (GapReason.MALFORMED, "3 lines of the request log are no records")
    ]
    assert "1 lines" in shortfalls.gaps(Window(15_000, 35_000), (), 0)[0].detail
    assert shortfalls.gaps(Window(30_000, 50_000), (), 0) == ()


def test_a_missing_file_and_unread_bytes_are_gaps() -> None:
    gaps = Shortfalls().gaps(WINDOW, ("app.jsonl",), 512)
    assert [gap.reason for gap in gaps] == [GapReason.NOT_ENABLED, GapReason.LATE]
    assert all(gap.hint for gap in gaps)
