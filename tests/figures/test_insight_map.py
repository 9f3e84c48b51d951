"""Where no request log tells the keys: Contributor Insights by the minute, or how keys would become visible."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyzer.exporters.api_map import map_object
from analyzer.figures.heatmap import Around
from analyzer.figures.insight_map import draw_insights, draw_unseen
from analyzer.model.batch import MetricSeries
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.finding import Direction
from analyzer.model.heatmap import HeatMap, KeysFrom, LabelKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import InsightKey, InsightMinute
from analyzer.model.window import Window
from tests.support.evidence import CASES, traffic

HOUR = Window(30_000, 3_630_000)


def key(
    name: str, *heats: tuple[int, float], rule: str = "PKC", is_mixed_known: bool = False, **fields: Any
) -> InsightKey:
    """Return a key that had such a share of the ceiling in some minutes of the hour."""
    minutes = [InsightMinute(at * 60_000, heat * 180_000, heat / 2, heat, is_mixed_known) for at, heat in heats]
    given = {"period_seconds": 60, "share": 0.5, "key": {"PK": name}, "key_template": {"PK": "CASE#<id>"}}
    return InsightKey(rule=rule, name=KeyName(KeyLevel.PARTITION, name), minutes=tuple(minutes), **{**given, **fields})


def consumed(*values: float, period: int = 60) -> MetricSeries:
    stamps = tuple(at * period * 1000 for at in range(len(values)))
    return MetricSeries("ConsumedReadCapacityUnits", {"TableName": "cases"}, "Sum", period, stamps, values, True)  # noqa: FBT003


def test_keys_stand_by_the_minute_in_the_order_of_the_tree() -> None:
    drawn = draw_insights(
        traffic(CASES, insights=(key("CASE#9", (1, 0.9)), key("CASE#10", (0, 0.2), (1, 0.4), share=0.6))),
        Direction.READ,
        HOUR,
        Around(limit=10.0),
    )
    assert (drawn.keys, drawn.step_ms, drawn.columns, drawn.start, drawn.limit) == (
        KeysFrom.CONTRIBUTOR_INSIGHTS,
        60_000,
        61,
        0,
        10.0,
    )
    assert [(row.key["PK"], row.rank, row.share.value) for row in drawn.rows] == [
        ("CASE#9", 2, 0.5),
        ("CASE#10", 1, 0.6),
    ]
    assert drawn.heat[1, :2].tolist() == [0.2, 0.4]
    assert (drawn.low[1, 0], drawn.high[1, 0]) == (0.1, 0.2)
    assert np.isnan(drawn.heat[0, 0])
    assert drawn.units[0, 1] == 2700.0
    assert [tuple(row.share) for row in drawn.rows] == [(0.5, 0.0, 0.5), (0.6, 0.0, 0.6)]
    assert [[round(units) for units in row.units] for row in drawn.rows] == [
        [162_000, 81_000, 162_000],
        [108_000, 54_000, 108_000],
    ]


def test_where_reads_and_writes_are_bounded_the_middle_is_told() -> None:
    drawn = draw_insights(traffic(insights=(key("A", (1, 0.8), is_mixed_known=True),)), Direction.READ, HOUR, Around())
    assert round(drawn.heat[0, 1], 3) == 0.6


def test_throttles_of_a_key_stand_at_it() -> None:
    throttles = InsightKey(
        rule="PKT",
        name=KeyName(KeyLevel.PARTITION, "A"),
        key={},
        key_template={},
        period_seconds=60,
        minutes=(InsightMinute(60_000, 12.0), InsightMinute(90_000_000, 5.0)),
        share=1.0,
    )
    drawn = draw_insights(traffic(insights=(key("A", (1, 0.8), (99, 0.9)), throttles)), Direction.READ, HOUR, Around())
    assert drawn.throttled.sum() == drawn.throttled[0, 1] == 12.0


def test_tries_are_not_known_where_no_rule_tells_them() -> None:
    def drawn(*sights: Sight) -> HeatMap:
        told = traffic(insights=(key("A", (1, 0.8)),), sights=frozenset(sights))
        return draw_insights(told, Direction.READ, HOUR, Around())

    unknown, known = drawn(Sight.INSIGHTS_ACCESSED), drawn(Sight.INSIGHTS_ACCESSED, Sight.INSIGHTS_THROTTLED)
    shown = [map_object(one, HOUR.end, "reveal") for one in (unknown, known)]
    assert [one["rows"][0]["throttled"] for one in shown] == [None, 0]
    words = "A: 50% of what is listed, reads and writes together, hottest 0.80 (0.40–0.80) of the ceiling at 00:01:00"
    assert [one["text"] for one in shown] == [[f"{words}, throttled tries not known"], [words]]


def test_a_key_that_stays_hot_is_labelled_here_too() -> None:
    hot = key("A", *((minute, 0.9) for minute in range(10, 15)))
    (label,) = draw_insights(traffic(insights=(hot,)), Direction.READ, HOUR, Around()).labels
    assert (label.kind, label.row) == (LabelKind.HOT_BAND, 0)


def test_metrics_alone_show_units_and_how_to_see_keys() -> None:
    told = traffic(sights=frozenset({Sight.METRICS}), metrics=(consumed(0.0, 600.0, 1200.0),))
    drawn = draw_unseen(told, Direction.READ, HOUR, Around())
    assert (drawn.keys, drawn.rows, drawn.columns) == (KeysFrom.NOT_VISIBLE, (), 360)
    assert drawn.hint is not None
    assert "keys not visible" in drawn.hint
    assert "dynascope insights watch" in drawn.hint
    assert drawn.top[:10].tolist() == [0.0] * 3 + [10.0] * 6 + [20.0]
    assert np.isnan(drawn.top[20:]).all()


def test_a_log_without_keys_says_how_its_sampler_would_write_them() -> None:
    drawn = draw_unseen(traffic(sights=frozenset({Sight.REQUESTS})), Direction.READ, HOUR, Around())
    assert drawn.hint == "the request log tells no keys: let its sampler write them as tokens (`keys: token`)"
