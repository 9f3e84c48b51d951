"""Shapes on a map: each kind is found where it is, and a healthy map has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyzer.figures.heatmap import Around, draw_heat
from analyzer.model.heatmap import HeatLabel, LabelKind
from tests.support.key_slices import SLICES, key_slices, noise


def healthy(keys: int = 20, mean: float = 120.0) -> dict[str, np.ndarray]:
    return {f"CASE#{number}": noise(mean, number) for number in range(keys)}


def labels(rates: dict[str, np.ndarray], step_ms: int = 10_000, **fields: Any) -> tuple[HeatLabel, ...]:
    return draw_heat(key_slices(rates, **fields), Around(), step_ms).heat_map.labels


def kinds(rates: dict[str, np.ndarray]) -> list[LabelKind]:
    return [label.kind for label in labels(rates)]


def burst(values: np.ndarray, begin: int, end: int, rate: float) -> np.ndarray:
    return np.concatenate((values[:begin], np.full(end - begin, rate), values[end:]))


def turns(keys: int = 12, mean: float = 300.0) -> list[np.ndarray]:
    """Return rates of keys of which each has its own twelfth of the time."""
    each = SLICES // keys
    return [burst(np.zeros(SLICES), at * each, (at + 1) * each, mean) for at in range(keys)]


def test_a_healthy_map_has_no_shape() -> None:
    assert labels(healthy()) == ()


def test_a_key_that_stays_over_seven_tenths_for_three_minutes_is_a_hot_band() -> None:
    (label,) = labels({**healthy(), "CASE#7": burst(noise(120.0), 100, 118, 2400.0)})
    assert (label.kind, label.row) == (LabelKind.HOT_BAND, 7)
    assert (label.start, label.end) == (1_000_000, 1_180_000)
    assert label.text == "demand up to 0.80 × the ceiling, 00:16:40–00:19:40"


def test_a_band_that_goes_on_says_how_hot_it_is_now_and_since_when_and_comes_first() -> None:
    over = burst(noise(120.0), 100, 130, 2700.0)
    on = burst(burst(noise(120.0), 330, 357, 2400.0), 340, 342, 2550.0)
    told = labels({**healthy(), "CASE#7": over, "CASE#8": on})
    assert [(label.row, label.text) for label in told] == [
        (8, "demand 0.80 × the ceiling now, over 0.7 since 00:55:00, up to 0.85"),
        (7, "demand up to 0.90 × the ceiling, 00:16:40–00:21:40"),
    ]


def test_the_hotter_shape_comes_first_and_a_band_before_all() -> None:
    clock = noise(60.0)
    clock[3::30] = 1200.0
    rates = {f"METRIC#{1_700_000_000 + 300 * at}": rate for at, rate in enumerate(turns())}
    band = burst(noise(120.0), 100, 130, 2100.0)
    assert kinds({**healthy(), **rates, "CASE#7": clock, "CASE#8": band}) == [
        LabelKind.HOT_BAND,
        LabelKind.PERIODIC_BURST,
        LabelKind.ROLLING_DIAGONAL,
    ]


@pytest.mark.parametrize(("length", "rate"), [(17, 2400.0), (60, 2099.0)], ids=["a slice too short", "just below"])
def test_a_band_that_is_short_or_below_is_none(length: int, rate: float) -> None:
    assert labels({**healthy(), "CASE#7": burst(noise(120.0), 100, 100 + length, rate)}) == ()


def test_what_is_not_known_does_not_end_a_band() -> None:
    rate = burst(noise(120.0), 100, 130, 2400.0)
    rate[110] = 0
    slices = {"A": rate, "B": noise(4000.0)}
    found = [label for label in labels(slices, floor=400.0) if label.row == 0]
    assert [(label.kind, label.end - label.start) for label in found] == [(LabelKind.HOT_BAND, 300_000)]


def test_bands_are_told_by_the_second_too() -> None:
    seconds = {"A": (2500.0,) * 10}
    (label,) = labels({"A": burst(np.zeros(SLICES), 100, 130, 2500.0)}, 1000, seconds=seconds)
    assert (label.kind, label.start, label.end) == (LabelKind.HOT_BAND, 1_000_000, 1_300_000)


def test_keys_that_take_turns_in_the_order_of_their_names_are_a_rolling_diagonal() -> None:
    rates = {f"METRIC#{1_700_000_000 + 300 * at}": rate for at, rate in enumerate(turns())}
    (label,) = labels({**healthy(), **rates})
    assert (label.kind, label.row) == (LabelKind.ROLLING_DIAGONAL, 20)
    assert "12 keys of one prefix take turns in the order of their names, each for about 5.0 min" in label.text


def test_keys_that_take_turns_downwards_are_one_too() -> None:
    assert kinds({f"M#{99 - at}": rate for at, rate in enumerate(turns())}) == [LabelKind.ROLLING_DIAGONAL]


def test_of_tokens_turns_are_told_without_an_order() -> None:
    rates = {f"METRIC#~d{'bcdefgha'[at]}aaaaaaa": rate for at, rate in enumerate(turns(8))}
    (label,) = labels(rates)
    assert "8 keys of one prefix take turns one after the other" in label.text


def test_turns_in_no_order_are_no_diagonal() -> None:
    shuffled = np.random.default_rng(2).permutation(12).tolist()
    assert kinds({f"M#{at}": rate for at, rate in zip(shuffled, turns(), strict=True)}) == []


def test_four_turns_come_by_chance() -> None:
    assert kinds({f"M#{at}": rate for at, rate in enumerate(turns(4))}) == []


def test_keys_that_share_the_time_take_no_turns() -> None:
    thirds = [burst(np.zeros(SLICES), 30 * at, 30 * at + 120, 300.0) for at in range(9)]
    assert LabelKind.ROLLING_DIAGONAL not in kinds({f"M#{at}": rate for at, rate in enumerate(thirds)})


def test_a_row_that_bursts_on_a_clock_is_a_periodic_burst() -> None:
    rate = noise(60.0)
    rate[3::30] = 1200.0
    (label,) = labels({**healthy(), "CASE#7": rate})
    assert (label.kind, label.row, label.text) == (
        LabelKind.PERIODIC_BURST,
        7,
        "bursts every 5 min: a timer, a cron or a batch",
    )


def test_rows_of_one_clock_are_one_shape() -> None:
    rate = noise(60.0)
    rate[3::9] = 1200.0
    (label,) = labels({**healthy(), "CASE#7": rate, "CASE#8": rate * 2})
    assert (label.row, label.text) == (8, "bursts every 90 s, as do 1 other rows: a timer, a cron or a batch")


def test_cold_bursts_are_nobodys_concern() -> None:
    rate = np.zeros(SLICES)
    rate[3::30] = 59.0
    assert kinds({"A": rate, "B": noise(500.0)}) == []


def test_all_rows_that_rise_together_are_the_client_or_the_network() -> None:
    rates = {name: np.concatenate((rate[:120], rate[120:126] * 3, rate[126:])) for name, rate in healthy().items()}
    (label,) = labels(rates)
    assert (label.kind, label.row, label.start, label.end) == (LabelKind.ALL_ROWS_JUMP, None, 1_200_000, 1_260_000)
    assert label.text.startswith("all rows rise together, ")
    assert label.text.endswith("times what it was: client or network, not keys")


def test_rows_that_do_not_rise_with_the_others_are_not_counted_among_them() -> None:
    rates = {name: np.concatenate((rate[:120], rate[120:126] * 3, rate[126:])) for name, rate in healthy().items()}
    (label,) = labels({**rates, "CASE#20": noise(120.0, 20), "CASE#21": noise(120.0, 21)})
    assert label.text.startswith("20 of 22 rows rise together, ")


def test_all_rows_that_fall_together_are_too() -> None:
    rates = {name: np.concatenate((rate[:120], rate[120:130] * 0.2, rate[130:])) for name, rate in healthy().items()}
    (label,) = labels(rates)
    assert (label.kind, label.start, label.end) == (LabelKind.ALL_ROWS_JUMP, 1_200_000, 1_300_000)
    assert "fall" in label.text


def test_all_rows_that_stop_together_are_too() -> None:
    rates = {name: np.concatenate((rate[:350], np.zeros(10))) for name, rate in healthy().items()}
    (label,) = labels(rates)
    assert (label.text, label.end) == ("all rows stop together: client or network, not keys", 3_600_000)


def test_a_rise_that_stays_is_told_once() -> None:
    rates = {name: np.concatenate((rate[:200], rate[200:] * 3)) for name, rate in healthy().items()}
    (label,) = labels(rates)
    assert (label.start, label.end) == (2_000_000, 3_600_000)


@pytest.mark.parametrize("rows", [4, 20], ids=["few rows", "one row alone"])
def test_one_row_or_few_are_no_jump_of_all(rows: int) -> None:
    rates = healthy(rows)
    for name in [*rates][: rows if rows < 5 else 1]:
        rates[name] = burst(rates[name], 120, 126, 1500.0)
    assert kinds(rates) == []


def test_a_jump_beside_a_burst_of_one_row_is_one_all_the_same() -> None:
    rates = {name: np.concatenate((rate[:120], rate[120:126] * 3, rate[126:])) for name, rate in healthy().items()}
    rates["CASE#3"] = burst(rates["CASE#3"], 120, 126, 2000.0)
    assert LabelKind.ALL_ROWS_JUMP in kinds(rates)
