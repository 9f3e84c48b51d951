"""What collectors saw, written as a recording, version 1: `dynascope replay` says the same of it anywhere.

Keys are written as tokens, whatever the batch holds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.model.instant import format_instant
from analyzer.model.sight import SourceName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from analyzer.model.batch import InsightSeries, MetricSeries
    from analyzer.model.finding import Change
    from analyzer.model.instant import Instant
    from analyzer.model.sight import Gap
    from analyzer.model.table import ScalingActivity, ScalingLimits, TableSnapshot
    from analyzer.recording import Recording

__all__ = ["gap_line", "recording_lines", "request_line"]

_MILLISECONDS = 1000


def recording_lines(
    recording: Recording,
    described: Mapping[str, Mapping[str, Any]],
    conceal: Callable[[str, str], str],
    collected_at: Instant,
) -> Iterator[bytes]:
    """Yield the lines of a recording but for its requests, each with its end.

    `described` are DescribeTable's `Table` objects by name, as AWS gave them. `conceal` makes of a table and a key
    value what may be kept.
    """
    for line in _lines(recording, described, conceal, collected_at):
        kept = {name: value for name, value in line.items() if value is not None}
        yield msgspec.json.encode(kept, enc_hook=_plain) + b"\n"


def request_line(record: Mapping[str, Any]) -> bytes:
    """Return the line of a request record, which is one that may be kept, with its end."""
    return msgspec.json.encode({"kind": "request", "request": record}) + b"\n"


def gap_line(gap: Gap) -> bytes:
    """Return the line of a gap, with its end: one of the request log is written by whoever read that."""
    kept = {name: value for name, value in _gap(gap).items() if value is not None}
    return msgspec.json.encode(kept) + b"\n"


def _lines(
    recording: Recording,
    described: Mapping[str, Mapping[str, Any]],
    conceal: Callable[[str, str], str],
    collected_at: Instant,
) -> Iterator[dict[str, Any]]:
    batch = recording.batch
    yield {
        "kind": "recording",
        "v": 1,
        "start": format_instant(recording.window.start),
        "end": format_instant(recording.window.end),
        "collected_at": format_instant(collected_at),
        "region": recording.region,
        "account": recording.account,
        "asked": recording.asked,
        "as_of": None if recording.as_of is None else format_instant(recording.as_of),
    }
    if recording.contract is not None:
        yield {"kind": "contract", "contract": recording.contract}
    for snapshot in batch.tables:
        yield from _table(snapshot, described)
    yield from (_scaling(limits) for limits in batch.scaling)
    if batch.quotas:
        yield {"kind": "limits", "limits": batch.quotas}
    yield from _reports(batch.insights, conceal)
    yield from (_metric(series) for series in batch.metrics)
    for change in batch.changes:
        yield {"kind": "change", **_without_place(change), "time": format_instant(change.time)}
    yield from (_gap(gap) for gap in batch.gaps if gap.source is not SourceName.REQUEST_LOG)


def _without_place(one: Change | Gap) -> dict[str, Any]:
    """Return the fields but account and region: a recording is of one of each."""
    told = msgspec.structs.asdict(one)
    return {name: told[name] for name in told if name not in {"account", "region"}}


def _table(snapshot: TableSnapshot, described: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    told = described.get(snapshot.table.name)
    if told is not None:
        yield {"kind": "table", "table": told}
    if snapshot.ttl is not None:
        ttl = {"TimeToLiveStatus": snapshot.ttl.status, "AttributeName": snapshot.ttl.attribute}
        known = {name: value for name, value in ttl.items() if value is not None}
        yield {"kind": "ttl", "table": snapshot.table.name, "ttl": known}


def _scaling(limits: ScalingLimits) -> dict[str, Any]:
    return {
        "kind": "scaling",
        "table": limits.target.table,
        "index": limits.target.index,
        "dimension": limits.direction.value,
        "min": limits.minimum,
        "max": limits.maximum,
        "target": None if limits.target_share is None else limits.target_share * 100,
        "scheduled": [
            {
                "Schedule": one.schedule,
                "ScalableTargetAction": _known(MinCapacity=one.minimum, MaxCapacity=one.maximum),
            }
            for one in limits.scheduled
        ],
        "activities": [_activity(one, limits.direction.value) for one in limits.activities],
    }


def _activity(one: ScalingActivity, direction: str) -> dict[str, Any]:
    told = "" if one.to_units is None else f"Setting {direction} capacity units to {one.to_units:g}."
    return _known(
        StartTime=one.start / _MILLISECONDS,
        EndTime=None if one.end is None else one.end / _MILLISECONDS,
        StatusCode=one.status,
        Description=told,
        Cause=one.cause,
    )


def _known(**fields: object) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _reports(insights: Iterable[InsightSeries], conceal: Callable[[str, str], str]) -> Iterator[dict[str, Any]]:
    """Yield a report a rule, its contributors gathered again."""
    reports: dict[tuple[str, str | None, str], list[InsightSeries]] = {}
    for series in insights:
        reports.setdefault((series.target.table, series.target.index, series.rule), []).append(series)
    for (table, index, rule), every in reports.items():
        contributors = [
            {
                "Keys": [conceal(table, key) for key in one.keys],
                "Datapoints": [
                    {"Timestamp": time / _MILLISECONDS, "ApproximateValue": value}
                    for time, value in zip(one.timestamps, one.values, strict=True)
                ],
            }
            for one in every
            if one.keys
        ]
        yield {
            "kind": "insights",
            "table": table,
            "index": index,
            "rule": rule,
            "mode": every[0].mode,
            "period": every[0].period_seconds,
            "report": {"KeyLabels": list(every[0].labels), "Contributors": contributors},
        }


def _metric(series: MetricSeries) -> dict[str, Any]:
    return {
        "kind": "metric",
        "metric": series.metric,
        "dimensions": series.dimensions,
        "stat": series.stat,
        "period": series.period_seconds,
        "timestamps": [format_instant(time) for time in series.timestamps],
        "values": list(series.values),
        "status": "Complete" if series.is_complete else "PartialData",
    }


def _gap(gap: Gap) -> dict[str, Any]:
    told = _without_place(gap)
    times = {name: format_instant(told[name]) for name in ("start", "end") if told[name] is not None}
    return {"kind": "gap", **told, **times}


def _plain(value: object) -> object:
    """Write what the SDK made of AWS's JSON back as it stood on the wire: a time is seconds since the epoch."""
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return aware.timestamp()
    raise TypeError(f"a recording holds no {type(value).__name__}")
