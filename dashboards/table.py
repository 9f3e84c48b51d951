"""One table with its indexes: heat by rank, units by pattern, waste, latency, throttles, capacity, indexes."""

from __future__ import annotations

from dashboards.expressions import TARGET, metric
from dashboards.panels import CEILING, HERE, Board, Panel, Query, Row
from dashboards.recording import WINDOW

__all__ = ["TABLE_BOARD"]

_INDEX = ",".join(f'{label}=~"${label}"' for label in TARGET[:3]) + ',index!=""'
_NO_LOG = "units and items are known only where the log tells them"
_NO_INDEX = "nobody wrote to an index, or no index refused"
_LAG = metric("dynascope_gsi_lag_seconds_bucket", more=HERE)


def _heat(direction: str) -> Panel:
    chosen = f'{HERE},direction="{direction}"'
    hottest = f'{chosen},rank="1"'
    return Panel(
        title=f"Heat of {direction}s by rank",
        description="Demand of the hottest keys ÷ what a partition serves; the dashed lines are 0.7 and the ceiling. "
        "`low` and `high` are the bounds of rank 1. Ranks are not keys: a key may change its rank.",
        queries=(
            Query(
                f"max by (table, index, rank) ({metric('dynascope_key_heat_ratio', more=chosen)})",
                "{{table}} {{index}} #{{rank}}",
            ),
            Query(f"max({metric('dynascope_key_heat_ratio_low', more=hottest)})", "low"),
            Query(f"max({metric('dynascope_key_heat_ratio_high', more=hottest)})", "high"),
        ),
        unit="percentunit",
        lines=CEILING,
        most=1.1,
    )


def _units(direction: str) -> Panel:
    recorded = f"target_pattern:dynascope_{direction}_units:rate5m"
    return Panel(
        title=f"{direction.capitalize()} units a second by pattern",
        description="What declared patterns take, and what nobody declared.",
        queries=(Query(f"sum by (pattern) ({recorded}{{{HERE}}})", "{{pattern}}"),),
        kind="stacked",
        quiet=_NO_LOG,
    )


_WASTED = f"sum by (pattern) (target_pattern:dynascope_wasted_read_units:rate5m{{{HERE}}})"
_READ = f"sum by (pattern) (target_pattern:dynascope_read_units:rate5m{{{HERE}}})"


def _items(what: str) -> str:
    return f"sum by (pattern) (rate({metric(f'dynascope_items_{what}_total', more=HERE)}[{WINDOW}]))"


TABLE_BOARD = Board(
    uid="dynascope-table",
    title="Dynascope / Table",
    description="One table with its indexes.",
    targets=TARGET,
    rows=(
        Row(
            "What is wrong",
            (
                Panel(
                    title="Open findings",
                    description="What is wrong here now.",
                    queries=(Query(f"finding:dynascope_finding_active:max{{{HERE}}} == 1"),),
                    kind="table",
                    width=16,
                    columns=("severity", "detector", "table", "index", "cause", "pattern"),
                    runbooks="detector",
                ),
                Panel(
                    title="Table",
                    description="What is known and declared of it.",
                    queries=(Query(metric("dynascope_table_info", more=HERE)),),
                    kind="table",
                    width=8,
                    columns=("table", "index", "billing_mode", "class", "owner"),
                    quiet="neither a contract nor the control plane tells of this table",
                ),
            ),
        ),
        Row("Heat", (_heat("read"), _heat("write"))),
        Row(
            "Patterns",
            (
                _units("read"),
                _units("write"),
                Panel(
                    title="Share of read units wasted",
                    description="Read units spent on items that a filter threw away.",
                    queries=(Query(f"{_WASTED}\n/\n({_READ} > 0)", "{{pattern}}"),),
                    unit="percentunit",
                    lines=((0.1, "orange"), (0.5, "red")),
                    most=1,
                    quiet=_NO_LOG,
                ),
                Panel(
                    title="Items read for one returned",
                    description="1 is best; filters and reads that find nothing raise it.",
                    queries=(Query(f"{_items('scanned')}\n/\n({_items('returned')} > 0)", "{{pattern}}"),),
                    quiet=_NO_LOG,
                ),
            ),
        ),
        Row(
            "Latency and errors",
            (
                Panel(
                    title="p99 by operation",
                    description="As the client saw it, retries included.",
                    queries=(
                        Query(
                            "max by (operation) "
                            f"(target_operation:dynascope_request_duration_seconds:p99_rate5m{{{HERE}}} >= 0)",
                            "{{operation}}",
                        ),
                    ),
                    unit="s",
                    quiet="the log tells no durations",
                ),
                Panel(
                    title="Failed requests a second by code",
                    description="Calls that ended in an error.",
                    queries=(
                        Query(
                            f"sum by (code) (rate({metric('dynascope_request_errors_total', more=HERE)}[{WINDOW}]))",
                            "{{code}}",
                        ),
                    ),
                    unit="reqps",
                    kind="stacked",
                    quiet="no call failed",
                ),
            ),
        ),
        Row(
            "Throttles and capacity",
            (
                Panel(
                    title="Throttled tries a second by limit",
                    description="At the table or index whose limit it was.",
                    queries=(
                        Query(
                            "sum by (index, direction, cause) "
                            f"(target_cause:dynascope_throttled_tries:rate5m{{{HERE}}})",
                            "{{index}} {{direction}} {{cause}}",
                        ),
                    ),
                    unit="reqps",
                    kind="stacked",
                    quiet="nothing was refused",
                ),
                Panel(
                    title="Capacity consumed",
                    description="Consumed units ÷ capacity of the table or index, over the window.",
                    queries=(
                        Query(
                            "max by (table, index, direction) "
                            f"({metric('dynascope_capacity_consumed_ratio', more=HERE)})",
                            "{{table}} {{index}} {{direction}}",
                        ),
                    ),
                    unit="percentunit",
                    lines=((0.8, "orange"), (1.0, "red")),
                    most=1,
                    quiet="nobody tells the capacity, or an on-demand table has no maximum",
                ),
            ),
        ),
        Row(
            "Indexes",
            (
                Panel(
                    title="Write units a second of each index",
                    description="What writes to the table cost in its indexes.",
                    queries=(
                        Query(f"sum by (index) (target_pattern:dynascope_write_units:rate5m{{{_INDEX}}})", "{{index}}"),
                    ),
                    quiet=_NO_INDEX,
                ),
                Panel(
                    title="Refused writes a second by index",
                    description="An index that cannot keep up refuses its table's writes.",
                    queries=(
                        Query(
                            "sum by (index, cause) "
                            f'(target_cause:dynascope_throttled_tries:rate5m{{{_INDEX},direction="write"}})',
                            "{{index}} {{cause}}",
                        ),
                    ),
                    unit="reqps",
                    quiet=_NO_INDEX,
                ),
                Panel(
                    title="Lag of indexes, p99",
                    description="How long a write takes to appear in an index: the bounds of what was seen.",
                    queries=(
                        Query(
                            f"histogram_quantile(0.99, sum by (index, bound, le) (rate({_LAG}[1h]))) >= 0",
                            "{{index}} {{bound}}",
                        ),
                    ),
                    unit="s",
                    width=24,
                    quiet="only the canary measures it",
                ),
            ),
        ),
    ),
)
