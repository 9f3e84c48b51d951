from __future__ import annotations

from analyzer.closing import NOTHING_OWED, Closing, Due, Owed, kept_from

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
    found = due(closing, {T + 50_000: 2}, T + HOUR + 30_000)
    assert (0, False) not in found
    assert (0, True) in found


def test_what_comes_anew_for_a_slice_that_was_let_go_is_told_as_late() -> None:
    closing = Closing(None)
    due(closing, {T: 3, T + 50_000: 1}, T + 60_000 + LATE)
    due(closing, {T: 3, T + 50_000: 1}, T + HOUR + 30_000)
    due(closing, {T + 50_000: 1}, T + HOUR + 40_000)
    assert (0, True) in due(closing, {T: 1, T + 50_000: 1}, T + HOUR + 50_000)


def test_minutes_are_let_go_whole() -> None:
    assert kept_from(T + HOUR + 50_000, HOUR) == T
    assert kept_from(T + HOUR + 60_000, HOUR) == T + 60_000


def test_a_digest_that_counts_anew_loses_and_repeats_nothing() -> None:
    closing = Closing(None)
    due(closing, {T: 9, T + 10_000: 4}, T + 60_000 + LATE)
    closing.adopt({T: 1, T + 10_000: 1}, 0)
    assert due(closing, {T: 1, T + 10_000: 1}, T + 70_000 + LATE) == []
    assert due(closing, {T: 2, T + 10_000: 1}, T + 80_000 + LATE) == [(0, False)]


def test_what_came_before_a_digest_counts_anew_is_told_after_it() -> None:
    closing = Closing(None)
    due(closing, {T: 9}, T + 60_000 + LATE)
    closing.adopt({T: 1}, 0, before={T: 10})
    assert due(closing, {T: 1}, T + 70_000 + LATE) == [(0, False)]


def test_a_reload_before_anything_was_told_keeps_what_a_restart_knew() -> None:
    for grown, found in ((1, []), (2, [(10, False)])):
        closing = Closing(T + HOUR // 2, restored={T + 600_000: 1, T + 660_000: 1})
        closing.adopt({T + 600_000: 1, T + 660_000: 1}, 0, before={T + 600_000: grown, T + 660_000: 1})
        told = due(closing, {T + 600_000: 1, T + 660_000: 1}, T + HOUR // 2)
        assert [one for one in told if one[0] < 20] == found


def test_a_window_that_grows_tells_no_older_minute_again() -> None:
    closing = Closing(None)
    minutes = {T + n * 60_000: 1 for n in range(60)}
    due(closing, minutes, T + HOUR)
    closing.adopt(minutes, 3 * HOUR, before=minutes)
    later = T + HOUR + 10 * 60_000
    assert [one for one in due(closing, minutes, later) if one[0] < 57] == []
    assert (30, False) in due(closing, {**minutes, T + 30 * 60_000: 2}, T + 3 * HOUR)


def test_what_was_let_go_under_a_shorter_window_stays_so() -> None:
    closing = Closing(None)
    due(closing, {T: 1}, T + 60_000 + LATE)
    due(closing, {T: 1}, T + 2 * HOUR)
    closing.adopt({}, 3 * HOUR)
    assert (0, True) in due(closing, {T: 1}, T + 2 * HOUR + 10_000)
    assert closing.let_go(kept_from(T + 2 * HOUR + 10_000, 3 * HOUR)) == T + HOUR


def test_a_clock_that_is_set_back_by_more_than_is_kept_begins_anew() -> None:
    closing = Closing(None)
    due(closing, {T + 4 * HOUR: 1}, T + 4 * HOUR + 60_000 + LATE)
    assert (0, False) in due(closing, {T: 1}, T + HOUR // 2)
    assert closing.let_go(T - 3 * HOUR) == T - 3 * HOUR


def test_after_a_restart_minutes_that_waited_are_told_again_as_far_as_they_are_known() -> None:
    closing = Closing(T + HOUR, owed=Owed(T + HOUR, (T - 60_000, T + 10 * 60_000)), restored={})
    closing.let_go(T)
    found = due(closing, {}, T + HOUR)
    assert (found[0], len(found)) == ((0, False), 58)
    assert closing.take_lost() == (T - 60_000,)
    assert closing.take_lost() == ()


def test_a_restart_goes_on_with_the_oldest_minute_that_waited() -> None:
    closing = Closing(T + HOUR, owed=Owed(T + HOUR, (T + 10 * 60_000,)), restored={T: 1})
    closing.let_go(T)
    assert due(closing, {T: 1}, T + HOUR)[0] == (10, False)
    assert closing.take_lost() == ()


def test_a_restart_before_anything_was_told_forgets_nothing_of_what_waited() -> None:
    owed = Owed(T, (T + 60_000,), 3)
    closing = Closing(T + HOUR, owed=owed, restored={})
    assert closing.owed((), {}) == owed


def test_a_checkpoint_holds_what_waits_and_what_holds_more_than_was_told() -> None:
    closing = Closing(None)
    due(closing, {T: 1}, T + 120_000 + LATE)
    kept, late = kept_from(T + 120_000 + LATE, HOUR), (T + 120_000 + LATE) // 1000
    assert closing.owed((T + 60_000,), {T: 1}) == Owed(T + 120_000, (T + 60_000,), late, kept)
    assert closing.owed((), {T: 2}) == Owed(T + 120_000, (T,), late, kept)


def test_late_batches_are_numbered_on_and_above_all_that_was_where_the_state_is_lost() -> None:
    for owed, least in ((Owed(late=7), 7), (NOTHING_OWED, T // 1000)):
        closing = Closing(None, owed=owed)
        due(closing, {}, T)
        assert closing.owed((), {}).late == least


def test_what_was_read_since_a_restart_is_told_though_its_minute_was_told_before() -> None:
    closing = Closing(T + HOUR // 2, restored={T + 600_000: 1})
    assert (10, False) in due(closing, {T + 600_000: 2}, T + HOUR // 2)


def test_due_minutes_are_values() -> None:
    assert Due(T, is_late=True) == (T, True, 0)


def test_a_clock_that_jumps_by_a_year_tells_no_minute_that_nobody_looked_at() -> None:
    closing = Closing(None)
    due(closing, {T: 1}, T + 60_000 + LATE)
    later = T + 365 * 24 * HOUR
    found = due(closing, {T: 1, T + 60_000: 3}, later)
    assert (found[0], found[-1]) == ((1, False), ((later - T - LATE) // 60_000 - 1, False))
    assert len(found) < 62
    assert due(closing, {}, T + 4 * 60_000) == []
    assert due(closing, {T + 180_000: 1}, T + 6 * 60_000)[-1] == (3, False)


def test_a_clock_that_is_set_back_with_the_log_never_tells_whole_what_was_told_before() -> None:
    closing = Closing(None)
    due(closing, {T: 1}, T + 60_000 + LATE)
    for minutes in range(10, 190, 10):
        due(closing, {}, T + minutes * 60_000)
    again, later = closing.due({T + 60_000: 1}, T + 240_000), closing.due({T + 60_000: 2}, T + 250_000)
    assert [(one.start, one.is_late) for one in (*again, *later)] == [(T + 60_000, True)] * 2
    assert again[0].number == later[0].number > 0  # the second holds what the first did, and takes its place
    assert due(closing, {T + 60_000: 2}, T + 300_000) == []


def test_a_restart_under_a_clock_that_was_set_back_tells_nothing_whole_that_was_told() -> None:
    closing = Closing(T + 3 * HOUR, owed=Owed(T + 3 * HOUR))
    due(closing, {}, T)
    assert due(closing, {T: 1}, T + 60_000 + LATE) == [(0, True)]


def test_what_a_checkpoint_held_is_told_whole_after_a_long_rest() -> None:
    """It was read before the rest and not told: it is not let go before it is."""
    changes = {T: 1, T + 60_000: 2}
    closing = Closing(T + 100_000, owed=Owed(T, (), 0, T - HOUR), restored=changes)
    now = T + 5 * HOUR
    assert closing.let_go(kept_from(now, HOUR)) == T - HOUR
    found = due(closing, changes, now)
    assert found[:2] == [(0, False), (1, False)]
    assert closing.take_lost() == ()
    assert closing.let_go(kept_from(now, HOUR)) == kept_from(now, HOUR)


def test_a_backlog_that_was_read_before_anything_was_told_is_owed() -> None:
    fresh = Closing(None).owed((), {T: 1, T + 60_000: 1})
    assert (fresh.since, fresh.unwritten) == (T, (T, T + 60_000))
    resumed = Closing(T + HOUR, restored={T + HOUR: 1})
    assert resumed.owed((), {T: 1, T + HOUR: 1}).unwritten == (T,)
