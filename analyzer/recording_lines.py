"""The lines of a recording as they stand in the file, each kind parsed once into a value of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.model.batch import InsightSeries, MetricSeries, ScalingLimits
from analyzer.model.finding import Change
from analyzer.model.instant import parse_instant
from analyzer.model.request import RequestRecord
from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from analyzer.model.target import Target

__all__ = [
    "ChangeLine",
    "ContractLine",
    "CounterLine",
    "GapLine",
    "Header",
    "InsightsLine",
    "LimitsLine",
    "MetricLine",
    "RequestLine",
    "ScalingLine",
    "TableLine",
    "TtlLine",
    "change",
    "gap",
    "insight_series",
    "metric_series",
    "parse_line",
    "parse_request",
    "scaling_limits",
]


class Header(Struct):
    """The first line."""

    v: int
    start: str
    end: str
    collected_at: str | None = None
    region: str | None = None
    account: str | None = None


class ContractLine(Struct):
    """The declared access patterns."""

    contract: dict[str, Any]


class TableLine(Struct):
    """The `Table` object of DescribeTable."""

    table: dict[str, Any]
    time: str | None = None


class TtlLine(Struct):
    """The `TimeToLiveDescription`."""

    table: str
    ttl: dict[str, Any]


class ScalingLine(Struct):
    """One autoscaling target."""

    table: str
    dimension: str
    min: int
    max: int
    index: str | None = None
    target: float | None = None
    activities: list[dict[str, Any]] = []


class Datapoint(Struct, rename="pascal"):
    """One value of a contributor."""

    timestamp: str
    approximate_value: float = 0.0


class Contributor(Struct, rename="pascal"):
    """One key of a report."""

    keys: list[str]
    datapoints: list[Datapoint] = []


class InsightReport(Struct, rename="pascal"):
    """The response of GetInsightRuleReport."""

    contributors: list[Contributor] = []


class InsightsLine(Struct):
    """One Contributor Insights report."""

    table: str
    rule: str
    period: int
    report: InsightReport
    index: str | None = None
    mode: str = ""


class MetricLine(Struct):
    """One series of GetMetricData."""

    metric: str
    dimensions: dict[str, str]
    stat: str
    period: int
    timestamps: list[str]
    values: list[float]
    status: str = ""


class ChangeLine(Struct):
    """Something that was changed."""

    time: str
    what: str
    table: str | None = None
    index: str | None = None
    who: str | None = None
    detail: str | None = None
    source: str | None = None


class GapLine(Struct):
    """Something that could not be looked at."""

    source: SourceName
    reason: GapReason
    detail: str
    hint: str | None = None
    table: str | None = None
    index: str | None = None
    start: str | None = None
    end: str | None = None


class LimitsLine(Struct):
    """Account quotas."""

    limits: dict[str, Any]


class RequestLine(Struct):
    """One request record."""

    request: RequestRecord


class CounterLine(Struct):
    """What a sampler dropped or left out."""

    counter: str
    count: int


class _Kind(Struct):
    kind: str


_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(line)
    for kind, line in {
        "recording": Header,
        "contract": ContractLine,
        "table": TableLine,
        "ttl": TtlLine,
        "scaling": ScalingLine,
        "insights": InsightsLine,
        "metric": MetricLine,
        "change": ChangeLine,
        "gap": GapLine,
        "limits": LimitsLine,
        "counter": CounterLine,
        "request": RequestLine,
    }.items()
}
_KIND = msgspec.json.Decoder(_Kind)
_VERSION = 1


def parse_line(line: bytes) -> Struct | str:
    """Read one line as its kind; return the name of a kind that is not known. Raises ValueError on a bad line."""
    kind = _KIND.decode(line).kind
    decoder = _DECODERS.get(kind)
    line_of: Struct | str = kind if decoder is None else _checked(decoder.decode(line))
    return line_of


def parse_request(line: bytes, region: str | None, account: str | None) -> RequestRecord | None:
    """Read a request, at home in the recording's place where it names none; None for a line of another kind.

    Raises ValueError on a bad line.
    """
    if _KIND.decode(line).kind != "request":
        return None
    record: RequestRecord = _checked(_DECODERS["request"].decode(line)).request
    record.region = record.region or region
    record.account = record.account or account
    return record


def _checked(line: Any) -> Any:  # noqa: ANN401 -- any of the lines above
    """Refuse versions that are not read, and times that are none, where they would be used later."""
    if isinstance(line, RequestLine):
        if line.request.v != _VERSION:
            raise ValueError(f"a request record of version {line.request.v}; this reads version {_VERSION}")
        parse_instant(line.request.time)
    for name in ("time", "start", "end", "collected_at"):
        text = getattr(line, name, None)
        if text is not None:
            parse_instant(text)
    if isinstance(line, MetricLine) and len(line.timestamps) != len(line.values):
        raise ValueError("a series needs as many values as timestamps")
    for text in line.timestamps if isinstance(line, MetricLine) else ():
        parse_instant(text)
    for contributor in line.report.contributors if isinstance(line, InsightsLine) else ():
        for point in contributor.datapoints:
            parse_instant(point.timestamp)
    return line


def metric_series(line: MetricLine) -> MetricSeries:
    """Return a series in the order of time."""
    points = sorted(zip(map(parse_instant, line.timestamps), line.values, strict=True))
    return MetricSeries(
        metric=line.metric,
        dimensions=line.dimensions,
        stat=line.stat,
        period=line.period,
        timestamps=tuple(time for time, _ in points),
        values=tuple(value for _, value in points),
        is_complete=line.status == "Complete",
    )


def insight_series(line: InsightsLine, target: Target) -> tuple[InsightSeries, ...]:
    """Return a series for each contributor; a report without any becomes one series without keys."""
    return tuple(
        InsightSeries(
            target=target,
            rule=line.rule,
            mode=line.mode,
            period=line.period,
            keys=tuple(contributor.keys),
            timestamps=tuple(parse_instant(point.timestamp) for point in contributor.datapoints),
            values=tuple(point.approximate_value for point in contributor.datapoints),
        )
        for contributor in line.report.contributors or (Contributor([]),)
    )


def scaling_limits(line: ScalingLine, target: Target) -> ScalingLimits:
    """Return one autoscaling target."""
    return ScalingLimits(target, line.dimension, line.min, line.max, line.target, tuple(line.activities))


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
