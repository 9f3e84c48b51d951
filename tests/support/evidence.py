"""Evidence built by hand: a row, a key, a limit, a target's traffic, each healthy until told otherwise."""

from __future__ import annotations

from typing import Any

from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction
from analyzer.model.instant import SLICE_MS
from analyzer.model.shape import Attribution, AttributionKind, KeyPredicate, Shape
from analyzer.model.sight import Sight
from analyzer.model.target import Target
from analyzer.model.traffic import (
    Hurt,
    KeyHeat,
    KeySlice,
    Latency,
    PatternTraffic,
    Place,
    Refused,
    Throttles,
    Traffic,
)
from analyzer.model.window import Window

CASES = Target("111122223333", "us-east-1", "cases")
GSI2 = CASES.at("GSI2")
WINDOW = Window(0, 300_000)

ALL_REQUEST_SIGHTS = frozenset(
    {
        Sight.REQUESTS,
        Sight.REQUEST_KEYS,
        Sight.REQUEST_COUNTS,
        Sight.REQUEST_UNITS,
        Sight.REQUEST_FILTERS,
        Sight.CONTRACT,
    }
)
DECLARED = Attribution(AttributionKind.DECLARED, "load-case", because="it is declared")
UNDECLARED = Attribution(AttributionKind.UNDECLARED, because="no pattern has this key")


def _over(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return defaults | given


def exactly(value: float) -> Estimate:
    return Estimate.exact(value)


def shape(operation: str = "GetItem", fingerprint: str = "f0", **fields: Any) -> Shape:
    fields.setdefault("key", (KeyPredicate("PK", "=", "CASE#<id>"),))
    fields.setdefault("scans", operation == "Scan")
    fields.setdefault("writes", operation in {"PutItem", "UpdateItem", "DeleteItem"})
    return Shape(fingerprint=fingerprint, operation=operation, table="cases", **fields)


def row(
    of: Shape | None = None, attribution: Attribution = DECLARED, caller: str | None = "api", **fields: Any
) -> PatternTraffic:
    estimates: dict[str, Any] = {
        name: exactly(fields.pop(name, default)) if not isinstance(fields.get(name), Estimate) else fields.pop(name)
        for name, default in (
            ("requests", 1000),
            ("failed", 0),
            ("throttled", 0),
            ("throttled_failed", 0),
            ("throttled_tries", 0),
            ("read_units", 0),
            ("write_units", 0),
            ("wasted_units", 0),
            ("scanned", 0),
            ("returned", 0),
            ("condition_failed", 0),
            ("server_errors", 0),
            ("transport_failures", 0),
            ("returned_bytes", 0),
            ("more", 0),
            ("resumed", 0),
        )
    }
    fields = _over({"observed": int(estimates["requests"].value), "units_known": 1.0, "counts_known": 1.0}, fields)
    fields = _over({"attempts_a_request": 1.0, "latency": Latency((), 0.0, 0)}, fields)
    return PatternTraffic(shape=of or shape(), attribution=attribution, caller=caller, **estimates, **fields)


def key(
    units_a_second: tuple[float, ...] = (100.0,) * 30,
    direction: Direction = Direction.READ,
    level: KeyLevel = KeyLevel.PARTITION,
    values: tuple[str, ...] = ("CASE#7",),
    **fields: Any,
) -> KeyHeat:
    """A key with its units a second in each of the window's slices; heat follows from the hottest."""
    ceiling = 3000 if direction is Direction.READ else 1000
    total = sum(units_a_second) * SLICE_MS / 1000
    hottest = max(units_a_second, default=0.0) / ceiling
    fields = _over({"heat": exactly(hottest), "admitted": exactly(hottest), "share": exactly(0.1)}, fields)
    fields = _over({"tries": 0, "tries_share": 0.0, "rows": ((0, total),), "observed": 5000}, fields)
    return KeyHeat(
        direction=direction,
        name=KeyName(level, values[0], values[1] if len(values) > 1 else None),
        key=dict(zip(("PK", "SK"), values, strict=False)),
        key_template=dict(zip(("PK", "SK"), ("CASE#<id>", "META"), strict=False)) if "tenant" not in values else {},
        units=exactly(total),
        series=tuple(KeySlice(i * SLICE_MS, rate, rate) for i, rate in enumerate(units_a_second) if rate),
        **fields,
    )


def limit(cause: str = "key-range", direction: Direction = Direction.READ, **fields: Any) -> Throttles:
    """A limit that refused 100 tries of 50 calls out of 1,000, none of which failed in the end."""
    fields = _over({"tries": 100.0, "throttled": 50.0, "failed": 0.0, "calls": 1000.0}, fields)
    hurt = (Hurt("api", "load-case", "GetItem", fields["tries"], fields["failed"], fields["calls"]),)
    fields = _over({"reasons": ("TableReadKeyRangeThroughputExceeded",), "source": "request-log", "hurt": hurt}, fields)
    for name in ("tries", "throttled", "failed", "calls"):
        fields[name] = exactly(fields[name])
    return Throttles(direction=direction, cause=cause, **fields)


def refused(message: str, calls: float = 10, of_row: int = 0, code: str = "ValidationException") -> Refused:
    return Refused(of_row, code, message, exactly(calls))


def traffic(target: Target = CASES, sights: frozenset[Sight] = ALL_REQUEST_SIGHTS, **fields: Any) -> Traffic:
    fields = _over({"place": Place(declared=True), "window": WINDOW, "rows": (row(),)}, fields)
    return Traffic(target=target, sights=sights, **fields)
