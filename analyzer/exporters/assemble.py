"""One rendering of the metrics: what was counted, what was concluded, and how the daemon itself stands."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.exporters.exemplars import Known
from analyzer.exporters.from_counts import Carried, count_cells, count_once, target_labels
from analyzer.exporters.from_report import describe_report
from analyzer.exporters.lags import COUNTED_UNTIL, LAG, show_lags
from analyzer.exporters.series import SeriesTable
from analyzer.model.sight import SourceName
from analyzer.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from analyzer.model.counts import Cell, Counts
    from analyzer.model.report import Report
    from analyzer.model.target import Target

__all__ = [
    "RECORD_COUNTERS",
    "Health",
    "HistoryHealth",
    "Kept",
    "Ledger",
    "SourceHealth",
    "Spent",
    "add_to",
    "assemble",
    "count_dropped",
]

RECORD_COUNTERS = ("read", "bad", "dropped", "late", "future", "duplicate", "squeezed")
"""What is counted of the records of a source, each as `dynascope_records_…_total`."""

Kept = dict[str, dict[tuple[str, ...], float]]
"""Counters by metric and labels that are not the digest's."""


_DROPPED = "dynascope_series_dropped_total"


class SourceHealth(Struct, frozen=True):
    """How a polled source stands, over all places; its last success is in seconds since the epoch."""

    source: str
    is_up: bool
    last_success_seconds: float | None
    delay_seconds: float | None


class Spent(Struct, frozen=True):
    """What reading from AWS took since the counters began, by operation."""

    calls: dict[str, int] = {}
    billed_metrics: dict[str, int] = {}
    usd: dict[str, float] = {}


class HistoryHealth(Struct, frozen=True):
    """What history lost since the process began: files that cannot be read, minutes, pairs of entities."""

    torn_files: int = 0
    lost: int = 0
    dropped_pairs: int = 0


class Health(Struct, frozen=True, kw_only=True):
    """How the daemon and its source stand; `…_seconds` without a duration are times since the epoch.

    None stands for what has not happened yet. `reads_log` says whether there is a request log at all. `holds_lease` is
    None where no other daemon stands by. `joined` and `set_aside` are those of the streams' status.
    """

    is_config_valid: bool
    is_source_up: bool
    last_read_seconds: float | None
    delay_seconds: float | None
    checkpoint_seconds: float | None
    analysis_seconds: float | None
    records: dict[str, int]
    reads_log: bool = True
    polled: tuple[SourceHealth, ...] = ()
    spent: Spent = Spent()
    holds_lease: bool | None = None
    is_observing: bool = False
    joined: int = 0
    set_aside: int = 0
    marks_dropped: int = 0
    dropped: dict[str, int] = {}
    history: HistoryHealth = HistoryHealth()


class Ledger(Struct, frozen=True):
    """What the metrics remember beside the digest's counts."""

    carried: Carried = Carried()
    kept: Kept = {}
    exemplars: Known = {}


def add_to(kept: Kept, name: str, values: Mapping[tuple[str, ...], float]) -> Kept:
    """Return what is kept with more of one counter."""
    before = kept.get(name, {})
    return {**kept, name: {**before, **{labels: before.get(labels, 0.0) + value for labels, value in values.items()}}}


def assemble(
    health: Health,
    counts: Counts | None,
    report: Report | None,
    ledger: Ledger,
    pattern_of: Callable[[Cell], str],
    place_of: Callable[[Target], tuple[str, ...]] = target_labels,
) -> SeriesTable:
    """Collect every series but those that `count_dropped` publishes when all others are there; changes nothing."""
    table = SeriesTable()
    if counts is not None:
        count_cells(table, counts, pattern_of, place_of)
        ledger.carried.apply(table)
        for (target, operation), known in ledger.exemplars.items():
            for bucket, exemplar in known.items():
                labels = (*place_of(target), operation)
                table.exemplify("dynascope_request_duration_seconds", labels, bucket, exemplar)
    if report is not None:
        describe_report(table, report, place_of)
    _describe_health(table, health)
    for name, values in ledger.kept.items():
        if name not in (_DROPPED, LAG, COUNTED_UNTIL):
            count_once(table, name, values)
    show_lags(table, ledger.kept)
    return table


def count_dropped(table: SeriesTable, kept: Kept, *, is_analysis: bool) -> Kept:
    """Publish how many series were beyond their bounds, and return what is kept from now on.

    They count once an analysis, however often it is rendered.
    """
    if is_analysis:
        kept = add_to(kept, _DROPPED, {(name,): float(count) for name, count in table.dropped.items()})
    count_once(table, _DROPPED, kept.get(_DROPPED, {}))
    return kept


def _describe_health(table: SeriesTable, health: Health) -> None:
    log = SourceHealth(
        SourceName.REQUEST_LOG.value, health.is_source_up, health.last_read_seconds, health.delay_seconds
    )
    for name in RECORD_COUNTERS:
        table.add(f"dynascope_records_{name}_total", (log.source,), health.records.get(name, 0))
    table.add("dynascope_records_joined_total", (log.source,), health.joined)
    table.add("dynascope_records_set_aside_total", (log.source,), health.set_aside)
    table.add("dynascope_marks_dropped_total", (), health.marks_dropped)
    for what, count in health.dropped.items():
        table.add("dynascope_dropped_total", (what,), count)
    for name in HistoryHealth.__struct_fields__:
        table.add(f"dynascope_history_{name}_total", (), getattr(health.history, name))
    for one in (*((log,) if health.reads_log else ()), *health.polled):
        table.raise_to("dynascope_source_up", (one.source,), float(one.is_up))
        _raise_known(table, "dynascope_source_last_success_timestamp_seconds", (one.source,), one.last_success_seconds)
        _raise_known(table, "dynascope_source_delay_seconds", (one.source,), one.delay_seconds)
    _raise_known(table, "dynascope_checkpoint_last_success_timestamp_seconds", (), health.checkpoint_seconds)
    _raise_known(table, "dynascope_analysis_duration_seconds", (), health.analysis_seconds)
    for name, by_api in (
        ("dynascope_aws_calls_total", health.spent.calls),
        ("dynascope_aws_billed_metrics_total", health.spent.billed_metrics),
        ("dynascope_aws_cost_usd_total", health.spent.usd),
    ):
        for api, value in by_api.items():
            table.add(name, (api,), value)
    if health.holds_lease is not None:
        table.raise_to("dynascope_lease_held", (), float(health.holds_lease))
    table.raise_to("dynascope_observing", (), float(health.is_observing))
    table.raise_to("dynascope_config_valid", (), float(health.is_config_valid))
    table.raise_to("dynascope_build_info", (__version__, platform.python_version()), 1.0)


def _raise_known(table: SeriesTable, name: str, labels: tuple[str, ...], value: float | None) -> None:
    if value is not None:
        table.raise_to(name, labels, value)
