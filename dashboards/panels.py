"""Panels as values, and as Grafana's: what is asked, in which unit, and where the lines are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import (
    GraphThresholdsStyleMode,
    LegendDisplayMode,
    LegendPlacement,
    StackingMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLinkType,
    DataSourceRef,
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
    VariableOption,
    VariableRefresh,
    VariableSort,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from msgspec import Struct

from dashboards.expressions import TARGET, metric, unknown_metrics
from dashboards.rules import Places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grafana_foundation_sdk.builders.stat import Panel as StatPanel
    from grafana_foundation_sdk.builders.table import Panel as TablePanel
    from grafana_foundation_sdk.builders.timeseries import Panel as SeriesPanel

__all__ = ["CEILING", "HERE", "Board", "Panel", "Query", "Row", "write_board"]

CEILING = ((0.7, "orange"), (1.0, "red"))
"""Shares of a ceiling: where `hot-key` begins to say so, and the ceiling itself."""

HERE = ",".join(f'{label}=~"${label}"' for label in TARGET)
"""Matchers of what is chosen above the dashboard."""

_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_HEIGHT = 8
_STAT_HEIGHT = 4
_REFS = "ABCDEFGH"


class Query(Struct, frozen=True):
    """One expression; `legend` names its series by their labels."""

    expr: str
    legend: str = ""


class Panel(Struct, frozen=True, kw_only=True):
    """One panel: `kind` is `series`, `stacked`, `stat` or `table`; `lines` are (value, color) of thresholds.

    `runbooks` is the column of a table whose values are detectors: each leads to its page. `quiet` says why it may have
    nothing to show.
    """

    title: str
    description: str
    queries: tuple[Query, ...]
    kind: str = "series"
    unit: str = "short"
    width: int = 12
    lines: tuple[tuple[float, str], ...] = ()
    most: float | None = None
    columns: tuple[str, ...] = ()
    runbooks: str | None = None
    quiet: str | None = None


class Row(Struct, frozen=True):
    """A heading with its panels."""

    title: str
    panels: tuple[Panel, ...]


class Board(Struct, frozen=True, kw_only=True):
    """A dashboard; `targets` are the labels that can be chosen above it."""

    uid: str
    title: str
    description: str
    rows: tuple[Row, ...]
    targets: tuple[str, ...] = ()


def write_board(board: Board, daemon: str = Places().daemon) -> str:
    """Write a dashboard as JSON, links to the daemon whole; raises KeyError where it asks for an unknown metric."""
    for query in (query for row in board.rows for panel in row.panels for query in panel.queries):
        if unknown_metrics(query.expr):
            raise KeyError(query.expr)
    whole = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags(["dynascope"])
        .timezone("browser")
        .time("now-1h", "now")
        .refresh("30s")
        .readonly()
        .variables(list(_variables(board)))
        .annotations([_openings(), _changes(board)] if board.targets else [])
        .link(
            dashboard.DashboardLink("Dynascope")
            .type(DashboardLinkType.DASHBOARDS)
            .tags(["dynascope"])
            .include_vars(include_vars=True)
            .keep_time(keep_time=True)
        )
        .link(_link("Dynascope's page", f"{daemon}/"))
        .link(_link("Runbooks", f"{daemon}/docs/"))
    )
    for row in board.rows:
        whole.with_row(dashboard.Row(row.title))
        for panel in row.panels:
            whole.with_panel(_build(panel, daemon))
    document: dict[str, Any] = json.loads(JSONEncoder(sort_keys=True).encode(whole.build()))
    for place, one in enumerate(document["panels"], start=1):
        one["id"] = place
    for one in document["annotations"]["list"]:
        one.update(_TEXTS[one["name"]])
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _variables(board: Board) -> Iterable[Any]:
    yield dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")
    known = metric("dynascope_requests_total") if board.targets else ""
    for place, label in enumerate(board.targets):
        chosen = ",".join(f'{before}=~"${before}"' for before in board.targets[:place])
        yield (
            dashboard.QueryVariable(label)
            .label(label.replace("_", " "))
            .datasource(_SOURCE)
            .query(f"label_values({known}{{{chosen}}}, {label})" if chosen else f"label_values({known}, {label})")
            .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
            .sort(VariableSort.ALPHABETICAL_ASC)
            .include_all(include_all=True)
            .all_value(".*")
            .allow_custom_value(allow_custom_value=True)
            .current(VariableOption(selected=True, text="All", value="$__all"))
        )


def _openings() -> dashboard.AnnotationQuery:
    """Mark where findings are open, on every panel."""
    chosen = f'finding:dynascope_finding_active:max{{{HERE},severity=~"critical|high"}}'
    return (
        dashboard.AnnotationQuery()
        .name("Critical and high findings")
        .datasource(_SOURCE)
        .enable(enable=True)
        .icon_color("red")
        .expr(f"sum by (table, index, detector, severity) ({chosen}) > 0")
    )


def _changes(board: Board) -> dashboard.AnnotationQuery:
    """Mark what people and scaling changed, where it was changed."""
    places = ",".join(f'{label}=~"${label}|"' for label in board.targets)
    return (
        dashboard.AnnotationQuery()
        .name("Changes")
        .datasource(_SOURCE)
        .enable(enable=True)
        .icon_color("blue")
        .expr(f"max by (table, index, what) ({metric('dynascope_change_timestamp_seconds', more=places)}) * 1000")
    )


_TEXTS: dict[str, dict[str, object]] = {
    "Critical and high findings": {"titleFormat": "{{severity}} {{detector}}", "textFormat": "{{table}} {{index}}"},
    "Changes": {"titleFormat": "{{what}}", "textFormat": "{{table}} {{index}}", "useValueForTime": "on"},
}
"""What Grafana's source of Prometheus understands and the SDK has no words for; a change's value is when it was."""


def _link(title: str, url: str) -> dashboard.DashboardLink:
    return dashboard.DashboardLink(title).type(DashboardLinkType.LINK).url(url).target_blank(target_blank=True)


def _build(panel: Panel, daemon: str) -> Any:  # noqa: ANN401 - the SDK's builders of panels have no type of their own
    if panel.kind == "stat":
        return _dressed(stat.Panel(), panel, _STAT_HEIGHT)
    if panel.kind == "table":
        return _dressed(_table(panel, daemon), panel, _HEIGHT)
    return _dressed(_series(panel), panel, _HEIGHT)


def _table(panel: Panel, daemon: str) -> TablePanel:
    hidden = dict.fromkeys(("Time", "__name__", "job", "instance"), True)
    order = {name: place for place, name in enumerate(panel.columns)}
    tidy = DataTransformerConfig("organize", options={"excludeByName": hidden, "indexByName": order})
    built = table.Panel().with_transformation(tidy)
    if "severity" in panel.columns:
        built.sort_by([common.TableSortByFieldState().display_name("severity")])  # the names begin in this order too
    if panel.runbooks is not None:
        page = {"title": "Runbook", "url": f"{daemon}/docs/detectors/${{__value.text}}", "targetBlank": True}
        built.override_by_name(panel.runbooks, [DynamicConfigValue("links", [page])])
    return built


def _series(panel: Panel) -> SeriesPanel:
    legend = common.VizLegendOptions().display_mode(LegendDisplayMode.LIST).placement(LegendPlacement.BOTTOM)
    built = timeseries.Panel().legend(legend.show_legend(show_legend=True)).fill_opacity(10).line_width(1).min(0)
    if panel.kind == "stacked":
        built.stacking(common.StackingConfig().mode(StackingMode.NORMAL)).fill_opacity(40)
    if panel.most is not None:
        built.axis_soft_max(panel.most)
    if panel.lines:
        built.thresholds_style(common.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED))
    return built


def _dressed(built: StatPanel | TablePanel | SeriesPanel, panel: Panel, height: int) -> object:
    told = panel.description if panel.quiet is None else f"{panel.description} Quiet: {panel.quiet}."
    built.title(panel.title).description(told).datasource(_SOURCE).unit(panel.unit).span(panel.width).height(height)
    steps = [Threshold(None, "green"), *(Threshold(value, color) for value, color in panel.lines)]
    built.thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps))
    if panel.kind != "table":
        mode = FieldColorModeId.THRESHOLDS if panel.kind == "stat" else FieldColorModeId.PALETTE_CLASSIC
        built.color_scheme(dashboard.FieldColor().mode(mode))
    for ref, query in zip(_REFS, panel.queries, strict=False):
        asked = prometheus.Dataquery().expr(query.expr).ref_id(ref).datasource(_SOURCE).legend_format(query.legend)
        if panel.kind in {"series", "stacked"}:
            asked.range()
        else:
            asked.instant()
        if panel.kind == "table":
            asked.format(PromQueryFormat.TABLE)
        built.with_target(asked)
    return built
