"""A stretch beside the same minutes an hour, a day and a week before: by operation, table and index. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.detectors.capacity import with_room
from analyzer.knowledge.operations import OPERATIONS, READS, WRITES
from analyzer.model.finding import Direction
from analyzer.model.window import Window
from analyzer.traffic.series import points, series_of, total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.model.traffic import Traffic

_Name = tuple[str, str, dict[str, str]]

__all__ = ["HOUR_MS", "Compared", "compare", "explaining", "rise_words", "wanted_units"]

HOUR_MS = 3_600_000
_DAY_MS = 24 * HOUR_MS
_WHEN = (("day", "yesterday"), ("week", "a week ago"), ("hour", "an hour ago"))
"""Which past speaks for "usual": yesterday knows the rhythm of the day, an hour ago may be part of the fault."""
_RISE = 1.5
"""Less than half as much again is how days differ."""


class Compared(Struct, frozen=True, kw_only=True):
    """One measure now and before, a second (`units a write` and the like: each); None is "not known".

    `operation` and `direction` are None of what is of no single one.
    """

    what: str
    place: str
    operation: str | None = None
    direction: Direction | None = None
    now: float | None
    hour: float | None
    day: float | None
    week: float | None

    @property
    def usual(self) -> tuple[float, str] | None:
        """What it is compared with, and when that was; None where nothing is known of the past."""
        for name, words in _WHEN:
            before = getattr(self, name)
            if before is not None:
                return before, words
        return None

    @property
    def ratio(self) -> float | None:
        """Now ÷ usual; None where either is not known, or usual is nothing."""
        if self.usual is None or not self.usual[0] or self.now is None:
            return None
        return self.now / self.usual[0]

    @property
    def gain(self) -> float:
        """How much more it is than usual; 0 where that is not known."""
        return 0.0 if self.usual is None or self.now is None else self.now - self.usual[0]

    @property
    def has_risen(self) -> bool:
        """Whether it is half as much again as usual, or new."""
        return self.gain > 0 and (self.ratio is None or self.ratio >= _RISE)


def compare(table: Traffic, stretch: Window) -> tuple[Compared, ...]:
    """Compare a table, its operations and its indexes; `table` is the base table's traffic, `stretch` whole minutes.

    Requests are those served and those refused. The past counts where use was read of it: AWS emits zeros for what an
    idle table consumes, so that there silence of the other series is zero.
    """
    found = [*_requests(table, stretch), *_units(table, stretch)]
    found += [line for index in table.indexes for line in _units(index, stretch)]
    found += [*_units_a_request(table, stretch, found), *_items(table, stretch)]
    return tuple(line for line in found if line.now or line.hour or line.day or line.week)


def explaining(lines: Iterable[Compared], direction: Direction | None) -> Compared | None:
    """Return what explains a rise of one direction: the operation that rose most, else what each request costs."""
    risen = [line for line in lines if line.has_risen and direction in {None, line.direction}]
    for is_operation in (True, False):
        some = [line for line in risen if (line.operation is not None) is is_operation and "items" not in line.what]
        if is_operation and some:
            return max(some, key=lambda line: line.gain)
    return next((line for line in risen if line.what.startswith("units a ")), None)


def rise_words(line: Compared | None) -> str | None:
    """Write a rise: `PutItem ×6 against yesterday`; None without one."""
    if line is None or line.usual is None:
        return None
    name = line.operation or line.what
    if line.ratio is None:
        return f"{name}, of which there was nothing {line.usual[1]}"
    return f"{name} ×{_times(line.ratio)} against {line.usual[1]}"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}".removesuffix(".0")  # noqa: PLR2004 -- two digits tell


def _shifts(stretch: Window) -> dict[str, Window]:
    back = {"now": 0, "hour": HOUR_MS, "day": _DAY_MS, "week": 7 * _DAY_MS}
    return {name: Window(stretch.start - ms, stretch.end - ms) for name, ms in back.items()}


def _sums(traffic: Traffic, stretch: Window, named: Iterable[_Name]) -> dict[str, float | None]:
    """Return the sum of some series a second, now and before; each is a metric, its statistic and dimensions."""
    series = [series_of(traffic.metrics, metric, stat, **beside) for metric, stat, beside in named]
    known = [one for one in series if one is not None]
    used = series_of(traffic.metrics, "ConsumedReadCapacityUnits")
    found: dict[str, float | None] = {}
    for name, window in _shifts(stretch).items():
        told = [total(one, window) for one in known] if points(used, window) else []
        some = [one for one in told if one is not None]
        found[name] = sum(some) / window.seconds if some else None
    return found


def _line(
    what: str, place: str, sums: dict[str, float | None], direction: Direction | None, operation: str | None = None
) -> Compared:
    return Compared(
        what=what,
        place=place,
        operation=operation,
        direction=direction,
        now=sums["now"],
        hour=sums["hour"],
        day=sums["day"],
        week=sums["week"],
    )


def _direction(operation: str) -> Direction | None:
    return Direction.READ if operation in READS else Direction.WRITE if operation in WRITES else None


def _requests(table: Traffic, stretch: Window) -> Iterator[Compared]:
    for operation in OPERATIONS:
        beside = {"Operation": operation}
        named = (("SuccessfulRequestLatency", "SampleCount", beside), ("ThrottledRequests", "Sum", beside))
        sums = _sums(table, stretch, named)
        yield _line(f"{operation} requests", str(table.target), sums, _direction(operation), operation)


def _items(table: Traffic, stretch: Window) -> Iterator[Compared]:
    for operation in OPERATIONS:
        sums = _sums(table, stretch, (("ReturnedItemCount", "Sum", {"Operation": operation}),))
        yield _line(f"{operation} items returned", str(table.target), sums, _direction(operation), operation)


def _units(traffic: Traffic, stretch: Window) -> Iterator[Compared]:
    for direction in Direction:
        metric = f"Consumed{direction.value.capitalize()}CapacityUnits"
        sums = _sums(traffic, stretch, ((metric, "Sum", {}),))
        yield _line(f"{direction.value} units", str(traffic.target), sums, direction)


def _units_a_request(table: Traffic, stretch: Window, known: Iterable[Compared]) -> Iterator[Compared]:
    """Yield the base table's units of a served request, by direction."""
    own = {line.direction: line for line in known if line.operation is None and line.place == str(table.target)}
    for direction in Direction:
        operations = READS if direction is Direction.READ else WRITES
        served = _sums(
            table,
            stretch,
            [("SuccessfulRequestLatency", "SampleCount", {"Operation": one}) for one in sorted(operations)],
        )
        each = {name: _each(getattr(own[direction], name), count) for name, count in served.items()}
        yield _line(f"units a {direction.value}", str(table.target), each, direction)


def _each(units: float | None, served: float | None) -> float | None:
    return None if units is None or not served else units / served


def wanted_units(lines: Iterable[Compared], place: str, direction: Direction | None, limit: float | None) -> int | None:
    """Return the units a second that would serve what was asked for, refused requests included, with a quarter of room.

    What is refused would cost what the served requests cost: an index has no requests of its own, and takes its part of
    each of its table's. None where demand is not known.
    """
    own = [line for line in lines if line.direction is direction]
    used = next((line.now for line in own if line.what.endswith(" units") and line.place == place), None)
    return with_room(max((used or 0.0) * _asked_of_served(own), limit or 0.0))


def _asked_of_served(own: Sequence[Compared]) -> float:
    """Return how many times what was served of a table was asked for, in one direction; 1 where that is not known."""
    asked = sum(line.now or 0.0 for line in own if line.what.endswith(" requests"))
    each = next((line for line in own if line.what.startswith("units a ")), None)
    if each is None or not each.now:
        return 1.0
    units = next((line.now for line in own if line.what.endswith(" units") and line.place == each.place), None)
    return max(asked * each.now / units, 1.0) if units else 1.0
