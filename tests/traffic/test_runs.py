from __future__ import annotations

import pytest

from analyzer.model.window import Window
from analyzer.traffic.runs import risen
from tests.support.told import series

MINUTE = 60_000


def run(*values: float, start: int = 0, end: int | None = None, factor: float = 10.0) -> tuple[float, ...] | None:
    end = len(values) if end is None else end
    found = risen(series("ReplicationLatency", values), Window(start * MINUTE, end * MINUTE), factor)
    return None if found is None else tuple(point.value for point in found.run)


USUAL = (100.0, 90.0, 110.0, 95.0, 105.0, 100.0)


def test_a_stretch_that_stands_high_up_to_now_is_found_with_what_is_usual() -> None:
    found = risen(series("ReplicationLatency", (*USUAL, 1500.0, 2000.0)), Window(0, 8 * MINUTE), 10.0)
    assert found is not None
    assert (found.usual, found.seconds, found.highest) == (100.0, 120, 2000.0)


def test_a_stretch_longer_than_what_came_before_is_found_too() -> None:
    assert run(*USUAL, *[1500.0] * 20) == (1500.0,) * 20


@pytest.mark.parametrize("values", [(*USUAL, 999.0), (*USUAL, 1500.0, 100.0), USUAL, (), (*USUAL[:5], 1500.0)])
def test_what_is_below_is_over_or_has_no_past_is_no_stretch(values: tuple[float, ...]) -> None:
    assert run(*values) is None


def test_a_stretch_that_ended_before_the_window_is_another_windows() -> None:
    assert run(*USUAL, 1500.0, start=7, end=9) is None


def test_what_comes_after_the_window_is_not_known_yet() -> None:
    assert run(*USUAL, 1500.0, 100.0, end=7) == (1500.0,)


def test_a_series_of_zeros_has_no_tenfold() -> None:
    assert run(*[0.0] * 6, 0.0, 5.0) is None
