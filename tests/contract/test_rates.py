from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from analyzer.contract.rates import Rates, Stretch
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.counts import Counts
    from analyzer.model.shape import Shape


def rates(*taken: Counts) -> Rates:
    found = Rates()
    for counts in taken:
        found.take(counts)
    return found


def test_a_short_log_is_looked_at_in_slices(counted: Callable[..., Counts], shape: Callable[..., Shape]) -> None:
    counts = counted((shape("Scan"), None, [10, 20, 30, 40, 50, 60], 0.5), (shape("Query"), None, [7], 1.0))
    found = rates(counts)
    assert (found.seconds, found.of([0], counts)) == (10, Stretch(11.5, 12.0))


def test_a_log_of_less_than_a_minute_tells_nothing(counted: Callable[..., Counts], shape: Callable[..., Shape]) -> None:
    counts = counted((shape("Scan"), None, [10] * 5, 1.0))
    assert rates(counts).of([0], counts) == Stretch()
    assert rates().of([0], counts) == Stretch()


def test_a_long_log_is_looked_at_by_minute(counted: Callable[..., Counts], shape: Callable[..., Shape]) -> None:
    """One slice of six hundred requests in a minute is ten a second, and minutes without any count too."""
    counts = counted((shape("Scan"), None, [600, *[0] * 71], 1.0))
    found = rates(counts).of([0], counts)
    assert found.p95 == pytest.approx(4.5)
    assert found.peak == 10.0


def test_stretches_that_come_one_after_the_other_are_one_log(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    first = counted((shape("Scan"), None, [6] * 30, 1.0))
    second = replace(first, window=Window(300_000, 600_000))
    empty = replace(first, series=first.series[:0])
    assert rates(second, first, empty).of([0], first) == Stretch(0.6, 0.6)
    assert rates(second, first, empty).seconds == 60
