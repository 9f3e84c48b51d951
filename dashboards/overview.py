"""All tables at a glance: what is found, what is hot, what is refused and why, and how much of it is seen."""

from __future__ import annotations

from dashboards.expressions import TABLE, TARGET, listed, metric
from dashboards.panels import CEILING, Board, Panel, Query, Row
from dashboards.recording import throttled_tries

__all__ = ["OVERVIEW"]

_TARGETS = TARGET[:2]
_PLACE = ",".join(f'{label}=~"${label}"' for label in _TARGETS)
_OPEN = f"finding:dynascope_finding_active:max{{{_PLACE}}}"
_AT = "{{table}} {{index}}"
_SEVERITIES = (("critical", "red"), ("high", "orange"), ("medium", "yellow"), ("low", "blue"))
_LEAST_COVERED = ((0.8, "green"), (1.05, "orange"))


def _count(severity: str, color: str) -> Panel:
    found = f'count(finding:dynascope_finding_active:max{{{_PLACE},severity="{severity}"}} == 1)'
    return Panel(
        title=f"{severity.capitalize()} findings",
        description=f"Findings of {severity} severity that are open now.",
        queries=(Query(f"{found} or vector(0)"),),
        kind="stat",
        width=5,
        lines=((1, color),),
    )


OVERVIEW = Board(
    uid="dynascope-overview",
    title="Dynascope / Overview",
    description="All tables by heat, findings and throttles.",
    targets=_TARGETS,
    rows=(
        Row(
            "Verdicts",
            (
                *(_count(severity, color) for severity, color in _SEVERITIES),
                Panel(
                    title="Last judged",
                    description="How long ago the last judged window ended.",
                    queries=(Query(f"time() - max({metric('dynascope_window_end_timestamp_seconds')})"),),
                    kind="stat",
                    unit="s",
                    width=4,
                    lines=((60, "orange"), (600, "red")),
                ),
                Panel(
                    title="Open findings",
                    description="What is wrong now. Why and what to do: the page of its detector.",
                    queries=(Query(f"{_OPEN} == 1"),),
                    kind="table",
                    columns=("severity", "detector", "table", "index", "cause", "pattern"),
                    runbooks="detector",
                ),
                Panel(
                    title="Findings by severity",
                    description="How many were open.",
                    queries=(Query(f"sum by (severity) ({_OPEN})", "{{severity}}"),),
                    kind="stacked",
                ),
            ),
        ),
        Row(
            "Heat and throttles",
            (
                Panel(
                    title="Hottest key of each table and index",
                    description="Demand ÷ what a partition serves. At 1 DynamoDB refuses; which key: see the verdict.",
                    queries=(
                        Query(f"topk(10, target:dynascope_key_heat_ratio:max{{{_PLACE}}})", f"{_AT} {{{{direction}}}}"),
                    ),
                    unit="percentunit",
                    lines=CEILING,
                    most=1.1,
                ),
                Panel(
                    title="Throttled tries a second by cause",
                    description="Which limit refused. A key range is no matter of capacity.",
                    queries=(
                        Query(
                            f"sum by (cause) (target_cause:dynascope_throttled_tries:rate5m{{{_PLACE}}})", "{{cause}}"
                        ),
                    ),
                    unit="reqps",
                    kind="stacked",
                ),
                Panel(
                    title="Share of tries that were throttled",
                    description="Of each table with its indexes; the budget is 0.1 %.",
                    queries=(Query(f"{throttled_tries('5m')}{{{_PLACE}}}", "{{table}}"),),
                    unit="percentunit",
                    lines=((0.001, "orange"), (0.01, "red")),
                ),
                Panel(
                    title="Requests a second by table",
                    description="An estimate of all of them, whatever the sample rate.",
                    queries=(
                        Query(
                            f"sum by ({listed(TABLE)}) (target_pattern:dynascope_requests:rate5m{{{_PLACE}}})",
                            "{{table}}",
                        ),
                    ),
                    unit="reqps",
                ),
            ),
        ),
        Row(
            "How much is seen",
            (
                Panel(
                    title="Coverage",
                    description="Units that the request log explains ÷ units that AWS billed.",
                    queries=(Query(metric("dynascope_coverage_ratio", more=_PLACE), f"{_AT} {{{{direction}}}}"),),
                    unit="percentunit",
                    lines=_LEAST_COVERED,
                    most=1.1,
                    quiet="without CloudWatch's metrics nobody knows what AWS billed",
                ),
                Panel(
                    title="Sources",
                    description="1 while a source can be read.",
                    queries=(Query(f"min by (source) ({metric('dynascope_source_up')})", "{{source}}"),),
                    most=1,
                ),
            ),
        ),
    ),
)
