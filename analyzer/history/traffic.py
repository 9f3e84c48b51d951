"""A stretch of history as planning looks at traffic: rows under a contract, units by the minute, the hottest keys.

What was written under a name that the contract still has keeps it; all else is attributed anew, so that a contract that
came later is asked of what was written before it. Memory follows the
series and the minutes of the stretch: minutes are read a few hours at a time and summed.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from analyzer.correlator.attributor import Attributor
from analyzer.history.columns import Kind
from analyzer.history.key_traffic import KeyReading, heats_of
from analyzer.history.merging import groups_of, rolled_up, starts_of
from analyzer.history.names import DAY_MS, HOUR_MS
from analyzer.model.counts import Cell
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS
from analyzer.model.observations import Observations
from analyzer.model.shape import Attribution, AttributionKind, Shape
from analyzer.model.sight import SourceName
from analyzer.model.table import TableSnapshot
from analyzer.model.target import Target
from analyzer.model.traffic import Latency, PatternTraffic, Traffic
from analyzer.model.window import Window
from analyzer.planning.load import Load
from analyzer.traffic.place import place_of, with_prices

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.model import Contract
    from analyzer.history.dataset import Dataset
    from analyzer.model.prices import Prices

__all__ = ["Past", "read_traffic"]

_AT_ONCE_MS = 6 * HOUR_MS
"""Minutes are read for so long at a time: of ten thousand rows each that is a gigabyte, of fifty a few megabytes."""
_ALL_MS = 1 << 52
"""A step longer than any time: everything becomes one row a series."""
_TARGET = ["account", "region", "table_name", "index_name"]
_EXACT = (
    "failed",
    "throttled",
    "throttled_failed",
    "throttled_tries",
    "read_units",
    "write_units",
    "wasted_units",
    "scanned",
    "returned",
    "condition_failed",
    "server_errors",
    "transport_failures",
    "returned_bytes",
    "more",
    "resumed",
)

_Place = tuple[Target, Direction]


class Past(NamedTuple):
    """What was read: each table's traffic with that of its indexes, the units a second of each minute, and what lacks.

    `window` begins with the first minute that anybody looked at and ends with the last; `covered_seconds` of it were.
    `is_coarse` where only hours are left, and their units are spread over their minutes; keys may be so too.
    """

    window: Window
    covered_seconds: float
    tables: tuple[tuple[Traffic, ...], ...]
    loads: dict[_Place, Load]
    is_coarse: bool = False
    has_coarse_keys: bool = False
    torn: int = 0


async def read_traffic(
    dataset: Dataset,
    window: Window,
    contract: Contract,
    prices: tuple[Prices, ...],
    local: Callable[[Target], bool],
) -> Past | None:
    """Read a stretch; None where nobody looked at any of it. Raises NewerHistoryError or HistoryError.

    `local` says whether a target is a local index: its units are its table's.
    """
    read = await dataset.read_range(Kind.HOURS, window)
    if not read.covered:
        return None
    seen = Window(read.covered[0].start, read.covered[-1].end)
    minutes = _Minutes(seen, local)
    keys = KeyReading()
    for start in range(seen.start, seen.end, _AT_ONCE_MS):
        part = Window(start, min(seen.end, start + _AT_ONCE_MS))
        minutes.take((await dataset.read_range(Kind.REQUESTS, part)).rows, MINUTE_MS)
        keys.take((await dataset.read_range(Kind.KEYS, part)).rows, MINUTE_MS / 1000)
    is_coarse = minutes.is_empty and len(read.rows) > 0
    if is_coarse:
        minutes.take(read.rows, HOUR_MS)
    has_coarse_keys = keys.is_empty
    if has_coarse_keys:
        keys.take((await dataset.read_range(Kind.KEY_HOURS, seen)).rows, HOUR_MS / 1000)
    days = Window(seen.start - seen.start % DAY_MS, seen.end)
    shapes = _newest((await dataset.read_range(Kind.SHAPES, days)).rows, "shape", Shape)
    snapshots = _newest((await dataset.read_range(Kind.TABLES, days)).rows, "snapshot", TableSnapshot)
    known = _Known(
        {shape.fingerprint: shape for shape in shapes},
        {snapshot.target: snapshot for snapshot in snapshots},
        contract,
        Observations(window=seen, prices=prices),
    )
    rows = _rows(rolled_up(read.rows, _ALL_MS), known)
    targets = {*rows, *(target.base for target in rows)}
    tables = [_family(base, targets, rows, keys, known) for base in _in_order({target.base for target in targets})]
    covered = sum(part.seconds for part in read.covered)
    return Past(seen, covered, tuple(tables), minutes.loads(), is_coarse, has_coarse_keys, len(read.torn))


def _in_order(targets: set[Target]) -> list[Target]:
    return sorted(targets, key=lambda target: target.order())


class _Known(NamedTuple):
    """What rows of history are joined with."""

    shapes: dict[str, Shape]
    snapshots: dict[Target, TableSnapshot]
    contract: Contract
    observed: Observations


def _newest(rows: pa.Table, column: str, kind: type[Any]) -> list[Any]:
    """Return what a column tells, the newest last."""
    return [msgspec.json.decode(text, type=kind) for text in rows.sort_by("start")[column].to_pylist()]


def _rows(rows: pa.Table, known: _Known) -> dict[Target, list[PatternTraffic]]:
    found: dict[Target, list[PatternTraffic]] = defaultdict(list)
    attribute = Attributor(known.contract)
    for row in rows.drop_columns(["latency_ms"]).to_pylist():
        target = Target(*(row[name] for name in _TARGET))
        found[target].append(_row(row, target, known.shapes.get(row["fingerprint"]), attribute))
    return found


def _row(row: dict[str, Any], target: Target, shape: Shape | None, attribute: Attributor) -> PatternTraffic:
    """Return one row; of a shape that no file tells any more, what it was called when it was written stands."""
    told = Attribution(AttributionKind(row["kind_of_pattern"]), row["pattern"])
    declared = attribute.contract.table(target)
    is_known = told.pattern is not None and declared is not None and declared.pattern(told.pattern) is not None
    if shape is not None and not is_known:
        told = attribute(Cell(target, shape, row["caller"], 1.0, row["secondary"]))
    low, high = row["requests_low"], row["requests_high"]
    is_exact = low is None or high is None
    requests = row["requests"]
    bare = Shape(fingerprint=row["fingerprint"], operation=row["operation"], table=target.table, index=target.index)
    return PatternTraffic(
        shape=bare if shape is None else shape,
        attribution=told,
        caller=row["caller"],
        requests=Estimate.exact(requests) if is_exact else Estimate(requests, low, high),
        observed=round(requests) if row["observed"] is None else row["observed"],
        units_known=row["units_known"] or 0.0,
        counts_known=row["counts_known"] or 0.0,
        attempts_a_request=row["attempts_a_request"],
        latency=Latency((), row["latency_sum_ms"], 0),
        secondary=row["secondary"],
        **{name: Estimate.exact(row[name]) for name in _EXACT},
    )


def _family(
    base: Target,
    targets: set[Target],
    rows: dict[Target, list[PatternTraffic]],
    keys: KeyReading,
    known: _Known,
) -> tuple[Traffic, ...]:
    """Return the traffic of a table, and of its indexes after it."""
    family = _in_order({target for target in targets if target.base == base})
    declaration = known.contract.table(base)
    found = []
    for target in family:
        place = place_of(target, known.contract, known.snapshots.get(base))
        place = with_prices(place, target, known.observed)
        own = tuple(rows.get(target, ()))
        found.append(
            Traffic(
                target=target,
                window=known.observed.window,
                sights=frozenset(),
                place=place,
                rows=own,
                keys=heats_of(keys.of(target), target.index, place, own, declaration),
                sampled=any(not row.requests.is_exact for row in own),
            )
        )
    return tuple(found)


class _Minutes:
    """Units of each minute by target and direction."""

    def __init__(self, window: Window, local: Callable[[Target], bool]) -> None:
        self._window = window
        self._local = local
        self._units: dict[_Place, np.ndarray] = {}
        self.is_empty = True

    def take(self, rows: pa.Table, step_ms: int) -> None:
        """Add rows of minutes; those of hours are spread evenly over theirs."""
        self.is_empty = self.is_empty and not len(rows)
        starts = starts_of(rows)
        groups = groups_of(rows, _TARGET, starts)
        places = rows.select(_TARGET).take(pa.array(groups.first)).to_pydict()
        at = (starts[groups.first] - self._window.start) // MINUTE_MS
        for direction, name in ((Direction.READ, "read_units"), (Direction.WRITE, "write_units")):
            sums = groups.sums(rows[name].to_numpy())
            for *place, minute, units in zip(*places.values(), at.tolist(), sums.tolist(), strict=True):
                if units:
                    self._add((self._home(Target(*place)), direction), minute, units, step_ms // MINUTE_MS)

    def _home(self, target: Target) -> Target:
        return target.base if self._local(target) else target

    def _add(self, place: _Place, first: int, units: float, minutes: int) -> None:
        whole = (self._window.end - self._window.start) // MINUTE_MS
        kept = self._units.setdefault(place, np.zeros(whole))
        kept[max(0, first) : first + minutes] += units / minutes

    def loads(self) -> dict[_Place, Load]:
        """Return units a second."""
        start, seconds = self._window.start, self._window.seconds
        return {
            place: Load(start=start, units=tuple((units / 60).tolist()), seconds=seconds, source=SourceName.REQUEST_LOG)
            for place, units in self._units.items()
        }
