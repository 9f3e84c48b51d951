"""A planned peak: what must stand ready before it, and what autoscaling alone would refuse while it catches up."""

from __future__ import annotations

import shlex
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from analyzer.knowledge.scaling import READY_READ_UNITS, READY_WRITE_UNITS
from analyzer.model.finding import Direction
from analyzer.planning.autoscaling import replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from analyzer.planning.option import Place

__all__ = ["Event", "Peak", "event_of"]

_HOUR_MINUTES = 60
_BEFORE_MINUTES = 10
"""The fullest minute of today lasts so long before the peak: it leaves the burst credit that the target leaves."""
_HEADROOM = 1.25
"""A quarter more than what is expected: nobody foresees a peak to the unit."""


class Peak(Struct, frozen=True, kw_only=True):
    """One direction of a place at the peak, in units a second.

    `ready_units` is what an on-demand table serves at once: the told warm throughput, else twice the fullest stretch
    that was observed or the beginner's share, whichever is more. `throttled_units` is what autoscaling would refuse
    if the peak came within a minute and lasted an hour, `catch_up_minutes` for how long.
    """

    place: str
    index: str | None
    direction: Direction
    now_units: float
    peak_units: float
    ready_units: float
    is_told: bool
    is_short: bool
    warm_units: int
    throttled_units: float
    catch_up_minutes: int


class Event(Struct, frozen=True, kw_only=True):
    """A peak of so many times today's; `commands` make it ready, for a table as it is billed."""

    factor: float
    peaks: tuple[Peak, ...]
    commands: tuple[str, ...]
    words: tuple[str, ...]


def event_of(
    places: Sequence[Place],
    factor: float,
    warm: Mapping[tuple[str | None, Direction], float],
    *,
    table: str,
    billing_mode: str | None,
) -> Event:
    """Judge a peak of `factor` times the fullest stretch; `warm` is the told warm throughput by index and direction."""
    peaks = tuple(_peak(place, direction, factor, warm) for place in places for direction in place.loads)
    return Event(
        factor=factor,
        peaks=peaks,
        commands=tuple(_commands(peaks, table, billing_mode)),
        words=tuple(_words(peaks, billing_mode)),
    )


def _words(peaks: Sequence[Peak], billing_mode: str | None) -> Iterator[str]:
    short = [peak for peak in peaks if peak.is_short]
    if billing_mode == "PROVISIONED":
        yield "raise the minimum before the peak, and lower it after: autoscaling follows, and is late each time"
    elif short:
        yield "warm throughput is bought once, its price is not in our list and not reckoned; it never sinks by itself"
    else:
        yield "what stands ready on demand is enough: nothing is to be bought"
    if short and not all(peak.is_told for peak in short):
        yield "what stands ready is estimated: DescribeTable tells the warm throughput"
    yield "no capacity helps one key: a partition serves 3,000 read and 1,000 write units a second"


def _peak(
    place: Place, direction: Direction, factor: float, warm: Mapping[tuple[str | None, Direction], float]
) -> Peak:
    load, rules = place.loads[direction], place.rules[direction]
    told = warm.get((place.index, direction))
    first = READY_READ_UNITS if direction is Direction.READ else READY_WRITE_UNITS
    ready = max(first, 2 * load.top) if told is None else told
    peak = load.top * factor
    hour = (*([load.peak] * _BEFORE_MINUTES), *([peak] * _HOUR_MINUTES))
    asked = replace(load, units=hour, seconds=len(hour) * 60.0)
    bounds = replace(rules, maximum=max(rules.maximum, peak / rules.target_share), first=None)
    scaled = replay({direction: asked}, {direction: bounds})[direction]
    return Peak(
        place=place.name,
        index=place.index,
        direction=direction,
        now_units=load.top,
        peak_units=peak,
        ready_units=ready,
        is_told=told is not None,
        is_short=peak > ready,
        warm_units=ceil(peak * _HEADROOM),
        throttled_units=scaled.throttled_units,
        catch_up_minutes=scaled.throttled_minutes,
    )


def _commands(peaks: Iterable[Peak], table: str, billing_mode: str | None) -> Iterable[str]:
    """Write the commands: warm throughput on demand, a higher minimum of autoscaling where it is provisioned."""
    name = shlex.quote(table)
    for peak in peaks:
        word = peak.direction.value.capitalize()
        if billing_mode == "PROVISIONED":
            kind = "table" if peak.index is None else "index"
            place = table if peak.index is None else f"{table}/index/{peak.index}"
            resource = shlex.quote(f"table/{place}")
            yield (
                "aws application-autoscaling register-scalable-target --service-namespace dynamodb "
                f"--resource-id {resource} --scalable-dimension dynamodb:{kind}:{word}CapacityUnits "
                f"--min-capacity {peak.warm_units}  # changes production"
            )
        elif peak.is_short and peak.index is None:
            units = f"{word}UnitsPerSecond={peak.warm_units}"
            yield f"aws dynamodb update-table --table-name {name} --warm-throughput {units}  # changes production"
        elif peak.is_short:
            update = (
                f'[{{"Update":{{"IndexName":"{peak.index}","WarmThroughput":'
                f'{{"{word}UnitsPerSecond":{peak.warm_units}}}}}}}]'
            )
            yield (
                f"aws dynamodb update-table --table-name {name} "
                f"--global-secondary-index-updates {shlex.quote(update)}  # changes production"
            )
