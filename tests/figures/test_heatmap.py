"""A map of heat: which keys have rows, in which order, how hot, how sure, and what is left of the others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

from analyzer.figures.heatmap import Around, draw_heat
from analyzer.model.heatmap import HeatMap, HeatMark, KeysFrom, RowKind
from analyzer.model.window import Window
from tests.support.key_slices import SLICES, cell_of, key_slices, noise


def flat(rate: float) -> np.ndarray:
    return np.full(SLICES, rate)


def only(*at: int, rate: float = 100.0) -> np.ndarray:
    rates = np.zeros(SLICES)
    rates[list(at)] = rate
    return rates


def names(heat_map: HeatMap) -> list[str]:
    return [str(row.key["PK"]) for row in heat_map.rows]


def test_heat_is_a_share_of_what_one_partition_serves() -> None:
    drawn = draw_heat(key_slices({"CASE#1": flat(1500.0), "CASE#2": flat(300.0)}), Around(limit=4000.0)).heat_map
    assert drawn.heat[:, 7].tolist() == [0.5, 0.1]
    assert drawn.units[:, 7].tolist() == [1500.0, 300.0]
    assert (drawn.columns, drawn.ceiling, drawn.limit, drawn.top[7]) == (360, 3000.0, 4000.0, 1800.0)
    assert drawn.keys is KeysFrom.REQUEST_LOG


def test_refused_tries_are_demand_too() -> None:
    drawn = draw_heat(key_slices({"CASE#1": flat(3000.0)}, {"CASE#1": flat(15_000.0)}), Around()).heat_map
    assert drawn.heat[0, 0] == 1.5
    assert drawn.throttled[0, 0] == 15_000.0


def test_a_key_that_is_refused_alone_is_as_hot_as_its_requests_would_be() -> None:
    slices = key_slices({"CASE#1": only(0, 1), "CASE#2": flat(0.0)}, {"CASE#1": only(2, rate=6_000.0)})
    drawn = draw_heat(slices, Around()).heat_map
    assert drawn.heat[0, 2] == 0.2
    assert draw_heat(key_slices({"CASE#2": flat(0.0)}, {"CASE#2": flat(3_000.0)}), Around()).heat_map.heat[0, 0] == 0.1


def test_shares_ranks_patterns_and_callers_stand_at_the_rows() -> None:
    slices = key_slices({"CASE#1": flat(100.0), "CASE#2": flat(300.0)}, cells={"CASE#2": cell_of("f1")})
    one, two = draw_heat(slices, Around(pattern_of=lambda cell: f"of-{cell.shape.fingerprint}")).heat_map.rows
    assert (one.share.value, one.rank, one.pattern, one.caller) == (0.25, 2, None, None)
    assert (two.share.value, two.rank, two.pattern, two.caller) == (0.75, 1, "of-f1", "api")
    assert draw_heat(slices, Around()).heat_map.rows[1].pattern is None


def test_of_a_sample_heat_has_bounds() -> None:
    slices = key_slices({"CASE#1": flat(300.0)}, cells={"CASE#1": cell_of(rate=0.1)})
    drawn = draw_heat(slices, Around()).heat_map
    assert drawn.heat[0, 0] == 0.1
    assert drawn.low[0, 0] < 0.095
    assert drawn.high[0, 0] > 0.105
    assert drawn.rows[0].share.low < 1 == drawn.rows[0].share.high


def test_rows_stand_in_the_order_of_their_segments_and_numbers_by_value() -> None:
    keys = ["USER#7", "CASE#10", "CASE#9", "TENANT#2#X", "TENANT#1#Y", "PLAIN"]
    assert names(draw_heat(key_slices(dict.fromkeys(keys, flat(50.0))), Around()).heat_map) == [
        "CASE#9", "CASE#10", "PLAIN", "TENANT#1#Y", "TENANT#2#X", "USER#7",
    ]  # fmt: skip


def test_tokens_have_no_order_and_stand_as_they_were_first_seen() -> None:
    late, early = "CASE#~kaaaaaaaa", "CASE#~kbbbbbbbb"
    drawn = draw_heat(key_slices({late: only(200, 201), early: only(100, 101)}), Around()).heat_map
    assert names(drawn) == [early, late]


def test_the_others_of_a_prefix_are_one_row_after_its_keys_as_hot_as_the_hottest_of_them() -> None:
    small = {f"CASE#{number}": only(number % SLICES, rate=90.0) for number in range(100, 400)}
    slices = key_slices({"CASE#1": flat(600.0), "USER#1": flat(600.0), **small}, templates={"CASE#": "CASE#"})
    drawn = draw_heat(slices, Around()).heat_map
    assert names(drawn) == ["CASE#1", "CASE#*", "USER#1"]
    others = drawn.rows[1]
    assert (others.kind, others.members, others.rank, others.key_template) == (
        RowKind.PREFIX,
        300,
        None,
        {"PK": "CASE#*"},
    )
    assert drawn.heat[1, 150] == pytest.approx(0.03)
    assert others.units.value == pytest.approx(300 * 900)


def test_a_tenant_whose_keys_are_all_small_has_a_row_by_what_the_sketch_counted() -> None:
    slices = key_slices(
        {"TENANT#1#A": flat(400.0)}, prefixes={"TENANT#": flat(1000.0), "TENANT#7#": flat(500.0)}, beside=flat(700.0)
    )
    drawn = draw_heat(slices, Around()).heat_map
    assert names(drawn) == ["TENANT#1#A", "TENANT#7#*", "TENANT#*", ""]
    assert [round(units) for units in drawn.units[:, 0]] == [400, 500, 100, 100]
    assert drawn.rows[3].kind is RowKind.REST


def test_what_is_left_is_at_most_as_hot_as_the_least_that_is_listed() -> None:
    drawn = draw_heat(key_slices({"A": flat(900.0)}, beside=flat(300.0), floor=60.0), Around()).heat_map
    assert (drawn.heat[1, 0], drawn.high[1, 0]) == (0.0, 0.02)


def test_a_key_that_was_not_listed_had_none_or_is_not_known() -> None:
    calm = draw_heat(key_slices({"A": only(0, rate=300.0), "B": flat(600.0)}, floor=60.0), Around()).heat_map
    assert (calm.heat[0, 1], calm.low[0, 1], calm.high[0, 1]) == (0.0, 0.0, 0.02)
    busy = draw_heat(key_slices({"A": only(0, rate=300.0), "B": flat(6000.0)}, floor=600.0), Around()).heat_map
    assert math.isnan(busy.heat[0, 1])
    assert busy.high[0, 1] == 0.2


def test_before_anything_was_read_nothing_is_known() -> None:
    units = flat(1000.0)
    units[:100] = np.nan
    slices = replace(key_slices({"A": only(*range(100, SLICES))}), units=units)
    drawn = draw_heat(slices, Around())
    assert np.isnan(drawn.heat_map.heat[0, :100]).all()
    assert not np.isnan(drawn.heat_map.heat[0, 100:]).any()


def test_a_screen_has_eighty_keys_the_hottest_and_the_heaviest() -> None:
    keys = {f"K{number:03}": flat(60.0 + number) for number in range(200)}
    peaks = {f"P{number:02}": only(5, rate=2000.0) for number in range(20)}
    drawn = draw_heat(key_slices({**keys, **peaks}), Around()).heat_map
    told = {name for name in names(drawn) if name}
    assert len(told) == 80
    assert set(peaks) <= told
    assert drawn.rows[-1].members == 140


def test_a_key_that_had_a_row_keeps_it_until_others_are_much_heavier() -> None:
    slices = key_slices({f"K{number:03}": flat(60.0 + number / 100) for number in range(100)})
    first = draw_heat(slices, Around())
    assert "K000" not in first.own
    assert "K000" in draw_heat(slices, Around(before=frozenset({"K000"}))).own


def test_seconds_are_told_of_keys_whose_seconds_were_kept() -> None:
    seconds = {"A": (6000.0, *[0.0] * 9)}
    drawn = draw_heat(key_slices({"A": flat(600.0), "B": flat(600.0)}, seconds=seconds), Around(), 1000).heat_map
    assert drawn.columns == SLICES * 10
    assert drawn.heat[0, :11].tolist() == [2.0, *[0.0] * 9, 2.0]
    assert np.isnan(drawn.heat[1]).all()
    assert drawn.top[:10].tolist() == [1200.0] * 10


def test_a_second_of_a_sample_is_less_sure_than_its_slice() -> None:
    cells = {"A": cell_of(rate=0.1)}
    rates = {"A": flat(600.0)}
    slice_ = draw_heat(key_slices(rates, cells=cells), Around()).heat_map
    second = draw_heat(key_slices(rates, cells=cells, seconds={"A": (600.0,) * 10}), Around(), 1000).heat_map
    assert second.heat[0, 0] == pytest.approx(slice_.heat[0, 0])
    assert second.high[0, 0] > slice_.high[0, 0]


def test_seconds_of_many_keys_together_are_not_known() -> None:
    drawn = draw_heat(key_slices({"A": flat(900.0)}, beside=flat(300.0)), Around(), 1000).heat_map
    assert np.isnan(drawn.heat[1]).all()
    assert drawn.units[1, 0] == 300.0


def test_marks_and_no_keys_at_all() -> None:
    mark = HeatMark(5, "deploy")
    drawn = draw_heat(key_slices({}, attributes=()), Around(marks=(mark,))).heat_map
    assert (drawn.rows, drawn.heat.shape, drawn.marks, drawn.labels) == ((), (0, SLICES), (mark,), ())
    assert drawn.end == Window(0, SLICES * 10_000).end


def test_a_table_whose_attributes_nobody_knows_calls_its_key_the_partition_key() -> None:
    drawn = draw_heat(key_slices({"A": noise(50.0)}, attributes=()), Around()).heat_map
    assert drawn.rows[0].key == {"partition key": "A"}
