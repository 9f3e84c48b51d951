from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analyzer.model.window import Window
from analyzer.reports.frame import Frame
from analyzer.reports.heat import MOST_ROWS, forecasts_of, map_of

HOUR, DAY, WEEK = 3_600_000, 86_400_000, 604_800_000
NOTHING = pd.DataFrame()


def key(start: int, second: float | None, name: str = "A#~k1", **fields: Any) -> dict[str, Any]:
    return {
        "start": start,
        "account": None,
        "region": "us-east-1",
        "table_name": "t",
        "index_name": None,
        "direction": "read",
        "level": "partition",
        "partition": name,
        "sort": None,
        "template": "A#<id>",
        "units": 36_000.0,
        "minutes": 60,
        "peak_second": math.nan if second is None else second,
        **fields,
    }


def frame(number: int, *rows: dict[str, Any]) -> Frame:
    window = Window(number * WEEK, (number + 1) * WEEK)
    keys = pd.DataFrame([dict(one) for one in rows]) if rows else NOTHING
    return Frame(window=window, hours=NOTHING, latency=np.zeros((0, 1)), covered=(window,), keys=keys, pairs=NOTHING)


def growing(number: int, factor: float, start: float = 300.0, days: int = 7) -> Frame:
    """A week of days, each a little hotter than the one before, busier on its third."""
    first = number * 7
    made = []
    for day in range(first, first + days):
        wobble = 1 + 0.02 * math.sin(day * 2.3)
        made.append(key(day * DAY, start * factor**day * wobble * (1.5 if day % 7 == 2 else 1.0), minutes=1440))
    return frame(number, *made)


def test_a_cell_is_the_fullest_second_of_its_hour_and_else_its_mean() -> None:
    found = map_of(frame(0, key(0, 1500.0), key(HOUR, None, units=1_080_000.0)))
    assert found is not None
    (row,) = found.rows
    assert row.heat[:3] == (0.5, 0.1, None)
    assert (row.label, row.hottest, row.hottest_at, row.is_second) == ("A#<id>", 0.5, 0, False)
    assert (found.columns, found.left_out) == (168, 0)


def test_keys_of_one_template_are_numbered_and_shown_as_tokens_where_that_is_asked() -> None:
    week = frame(0, key(0, 900.0), key(0, 600.0, "A#~k2"))
    plain, tokens = map_of(week), map_of(week, with_tokens=True)
    assert plain is not None
    assert tokens is not None
    assert [row.label for row in plain.rows] == ["A#<id>", "A#<id> (2)"]
    assert [row.label for row in tokens.rows] == ["A#~k1", "A#~k2"]


def test_cold_keys_and_prefixes_have_no_row_and_of_many_the_hottest_have() -> None:
    rows = [key(0, 300.0 + n, f"A#~k{n}") for n in range(MOST_ROWS + 3)]
    found = map_of(frame(0, *rows, key(0, 10.0, "cold"), key(0, 2900.0, "A#", level="prefix")))
    assert found is not None
    assert (len(found.rows), found.left_out) == (MOST_ROWS, 3)
    assert found.rows[0].hottest < 0.12


def test_a_write_is_held_against_the_ceiling_of_writes_and_a_key_without_a_template_is_a_key() -> None:
    found = map_of(frame(0, key(0, 500.0, direction="write", template=None)))
    assert found is not None
    assert (found.rows[0].hottest, found.rows[0].label) == (0.5, "a key")


def test_without_tracked_keys_there_is_no_map_and_no_forecast() -> None:
    assert map_of(frame(0)) is None
    assert forecasts_of(frame(1), (frame(0),)) is None


def test_a_key_that_grows_is_told_when_it_reaches_its_ceiling_between_bounds() -> None:
    factor = 1.02
    (one,) = forecasts_of(growing(3, factor), tuple(growing(n, factor) for n in range(3))) or ()
    level = 300 * 1.5 * factor**28
    truth = math.log(3000 / level) / math.log(factor)
    assert one.days_low <= truth <= (one.days_high or math.inf)
    assert one.days == pytest.approx(truth, rel=0.1)
    assert one.growth_a_week.low < factor**7 < one.growth_a_week.high
    assert (one.days_fitted, one.is_near) == (28, False)


def test_a_key_that_grows_fast_is_near() -> None:
    (one,) = forecasts_of(growing(2, 1.06), tuple(growing(n, 1.06) for n in range(2))) or ()
    assert one.is_near


@pytest.mark.parametrize(
    ("factor", "start"),
    [(1.0, 300.0), (0.97, 900.0), (1.002, 300.0), (1.03, 20.0), (1.06, 2400.0)],
    ids=["level", "shrinking", "beyond a year", "cold", "there already"],
)
def test_what_leads_nowhere_near_is_not_told(factor: float, start: float) -> None:
    weeks = [growing(n, factor, start) for n in range(4)]
    assert forecasts_of(weeks[-1], tuple(weeks[:-1])) == ()


def test_less_than_two_weeks_and_keys_that_are_gone_have_no_forecast() -> None:
    assert forecasts_of(growing(1, 1.05, days=5), (growing(0, 1.05),)) is None
    gone = tuple(growing(n, 1.03) for n in range(3))
    assert forecasts_of(frame(4, key(4 * WEEK, 100.0, "other")), gone) == ()


def test_days_that_hold_nothing_are_no_days() -> None:
    silent = frame(3, *(key((21 + n) * DAY, 0.0, units=0.0) for n in range(7)))
    assert forecasts_of(silent, tuple(growing(n, 1.03) for n in range(3))) == ()
