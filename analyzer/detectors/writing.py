"""What the detectors of writes reckon alike: the key of a call, whose pattern it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.detectors.advice import aws, quoted
from analyzer.detectors.words import number
from analyzer.model.instant import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.counts import KeyName
    from analyzer.model.finding import KeyShown
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["key_named", "look_at", "row_of", "time_words"]


_UNITS = (("years", 365 * DAY_SECONDS), ("days", DAY_SECONDS), ("hours", 3600), ("minutes", 60))


def key_named(name: KeyName, shape: Shape, traffic: Traffic) -> KeyShown | None:
    """Return a key by attribute: named as the table's key, else as the request names it; None where nothing does."""
    place = traffic.place
    names = [*place.partition_key, *place.sort_key] if len(place.partition_key) == 1 else _asked(shape)
    values = (name.partition, name.sort)
    return {attribute: value for attribute, value in zip(names, values, strict=False) if value is not None} or None


def _asked(shape: Shape) -> list[str]:
    """Return the key attributes of a request, or of the first part of it."""
    keys = [shape.key, *(part.key for part in shape.parts)]
    return [predicate.attribute for predicate in next(filter(None, keys), ()) if predicate.operator == "="]


def row_of(shape: Shape, caller: str | None, rows: Iterable[PatternTraffic]) -> PatternTraffic | None:
    """Return the row of a caller and a shape."""
    return next((row for row in rows if row.shape.fingerprint == shape.fingerprint and row.caller == caller), None)


def look_at(key: KeyShown | None, traffic: Traffic, then: str = "") -> str:
    """Return the command that reads an item whole; a key of two attributes, or none that is known, goes in a file.

    `then` is a JMESPath of what to show of it.
    """
    place = traffic.place
    asked = "file://key.json"
    if key is not None and len(key) == 1 and not place.sort_key:
        attribute = next(iter(key))
        kind = "S" if place.table is None else place.table.attribute_types.get(attribute, "S")
        asked = quoted(json.dumps({attribute: {kind: "{key}"}}, ensure_ascii=False, separators=(",", ":")))
    table = quoted(traffic.target.table)
    shown = f" --query {quoted(then)}" if then else ""
    return aws(traffic.target, f"dynamodb get-item --table-name {table} --key {asked} --consistent-read{shown}")


def time_words(seconds: float) -> str:
    """Write a length of time in the unit that suits it."""
    for unit, length in _UNITS:
        if seconds >= 2 * length:
            return f"{number(round(seconds / length, 1))} {unit}"
    return f"{number(round(seconds, 1))} seconds"
