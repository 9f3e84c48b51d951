"""The lines of a recording as they stand in the file, each kind parsed once into a value of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec import Raw, Struct

from analyzer.model.batch import MetricSeries
from analyzer.model.finding import Change
from analyzer.model.instant import parse_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.table import ScalingLimits, TableDescription, TimeToLive
from analyzer.model.target import Target
from collectors.contributor_insights.parse import InsightReport, parse_report, series_of
from collectors.table_catalog.parse import (
    direction_of,
    parse_activity,
    parse_schedule,
    parse_table,
    parse_time_to_live,
)

if TYPE_CHECKING:
    from analyzer.model.batch import InsightSeries
    from analyzer.model.instant import Instant

__all__ = [
    "Asked",
    "ChangeLine",
    "ContractLine",
    "CounterLine",
    "GapLine",
    "Header",
    "InsightsLine",
    "LimitsLine",
    "Line",
    "MetricLine",
    "RequestLine",
    "ScalingLine",
    "TableLine",
    "TtlLine",
    "change",
    "counter_bytes",
    "counter_line",
    "gap",
    "incomplete",
    "insight_series",
    "metric_series",
    "parse_line",
    "request_bytes",
    "request_time",
    "scaling_limits",
    "table_description",
    "time_to_live",
]


class Asked(Struct, frozen=True):
    """The table, or index of it, that `dynascope diagnose` was asked for."""

    table: str
    index: str | None = None


class Header(Struct, tag_field="kind", tag="recording"):
    """The first line; `asked` and `as_of` (the end of the newest minute that was seen) are a diagnosis's."""

    v: int
    start: str
    end: str
    collected_at: str | None = None
    region: str | None = None
    account: str | None = None
    asked: Asked | None = None
    as_of: str | None = None


class ContractLine(Struct, tag_field="kind", tag="contract"):
    """The declared access patterns."""

    contract: dict[str, Any]


class TableLine(Struct, tag_field="kind", tag="table"):
    """The `Table` object of DescribeTable."""

    table: dict[str, Any]
    time: str | None = None


class TtlLine(Struct, tag_field="kind", tag="ttl"):
    """The `TimeToLiveDescription`."""

    table: str
    ttl: dict[str, Any]


class ScalingLine(Struct, tag_field="kind", tag="scaling"):
    """One autoscaling target; `target` is in percent."""

    table: str
    dimension: str
    min: int
    max: int
    index: str | None = None
    target: float | None = None
    scheduled: list[dict[str, Any]] = []
    activities: list[dict[str, Any]] = []


class InsightsLine(Struct, tag_field="kind", tag="insights"):
    """One Contributor Insights report."""

    table: str
    rule: str
    period: int
    report: InsightReport
    index: str | None = None
    mode: str = ""


class MetricLine(Struct, tag_field="kind", tag="metric"):
    """One series of GetMetricData."""

    metric: str
    dimensions: dict[str, str]
    stat: str
    period: int
    timestamps: list[str]
    values: list[float]
    status: str = ""


class ChangeLine(Struct, tag_field="kind", tag="change"):
    """Something that was changed."""

    time: str
    what: str
    table: str | None = None
    index: str | None = None
    who: str | None = None
    detail: str | None = None
    source: str | None = None


class GapLine(Struct, tag_field="kind", tag="gap"):
    """Something that could not be looked at."""

    source: SourceName
    reason: GapReason
    detail: str
    hint: str | None = None
    table: str | None = None
    index: str | None = None
    start: str | None = None
    end: str | None = None


class LimitsLine(Struct, tag_field="kind", tag="limits"):
    """Account quotas."""

    limits: dict[str, Any]


class RequestLine(Struct, tag_field="kind", tag="request"):
    """One request record, as its bytes: the digest decodes it, once."""

    request: Raw


class CounterLine(Struct, tag_field="kind", tag="counter"):
    """What a sampler dropped or left out."""

    v: int
    counter: str
    count: int
    start: str | None = None
    end: str | None = None
    caller: str | None = None


class _Kind(Struct):
    kind: str


class _Placed(Struct):
    """What is looked at of a request before the digest sees it."""

    time: str
    region: str | None = None
    account: str | None = None


Line = (
    Header
    | ContractLine
    | TableLine
    | TtlLine
    | ScalingLine
    | InsightsLine
    | MetricLine
    | ChangeLine
    | GapLine
    | LimitsLine
    | RequestLine
    | CounterLine
)
"""Any line, told apart by `kind`."""

_ANYWHERE = Target(None, None, "")
_LINE = msgspec.json.Decoder(Line)
_KIND = msgspec.json.Decoder(_Kind)
_PLACED = msgspec.json.Decoder(_Placed)
_KINDS = frozenset(kind.__struct_config__.tag for kind in get_args(Line))


def parse_line(line: bytes) -> Line | None:
    """Read one line as its kind; None for a kind that is not known. Raises ValueError on a bad line, alone."""
    try:
        return _decoded(line)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _decoded(line: bytes) -> Line | None:
    try:
        return _checked(_LINE.decode(line))
    except msgspec.ValidationError:
        if _KIND.decode(line).kind in _KINDS:
            raise
        return None


def request_time(request: RequestLine) -> Instant | None:
    """Return when a request was made; None where it does not say, which is the digest's to tell."""
    try:
        return parse_instant(_PLACED.decode(request.request).time)
    except (ValueError, RecursionError):
        return None


def request_bytes(request: RequestLine, region: str | None, account: str | None) -> bytes:
    """Return a request as a line of a request log, at home in the recording's place where it names none."""
    text = bytes(request.request)
    try:
        own = _PLACED.decode(text)
    except (ValueError, RecursionError):
        return text
    home = {"region": region if own.region is None else None, "account": account if own.account is None else None}
    added = msgspec.json.encode({name: place for name, place in home.items() if place is not None})
    return text if added == b"{}" else text[:-1] + b"," + added[1:]


def counter_bytes(counter: CounterLine) -> bytes:
    """Return a sampler's counter as a line of a request log."""
    return msgspec.json.encode({"v": counter.v, "counter": counter.counter, "count": counter.count})


def counter_line(counter: str, count: int) -> bytes:
    """Return the recording's line of a sampler's counter, with its end."""
    return msgspec.json.encode({"kind": "counter", "v": 1, "counter": counter, "count": count}) + b"\n"


def _checked(line: Line) -> Line:
    """Refuse times that are none, where they would be used later."""
    for name in ("time", "start", "end", "collected_at", "as_of"):
        text = getattr(line, name, None)
        if text is not None:
            parse_instant(text)
    if isinstance(line, MetricLine) and len(line.timestamps) != len(line.values):
        raise ValueError("a series needs as many values as timestamps")
    for text in line.timestamps if isinstance(line, MetricLine) else ():
        parse_instant(text)
    if isinstance(line, TableLine):
        table_description(line)
    elif isinstance(line, TtlLine):
        time_to_live(line)
    elif isinstance(line, ScalingLine):
        scaling_limits(line, _ANYWHERE)
    return line


def metric_series(line: MetricLine) -> MetricSeries:
    """Return a series in the order of time."""
    points = sorted(zip(map(parse_instant, line.timestamps), line.values, strict=True))
    return MetricSeries(
        metric=line.metric,
        dimensions=line.dimensions,
        stat=line.stat,
        period_seconds=line.period,
        timestamps=tuple(time for time, _ in points),
        values=tuple(value for _, value in points),
        is_complete=line.status == "Complete",
    )


def incomplete(line: MetricLine) -> Gap | None:
    """Return the gap that a series leaves which CloudWatch did not give whole."""
    if line.status == "Complete":
        return None
    detail = f"{line.metric}: status {line.status or 'not told'}"
    names = line.dimensions
    table, index = names.get("TableName"), names.get("GlobalSecondaryIndexName")
    hint = "collect again, a few minutes later"
    return Gap(SourceName.CLOUDWATCH_METRICS, GapReason.LOW_COVERAGE, detail, hint, table, index)


def insight_series(line: InsightsLine, target: Target) -> tuple[InsightSeries, ...]:
    """Return a series for each contributor; a report without any becomes one series without keys."""
    return parse_report((line.report,), series_of(target, line.rule, line.mode, line.period))


def scaling_limits(line: ScalingLine, target: Target) -> ScalingLimits:
    """Return one autoscaling target."""
    return ScalingLimits(
        target=target,
        direction=direction_of(line.dimension),
        minimum=line.min,
        maximum=line.max,
        target_share=None if line.target is None else line.target / 100,
        scheduled=tuple(map(parse_schedule, line.scheduled)),
        activities=tuple(map(parse_activity, line.activities)),
    )


def table_description(line: TableLine) -> TableDescription:
    """Return what DescribeTable said."""
    return parse_table(line.table)


def time_to_live(line: TtlLine) -> TimeToLive:
    """Return what DescribeTimeToLive said."""
    return parse_time_to_live(line.ttl)


def change(line: ChangeLine) -> Change:
    """Return a change."""
    return Change(
        time=parse_instant(line.time),
        what=line.what,
        table=line.table,
        index=line.index,
        who=line.who,
        detail=line.detail,
        source=line.source,
    )


def gap(line: GapLine) -> Gap:
    """Return what could not be looked at."""
    return Gap(
        source=line.source,
        reason=line.reason,
        detail=line.detail,
        hint=line.hint,
        table=line.table,
        index=line.index,
        start=None if line.start is None else parse_instant(line.start),
        end=None if line.end is None else parse_instant(line.end),
    )
