"""What the API answers beside the report itself: patterns, changes, targets, indexes, and how far to trust it all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.exporters.atlas import subject_of
from analyzer.figures.lag import index_strip
from analyzer.figures.marks import is_about
from analyzer.figures.targets import hottest_places
from analyzer.model.instant import format_instant
from analyzer.model.report import Mode
from analyzer.model.sight import SourceName
from analyzer.render.json import plain_value

if TYPE_CHECKING:
    from analyzer.exporters.assemble import Health
    from analyzer.exporters.atlas import CallsOverTime
    from analyzer.figures.lag import IndexStrip
    from analyzer.figures.targets import HotPlace
    from analyzer.model.estimate import Estimate
    from analyzer.model.report import Report
    from analyzer.model.target import Target

__all__ = ["changes_object", "gsi_object", "honesty_object", "patterns_object", "targets_object"]

Node = dict[str, Any]


def patterns_object(document: Node, calls: CallsOverTime) -> Node:
    """Return the patterns of a shown report, each with its share of the units and its calls over time."""
    rows = document["patterns"]
    every = sum(row["units"] or 0 for row in rows)
    return {
        **{name: document[name] for name in ("v", "as_of", "window")},
        "patterns": [
            {
                **row,
                "share": None if row["units"] is None or not every else plain_value(row["units"] / every),
                "calls": _spark(row, calls),
            }
            for row in rows
        ],
    }


def _spark(row: Node, calls: CallsOverTime) -> Node | None:
    series = calls.series.get(subject_of(row))
    if series is None:
        return None
    values = [None if value is None else plain_value(round(value, 3)) for value in series]
    return {"start": format_instant(calls.start), "step_ms": calls.step_ms, "values": values}


def changes_object(document: Node) -> Node:
    """Return marks and changes of a shown report, the newest first."""
    changes = sorted(document["changes"], key=lambda change: str(change["time"]), reverse=True)
    return {"v": 1, "as_of": document["as_of"], "changes": changes}


def targets_object(report: Report) -> Node:
    """Return tables and indexes, the hottest first."""
    return {
        "v": 1,
        "as_of": format_instant(report.as_of),
        "targets": [_target(place) for place in hottest_places(report.traffic)],
    }


def _target(hot: HotPlace) -> Node:
    return {
        **_place(hot.target),
        "direction": hot.direction.value,
        "keys": hot.keys.value,
        "heat": _estimate(hot.heat),
        "units_a_second": plain_value(hot.units_a_second),
        "limit": plain_value(hot.limit),
        "throttled": plain_value(hot.throttled),
    }


def gsi_object(report: Report) -> Node:
    """Return how each index keeps up with its table."""
    strips = [index_strip(traffic) for traffic in report.traffic if traffic.target.index is not None]
    return {"v": 1, "as_of": format_instant(report.as_of), "indexes": [_index(strip, report) for strip in strips]}


def _index(strip: IndexStrip, report: Report) -> Node:
    target, lag = strip.target, strip.lag
    return {
        **_place(target),
        "lag": None
        if lag is None
        else {
            **{name: _estimate(getattr(lag, name)) for name in ("p50", "p95", "p99")},
            "writes": lag.writes,
            "reads": lag.pairs,
            "stale_after_second": plain_value(lag.stale_after_second),
        },
        "hint": strip.hint,
        "tolerance_seconds": plain_value(strip.tolerance_seconds),
        "throttles": [
            {"direction": one.direction.value, "cause": one.cause, "tries": plain_value(one.tries)}
            for one in strip.throttles
        ],
        "write_units_a_second": plain_value(strip.write_units_a_second),
        "write_limit": plain_value(strip.write_limit),
        "findings": [one.id for one in report.findings if is_about(one, target)],
    }


def honesty_object(report: Report, document: Node, health: Health | None) -> Node:
    """Return how far all of it can be trusted: samples, coverage, delays, the sketch's error, gaps.

    `document` is the report as it is shown.
    """
    rows = [row for traffic in report.traffic for row in traffic.rows if row.observed and row.requests.value]
    sides = [side for traffic in report.traffic for side in traffic.key_sides if side.units]
    skips = Counter(skip.detector for skip in report.skipped)
    until = report.observing_until
    return {
        "v": 1,
        "as_of": document["as_of"],
        "sampling": {
            "sampled": any(traffic.sampled for traffic in report.traffic),
            "lowest_rate": plain_value(min((row.observed / row.requests.value for row in rows), default=None)),
        },
        "coverage": document["coverage"],
        "sources": [] if health is None else _sources(health),
        "sketch_error": plain_value(max((side.floor / side.units for side in sides), default=None)),
        "records": {} if health is None else health.records,
        "gaps": document["gaps"],
        "skipped": [{"detector": name, "places": places} for name, places in sorted(skips.items())],
        "observing_until": None if until is None else format_instant(until),
        "observing": report.mode is Mode.OBSERVE,
        "analysis_seconds": None if health is None else plain_value(health.analysis_seconds),
        "cost_usd": None if health is None or not health.polled else plain_value(sum(health.spent.usd.values())),
    }


def _sources(health: Health) -> list[Node]:
    own = (SourceName.REQUEST_LOG.value, health.is_source_up, health.last_read_seconds, health.delay_seconds)
    polled = [(one.source, one.is_up, one.last_success_seconds, one.delay_seconds) for one in health.polled]
    return [
        {
            "source": source,
            "up": is_up,
            "last_success": None if success is None else format_instant(round(success * 1000)),
            "delay_seconds": plain_value(delay),
        }
        for source, is_up, success, delay in ([own] if health.reads_log else []) + polled
    ]


def _place(target: Target) -> Node:
    return {"account": target.account, "region": target.region, "table": target.table, "index": target.index}


def _estimate(estimate: Estimate | None) -> Node | None:
    if estimate is None:
        return None
    return {name: plain_value(float(getattr(estimate, name))) for name in ("value", "low", "high")}
