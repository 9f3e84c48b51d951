"""A dashboard as a page: panels where Grafana puts them, drawn from answers of Prometheus."""

from __future__ import annotations

import html
import json
import re
from typing import Any

__all__ = ["WIDE", "page_of"]

WIDE = 1200
_COLUMN, _ROW, _GAP = WIDE / 24, 21, 6
_COLORS = ("#3274d9", "#e0752d", "#299c46", "#a352cc", "#b8860b", "#c4162a", "#1fa3a3", "#6d6d6d", "#8f3bb8", "#56a64b")
_NAMED = {"red": "#c4162a", "orange": "#e0752d", "yellow": "#b8860b", "green": "#299c46", "blue": "#3274d9"}
_SUFFIXES = {"s": " s", "reqps": "/s", "currencyUSD": " $"}
_CHANGED = {"width": 1, "dash": "dot", "color": "#3274d9"}
_SHORT, _NARROW = 12, 8
_HIDDEN = {"Time", "__name__", "job", "instance"}
_STYLE = """
body { margin: 0; width: 1200px; position: relative; overflow-x: hidden; background: #f4f5f5; color: #24292e }
body { font: 12px system-ui, sans-serif }
h1 { font-size: 16px; margin: 0; padding: 8px 10px } small { font-weight: normal; color: #595f66 }
div { box-sizing: border-box }
.row { position: absolute; font-weight: 700; padding: 3px 10px }
.panel { position: absolute; background: #fff; border: 1px solid #dde1e6; border-radius: 2px; overflow: hidden }
.panel h2 { font-size: 12px; margin: 0; padding: 4px 8px 0 }
.long { font-size: 16px !important }
.stat { font-size: 34px; font-weight: 600; text-align: center; line-height: 44px }
.none { color: #595f66; text-align: center; padding-top: 40px }
table { border-collapse: collapse; width: 100%; font-size: 11px }
th, td { text-align: left; padding: 2px 8px; border-top: 1px solid #eee }
"""
_SCRIPT = (
    "function draw() { for (const [id, data, layout] of FIGURES) Plotly.newPlot(id, data, layout, {staticPlot: true}) }"
)


def page_of(title: str, panels: list[dict[str, Any]]) -> str:
    """Return the page; its script has a function `draw` that needs plotly."""
    parts: list[str] = []
    figures: list[list[Any]] = []
    for number, panel in enumerate(panels):
        place = panel["gridPos"]
        box = (
            f"left:{place.get('x', 0) * _COLUMN + _GAP / 2:.0f}px; top:{34 + place.get('y', 0) * _ROW}px;"
            f" width:{place['w'] * _COLUMN - _GAP:.0f}px; height:{place['h'] * _ROW - _GAP}px"
        )
        name = html.escape(panel["title"])
        if panel["type"] == "row":
            parts.append(f'<div class="row" style="{box}">{name}</div>')
            continue
        inside = _inside(panel, f"f{number}", figures)
        parts.append(f'<div class="panel" style="{box}"><h2>{name}</h2>{inside}</div>')
    tall = 34 + _ROW * max(panel["gridPos"].get("y", 0) + panel["gridPos"]["h"] for panel in panels)
    told = "drawn from the panels' queries on the demo, not by Grafana"
    shown = json.dumps(figures).replace("<", "\\u003c")
    return (
        f"<style>{_STYLE} body {{ height: {tall}px }}</style><h1>{html.escape(title)} <small>{told}</small></h1>"
        f"{''.join(parts)}<script>const FIGURES = {shown}; {_SCRIPT}</script>"
    )


def _inside(panel: dict[str, Any], name: str, figures: list[list[Any]]) -> str:
    if not any(panel["answers"]):
        return '<div class="none">nothing of the demo</div>'
    if panel["type"] == "stat":
        return _stat(panel)
    if panel["type"] == "table":
        return _table(panel)
    figures.append([name, _traces(panel), _layout(panel)])
    return f'<div id="{name}"></div>'


def _stat(panel: dict[str, Any]) -> str:
    (first, *_) = panel["answers"][0]
    value = float(first["value"][1])
    steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    color = [step["color"] for step in steps if step.get("value") is None or value >= step["value"]][-1]
    text = _legend(panel["targets"][0].get("legendFormat", ""), first["metric"])
    shown = text or f"{value:.3g}{_SUFFIXES.get(_unit(panel), '')}"
    kind = "stat long" if len(shown) > _SHORT else "stat"
    return f'<div class="{kind}" style="color:{_NAMED.get(color, color)}">{html.escape(shown)}</div>'


def _table(panel: dict[str, Any]) -> str:
    rows = sorted((one["metric"] for one in panel["answers"][0]), key=lambda row: str(row.get("severity")))
    known = {label for row in rows for label in row} - _HIDDEN
    order = panel["transformations"][0]["options"].get("indexByName", {})
    columns = [one for one in sorted(order, key=lambda one: order[one]) if one in known] or sorted(known)
    head = "".join(f"<th>{html.escape(one)}</th>" for one in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(row.get(one, ''))}</td>" for one in columns) + "</tr>" for row in rows[:7]
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _traces(panel: dict[str, Any]) -> list[dict[str, Any]]:
    is_stacked = panel["fieldConfig"]["defaults"]["custom"].get("stacking", {}).get("mode") == "normal"
    found: list[dict[str, Any]] = []
    for target, answer in zip(panel["targets"], panel["answers"], strict=True):
        for one in answer:
            color = _COLORS[len(found) % len(_COLORS)]
            line = {"width": 1.3, "color": color}
            trace: dict[str, Any] = {"type": "scatter", "mode": "lines", "line": line}
            trace["x"] = [float(at) * 1000 for at, _ in one["values"]]
            trace["y"] = [float(value) if value not in {"NaN", "+Inf", "-Inf"} else None for _, value in one["values"]]
            trace["name"] = _legend(target.get("legendFormat", ""), one["metric"])[:34]
            found.append({**trace, "stackgroup": "all"} if is_stacked else trace)
    return found


def _layout(panel: dict[str, Any]) -> dict[str, Any]:
    place, defaults = panel["gridPos"], panel["fieldConfig"]["defaults"]
    steps = [step for step in defaults["thresholds"]["steps"] if step.get("value") is not None]
    is_narrow = place["w"] <= _NARROW
    whole = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
    axis: dict[str, Any] = {"rangemode": "tozero", "gridcolor": "#eceef0", "zeroline": False, "nticks": 5}
    axis |= {"tickformat": ".0%"} if _unit(panel) == "percentunit" else {"ticksuffix": _SUFFIXES.get(_unit(panel), "")}
    return {
        "width": place["w"] * _COLUMN - _GAP - 4,
        "height": place["h"] * _ROW - _GAP - 24,
        "margin": {"l": 52, "r": 8, "t": 6, "b": 66 if is_narrow else 22},
        "font": {"size": 10, "color": "#595f66"},
        "showlegend": True,
        "legend": {"font": {"size": 9}, **({"orientation": "h", "y": -0.3} if is_narrow else {"x": 1.01, "y": 1})},
        "xaxis": {"type": "date", "tickformat": "%H:%M", "nticks": 6, "gridcolor": "#eceef0"},
        "yaxis": axis,
        "shapes": [
            *(
                {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at, "line": _CHANGED}
                for at in panel["changes"]
            ),
            *(
                {
                    **whole,
                    "y0": step["value"],
                    "y1": step["value"],
                    "line": {"width": 1, "dash": "dash", "color": _NAMED.get(step["color"])},
                }
                for step in steps
            ),
        ],
    }


def _legend(pattern: str, labels: dict[str, str]) -> str:
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found[1], ""), pattern).strip()


def _unit(panel: dict[str, Any]) -> str:
    unit: str = panel["fieldConfig"]["defaults"].get("unit", "short")
    return unit
