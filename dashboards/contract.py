"""Contract and drift: what was declared, what nobody declared, and what left its bounds."""

from __future__ import annotations

from dashboards.expressions import metric
from dashboards.panels import HERE, Board, Panel, Query, Row

__all__ = ["CONTRACT"]

_REQUESTS = "target_pattern:dynascope_requests:rate5m"
_UNDECLARED = f'{HERE},pattern=~"undeclared|ambiguous|unparsed"'
_DETECTORS = 'detector=~"undeclared-pattern|unused-pattern|pattern-drift"'
_FOUND = f"finding:dynascope_finding_active:max{{{HERE},{_DETECTORS}}}"

CONTRACT = Board(
    uid="dynascope-contract",
    title="Dynascope / Contract and drift",
    description="Traffic beside what its owners declared.",
    targets=("account_id", "aws_region", "table", "index"),
    rows=(
        Row(
            "Declared and not",
            (
                Panel(
                    title="Requests a second by pattern",
                    description="Every declared pattern, and what is undeclared, ambiguous or unparsed.",
                    queries=(Query(f"sum by (pattern) ({_REQUESTS}{{{HERE}}})", "{{pattern}}"),),
                    unit="reqps",
                    kind="stacked",
                ),
                Panel(
                    title="Share of requests that match no declaration",
                    description="Without a contract that is all of them.",
                    queries=(
                        Query(
                            f"sum by (table, pattern) ({_REQUESTS}{{{_UNDECLARED}}})\n"
                            f"/ on (table) group_left ()\nsum by (table) ({_REQUESTS}{{{HERE}}})",
                            "{{table}} {{pattern}}",
                        ),
                    ),
                    unit="percentunit",
                    most=1,
                    quiet="all traffic is declared",
                ),
                Panel(
                    title="Requests a second by operation",
                    description="Scans first of all.",
                    queries=(Query(f"sum by (operation) ({_REQUESTS}{{{HERE}}})", "{{operation}}"),),
                    unit="reqps",
                    kind="stacked",
                ),
                Panel(
                    title="Findings of the contract",
                    description="What is undeclared, unused, or out of its bounds.",
                    queries=(Query(f"{_FOUND} == 1"),),
                    kind="table",
                    columns=("severity", "detector", "table", "index", "cause", "pattern"),
                    runbooks="detector",
                    quiet="all traffic keeps to its contract",
                ),
                Panel(
                    title="Such findings over time",
                    description="How many were open.",
                    queries=(Query(f"sum by (detector) ({_FOUND})", "{{detector}}"),),
                    kind="stacked",
                    quiet="all traffic keeps to its contract",
                ),
                Panel(
                    title="Detectors that could not judge",
                    description="Tables and indexes that a detector left out, mostly for lack of sight.",
                    queries=(Query(f"max by (detector) ({metric('dynascope_skipped_detectors')})", "{{detector}}"),),
                ),
            ),
        ),
    ),
)
