"""The readiness checklist: sixteen lines that a design has to pass, each with what it rests on. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.reports.readiness_reads import (
    each_is_mapped_to_a_key,
    every_pattern_is_documented,
    filters_hide_no_missing_key,
    growth_is_bounded,
    hot_keys_are_analyzed,
    no_scan_is_of_high_volume,
    strong_reads_are_not_on_indexes,
)
from analyzer.reports.readiness_view import View, agreed, declared, failed, named, not_observable, proved
from analyzer.reports.readiness_writes import (
    bulk_is_throttled_and_resumable,
    conditions_enforce_state,
    consumers_are_idempotent,
    each_record_says_what_it_is,
    retries_are_idempotent,
    time_to_live_is_no_scheduler,
    transactions_are_justified,
)
from analyzer.reports.week_values import ReadinessLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.reports.readiness_view import Answer

__all__ = ["LINES", "readiness_of"]

_NEARLY_ALL = 0.95


def indexes_are_understood(view: View) -> Answer:
    """Judge whether cost and staleness of each index are declared, and were seen."""
    found = view.found("gsi-lag", "write-amplification", "unused-index", "gsi-back-pressure")
    if found:
        return failed(f"{named(f'{one.detector} on {one.table}/{one.index}' for one in found)}")
    names = {(table.name, index.name) for table, index in view.indexes()}
    there = {(one.target.table, index.name) for one in view.tables for index in one.table.indexes}
    if not names | there:
        return (
            proved("there is no index") if view.tables else not_observable("no index is declared, no table described")
        )
    strangers = [f"{table}/{index}" for table, index in there - names]
    if strangers:
        return failed(f"{agreed(strangers, 'is', 'are')} not declared")
    silent = [
        f"{table.name}/{index.name}"
        for table, index in view.indexes()
        if index.staleness_tolerance_seconds is None or index.expected_write_amplification is None
    ]
    if silent:
        who = agreed(silent, "declares", "declare")
        return failed(f"{who} no staleness_tolerance, or no expected_write_amplification")
    seen = {(one.target.table, one.target.index) for one in view.traffics if any(row.secondary for row in one.rows)}
    if names <= seen:
        return proved(f"tolerance and cost are declared of {len(names)} indexes, and their writes were counted")
    return declared(f"tolerance and cost are declared of {len(names)} indexes")


def dashboard_is_complete(view: View) -> Answer:
    """Judge whether what a dashboard has to show was there all week: traffic, units, latencies, keys, tables."""
    lacking = []
    if view.covered_share < _NEARLY_ALL:
        lacking.append(f"{percent(1 - view.covered_share)} of the week")
    rows = [row for _, row in view.rows()]
    whole = sum(row.requests.value for row in rows)
    if not whole:
        return failed("nothing was seen: no request, in no part of the week")
    units = sum(row.requests.value * row.units_known for row in rows) / whole
    timed = sum(row.requests.value for row in rows if row.latency.calls) / whole
    lacking += [
        f"{what} of {percent(1 - share)} of requests"
        for what, share in (("units", units), ("latency", timed))
        if share < _NEARLY_ALL
    ]
    if view.heat is None:
        lacking.append("keys")
    described = {one.target.table for one in view.tables}
    undescribed = {one.target.table for one in view.traffics if one.rows} - described
    if undescribed:
        lacking.append(f"the description of {named(undescribed)}")
    if lacking:
        return failed(f"lacking: {'; '.join(lacking)}")
    return proved(f"traffic, units, latency, keys and descriptions of {number(len(described))} tables all week")


LINES: tuple[tuple[str, Callable[[View], Answer]], ...] = (
    ("every request-path pattern documented", every_pattern_is_documented),
    ("each mapped to table key or index", each_is_mapped_to_a_key),
    ("no high-volume path on Scan", no_scan_is_of_high_volume),
    ("filters not hiding missing keys", filters_hide_no_missing_key),
    ("hot-key analysis", hot_keys_are_analyzed),
    ("bounded item growth", growth_is_bounded),
    ("index cost and staleness understood", indexes_are_understood),
    ("strong reads not on indexes", strong_reads_are_not_on_indexes),
    ("conditional writes enforce state", conditions_enforce_state),
    ("idempotency for retried commands", retries_are_idempotent),
    ("transactions justified and bounded", transactions_are_justified),
    ("TTL not a scheduler", time_to_live_is_no_scheduler),
    ("stream consumers idempotent", consumers_are_idempotent),
    ("dashboard complete", dashboard_is_complete),
    ("backfill and replay throttled and resumable", bulk_is_throttled_and_resumable),
    ("a record says source of truth or projection", each_record_says_what_it_is),
)
"""The names are fixed: people track them from week to week."""


def readiness_of(view: View) -> tuple[ReadinessLine, ...]:
    """Answer each line."""
    return tuple(
        ReadinessLine(name=name, state=state, evidence=evidence)
        for name, judge in LINES
        for state, evidence in (judge(view),)
    )
