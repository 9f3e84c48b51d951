"""Figures for plotly, as plain values: the page gets them as JSON, the weekly report as they are.

plotly is imported when the first is drawn (0.2 s and 16 MB). Colors are safe for the color-blind; whoever draws may put
others in their place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from analyzer.model.heatmap import HeatLimit, RowKind
from analyzer.model.instant import to_moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.figures.lag import IndexStrip
    from analyzer.model.estimate import Estimate
    from analyzer.model.heatmap import HeatMap

__all__ = ["HEAT_SCALE", "heat_figure", "lag_figure", "shares_figure", "top_figure"]

Figure = dict[str, Any]

_MOST = 2.5
"""The greatest share of the ceiling that is told apart: beyond it, hot is hot."""

_WARM, _HOT = 0.28, 0.4
"""0.7 and 1.0 of the ceiling on a scale that ends at `_MOST`."""
HEAT_SCALE: tuple[tuple[float, str], ...] = (
    (0.0, "#0b1d33"),
    (_WARM / 2, "#1f5f7a"),
    (_WARM, "#5fb3a1"),
    (_WARM, "#f2a900"),
    (_HOT, "#f2a900"),
    (_HOT, "#c2172c"),
    (1.0, "#ff5a5f"),
)
"""Calm below 0.7, then hard steps at 0.7 and at the ceiling."""

_CALM = ((0.0, "#0b1d33"), (0.5, "#1f8a8a"), (1.0, "#f4f1bb"))
_LINE, _LIMIT, _QUIET = "#1f77b4", "#c2172c", "#8a8f98"


def heat_figure(
    heat_map: HeatMap, labels: Sequence[str], *, with_heat: bool = True, is_relative: bool = False
) -> Figure:
    """Return the map; without its heat the cells are to be filled in by whoever has them as bytes."""
    from plotly import graph_objects as go  # noqa: PLC0415 -- heavy

    greatest = float(np.nanmax(heat_map.units, initial=0.0)) or 1.0
    values = heat_map.units / greatest if is_relative else heat_map.heat
    trace = go.Heatmap(
        z=_cells(values * 100) if with_heat else None,
        x0=_time(heat_map.start + heat_map.step_ms // 2),
        dx=heat_map.step_ms,
        y=list(range(len(labels))),
        zmin=0,
        zmax=100 if is_relative else 100 * _MOST,
        colorscale=[list(stop) for stop in (_CALM if is_relative else HEAT_SCALE)],
        hoverongaps=False,
        xgap=0,
        ygap=1,
        colorbar={"title": {"text": "% of the greatest" if is_relative else "% of the ceiling"}},
    )
    layout = _layout(
        xaxis=_times(heat_map),
        yaxis={"autorange": "reversed", "tickvals": list(range(len(labels))), "ticktext": list(labels)},
        shapes=_marks(heat_map),
        annotations=[
            {
                "x": _time((label.start + label.end) // 2),
                "y": label.row if label.row is not None else 0,
                "text": label.kind.value.replace("-", " "),
                "hovertext": label.text,
                "showarrow": label.row is not None,
                "arrowhead": 2,
            }
            for label in heat_map.labels
        ],
    )
    return _plain(go.Figure([trace], layout))


def top_figure(heat_map: HeatMap) -> Figure:
    """Return the units a second of the target over time, against what it may serve and what one partition serves."""
    from plotly import graph_objects as go  # noqa: PLC0415 -- heavy

    steps = [_time(heat_map.start + column * heat_map.step_ms) for column in range(heat_map.columns)]
    units = go.Scatter(
        x=steps,
        y=_numbers(heat_map.top),
        mode="lines",
        line={"shape": "hv", "width": 1.5, "color": _LINE},
        fill="tozeroy",
        name=f"{heat_map.direction.value} units a second",
    )
    shapes = _marks(heat_map)
    shapes += _limits(heat_map)
    level = {"x0": 0, "x1": 1, "xref": "paper", "y0": heat_map.ceiling, "y1": heat_map.ceiling}
    line = {"color": _QUIET, "dash": "dot", "width": 1}
    shapes.append({"type": "line", **level, "name": "ceiling", "line": line})
    layout = _layout(xaxis=_times(heat_map), yaxis={"rangemode": "tozero"}, shapes=shapes)
    return _plain(go.Figure([units], layout))


def shares_figure(heat_map: HeatMap, labels: Sequence[str]) -> Figure:
    """Return the share of each row in the target's units, with its bounds."""
    from plotly import graph_objects as go  # noqa: PLC0415 -- heavy

    shares = [row.share for row in heat_map.rows]
    bars = go.Bar(
        x=[share.value for share in shares],
        y=list(range(len(labels))),
        orientation="h",
        marker={"color": [_LINE if row.kind is RowKind.KEY else _QUIET for row in heat_map.rows]},
        error_x=_bounds(shares),
        name="share of units",
    )
    layout = _layout(
        xaxis={"tickformat": ".0%", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "tickvals": list(range(len(labels))), "ticktext": list(labels)},
    )
    return _plain(go.Figure([bars], layout))


def lag_figure(strips: Iterable[IndexStrip]) -> Figure:
    """Return the lag of each index that is measured: its quantiles in seconds with bounds, as far as anybody looked."""
    from plotly import graph_objects as go  # noqa: PLC0415 -- heavy

    told = [(strip, strip.lag) for strip in strips if strip.lag is not None]
    traces = []
    for name, color in (("p50", _LINE), ("p95", "#f2a900"), ("p99", _LIMIT)):
        found = [
            (strip, quantile)
            for strip, lag in told
            if (quantile := getattr(lag, name)) is not None and math.isfinite(quantile.value)
        ]
        if found:
            traces.append(
                go.Scatter(
                    x=[quantile.value for _, quantile in found],
                    y=[str(strip.target) for strip, _ in found],
                    mode="markers",
                    marker={"color": color, "size": 9},
                    error_x=_bounds([quantile for _, quantile in found]),
                    name=name,
                )
            )
    layout = _layout(xaxis={"type": "log", "title": {"text": "seconds"}}, yaxis={"automargin": True})
    return _plain(go.Figure(traces, layout))


def _bounds(estimates: Sequence[Estimate]) -> Figure:
    """Return error bars; one without an end reaches as far as the value itself."""
    above = [one.high - one.value if math.isfinite(one.high) else one.value for one in estimates]
    below = [max(0.0, one.value - one.low) for one in estimates]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": _QUIET}


def _limits(heat_map: HeatMap) -> list[Figure]:
    """Return a line for each stretch in which one capacity was provisioned."""
    known = heat_map.limits or ([] if heat_map.limit is None else [HeatLimit(heat_map.start, heat_map.limit)])
    ends = [*(one.at for one in known[1:]), heat_map.end][: len(known)]
    return [
        {
            "type": "line",
            "x0": _time(one.at),
            "x1": _time(end),
            **dict.fromkeys(("y0", "y1"), one.units),
            "name": "limit",
            "line": {"color": _LIMIT, "dash": "solid", "width": 1},
        }
        for one, end in zip(known, ends, strict=True)
        if one.units is not None
    ]


def _marks(heat_map: HeatMap) -> list[Figure]:
    """Return a line for each mark within the map."""
    return [
        {
            "type": "line",
            **dict.fromkeys(("x0", "x1"), _time(mark.at)),
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "name": mark.what,
            "line": {"color": _QUIET, "dash": "dash", "width": 1},
        }
        for mark in heat_map.marks
        if heat_map.start <= mark.at < heat_map.end
    ]


def _times(heat_map: HeatMap) -> Figure:
    return {"type": "date", "range": [_time(heat_map.start), _time(heat_map.end)]}


def _time(instant: int) -> str:
    """Write a time as plotly reads it: without an offset, so that a browser's own zone does not move it."""
    return to_moment(instant).strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant % 1000:03d}"


def _cells(values: np.ndarray) -> list[list[float | None]]:
    return [_numbers(row) for row in values]


def _numbers(values: np.ndarray) -> list[float | None]:
    return [round(value, 3) if math.isfinite(value) else None for value in values.astype(float).tolist()]


def _layout(**fields: Any) -> Figure:  # noqa: ANN401 -- plotly's own
    return {"template": "none", "showlegend": False, "margin": {"l": 8, "r": 8, "t": 8, "b": 24}, **fields}


def _plain(figure: Any) -> Figure:  # noqa: ANN401 -- plotly has no types
    """Return a figure as values that JSON holds, checked by plotly."""
    found: Figure = figure.to_plotly_json()
    found["layout"].pop("template", None)
    return {"data": found["data"], "layout": found["layout"]}
