"""Dynascope itself: its sources, how late they are, what it costs, and what it had to leave out."""

from __future__ import annotations

from dashboards.expressions import metric
from dashboards.panels import Board, Panel, Query, Row
from dashboards.recording import WINDOW

__all__ = ["WATCHER_BOARD"]

_RECORDS = ("read", "bad", "dropped", "late", "future", "duplicate", "squeezed")
_NO_AWS = "nothing is read from AWS"
_SOURCE = "{{instance}} {{source}}"


def _age(name: str, *, title: str, description: str, late: float) -> Panel:
    return Panel(
        title=title,
        description=description,
        queries=(Query(f"time() - {metric(name)}", "{{instance}}"),),
        unit="s",
        width=8,
        lines=((late, "red"),),
    )


def _aws(what: str, *, title: str, description: str, unit: str = "short") -> Panel:
    return Panel(
        title=title,
        description=description,
        queries=(Query(f"sum by (api) (increase({metric(f'dynascope_aws_{what}_total')}[1h]))", "{{api}}"),),
        unit=unit,
        kind="stacked",
        width=8,
        quiet=_NO_AWS,
    )


WATCHER_BOARD = Board(
    uid="dynascope-watcher",
    title="Dynascope / Itself",
    description="The watcher: sources, delays, cost, and what was left out.",
    rows=(
        Row(
            "Health",
            (
                Panel(
                    title="Version",
                    description="Each daemon that is scraped.",
                    queries=(
                        Query(
                            f"max by (instance, version, python) ({metric('dynascope_build_info')})",
                            "{{instance}} {{version}}",
                        ),
                    ),
                    kind="stat",
                    width=8,
                ),
                Panel(
                    title="Configuration holds",
                    description="0 after a reload whose configuration or contract is faulty: the old one still holds.",
                    queries=(Query(metric("dynascope_config_valid"), "{{instance}}"),),
                    kind="stat",
                    width=8,
                ),
                Panel(
                    title="Reads AWS",
                    description="1 while this daemon reads AWS, 0 while another does.",
                    queries=(Query(metric("dynascope_lease_held"), "{{instance}}"),),
                    kind="stat",
                    width=8,
                    quiet="only with --standby",
                ),
                _age(
                    "dynascope_window_end_timestamp_seconds",
                    title="Age of the last judged window",
                    description="Some ten seconds, plus what logs need to settle.",
                    late=600,
                ),
                _age(
                    "dynascope_checkpoint_last_success_timestamp_seconds",
                    title="Age of the state on disk",
                    description="What a restart would have to read again.",
                    late=300,
                ),
                Panel(
                    title="Time of an analysis",
                    description="It has ten seconds.",
                    queries=(Query(metric("dynascope_analysis_duration_seconds"), "{{instance}}"),),
                    unit="s",
                    width=8,
                    lines=((5, "orange"), (10, "red")),
                ),
            ),
        ),
        Row(
            "Sources",
            (
                Panel(
                    title="Sources",
                    description="1 while a source can be read.",
                    queries=(Query(metric("dynascope_source_up"), _SOURCE),),
                    width=8,
                    most=1,
                ),
                Panel(
                    title="Delay",
                    description="Age of the newest that was read. CloudWatch settles after three minutes.",
                    queries=(Query(metric("dynascope_source_delay_seconds"), _SOURCE),),
                    unit="s",
                    width=8,
                ),
                Panel(
                    title="Since a source last gave something",
                    description="A log of a table at rest gives nothing either.",
                    queries=(Query(f"time() - {metric('dynascope_source_last_success_timestamp_seconds')}", _SOURCE),),
                    unit="s",
                    width=8,
                    lines=((1800, "red"),),
                ),
                Panel(
                    title="What could not be looked at",
                    description="Gaps an analysis, by source and reason.",
                    queries=(
                        Query(
                            f"sum by (source, reason) (rate({metric('dynascope_gaps_total')}[{WINDOW}]))",
                            "{{source}} {{reason}}",
                        ),
                    ),
                    kind="stacked",
                    quiet="everything could be looked at",
                ),
                Panel(
                    title="Detectors that could not judge",
                    description="Tables and indexes that a detector left out, mostly for lack of sight.",
                    queries=(Query(f"max by (detector) ({metric('dynascope_skipped_detectors')})", "{{detector}}"),),
                    kind="stacked",
                ),
            ),
        ),
        Row(
            "Records and series",
            (
                Panel(
                    title="Records a second",
                    description="Read and counted; and those that were bad, dropped, late, of the future, seen before, "
                    "or counted as unparsed at a bound.",
                    queries=tuple(
                        Query(f"sum(rate({metric(f'dynascope_records_{name}_total')}[{WINDOW}]))", name)
                        for name in _RECORDS
                    ),
                ),
                Panel(
                    title="Series dropped",
                    description="Beyond a metric's bound, in the last hour; they are folded into `other`.",
                    queries=(
                        Query(
                            f"sum by (metric) (increase({metric('dynascope_series_dropped_total')}[1h]))", "{{metric}}"
                        ),
                    ),
                    quiet="no bound was reached",
                ),
            ),
        ),
        Row(
            "What reading AWS costs",
            (
                _aws("cost_usd", title="Dollars an hour", description="At list price.", unit="currencyUSD"),
                _aws("calls", title="Calls an hour", description="By operation."),
                _aws("billed_metrics", title="Billed metrics an hour", description="What GetMetricData is billed by."),
            ),
        ),
    ),
)
