"""What was asked as nobody declared, each with the YAML that declares it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field

from analyzer.contract.draft import Draft, Unsure
from analyzer.contract.entities import unique, words_of
from analyzer.contract.seen import Key, identity_of, key_of, operation_of
from analyzer.contract.write import list_lines
from analyzer.model.shape import AttributionKind
from analyzer.model.target import Target
from analyzer.model.traffic import PatternTraffic
from analyzer.reports.week_values import Undeclared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from analyzer.contract.model import Contract
    from analyzer.model.traffic import Traffic
    from analyzer.reports.bill import Bill
    from analyzer.reports.frame import Frame

__all__ = ["MOST_UNDECLARED", "undeclared_of"]

MOST_UNDECLARED = 20
"""Of more than these a report shows the dearest: `dynascope infer` drafts the rest."""
_MOST_MAPS = 10
_LEAST_CALLS = 20
_LEAST_HOURS = 2
"""Fewer calls in fewer hours are somebody at a console, as drift has it, unless they take much of the target."""
_MUCH_SHARE = 0.05
_BUSY = 0.95
_LONGEST_CALLER = 255
"""Characters: an ARN of a session has some 150, and no declaration should hold more."""
_SCAN = "a Scan says who, why, when and how fast: add purpose, schedule and max_units_per_second"
_VERBS = {
    "GetItem": "get",
    "Query": "list",
    "PutItem": "put",
    "UpdateItem": "update",
    "DeleteItem": "delete",
}


class _Asked(Struct):
    """All rows that are one pattern."""

    target: Target
    keys: tuple[Key, ...]
    rows: list[PatternTraffic] = field(default_factory=list)

    @property
    def requests(self) -> float:
        return sum(row.requests.value for row in self.rows)

    @property
    def busiest(self) -> PatternTraffic:
        return max(self.rows, key=lambda row: row.requests.value)


def undeclared_of(week: Frame, traffics: Iterable[Traffic], contract: Contract, bill: Bill) -> tuple[Undeclared, ...]:
    """Return what was asked as nobody declared, the dearest first."""
    hourly = _Hourly(week)
    found = []
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for traffic in traffics:
        declared = contract.table(traffic.target)
        if declared is not None:
            used[declared.name].update(pattern.id for pattern in declared.patterns)
        for asked in _gathered(traffic):
            name = traffic.target.table if declared is None else declared.name
            found.append(_undeclared(asked, traffic, name, used[name], hourly, bill))
    return tuple(sorted(found, key=lambda one: (one.is_ad_hoc, -(one.dollars or 0.0), -one.requests, one.fingerprint)))


def _gathered(traffic: Traffic) -> Iterator[_Asked]:
    found: dict[object, _Asked] = {}
    for row in traffic.rows:
        if row.attribution.kind is not AttributionKind.UNDECLARED or row.secondary or not row.shape.parsed:
            continue
        keys = _keys(row)
        found.setdefault(identity_of(row.shape, keys), _Asked(traffic.target, keys)).rows.append(row)
    yield from found.values()


def _keys(row: PatternTraffic) -> tuple[Key, ...]:
    shape = row.shape
    if shape.scans:
        return ()
    maps = dict.fromkeys(key_of(part.key) for part in shape.parts) if shape.parts else {key_of(shape.key): None}
    return tuple(sorted(key for key in maps if key)[:_MOST_MAPS])


def _undeclared(
    asked: _Asked, traffic: Traffic, table: str, used: Counter[str], hourly: _Hourly, bill: Bill
) -> Undeclared:
    row = asked.busiest
    fingerprints = {one.shape.fingerprint for one in asked.rows}
    fullest = hourly.of(asked.target, fingerprints)
    pattern, doubts = _pattern(asked, traffic, used, fullest)
    draft = Draft({"tables": []}, unsure=tuple(Unsure(table, "patterns", pattern["id"], *one) for one in doubts))
    lines = list_lines({"name": table, "patterns": [pattern]}, "patterns", draft)
    is_told = any(one.units_known for one in asked.rows)
    read, written = (sum(one.read_units.value for one in asked.rows), sum(one.write_units.value for one in asked.rows))
    return Undeclared(
        table=asked.target.table,
        index=asked.target.index,
        fingerprint=row.shape.fingerprint,
        text=row.shape.text(),
        callers=tuple(_callers(asked.rows)),
        requests=asked.requests,
        dollars=round(bill.dollars(asked.target, read, written), 2) if is_told else None,
        is_ad_hoc=(asked.requests < _LEAST_CALLS or len(fullest) < _LEAST_HOURS)
        and read + written < _MUCH_SHARE * _units(traffic.rows),
        yaml="\n".join(lines),
        yaml_table=table,
        doubts=tuple(text for _, text in doubts),
    )


def _units(rows: Iterable[PatternTraffic]) -> float:
    return sum(row.read_units.value + row.write_units.value for row in rows if not row.secondary)


def _callers(rows: Sequence[PatternTraffic]) -> list[str]:
    ordered = sorted(rows, key=lambda row: -row.requests.value)
    return list(dict.fromkeys(row.caller for row in ordered if row.caller is not None))


def _pattern(
    asked: _Asked, traffic: Traffic, used: Counter[str], fullest: np.ndarray
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the declaration, and what is unsure of it: the field and why."""
    shape = asked.busiest.shape
    operation = operation_of(shape)
    pattern: dict[str, Any] = {"id": unique(_stem(asked), used), "operation": operation}
    doubts: list[tuple[str, str]] = [("id", "call it what it is for")]
    if shape.index is not None:
        pattern["index"] = shape.index
    keys = asked.keys
    if not keys and not shape.scans:
        keys = (tuple((name, f"<{re.sub('[^A-Za-z0-9_]', '_', name)}>") for name in traffic.place.partition_key),)
        doubts.append(("key", "the log does not tell it"))
    if keys and keys[0]:
        pattern["key"] = dict(keys[0]) if len(keys) == 1 else [dict(key) for key in keys]
    if shape.forward is False:
        pattern["order"] = "descending"
    if shape.consistent:
        pattern["consistency"] = "strong"
    if shape.filter_attributes and not shape.scans:
        pattern["filter"] = {"discards_at_most": "10%"}
        doubts.append(("filter", f"it filters by {', '.join(shape.filter_attributes)}: could a key select that?"))
    rate = _rate(fullest)
    if rate:
        pattern["rate"] = rate
    callers = [caller for caller in _callers(asked.rows) if len(caller) <= _LONGEST_CALLER]
    if callers:
        pattern["callers"] = callers
    if shape.scans:
        doubts.append(("operation", _SCAN))
    return pattern, doubts


def _rate(fullest: np.ndarray) -> dict[str, float]:
    """Return requests a second of the fullest minute in a busy hour and in the busiest, in two digits.

    An hour's mean would be passed at once by what comes in bursts. `fullest`: requests of the fullest minute of each
    hour.
    """
    if not len(fullest):
        return {}
    p95, peak = float(np.quantile(fullest, _BUSY)) / 60, float(fullest.max()) / 60
    return {"p95": _rounded(p95), "peak": _rounded(peak)}


def _rounded(rate: float) -> float:
    value = float(f"{rate:.2g}")
    return int(value) if value.is_integer() else value


def _stem(asked: _Asked) -> str:
    shape = asked.busiest.shape
    operation = operation_of(shape)
    words = [word.lower() for key in asked.keys[:1] for _, text in key for word in words_of(text)]
    place = [] if shape.index is None else [shape.index.lower()]
    verb = _VERBS.get(operation, re.sub(r"(?<!^)(?=[A-Z])", "-", operation).lower())
    stem = "-".join([verb, *(dict.fromkeys(words[:3]) or [shape.table.lower()]), *place])
    return re.sub(r"[^a-z0-9-]+", "-", stem).strip("-")


class _Hourly:
    """The fullest minute of each hour, by fingerprint."""

    def __init__(self, week: Frame) -> None:
        self._rows = week.hours[~week.hours["secondary"].astype(bool)]

    def of(self, target: Target, fingerprints: set[str]) -> np.ndarray:
        """Return the requests of the fullest minute of each hour that had any; of several callers at most so many."""
        rows = self._rows[self._rows["fingerprint"].isin(fingerprints) & (self._rows["table_name"] == target.table)]
        found: np.ndarray = rows.groupby("start")["peak_requests"].sum().to_numpy(dtype=float)
        return found
