from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.planning.autoscaling import Rules, Scaled, replay
from analyzer.planning.load import Load

if TYPE_CHECKING:
    from collections.abc import Sequence

WRITE = Direction.WRITE
WIDE = Rules(minimum=1, maximum=10_000)


def scaled(units: Sequence[float], rules: Rules = WIDE, start: int = 0) -> Scaled:
    load = Load(start=start, units=tuple(units), seconds=len(units) * 60.0, source=SourceName.REQUEST_LOG)
    return replay({WRITE: load}, {WRITE: rules})[WRITE]


def test_demand_at_the_target_changes_nothing() -> None:
    done = scaled([70] * 120)
    assert set(done.capacity) == {100}
    assert (done.raised, done.lowered, done.throttled_units) == (0, 0, 0)
    assert (done.mean_capacity, done.used_share) == (100, 0.7)


def test_two_minutes_over_the_target_raise_capacity_two_minutes_later() -> None:
    done = scaled([70, 80, 80, 80, 80, 80, 80])
    assert done.capacity == (100, 100, 100, 100, 100, 115, 115)
    assert done.raised == 1


def test_one_minute_over_the_target_raises_nothing() -> None:
    assert scaled([70, 90, 70, 90, 70, 90]).raised == 0


def test_fifteen_minutes_far_enough_below_lower_it_to_the_fullest_of_them() -> None:
    done = scaled([70, *([35] * 14), 42, 35, 35, 35])
    assert done.lowered == 1
    assert done.capacity[-1] == 60
    assert scaled([70, *([35] * 14), 55, 35]).lowered == 0
    assert scaled([70, *([51] * 40)]).lowered == 0


def test_bounds_hold() -> None:
    done = scaled([70, *([500] * 10)], Rules(minimum=1, maximum=200))
    assert max(done.capacity) == 200
    assert done.minutes_at_maximum > 0
    low = scaled([1] * 40, Rules(minimum=50, maximum=200))
    assert (set(low.capacity), low.lowered) == ({50}, 0)


def test_unused_capacity_of_five_minutes_serves_a_burst_before_anything_is_refused() -> None:
    start = Rules(minimum=100, maximum=100, first=100)
    assert scaled([0] * 5 + [600], start).throttled_units == 0
    assert scaled([0] * 60 + [600], start).throttled_units == 0
    done = scaled([0] * 60 + [700], start)
    assert (done.throttled_units, done.throttled_minutes) == (6000, 1)
    assert done.throttled_share == 6000 / 42_000
    assert scaled([600], start).throttled_units == 30_000


def test_autoscaling_sees_what_was_served_and_so_it_catches_up_in_steps() -> None:
    done = scaled([70, *([700] * 30)])
    steps = sorted(set(done.capacity))
    assert len(steps) > 4
    assert all(later <= earlier / 0.7 + 100 * 5 for earlier, later in pairwise(steps))
    assert done.throttled_units > 0


def saw(days: int) -> list[int]:
    """Demand that falls and rises again every half hour."""
    return ([700] * 5 + [70] * 25) * 48 * days


def test_a_day_has_four_decreases_and_one_more_an_hour() -> None:
    done = scaled(saw(1))
    assert 4 < done.lowered <= 27
    assert done.held_minutes > 0
    assert scaled(saw(2)).lowered >= 2 * done.lowered - 2


def test_directions_share_the_decreases_of_a_table() -> None:
    alone = scaled(saw(1)).lowered
    load = Load(start=0, units=tuple(saw(1)), seconds=86_400.0, source=SourceName.REQUEST_LOG)
    both = replay(dict.fromkeys(Direction, load), dict.fromkeys(Direction, WIDE))
    assert sum(one.lowered for one in both.values()) <= 27 < 2 * alone


def test_nothing_asked_is_nothing_refused() -> None:
    done = scaled([0.0] * 3)
    assert (done.throttled_share, done.used_share) == (0, 0)
    assert replay({}, {}) == {}


@settings(max_examples=40)
@given(st.lists(st.floats(0, 5000), min_size=1, max_size=200), st.floats(1, 500), st.floats(500, 5000))
def test_what_was_asked_was_served_or_refused_and_capacity_keeps_its_bounds(
    units: list[float], minimum: float, maximum: float
) -> None:
    done = scaled(units, Rules(minimum=minimum, maximum=maximum))
    assert abs(done.served_units + done.throttled_units - sum(units) * 60) < 1e-3
    assert len(done.capacity) == len(units)
    assert all(minimum <= one <= maximum for one in done.capacity)
