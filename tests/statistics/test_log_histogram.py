from __future__ import annotations

import math

import numpy as np

from analyzer.statistics.log_histogram import bucket_numbers, quantile

BOUNDS = (1.0, 2.0, 4.0)


def test_a_value_at_a_bound_belongs_below_it() -> None:
    assert bucket_numbers(np.array([0.0, 1.0, 1.5, 4.0, 9.0]), np.array(BOUNDS)).tolist() == [0, 0, 1, 2, 3]


def test_a_quantile_lies_in_the_bucket_where_the_share_is_reached() -> None:
    assert quantile((1, 1, 2, 0), BOUNDS, 0.5) == (1.0, 2.0)
    assert quantile((1, 0, 0, 0), BOUNDS, 0.99) == (0.0, 1.0)


def test_above_the_last_bound_there_is_none() -> None:
    assert quantile((0, 0, 0, 3), BOUNDS, 0.5) == (4.0, math.inf)


def test_an_empty_histogram_has_no_quantile() -> None:
    assert quantile((0, 0, 0, 0), BOUNDS, 0.5) is None
