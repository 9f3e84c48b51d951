from __future__ import annotations

import numpy as np
import pytest

from analyzer.statistics.change_points import change_points


def series(*levels: tuple[int, float], seed: int = 1) -> np.ndarray:
    """Noise of a twentieth about levels, each for so many points."""
    rng = np.random.default_rng(seed)
    return np.concatenate([level + rng.normal(0, 0.05, many) for many, level in levels])


@pytest.mark.parametrize("at", [4, 20, 50])
def test_a_level_that_changes_is_found_on_its_day(at: int) -> None:
    assert change_points(series((at, 0.0), (56 - at, 0.7))) == [at]


def test_two_changes_are_both_found_in_order() -> None:
    assert change_points(series((20, 0.0), (20, 0.8), (20, 0.2))) == [20, 40]


def test_noise_has_none() -> None:
    assert sum(len(change_points(series((56, 0.0), seed=seed))) for seed in range(50)) <= 1


def test_a_short_series_says_nothing() -> None:
    assert change_points(series((5, 0.0), (6, 2.0))) == []


def test_a_constant_series_has_none() -> None:
    assert change_points(np.zeros(30)) == []


def test_what_only_one_of_two_ways_sees_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    values = series((20, 0.0), (36, 0.7))
    monkeypatch.setattr("analyzer.statistics.change_points._split", lambda *_: [9])
    assert change_points(values) == []
