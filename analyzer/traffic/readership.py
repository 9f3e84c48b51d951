"""Whether an index is read at all, and how long that was looked at: absence is worth no more than what covers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.model.instant import DAY_MS
from analyzer.model.sight import Sight, SourceName
from analyzer.model.traffic import Capacity, Place
from analyzer.traffic.series import series_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.batch import MetricSeries
    from analyzer.model.instant import Instant
    from analyzer.model.table import IndexDescription
    from analyzer.model.traffic import Traffic

__all__ = ["Readership", "readership_of", "unseen_indexes"]

_READ, _WRITTEN = "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"


class Readership(Struct, frozen=True, kw_only=True):
    """How much an index was read in the stretch before the window's end that is covered.

    `covered_seconds` is the longest stretch that one source covers without a word of doubt, `sources` are those that
    cover it. `write_units` a second are what the index was written with in it, None where that is not known.
    """

    read_units: float
    read_requests: float
    covered_seconds: float
    sources: tuple[str, ...]
    write_units: float | None

    @property
    def is_read(self) -> bool:
        """Whether anybody read it."""
        return self.read_units > 0 or self.read_requests > 0


def unseen_indexes(traffic: Traffic) -> Iterator[Traffic]:
    """Yield for a table the traffic of GSIs that its description names and nothing else was seen of."""
    table = traffic.place.table
    seen = {one.target.index for one in traffic.indexes}
    for index in table.indexes if table is not None else ():
        if index.kind == "gsi" and index.name not in seen:
            yield msgspec.structs.replace(
                traffic,
                target=traffic.target.at(index.name),
                place=_place(traffic.place, index),
                rows=(),
                keys=(),
                key_sides=(),
                throttles=(),
                refusals=(),
                metrics=(),
                metric_throttles=(),
                insights=(),
                scaling=(),
                indexes=(),
                base=traffic,
            )


def _place(of_table: Place, index: IndexDescription) -> Place:
    told = index.provisioning
    return msgspec.structs.replace(
        of_table,
        partition_key=index.partition_key,
        sort_key=index.sort_key,
        index_status=index.status,
        capacity=Capacity(
            billing_mode=of_table.capacity.billing_mode,
            read_units=told.read_units,
            write_units=told.write_units,
            table_class=of_table.capacity.table_class,
        ),
    )


def readership_of(traffic: Traffic, days: int) -> Readership:
    """Return who read an index in the last days, by its metrics and by the request log."""
    since = _exists_since(traffic, traffic.window.end - (days + 1) * DAY_MS)
    by_metrics = _covered_by_metrics(traffic, since)
    by_log = (traffic.window.end - max(traffic.window.start, since)) / 1000 if Sight.REQUESTS in traffic.sights else 0.0
    covered = max(by_metrics, by_log)
    told = ((SourceName.CLOUDWATCH_METRICS, by_metrics), (SourceName.REQUEST_LOG, by_log))
    return Readership(
        read_units=sum(value for series in series_in(traffic.metrics, _READ) for value in _values(series, since)),
        read_requests=sum(row.requests.value for row in traffic.rows if not row.secondary),
        covered_seconds=covered,
        sources=tuple(source.value for source, seconds in told if seconds and seconds >= covered),
        write_units=_written(traffic, since),
    )


def _exists_since(traffic: Traffic, since: Instant) -> Instant:
    """Return the later of an instant and of when the index came to be, as far as that is told."""
    table = traffic.place.table
    born = [table.created, table.restored] if table is not None else []
    index = traffic.target.index
    born += [one.time for one in traffic.changes if one.what == "index-created" and one.index in {index, None}]
    return max([since, *(time for time in born if time is not None and time < traffic.window.end)])


def _covered_by_metrics(traffic: Traffic, since: Instant) -> float:
    """Return the seconds that a complete series of the index's reads speaks for.

    CloudWatch has no points of an index that is not read. What was asked for with it, of the same period, shows how far
    back the answer goes: the writes of the index, and what its table consumes.
    """
    found = 0.0
    beside = (*traffic.metrics, *(traffic.base.metrics if traffic.base is not None else ()))
    for read in series_in(traffic.metrics, _READ):
        if read.is_complete:
            like = [one for name in (_READ, _WRITTEN) for one in series_in(beside, name)]
            found = max([found, *(_span(one, since) for one in like if one.period_seconds == read.period_seconds)])
    return found


def _span(series: MetricSeries, since: Instant) -> float:
    times = [time for time in series.timestamps if time >= since]
    return (times[-1] - times[0]) / 1000 + series.period_seconds if times else 0.0


def _values(series: MetricSeries, since: Instant) -> Iterable[float]:
    pairs = zip(series.timestamps, series.values, strict=True)
    return (value for time, value in pairs if time >= since)


def _written(traffic: Traffic, since: Instant) -> float | None:
    """Return the write units a second of the longest series, else those that the log's writes told."""
    series = max(series_in(traffic.metrics, _WRITTEN), key=lambda one: _span(one, since), default=None)
    if series is not None and _span(series, since):
        return sum(_values(series, since)) / _span(series, since)
    told = [row.write_units.value for row in traffic.rows if row.secondary]
    return sum(told) / traffic.window.seconds if told and traffic.window.seconds else None
