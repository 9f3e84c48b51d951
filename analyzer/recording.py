"""A recording, version 1 (docs/reference/formats.md): what collectors saw in one stretch, read back as values.

A file is read twice: once for everything but the requests, whose contract and tables may stand behind them, and once
for the requests, so that memory never follows their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.errors import MalformedError
from analyzer.model.batch import Batch
from analyzer.model.instant import Instant, parse_instant
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.recording_lines import (
    Asked,
    ChangeLine,
    ContractLine,
    CounterLine,
    GapLine,
    Header,
    InsightsLine,
    LimitsLine,
    MetricLine,
    RequestLine,
    ScalingLine,
    TableLine,
    TtlLine,
    change,
    counter_bytes,
    gap,
    incomplete,
    insight_series,
    metric_series,
    parse_line,
    request_bytes,
    request_time,
    scaling_limits,
    table_description,
    time_to_live,
)
from collectors.cloudwatch_metrics.usable import usable
from collectors.contributor_insights.blind_spots import blind_spots
from collectors.request_log.unpacking import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.model.batch import MetricSeries
    from analyzer.recording_lines import Line
    from collectors.request_log.unpacking import Readable

__all__ = ["Recording", "read_recording", "read_requests"]

_VERSION = 1
_LONGEST_LINE = 16 << 20
_LATE_MS = 60_000
_SOURCES: dict[type[Struct], SourceName] = {
    ContractLine: SourceName.CONTRACT,
    TableLine: SourceName.TABLE_CATALOG,
    TtlLine: SourceName.TABLE_CATALOG,
    ScalingLine: SourceName.TABLE_CATALOG,
    InsightsLine: SourceName.CONTRIBUTOR_INSIGHTS,
    MetricLine: SourceName.CLOUDWATCH_METRICS,
    ChangeLine: SourceName.CHANGES,
    RequestLine: SourceName.REQUEST_LOG,
    CounterLine: SourceName.REQUEST_LOG,
}


class Recording(Struct, frozen=True, kw_only=True):
    """Everything of a recording but its requests; `contract` is the document as the contract's own file has it.

    `sources` are those that somebody let collect. Requests are `is_ordered` when none lies a minute or more before one
    that stands above it. `asked` is what a diagnosis was asked, and `as_of` how far it saw; None of all others.
    """

    window: Window
    region: str | None
    account: str | None
    contract: dict[str, Any] | None
    batch: Batch
    sources: frozenset[SourceName]
    is_ordered: bool
    asked: Asked | None = None
    as_of: Instant | None = None


def read_recording(path: Path) -> Recording:
    """Read everything but the requests; raises MalformedError where the file is no recording, OSError as it comes."""
    lines = _lines(path)
    reader = _Reader(_header(path, next(lines, None)))
    for line in lines:
        reader.take(line)
    return reader.recording()


def read_requests(path: Path, recording: Recording) -> Iterator[bytes]:
    """Yield requests and samplers' counters, as they stand in the file, as lines of a request log.

    Other lines were counted when the rest was read; the digest decodes these, and counts those that it cannot.
    """
    for line in _lines(path):
        if line is None or isinstance(line, Gap):
            continue
        try:
            parsed = parse_line(line)
        except ValueError:
            continue
        if isinstance(parsed, RequestLine):
            yield request_bytes(parsed, recording.region, recording.account)
        elif isinstance(parsed, CounterLine):
            yield counter_bytes(parsed)


def _header(path: Path, line: bytes | Gap | None) -> Header:
    hint = "its first line says kind `recording`; a plain request log is read by `dynascope analyze`"
    try:
        header = parse_line(line) if isinstance(line, bytes) else None
    except ValueError:
        header = None
    if not isinstance(header, Header):
        raise MalformedError(f"{path} is no recording", hint=hint)
    if header.v != _VERSION:
        raise MalformedError(f"{path} is a recording of version {header.v}", hint=f"this reads version {_VERSION}")
    if parse_instant(header.end) < parse_instant(header.start):
        raise MalformedError(f"{path} ends before it starts", hint="see `start` and `end` in its first line")
    return header


class _Reader:
    """Gathers the lines of one recording, but for the requests."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._lines: dict[type[Struct], list[Any]] = {}
        self._gaps: list[Gap] = []
        self._unknown = 0
        self._bad = 0
        self._sources: set[SourceName] = set()
        self._newest: Instant = 0
        self._is_ordered = True

    def take(self, line: bytes | Gap | None) -> None:
        """Take one line, one that was too long, or what cut the file off."""
        if isinstance(line, Gap):
            self._gaps.append(line)
            return
        if line is None:
            self._bad += 1
            return
        try:
            parsed = parse_line(line)
        except ValueError:
            self._bad += 1
            return
        if parsed is None:
            self._unknown += 1
        else:
            self._keep(parsed)

    def _keep(self, parsed: Line) -> None:
        """Keep a line, of requests and counters only that there are some."""
        source = parsed.source if isinstance(parsed, GapLine) else _SOURCES.get(type(parsed))
        self._sources |= set() if source is None else {source}
        if isinstance(parsed, RequestLine):
            self._see(request_time(parsed))
        elif not isinstance(parsed, CounterLine):
            self._lines.setdefault(type(parsed), []).append(parsed)

    def _see(self, time: Instant | None) -> None:
        if time is not None:
            self._is_ordered &= time > self._newest - _LATE_MS
            self._newest = max(self._newest, time)

    def _all(self, kind: type[Struct]) -> list[Any]:
        return self._lines.get(kind, [])

    def _target(self, table: str, index: str | None = None) -> Target:
        return Target(self._header.account, self._header.region, table, index)

    def recording(self) -> Recording:
        """Return what was gathered."""
        header = self._header
        window = Window(parse_instant(header.start), parse_instant(header.end))
        contracts = self._all(ContractLine)
        return Recording(
            window=window,
            region=header.region,
            account=header.account,
            contract=contracts[-1].contract if contracts else None,
            batch=self._batch(window),
            sources=frozenset(self._sources),
            is_ordered=self._is_ordered,
            asked=header.asked,
            as_of=None if header.as_of is None else parse_instant(header.as_of),
        )

    def _batch(self, window: Window) -> Batch:
        lines = [(line, self._target(line.table, line.index)) for line in self._all(InsightsLine)]
        insights = tuple(series for line, target in lines for series in insight_series(line, target))
        metrics, misused = usable(metric_series(line) for line in self._all(MetricLine))
        return Batch(
            window=window,
            covers=tuple(self._covers(window, metrics)),
            metrics=metrics,
            insights=insights,
            tables=tuple(self._tables()),
            scaling=tuple(
                scaling_limits(line, self._target(line.table, line.index)) for line in self._all(ScalingLine)
            ),
            changes=tuple(change(line) for line in self._all(ChangeLine)),
            quotas=self._quotas(),
            gaps=(*self._told_gaps(), *self._gaps, *self._unread(), *misused, *blind_spots(insights, metrics)),
        )

    def _told_gaps(self) -> Iterator[Gap]:
        return (gap(line) for line in self._all(GapLine))

    def _unread(self) -> Iterator[Gap]:
        """Say which lines told nothing: any of them may have been requests."""
        if self._bad:
            lines = "1 line of the recording" if self._bad == 1 else f"{self._bad:,} lines of the recording"
            hint = "look at what wrote the recording"
            yield Gap(SourceName.REQUEST_LOG, GapReason.MALFORMED, f"{lines} could not be read", hint)
        if self._unknown:
            kinds = "1 line is of a kind" if self._unknown == 1 else f"{self._unknown:,} lines are of kinds"
            hint = "replay it with the version that wrote it"
            yield Gap(SourceName.REQUEST_LOG, GapReason.MALFORMED, f"{kinds} that this version does not know", hint)
        yield from filter(None, map(incomplete, self._all(MetricLine)))

    def _quotas(self) -> dict[str, float]:
        limits = (line.limits for line in self._all(LimitsLine))
        return {name: float(units) for one in limits for name, units in one.items() if isinstance(units, int | float)}

    def _covers(self, window: Window, used: tuple[MetricSeries, ...]) -> Iterator[Covers]:
        metrics = [(m.dimensions.get("TableName"), m.dimensions.get("GlobalSecondaryIndexName")) for m in used]
        insights = [(line.table, line.index) for line in self._all(InsightsLine)]
        tables = [(line.table.get("TableName"), None) for line in self._all(TableLine)]
        for source, places in (
            (SourceName.CLOUDWATCH_METRICS, metrics),
            (SourceName.CONTRIBUTOR_INSIGHTS, insights),
            (SourceName.TABLE_CATALOG, tables),
        ):
            yield from (Covers(source, window, table, index) for table, index in dict.fromkeys(places))
        if SourceName.REQUEST_LOG in self._sources:
            yield Covers(SourceName.REQUEST_LOG, window)
        is_blind = any(gap.source is SourceName.CHANGES for gap in self._told_gaps())
        if SourceName.CHANGES in self._sources and not is_blind:
            yield Covers(SourceName.CHANGES, window)

    def _tables(self) -> Iterator[TableSnapshot]:
        ttls = {line.table: time_to_live(line) for line in self._all(TtlLine)}
        named = set()
        for line in self._all(TableLine):
            table = table_description(line)
            named.add(table.name)
            time = None if line.time is None else parse_instant(line.time)
            yield TableSnapshot(target=self._target(table.name), time=time, table=table, ttl=ttls.get(table.name))
        for name in ttls.keys() - named:
            yield TableSnapshot(target=self._target(name), table=TableDescription(name=name), ttl=ttls[name])


def _lines(path: Path) -> Iterator[bytes | Gap | None]:
    """Yield the lines that hold something; None for one that is too long, a gap where compression breaks off."""
    with path.open("rb") as raw:
        try:
            yield from _split(unpacked(raw))
        except EOFError as error:
            yield Gap(SourceName.REQUEST_LOG, GapReason.MALFORMED, f"{path.name} breaks off: {error}")


def _split(file: Readable) -> Iterator[bytes | None]:
    rest, is_overlong = b"", False
    while chunk := file.read(1 << 18):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if is_overlong:
                is_overlong = False
                yield None
            elif line.strip():
                yield line
        if len(rest) > _LONGEST_LINE:
            rest, is_overlong = b"", True
    if is_overlong:
        yield None
    elif rest.strip():
        yield rest
