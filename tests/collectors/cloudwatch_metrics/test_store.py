from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.window import Window
from collectors.cloudwatch_metrics.store import SeriesStore

EVER = Window(0, 10**9)
MINUTE = 60_000


def store(slots: int = 10, most: int = 200) -> SeriesStore:
    return SeriesStore(60, slots, most)


def test_what_was_kept_is_found_again() -> None:
    kept = store()
    kept.upsert("a", [MINUTE, 3 * MINUTE], [1.0, 3.0])
    assert kept.points("a", EVER) == ((MINUTE, 3 * MINUTE), (1.0, 3.0))
    assert kept.points("a", Window(2 * MINUTE, 3 * MINUTE)) == ((), ())
    assert kept.newest("a") == 3 * MINUTE


def test_a_series_that_nobody_kept_has_no_points() -> None:
    assert store().points("a", EVER) == ((), ())
    assert store().newest("a") is None
    assert store().oldest == 0


def test_a_series_without_points_takes_no_room() -> None:
    kept = store()
    kept.upsert("a", [], [])
    assert len(kept) == 0


def test_the_newest_reading_wins() -> None:
    kept = store()
    kept.upsert("a", [MINUTE], [1.0])
    kept.upsert("a", [MINUTE], [2.0])
    assert kept.points("a", EVER) == ((MINUTE,), (2.0,))


def test_the_oldest_makes_room_for_the_newest() -> None:
    kept = store(slots=3)
    kept.upsert("a", [MINUTE, 2 * MINUTE, 3 * MINUTE], [1.0, 2.0, 3.0])
    kept.upsert("b", [5 * MINUTE], [5.0])
    assert kept.points("a", EVER) == ((3 * MINUTE,), (3.0,))
    assert kept.oldest == 3 * MINUTE
    kept.upsert("a", [MINUTE], [9.0])
    assert kept.points("a", EVER) == ((3 * MINUTE,), (3.0,))
    assert kept.dropped == 1


def test_a_leap_in_time_empties_it() -> None:
    kept = store(slots=3)
    kept.upsert("a", [MINUTE], [1.0])
    kept.upsert("b", [100 * MINUTE], [2.0])
    assert kept.points("a", EVER) == ((), ())
    assert kept.newest("a") is None


def test_series_over_the_bound_are_counted() -> None:
    kept = store(most=1)
    kept.upsert("a", [MINUTE], [1.0])
    kept.upsert("b", [MINUTE, 2 * MINUTE], [1.0, 2.0])
    assert (len(kept), kept.dropped) == (1, 2)


def test_series_that_nobody_asks_for_are_let_go() -> None:
    kept = store()
    for number in range(150):
        kept.upsert(number, [MINUTE], [float(number)])
    kept.keep_only([7, 99])
    assert len(kept) == 2
    assert kept.points(99, EVER) == ((MINUTE,), (99.0,))
    assert kept.points(8, EVER) == ((), ())
    kept.upsert(8, [2 * MINUTE], [8.0])
    assert kept.points(8, EVER) == ((2 * MINUTE,), (8.0,))
    kept.keep_only([])
    kept.upsert(1, [2 * MINUTE], [1.0])
    assert kept.points(1, EVER) == ((2 * MINUTE,), (1.0,))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.floats(-9, 9)), max_size=60))
def test_it_holds_what_a_dictionary_would_within_its_slots(writes: list[tuple[int, int, float]]) -> None:
    kept, plain, end = store(slots=10), dict[int, dict[int, float]](), -1
    for series, minute, value in writes:
        kept.upsert(series, [minute * MINUTE], [value])
        if minute > end - 10 or end < 0:
            plain.setdefault(series, {})[minute] = value
        end = max(end, minute)
    for series in range(4):
        wanted = {minute: value for minute, value in plain.get(series, {}).items() if minute > end - 10}
        times, values = kept.points(series, EVER)
        assert dict(zip(times, values, strict=True)) == {m * MINUTE: v for m, v in wanted.items()}
