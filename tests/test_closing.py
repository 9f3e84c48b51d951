from __future__ import annotations

from analyzer.closing import Closing, Due

HOUR = 3_600_000
T = 1_760_000_040_000 - 1_760_000_040_000 % 60_000
LATE = 120_000


def due(closing: Closing, changes: dict[int, int], end: int) -> list[tuple[int, bool]]:
    """Minutes from T that are due, and whether they are late."""
    return [((one.start - T) // 60_000, one.is_late) for one in closing.due(changes, end)]


def test_a_minute_closes_when_two_minutes_late_records_are_in() -> None:
    closing = Closing(None)
    assert due(closing, {T: 1}, T + 60_000 + LATE - 10_000) == []
    assert due(closing, {T: 1}, T + 60_000 + LATE) == [(0, False)]
    assert due(closing, {T: 1}, T + 60_000 + LATE) == []


def test_a_minute_without_requests_closes_too() -> None:
    assert due(Closing(None), {T: 1}, T + 180_000 + LATE) == [(0, False), (1, False), (2, False)]


def test_nothing_closes_before_anything_was_read_but_time_that_was_watched() -> None:
    closing = Closing(None)
    assert due(closing, {}, T) == []
    assert due(closing, {}, T + 60_000 + LATE) == [(0, False)]


def test_what_comes_late_tells_its_minute_anew_as_long_as_all_of_it_is_known() -> None:
    closing = Closing(None)
    due(closing, {T: 1}, T + 60_000 + LATE)
    assert due(closing, {T: 2}, T + 70_000 + LATE) == [(0, False)]
    assert due(closing, {T: 2}, T + 80_000 + LATE) == []


def test_what_comes_after_an_hour_is_told_beside_it() -> None:
    closing = Closing(None)
    due(closing, {T: 1}, T + 60_000 + LATE)
    due(closing, {T: 1}, T + 2 * HOUR)
    assert (0, True) in due(closing, {T: 1}, T + 2 * HOUR + 10_000)


def test_a_log_that_is_older_than_an_hour_is_told_as_late() -> None:
    found = due(Closing(None), {T: 3, T + 60_000: 2}, T + 3 * HOUR)
    assert found[:2] == [(0, True), (1, True)]
    assert found[2] == (120, False)


def test_a_restart_does_not_tell_again_what_had_closed_long_before() -> None:
    closing = Closing(T + HOUR // 2)
    assert due(closing, {T: 1, T + HOUR // 2: 1}, T + HOUR // 2 + 10_000)[0] == (20, False)
    assert due(closing, {T: 1, T + HOUR // 2: 1}, T + HOUR // 2 + 20_000) == []


def test_a_minute_half_let_go_is_never_told_by_its_other_half() -> None:
    closing = Closing(None)
    due(closing, {T: 1, T + 50_000: 1}, T + 60_000 + LATE)
    due(closing, {T: 1, T + 50_000: 1}, T + HOUR + 20_000)
    assert (0, False) not in due(closing, {T + 50_000: 2}, T + HOUR + 30_000)


def test_due_minutes_are_values() -> None:
    assert Due(T, is_late=True) == (T, True)
