"""What the detectors of writes reckon alike: cost, the key of a call, whose pattern it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.detectors.advice import aws, quoted
from analyzer.detectors.money import prices_at
from analyzer.detectors.words import number
from analyzer.knowledge.prices import Cost, write_cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.counts import KeyName
    from analyzer.model.finding import KeyShown
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import PatternTraffic, Traffic

__all__ = ["capacity_taken", "cost_of_writes", "key_named", "look_at", "row_of", "time_words"]


_DAY_SECONDS = 86_400
_UNITS = (("years", 365 * _DAY_SECONDS), ("days", _DAY_SECONDS), ("hours", 3600), ("minutes", 60))


def cost_of_writes(units: float, traffic: Traffic) -> Cost:
    """Return what so many write units in the window cost a month, if that rate goes on."""
    capacity = traffic.place.capacity
    rate = units / max(traffic.window.seconds, 1.0)
    return write_cost(rate, capacity.billing_mode, prices_at(traffic))


def capacity_taken(units: float, traffic: Traffic) -> float:
    """Return which part of its provisioned writes so many units in the window are; 0 on demand, or where not known."""
    capacity = traffic.place.capacity
    if capacity.billing_mode != "PROVISIONED" or not capacity.write_units:
        return 0.0
    return units / max(traffic.window.seconds, 1.0) / capacity.write_units


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
