"""Minutes: what was counted, by metric and dimensions, and by key. Metrics and insights are both read from here.

A minute is named by the second at which it begins. Nothing here knows where a number came from: the meter writes what
the emulator served, a plant what a test made up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DISTRIBUTED", "Key", "Minutes", "Place", "Ranked", "Resource", "Stat", "dimensions_of"]

Place = tuple[str, str]
"""Account and region."""

Dimensions = tuple[tuple[str, str], ...]
"""Names and values, sorted."""

Key = tuple[str, ...]
"""A partition key, or a partition key and a sort key, as reports show them."""

DISTRIBUTED = frozenset({"SuccessfulRequestLatency"})
"""Metrics whose single values are kept, so that they have percentiles."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A table, or an index of it, of one account and region."""

    place: Place
    table: str
    index: str | None = None


class Ranked(NamedTuple):
    """What ranks keys: a resource and one of the rules PKC, SKC, PKT and SKT."""

    resource: Resource
    rule: str


class SeriesName(NamedTuple):
    """One series of AWS/DynamoDB."""

    place: Place
    metric: str
    dimensions: Dimensions


@dataclass(slots=True)
class Stat:
    """A statistic set; `values` counts single values where the metric is distributed."""

    total: float = 0.0
    count: float = 0
    least: float = math.inf
    most: float = -math.inf
    values: dict[float, float] | None = None

    def add(self, value: float, times: float = 1) -> None:
        """Count a value so many times."""
        self.total += value * times
        self.count += times
        self.least = min(self.least, value)
        self.most = max(self.most, value)
        if self.values is not None:
            self.values[value] = self.values.get(value, 0) + times

    def merge(self, other: Stat) -> None:
        """Take over another's counts."""
        self.total += other.total
        self.count += other.count
        self.least = min(self.least, other.least)
        self.most = max(self.most, other.most)
        if other.values is not None:
            self.values = {} if self.values is None else self.values
            for value, times in other.values.items():
                self.values[value] = self.values.get(value, 0) + times

    def scaled(self, factor: float) -> Stat:
        """Return the same values so many times as often."""
        values = None if self.values is None else {value: times * factor for value, times in self.values.items()}
        return Stat(self.total * factor, self.count * factor, self.least, self.most, values)

    def tell(self, statistic: str) -> float | None:
        """Return a statistic by CloudWatch's name, or a percentile (`p99`); None where it has none."""
        if not self.count:
            return None
        simple = {
            "Sum": self.total,
            "SampleCount": float(self.count),
            "Average": self.total / self.count,
            "Minimum": self.least,
            "Maximum": self.most,
        }
        return simple[statistic] if statistic in simple else self._percentile(float(statistic[1:]))

    def _percentile(self, percent: float) -> float | None:
        rank, seen = percent / 100 * self.count, 0.0
        for value, times in sorted((self.values or {}).items()):
            seen += times
            if seen >= rank:
                return value
        return None


class Minutes:
    """All series of all places, minute by minute."""

    def __init__(self) -> None:
        self.series: dict[SeriesName, dict[int, Stat]] = {}
        self.keys: dict[Ranked, dict[int, dict[Key, float]]] = {}
        self.first: dict[Resource, int] = {}
        """The earliest minute in which a resource was spoken of."""
        self.trimmed = 0
        """Keys of closed minutes that were dropped for room."""

    def count(
        self,
        place: Place,
        metric: str,
        dimensions: Dimensions,
        minute: int,
        value: float,
        times: float = 1,
    ) -> None:
        """Add a value to a minute of a series."""
        by_minute = self.series.setdefault(SeriesName(place, metric, dimensions), {})
        stat = by_minute.get(minute)
        if stat is None:
            stat = by_minute[minute] = Stat(values={} if metric in DISTRIBUTED else None)
        stat.add(value, times)

    def ranking(self, ranked: Ranked, minute: int) -> dict[Key, float]:
        """Return what keys have in a minute, to add to."""
        return self.keys.setdefault(ranked, {}).setdefault(minute, {})

    def see(self, resource: Resource, minute: int) -> None:
        """Remember since when a resource is spoken of."""
        self.first[resource] = min(minute, self.first.get(resource, minute))

    def trim(self, minute: int, most: int) -> None:
        """Keep the top keys of a minute, and none with `most` 0."""
        for by_minute in self.keys.values():
            keys = by_minute.get(minute, {})
            if len(keys) > most:
                self.trimmed += len(keys) - most
                by_minute[minute] = dict(top(keys, most))

    def repeat(self, seconds: float, minutes: Iterable[int]) -> None:
        """Let all that was counted stand in each of some minutes, as it were had they gone on like it.

        `seconds` is how long it took; the minutes in which it was counted are forgotten.
        """
        factor, wanted = 60 / seconds, tuple(minutes)
        for name, by_minute in self.series.items():
            whole = Stat(values={} if name.metric in DISTRIBUTED else None)
            for stat in by_minute.values():
                whole.merge(stat)
            self.series[name] = {minute: whole.scaled(factor) for minute in wanted}
        for ranked, of_minutes in self.keys.items():
            summed: dict[Key, float] = {}
            for keys in of_minutes.values():
                for key, value in keys.items():
                    summed[key] = summed.get(key, 0.0) + value * factor
            self.keys[ranked] = {minute: dict(summed) for minute in wanted}

    def names(self, place: Place) -> Iterable[SeriesName]:
        """Return the series of a place."""
        return [name for name in self.series if name.place == place]


def top(keys: Mapping[Key, float], most: int) -> list[tuple[Key, float]]:
    """Return the first keys by value, ties in the order of the keys."""
    return sorted(keys.items(), key=lambda pair: (-pair[1], pair[0]))[:most]


def dimensions_of(table: str, index: str | None = None, **others: str) -> Dimensions:
    """Return the dimensions of a table's or index's series."""
    given = {"TableName": table, **others}
    if index is not None:
        given["GlobalSecondaryIndexName"] = index
    return tuple(sorted(given.items()))
