"""How far each table was seen: late ones are judged as far as they reach, and what was left out is caught up on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.reach import Part, Progress, late_parts, missed_parts

MINUTE = 60_000
SETTLED = Window(20 * MINUTE, 25 * MINUTE)
FIVE = 5 * MINUTE


def table(name: str) -> Target:
    return Target("111122223333", "us-east-1", name)


CASES, ORDERS, USERS, NOTES, FILES = map(table, ("cases", "orders", "users", "notes", "files"))


def window(start: int, end: int) -> Window:
    return Window(start * MINUTE, end * MINUTE)


def test_tables_that_reach_as_far_as_the_others_are_not_late() -> None:
    assert late_parts({CASES: SETTLED.end, ORDERS: SETTLED.end + MINUTE}, SETTLED, 0) == ()


def test_late_tables_are_judged_as_far_as_they_reach_those_that_reach_alike_together() -> None:
    reaches = {CASES: SETTLED.end, ORDERS: 23 * MINUTE, USERS: 23 * MINUTE, NOTES: 21 * MINUTE}
    assert late_parts(reaches, SETTLED, 0) == (
        Part(window(18, 23), frozenset({ORDERS, USERS})),
        Part(window(16, 21), frozenset({NOTES})),
    )


def test_a_table_that_says_nothing_of_now_is_judged_by_nobody() -> None:
    assert late_parts({NOTES: 21 * MINUTE}, SETTLED, 21 * MINUTE) == ()


def test_beyond_a_bound_those_that_are_latest_are_judged_together() -> None:
    reaches = {CASES: 24 * MINUTE, ORDERS: 23 * MINUTE, USERS: 22 * MINUTE, NOTES: 21 * MINUTE, FILES: 20 * MINUTE}
    assert late_parts(reaches, SETTLED, 0) == (
        Part(window(19, 24), frozenset({CASES})),
        Part(window(18, 23), frozenset({ORDERS})),
        Part(window(15, 20), frozenset({USERS, NOTES, FILES})),
    )


def test_windows_that_follow_each_other_leave_nothing_out() -> None:
    progress = Progress()
    for end in (5, 10, 14, 18):
        assert progress.take([Part(window(end - 5, end), frozenset({CASES}))], 0) == {}


def test_what_lies_between_two_windows_of_a_table_was_missed() -> None:
    progress = Progress()
    progress.take([Part(window(0, 5), frozenset({CASES, ORDERS}))], 0)
    progress.take([Part(window(5, 10), frozenset({ORDERS}))], 0)
    assert progress.take([Part(window(20, 25), frozenset({CASES, ORDERS, USERS}))], 0) == {
        CASES: window(5, 20),
        ORDERS: window(10, 20),
    }
    assert progress.take([Part(window(20, 25), frozenset({CASES, ORDERS, USERS}))], 0) == {}


def test_of_what_was_missed_an_hour_is_kept() -> None:
    progress = Progress()
    progress.take([Part(window(0, 5), frozenset({CASES}))], 0)
    assert progress.take([Part(window(90, 95), frozenset({CASES}))], 30 * MINUTE) == {CASES: window(30, 90)}


def test_what_another_daemon_told_meanwhile_was_not_missed() -> None:
    progress = Progress()
    progress.take([Part(window(0, 5), frozenset({CASES}))], 0)
    progress.forget()
    assert progress.take([Part(window(20, 25), frozenset({CASES}))], 0) == {}


def test_so_many_tables_are_remembered_and_the_others_counted() -> None:
    progress = Progress()
    many = frozenset(table(str(number)) for number in range(20_001))
    progress.take([Part(window(0, 5), many)], 0)
    assert progress.dropped == 1
    assert len(progress.take([Part(window(20, 25), many)], 0)) == 20_000
    assert progress.dropped == 2


def test_a_stretch_that_was_missed_is_judged_in_windows_half_over_one_another() -> None:
    parts = list(missed_parts({CASES: window(5, 20)}, FIVE))
    assert [part.window for part in parts] == [window(s, s + 5) for s in (5, 7, 9, 11, 13, 15)]
    assert {part.tables for part in parts} == {frozenset({CASES})}


def test_each_window_is_judged_for_the_tables_that_were_left_out_in_it() -> None:
    parts = list(missed_parts({CASES: window(5, 9), ORDERS: window(15, 18)}, FIVE))
    assert [(part.window, part.tables) for part in parts] == [
        (window(5, 10), frozenset({CASES})),
        (window(7, 12), frozenset({CASES})),
        (window(11, 16), frozenset({ORDERS})),
        (window(13, 18), frozenset({ORDERS})),
    ]


def test_nothing_missed_is_nothing_to_judge() -> None:
    assert list(missed_parts({}, FIVE)) == []


@given(st.integers(0, 90), st.integers(1, 90), st.integers(1, 20))
def test_the_windows_cover_all_that_was_missed_and_no_more(start: int, minutes: int, length: int) -> None:
    missed = window(start, start + minutes)
    found = [part.window for part in missed_parts({CASES: missed}, length * MINUTE)]
    seen = {minute for one in found for minute in range(one.start, one.end, MINUTE)}
    assert seen == set(range(missed.start, missed.end, MINUTE))
