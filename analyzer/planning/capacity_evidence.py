"""What is known of a table before its capacity is planned: demand, size, bounds, and how far all that carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.detectors.words import number, percent
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.model.target import Target
from analyzer.model.traffic import Traffic
from analyzer.planning.load import Load, load_of_metrics
from analyzer.planning.option import Place
from analyzer.planning.options import rules_for
from analyzer.planning.partitions import is_told
from analyzer.traffic.series import series_in, total

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.model.window import Window

__all__ = ["A_WEEK", "Observed", "notes_of", "places_of", "requests_of", "storage_of", "warm_throughput", "warnings_of"]

_WARM = 0.7
"""The share of a partition's ceiling from which on a key is the first thing to mend."""
_A_DAY = 86_400.0
A_WEEK = 7 * _A_DAY
"""Nobody should pay for a year by what less than a week showed."""
_AN_HOUR = 3600.0


class Observed(Struct, frozen=True, kw_only=True):
    """The traffic of a table and its indexes in one window, the table's first, and the request log's loads.

    `faults` are what `check` says of the contract, `complaints` what could not be read.
    """

    traffics: tuple[Traffic, ...]
    logged: dict[tuple[Target, Direction], Load] = {}
    faults: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()

    @property
    def window(self) -> Window:
        """The stretch that was observed."""
        return self.traffics[0].window


def places_of(observed: Observed, share: float | None) -> Iterator[Place]:
    """Yield the places that consumed anything, with autoscaling's rules; a local index is in its table's series."""
    for traffic in observed.traffics:
        if _is_local(traffic):
            continue
        loads = {}
        for direction in Direction:
            load = load_of_metrics(traffic, direction) or observed.logged.get((traffic.target, direction))
            if load is not None and load.peak > 0:
                loads[direction] = load
        minutes = {len(load.units) for load in loads.values()}
        if len(minutes) > 1:  # metrics and log differ by the ends of their minutes
            loads = {direction: _cut(load, min(minutes)) for direction, load in loads.items()}
        if loads:
            name, index = str(traffic.target), traffic.target.index
            rules = {d: rules_for(load, *_bounds(traffic, d), share or _share(traffic, d)) for d, load in loads.items()}
            yield Place(name=name, index=index, loads=loads, rules=rules)


def _cut(load: Load, minutes: int) -> Load:
    units = load.units[:minutes]
    return Load(start=load.start, units=units, seconds=len(units) * 60.0, source=load.source, top_units=load.top_units)


def _is_local(traffic: Traffic) -> bool:
    table, index = traffic.place.table, traffic.target.index
    described = None if table is None else table.index(index)
    return described is not None and described.kind == "lsi"


def _bounds(traffic: Traffic, direction: Direction) -> tuple[float | None, float | None]:
    """Return autoscaling's bounds where somebody set them: the plan keeps to them."""
    found = next((one for one in traffic.scaling if one.direction is direction), None)
    return (None, None) if found is None else (float(found.minimum), float(found.maximum))


def _share(traffic: Traffic, direction: Direction) -> float:
    told = (one.target_share for one in traffic.scaling if one.direction is direction)
    return next((share for share in told if share), 0.7)


def storage_of(base: Traffic) -> float | None:
    """Return the bytes that are stored: the table's and its indexes', as DescribeTable told; None where it did not."""
    table = base.place.table
    if table is None or table.size_bytes is None:
        return None
    return float(table.size_bytes + sum(index.size_bytes or 0 for index in table.indexes))


def requests_of(observed: Observed) -> float | None:
    """Return requests a second: of CloudWatch's latency samples, else of the log; None where nobody counted."""
    base, window = observed.traffics[0], observed.window
    metrics = base.metrics
    operations = {s.dimensions["Operation"] for s in metrics if "Operation" in s.dimensions}
    counted = [
        asked
        for name in sorted(operations)
        for series in series_in(metrics, "SuccessfulRequestLatency", "SampleCount", Operation=name)
        if (asked := total(series, window)) is not None
    ]
    if counted and window.seconds:
        return sum(counted) / window.seconds
    rows = [row for traffic in observed.traffics for row in traffic.rows if not row.secondary]
    return sum(row.requests.value for row in rows) / window.seconds if rows and window.seconds else None


def warnings_of(observed: Observed) -> Iterator[str]:
    """Say what no capacity mends: faults of the contract, and keys that are hot."""
    if observed.faults:
        count = len(observed.faults)
        told = f"`check` finds {count} {'fault' if count == 1 else 'faults'} in the contract"
        yield f"keys first, capacity last: {told}. {observed.faults[0]}"
    for traffic in observed.traffics:
        for key in traffic.keys:
            if key.level is KeyLevel.PARTITION and is_told(key) and key.heat.value >= _WARM:
                yield (
                    f"keys first, capacity last: one key of {traffic.target} takes {percent(key.heat.value)} of what "
                    f"one partition serves ({key.direction.value}s): no capacity helps it (dynascope explain hot-key)"
                )
                break


def notes_of(observed: Observed, loads: Sequence[Load], size: float | None) -> Iterator[str]:
    """Say how far the numbers carry."""
    yield from observed.complaints
    seconds = observed.window.seconds
    if seconds < _AN_HOUR:
        yield f"only {number(seconds)} seconds were observed: a month is arithmetic on them, and no forecast"
    elif seconds < _A_DAY:
        yield "less than a day was observed: its quiet hours, and the peak of another day, are not in the numbers"
    if seconds < A_WEEK:
        yield "less than a week was observed: a reservation, which is paid for a year, is told but not advised"
    if not loads:
        yield "no consumed units are known: nothing can be reckoned"
    elif any(load.source is SourceName.REQUEST_LOG for load in loads):
        yield "units are those of the request log: what other clients consumed is not in them"
    unseen = sum(load.unseen_minutes for load in loads)
    if unseen:
        yield f"{number(unseen)} minutes of CloudWatch's series are missing, and count as nothing asked"
    refused = sum(row.throttled_tries.value for traffic in observed.traffics for row in traffic.rows)
    if refused:
        yield f"{number(refused)} tries were refused and consumed nothing: true demand is higher than these units"
    if size is None:
        yield "the size of the table is not known: storage is not reckoned"
    base = observed.traffics[0].place
    if base.table is not None and base.table.replicas:
        yield "the table has replicas: writes that they replicate, and their own reads, are not reckoned"


def warm_throughput(base: Traffic) -> Iterator[tuple[tuple[str | None, Direction], float]]:
    """Yield the warm throughput that DescribeTable told, by index and direction."""
    table = base.place.table
    if table is None:
        return
    told = [(None, table.provisioning), *((index.name, index.provisioning) for index in table.indexes)]
    for name, one in told:
        for direction, units in ((Direction.READ, one.warm_read_units), (Direction.WRITE, one.warm_write_units)):
            if units is not None:
                yield (name, direction), units
