"""Gauges from a report: findings, heat, coverage, what is known of tables, and what could not be judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.exporters.from_counts import target_labels
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction, Severity, Status
from analyzer.model.target import Target
from analyzer.traffic.measure import units_a_second

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.exporters.series import SeriesTable
    from analyzer.model.finding import Finding
    from analyzer.model.report import Report
    from analyzer.model.traffic import Traffic

__all__ = ["describe_report"]

_RANKS = 10
_REPORT_ONLY = frozenset({("hot-key", Severity.LOW)})
"""A key far from its ceiling is worth a line in the report, never a metric that somebody could alert on."""

Place = tuple[str, ...]


def describe_report(table: SeriesTable, report: Report, place_of: Callable[[Target], Place] = target_labels) -> None:
    """Set every gauge that a report speaks of."""
    table.raise_to("dynascope_window_end_timestamp_seconds", (), report.window.end / 1000)
    for finding in report.findings:
        _describe_finding(table, report, finding, place_of)
    for change in report.changes:
        where = place_of(
            Target(change.account or report.account, change.region or report.region, change.table or "", change.index)
        )
        table.raise_to("dynascope_change_timestamp_seconds", (*where, change.what), change.time / 1000)
    for detector, times in Counter(skip.detector for skip in report.skipped).items():
        table.raise_to("dynascope_skipped_detectors", (detector,), times)
    for line in report.coverage:
        if line.ratio is not None:
            where = place_of(
                Target(line.account or report.account, line.region or report.region, line.table, line.index)
            )
            table.raise_to("dynascope_coverage_ratio", (*where, line.direction.value), line.ratio)
    for traffic in report.traffic:
        where = place_of(traffic.target)
        _describe_heat(table, traffic, where)
        _describe_capacity(table, traffic, where)


def _describe_finding(
    table: SeriesTable, report: Report, finding: Finding, place_of: Callable[[Target], Place]
) -> None:
    if (finding.detector, finding.severity) in _REPORT_ONLY:
        return
    target = Target(finding.account or report.account, finding.region or report.region, finding.table, finding.index)
    labels = (
        *place_of(target),
        finding.detector,
        finding.severity.value,
        finding.pattern or "",
        finding.cause or "",
    )
    is_active = finding.status in (Status.OPEN, Status.ONGOING)
    table.raise_to("dynascope_finding_active", labels, float(is_active))


def _describe_heat(table: SeriesTable, traffic: Traffic, where: Place) -> None:
    for direction in Direction:
        keys = [key for key in traffic.keys if key.direction is direction and key.level is KeyLevel.PARTITION]
        hottest = sorted(keys, key=lambda key: -key.heat.value)[:_RANKS]
        for rank, key in enumerate(hottest, start=1):
            labels = (*where, str(rank), direction.value)
            table.raise_to("dynascope_key_heat_ratio", labels, key.heat.value)
            table.raise_to("dynascope_key_heat_ratio_low", labels, key.heat.low)
            table.raise_to("dynascope_key_heat_ratio_high", labels, key.heat.high)


def _describe_capacity(table: SeriesTable, traffic: Traffic, where: Place) -> None:
    place = traffic.place
    for direction, capacity in (
        (Direction.READ, place.capacity.read_units),
        (Direction.WRITE, place.capacity.write_units),
    ):
        rate = units_a_second(traffic, direction)
        if capacity and rate is not None:
            table.raise_to("dynascope_capacity_consumed_ratio", (*where, direction.value), rate / capacity)
    known = (place.capacity.billing_mode or "", place.capacity.table_class or "", place.owner or "")
    if traffic.target.index is None and any(known):
        table.raise_to("dynascope_table_info", (*where, *known), 1.0)
