"""Figures for plotly: plain values that plotly itself checked, with heat or without."""

from __future__ import annotations

import json
import math
import subprocess
import sys

from msgspec.structs import replace

from analyzer.exporters.api_map import row_labels
from analyzer.figures.lag import index_strip
from analyzer.figures.plots import heat_figure, lag_figure, shares_figure, top_figure
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.heatmap import HeatLimit
from tests.support.page_map import made_map, unseen_map
from tests.support.page_report import AS_OF, GSI1, ORDERS, made_report

MAP = made_map(ORDERS, Direction.READ, AS_OF)
LABELS = row_labels(MAP, "template")


def test_a_map_has_steps_at_seven_tenths_and_at_the_ceiling() -> None:
    figure = heat_figure(MAP, LABELS)
    (trace,) = figure["data"]
    stops = [stop for stop, _ in trace["colorscale"]]
    assert stops.count(0.28) == stops.count(0.4) == 2
    assert (trace["type"], trace["zmax"], len(trace["z"]), len(trace["z"][0])) == ("heatmap", 250, len(LABELS), 360)
    assert trace["z"][3][40] is None
    assert figure["layout"]["yaxis"]["ticktext"] == LABELS
    assert [shape["name"] for shape in figure["layout"]["shapes"]] == [
        "capacity read units 6,000 → 8,000",
        "unexpected-scan began (3% of read units)",
        "deploy checkout-api 4.12.0",
        "hot-key began (heat 1.24)",
        "throttling began (throttled share 17%)",
    ]
    json.dumps(figure, allow_nan=False)


def test_without_its_heat_a_map_is_small() -> None:
    figure = heat_figure(MAP, LABELS, with_heat=False, is_relative=True)
    assert figure["data"][0].get("z") is None
    assert figure["data"][0]["zmax"] == 100
    assert len(json.dumps(figure)) < 8000


def test_times_are_written_so_that_no_browser_moves_them() -> None:
    assert heat_figure(MAP, LABELS)["layout"]["xaxis"]["range"] == [
        "2026-06-01T13:06:00.000",
        "2026-06-01T14:06:00.000",
    ]


def test_units_stand_against_what_the_target_and_a_partition_may_serve() -> None:
    lines = [shape for shape in top_figure(MAP)["layout"]["shapes"] if shape["line"]["dash"] != "dash"]
    assert [(line["name"], line["y0"]) for line in lines] == [
        ("limit", 6000.0),
        ("limit", 8000.0),
        ("ceiling", 3000.0),
    ]
    assert lines[0]["x1"] == lines[1]["x0"] == "2026-06-01T13:34:20.000"
    assert (lines[0]["x0"], lines[1]["x1"]) == ("2026-06-01T13:06:00.000", "2026-06-01T14:06:00.000")
    flat = top_figure(replace(MAP, limits=()))["layout"]["shapes"]
    assert [line["y0"] for line in flat if line["name"] == "limit"] == [8000.0]
    gone = replace(MAP, limits=(HeatLimit(MAP.start, None), HeatLimit(AS_OF - 60_000, 8000.0)))
    assert [line["x0"] for line in top_figure(gone)["layout"]["shapes"] if line["name"] == "limit"] == [
        "2026-06-01T14:05:00.000"
    ]
    unseen = top_figure(unseen_map(ORDERS, Direction.READ, AS_OF))
    assert [line["y0"] for line in unseen["layout"]["shapes"]] == [3000.0]


def test_shares_have_their_bounds() -> None:
    (bars,) = shares_figure(MAP, LABELS)["data"]
    assert len(bars["x"]) == len(bars["error_x"]["array"]) == len(LABELS)
    assert all(part > 0 for part in bars["error_x"]["array"])


def test_the_lag_of_an_index_has_its_quantiles_as_far_as_anybody_looked() -> None:
    gsi = next(one for one in made_report().traffic if one.target == GSI1)
    strip = index_strip(gsi)
    figure = lag_figure([strip])
    assert [trace["name"] for trace in figure["data"]] == ["p50", "p95", "p99"]
    assert figure["data"][0]["y"] == ["orders/GSI1"]
    assert strip.lag is not None
    beyond = replace(strip.lag, p99=Estimate(math.inf, 5.0, math.inf), p95=Estimate(2.0, 1.0, math.inf), p50=None)
    figure = lag_figure([replace(strip, lag=beyond), replace(strip, lag=None)])
    assert [(trace["name"], trace["error_x"]["array"]) for trace in figure["data"]] == [("p95", [2.0])]


def test_plotly_is_imported_where_something_is_drawn_and_no_sooner() -> None:
    script = "import sys, analyzer.app, analyzer.exporters.screen; print('plotly' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"
