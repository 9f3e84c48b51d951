"""Eight weeks of a shop's history, Monday to Sunday, 2026-W41 to 2026-W48: two holidays, and three drifts in the last.

What drifts in W48 (`PLANTED`): orders are listed 2.6 times as often; a new caller reads the ledger as nobody declared;
a cart costs two and a half times as much to load, and is slower. All else scatters as traffic does: crowds, weekly
wobble, two percent of growth a week, nights and weekends; on the holidays people stay away, and what runs at night
does not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from analyzer.contract.load import contract_from
from analyzer.history.columns import IDENTITY, LATENCY_KEYS, SCHEMAS, Kind
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history.merging import latency_maps, starts_of
from analyzer.history.minutes import shape_rows
from analyzer.model.instant import MINUTE_MS, parse_instant
from analyzer.model.shape import KeyPredicate, Shape
from analyzer.model.table import IndexDescription, Provisioning, TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.reports.frame import frame_of

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.contract.model import Contract
    from analyzer.reports.frame import Frame, Frames

__all__ = [
    "HOLIDAYS",
    "PLANTED",
    "START",
    "WEEK",
    "Planted",
    "Weeks",
    "contract_document",
    "eight_weeks",
    "write_weeks",
]

START = parse_instant("2026-10-05T00:00:00Z")
HOUR_MS, DAY_MS, WEEK_MS = 3_600_000, 86_400_000, 604_800_000
N_WEEKS = 8
WEEK = Window(START + 7 * WEEK_MS, START + 8 * WEEK_MS)
"""The last of them, 2026-W48."""
HOLIDAYS = (parse_instant("2026-11-11T00:00:00Z"), parse_instant("2026-11-26T00:00:00Z"))
"""A Wednesday of W46 and a Thursday of W48."""
ACCOUNT, REGION = "111122223333", "us-east-1"


class Planted(NamedTuple):
    """One drift: what a report must name."""

    what: str
    table: str
    pattern: str | None
    fingerprint: str
    caller: str


class _Series(NamedTuple):
    """One declared pattern, or what is none: `rate` requests a second at noon, `units` and items of a request."""

    id: str
    table: str
    operation: str
    callers: tuple[str, ...]
    rate: float
    units: float
    key: dict[str, str]
    gsi: str | None = None
    returned: float = 1
    scanned: float | None = None
    at_night: bool = False
    latency_ms: float = 4.0
    declared: bool = True

    @property
    def fingerprint(self) -> str:
        return f"{sum(ord(c) * 31**n for n, c in enumerate(self.id)) % 2**64:016x}"

    @property
    def writes(self) -> bool:
        return self.operation in {"PutItem", "UpdateItem", "DeleteItem"}


_ORDER, _USER = {"PK": "ORDER#<orderId>", "SK": "META"}, {"PK": "USER#<userId>"}
_SERIES = (
    _Series("load-order", "orders", "GetItem", ("checkout", "web"), 12.0, 0.5, _ORDER),
    _Series("place-order", "orders", "PutItem", ("checkout",), 1.4, 2.0, _ORDER, returned=0),
    _Series("update-order", "orders", "UpdateItem", ("checkout", "warehouse"), 2.1, 2.0, _ORDER, returned=0),
    _Series("list-orders", "orders", "Query", ("web",), 3.0, 1.5, {**_USER, "SK": "begins_with ORDER#"}, returned=9),
    _Series("open-orders", "orders", "Query", ("warehouse",), 0.8, 2.5, {"GSI1PK": "OPEN"}, "GSI1", returned=20),
    _Series("export-orders", "orders", "Scan", ("exporter",), 0.05, 64.0, {}, returned=400, at_night=True),
    _Series("load-cart", "carts", "GetItem", ("web",), 18.0, 0.5, {"PK": "CART#<cartId>"}),
    _Series("save-cart", "carts", "PutItem", ("web",), 5.0, 1.0, {"PK": "CART#<cartId>"}, returned=0),
    _Series("drop-cart", "carts", "DeleteItem", ("checkout",), 1.2, 1.0, {"PK": "CART#<cartId>"}, returned=0),
    _Series("load-product", "catalog", "GetItem", ("web", "search"), 30.0, 0.5, {"PK": "PRODUCT#<sku>"}),
    _Series("list-category", "catalog", "Query", ("web",), 6.0, 4.0, {"PK": "CATEGORY#<name>"}, returned=25),
    _Series("save-product", "catalog", "PutItem", ("importer",), 0.9, 3.0, {"PK": "PRODUCT#<sku>"}, returned=0),
    _Series("stock-of-product", "catalog", "GetItem", ("warehouse",), 2.6, 0.5, {"PK": "STOCK#<sku>"}),
    _Series("move-stock", "catalog", "UpdateItem", ("warehouse",), 1.1, 1.0, {"PK": "STOCK#<sku>"}, returned=0),
    _Series("load-user", "users", "GetItem", ("web", "checkout"), 9.0, 0.5, _USER | {"SK": "PROFILE"}),
    _Series("save-user", "users", "UpdateItem", ("web",), 0.3, 1.0, _USER | {"SK": "PROFILE"}, returned=0),
    _Series("user-by-mail", "users", "Query", ("web",), 0.7, 0.5, {"GSI1PK": "MAIL#<mail>"}, "GSI1"),
    _Series("audit-user", "users", "PutItem", ("web",), 0.5, 1.0, _USER | {"SK": "AUDIT#<time>"}, returned=0),
    _Series("book-entry", "ledger", "PutItem", ("checkout",), 1.5, 1.0, {"PK": "ACCOUNT#<id>"}, returned=0),
    _Series("read-account", "ledger", "Query", ("finance",), 0.02, 3.0, {"PK": "ACCOUNT#<id>"}, returned=12),
    _Series("close-day", "ledger", "Query", ("closer",), 0.2, 8.0, {"PK": "DAY#<day>"}, returned=60, at_night=True),
)
_STRANGER = _Series(
    "sum-accounts", "ledger", "Query", ("insights",), 0.4, 12.0, {"PK": "ACCOUNT#<id>"}, "GSI9", 6, 200, declared=False
)
_FREQUENT, _DEAR = "list-orders", "load-cart"
PLANTED = (
    Planted("comes 2.6 times as often", "orders", _FREQUENT, _SERIES[3].fingerprint, "web"),
    Planted("is new and undeclared", "ledger", None, _STRANGER.fingerprint, "insights"),
    Planted("costs 2.5 times as much and is slower", "carts", _DEAR, _SERIES[6].fingerprint, "web"),
)


class Weeks(NamedTuple):
    """What was made: the rows of each kind for all eight weeks, and the contract that holds in them."""

    rows: dict[Kind, pa.Table]
    contract: Contract

    def frame(self, number: int) -> Frame:
        """Return one week, 0 to 7."""
        window = Window(START + number * WEEK_MS, START + (number + 1) * WEEK_MS)
        return frame_of(window, {kind: _between(rows, window) for kind, rows in self.rows.items()}, (window,))

    def week_and_past(self, number: int = N_WEEKS - 1) -> tuple[Frame, Frames]:
        """Return a week and all before it."""
        return self.frame(number), tuple(self.frame(n) for n in range(number))


def _between(rows: pa.Table, window: Window) -> pa.Table:
    starts = starts_of(rows)
    return rows.filter(pa.array((starts >= window.start) & (starts < window.end)))


def contract_document() -> dict[str, Any]:
    """Return the contract as a document; it knows nothing of the stranger."""
    tables: dict[str, dict[str, Any]] = {}
    for one in _SERIES:
        table = tables.setdefault(one.table, {"name": one.table, "partition_key": "PK", "sort_key": "SK"})
        table.setdefault("owner", f"team-{one.table}")
        if one.gsi is not None:
            index = {"name": one.gsi, "partition_key": "GSI1PK", "sort_key": "GSI1SK", "projection": "all"}
            table.setdefault("indexes", [index])
        pattern: dict[str, Any] = {"id": one.id, "operation": one.operation, "callers": list(one.callers)}
        pattern |= {"key": one.key} if one.key else {"purpose": "export", "schedule": "0 1 * * *"}
        pattern |= {} if one.gsi is None else {"index": one.gsi}
        if not one.at_night:
            pattern["rate"] = {"p95": _round(one.rate * 1.4), "peak": _round(one.rate * 4)}
        table.setdefault("patterns", []).append(pattern)
    return {"version": 1, "tables": list(tables.values())}


def _round(rate: float) -> float:
    return float(f"{rate:.1g}") if rate < 1 else float(math.ceil(rate))


def eight_weeks(seed: int = 1) -> Weeks:
    """Make the weeks; the same seed makes the same ones."""
    rng = np.random.default_rng(seed)
    parts = [_hours(one, caller, rng) for one in (*_SERIES, _STRANGER) for caller in one.callers]
    rows = {
        Kind.HOURS: pa.concat_tables(parts),
        Kind.KEY_HOURS: _keys(rng),
        Kind.SHAPES: _shapes(),
        Kind.TABLES: _tables(),
        Kind.PAIRS: _pairs(),
    }
    return Weeks(rows, contract_from(contract_document(), "shop.yaml"))


def _expected(one: _Series, starts: np.ndarray) -> np.ndarray:
    """Return the requests expected in each hour, without crowds."""
    hour, day = starts // HOUR_MS % 24, starts // DAY_MS
    weekday = (day + 3) % 7
    if one.at_night:
        return one.rate * 3600 * np.where(hour == 1, 1.0, 0.0)
    by_hour = 0.55 + 0.45 * np.cos((hour - 14) / 24 * 2 * math.pi)
    by_day = np.where(weekday >= 5, 0.7, 1.0)
    holiday = np.where(np.isin(day * DAY_MS, HOLIDAYS), 0.35, 1.0)
    grown = 1.02 ** ((starts - START) / WEEK_MS)
    return one.rate * 3600 * by_hour * by_day * holiday * grown


def _hours(one: _Series, caller: str, rng: np.random.Generator) -> pa.Table:
    starts = START + HOUR_MS * np.arange(N_WEEKS * 7 * 24)
    is_last = starts >= WEEK.start
    wobble = rng.lognormal(0, 0.05, N_WEEKS)[(starts - START) // WEEK_MS]
    expected = _expected(one, starts) / len(one.callers) * wobble
    expected *= np.where(is_last, 2.6, 1.0) if one.id == _FREQUENT else 1.0
    expected *= is_last if one is _STRANGER else 1.0
    requests = rng.poisson(expected * rng.gamma(40, 1 / 40, len(starts)))
    seen = requests > 0
    starts, requests, is_last = starts[seen], requests[seen], is_last[seen]
    dearer = np.where(is_last & (one.id == _DEAR), 2.5, 1.0)
    slower = np.where(is_last & (one.id == _DEAR), 1.7, 1.0)
    units = requests * one.units * dearer * rng.normal(1, 0.01, len(starts))
    failed = rng.binomial(requests, 2e-4)
    histogram = _latency(requests, one.latency_ms * slower * rng.lognormal(0, 0.04, len(starts)), rng)
    many = len(starts)
    values: dict[str, Any] = {name: np.zeros(many) for name in SCHEMAS[Kind.HOURS].names if name not in IDENTITY}
    place = (ACCOUNT, REGION, one.table, one.gsi, *_attribution(one), one.fingerprint, one.operation, caller, False)
    values |= {name: pa.array([value] * many) for name, value in zip(IDENTITY, place, strict=True)}
    values |= {"start": starts, "requests": requests, "failed": failed, "units_known": np.ones(many)}
    values |= {"write_units" if one.writes else "read_units": np.round(units * 2) / 2, "counts_known": np.ones(many)}
    values |= {"returned": requests * one.returned, "scanned": requests * (one.scanned or one.returned)}
    values |= {"returned_bytes": requests * one.returned * 900 * dearer, "latency_sum_ms": requests * 1.2 * slower}
    values |= {"attempts_a_request": np.full(many, 1.001), "minutes": np.full(many, 60)}
    values["wasted_units"] = units * (1 - one.returned / one.scanned) if one.scanned else np.zeros(many)
    values["peak_requests"] = requests / 60 * 1.3
    values["peak_read_units"] = np.asarray(values["read_units"]) / 60 * 1.3
    values["peak_write_units"] = np.asarray(values["write_units"]) / 60 * 1.3
    values |= {name: pa.nulls(many, pa.float64()) for name in ("requests_low", "requests_high", "observed")}
    values["latency_ms"] = latency_maps(histogram)
    return pa.table({name: values[name] for name in SCHEMAS[Kind.HOURS].names}).cast(SCHEMAS[Kind.HOURS])


def _attribution(one: _Series) -> tuple[str, str | None]:
    return ("declared", one.id) if one.declared else ("undeclared", None)


def _latency(requests: np.ndarray, middle_ms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return calls by bucket: most lie about the middle, a twentieth five times as far."""
    bounds = np.log(np.array(LATENCY_KEYS[:-1]))
    below = np.zeros((len(requests), len(LATENCY_KEYS)))
    for part, factor in ((0.95, 1.0), (0.05, 5.0)):
        z = (bounds[None, :] - np.log(middle_ms * factor)[:, None]) / 0.4
        below[:, :-1] += part / (1 + np.exp(-1.702 * z))
    below[:, -1] = 1.0
    chances = np.diff(below, axis=1, prepend=0.0)
    return rng.multinomial(requests, chances / chances.sum(axis=1, keepdims=True))


def _keys(rng: np.random.Generator) -> pa.Table:
    """Return the hours of some hot keys; that of the open orders comes nearer to its ceiling every week."""
    starts = START + HOUR_MS * np.arange(N_WEEKS * 7 * 24)
    day = 0.55 + 0.45 * np.cos((starts // HOUR_MS % 24 - 14) / 24 * 2 * math.pi)
    grown = 1.12 ** ((starts - START) / WEEK_MS)
    made = [
        ("orders", "GSI1", "read", "OPEN", "OPEN", 900.0 * grown, 4e6),
        *(
            ("carts", None, "read", f"CART#~k{n:08d}", "CART#<id>", np.full(len(starts), 60.0 - 8 * n), 2e5)
            for n in range(5)
        ),
        *(
            ("users", None, "read", f"USER#~k{n:08d}", "USER#<id>", np.full(len(starts), 30.0 - 4 * n), 1e5)
            for n in range(4)
        ),
    ]
    parts = []
    schema = SCHEMAS[Kind.KEY_HOURS]
    for table, index, direction, partition, template, peak, whole in made:
        many = len(starts)
        seconds = peak * day * rng.lognormal(0, 0.05, many)
        units = seconds * 600
        values: dict[str, Any] = {name: pa.nulls(many) for name in schema.names}
        place = (ACCOUNT, REGION, table, index, direction, "partition", partition, template)
        names = ("account", "region", "table_name", "index_name", "direction", "level", "partition", "template")
        values |= {name: pa.array([value] * many) for name, value in zip(names, place, strict=True)}
        values |= {"start": starts, "units": units, "units_low": units * 0.99, "units_high": units * 1.01}
        values |= {"target_units": np.full(many, whole), "requests": units * 2, "throttled_tries": np.zeros(many)}
        values |= {"observed": units.astype(int), "peak_second": seconds, "seconds_over": np.zeros(many, dtype=int)}
        values |= {"minutes": np.full(many, 60)}
        parts.append(pa.table(values).cast(schema))
    return pa.concat_tables(parts)


def _shapes() -> pa.Table:
    """Return what the fingerprints stand for, told anew every day."""
    days = range(START, START + N_WEEKS * WEEK_MS, DAY_MS)
    made = [_shape(one) for one in _SERIES]
    return pa.concat_tables(
        shape_rows(day, [*made, *([_shape(_STRANGER)] if day >= WEEK.start else [])]) for day in days
    )


def _shape(one: _Series) -> Shape:
    key = tuple(
        KeyPredicate(name, "begins_with" if text.startswith("begins") else "=", text.removeprefix("begins_with "))
        for name, text in one.key.items()
    )
    is_filtered = one.scanned is not None
    return Shape(
        fingerprint=one.fingerprint,
        operation=one.operation,
        table=one.table,
        index=one.gsi,
        key=() if one.operation == "PutItem" else key,
        filter="amount > :v0" if is_filtered else None,
        filter_attributes=("amount",) if is_filtered else (),
        scans=one.operation == "Scan",
        writes=one.writes,
    )


def _tables() -> pa.Table:
    texts = []
    for name in dict.fromkeys(one.table for one in _SERIES):
        indexes = tuple(
            IndexDescription(name=index, kind="gsi", partition_key=("GSI1PK",), sort_key=("GSI1SK",), projection="all")
            for index in dict.fromkeys(one.gsi for one in _SERIES if one.table == name and one.gsi)
        )
        table = TableDescription(
            name=name,
            status="ACTIVE",
            billing_mode="PAY_PER_REQUEST",
            partition_key=("PK",),
            sort_key=("SK",),
            provisioning=Provisioning(),
            indexes=indexes,
            size_bytes=40_000_000_000,
            items=30_000_000,
        )
        snapshot = TableSnapshot(target=Target(ACCOUNT, REGION, name), table=table)
        texts.append((name, msgspec.json.encode(snapshot).decode()))
    days = range(START, START + N_WEEKS * WEEK_MS, DAY_MS)
    rows = [
        {"start": day, "account": ACCOUNT, "region": REGION, "table_name": name, "snapshot": text}
        for day in days
        for name, text in texts
    ]
    return _table(Kind.TABLES, rows)


def _pairs() -> pa.Table:
    """Return which entities one trace reads: an order seldom with its user, a user always with a cart."""
    days = range(START, START + N_WEEKS * WEEK_MS, DAY_MS)
    found = (
        ("users", "USER", "carts", "CART", 980.0, 1000.0, 1010.0),
        ("orders", "ORDER", "users", "USER", 40, 800, 1000),
    )
    names = SCHEMAS[Kind.PAIRS].names
    return _table(Kind.PAIRS, [dict(zip(names, (day, *one), strict=True)) for day in days for one in found])


def _table(kind: Kind, rows: list[dict[str, Any]]) -> pa.Table:
    schema = SCHEMAS[kind]
    columns = {name: pa.array([row.get(name) for row in rows]) for name in schema.names}
    return pa.table(columns).cast(schema)


async def write_weeks(folder: Path, weeks: Weeks, daemon: str = "shop1") -> Dataset:
    """Write the weeks as a daemon would have left them: hours of requests and keys, and what has one file a day."""
    dataset = Dataset(FolderBlobs(folder), daemon)
    for kind, rows in weeks.rows.items():
        starts = starts_of(rows)
        order = np.argsort(starts, kind="stable")
        ordered, edges = rows.take(pa.array(order)), starts[order]
        for start in range(START, START + N_WEEKS * WEEK_MS, DAY_MS):
            first, last = np.searchsorted(edges, [start, start + DAY_MS])
            minutes = range(start, start + DAY_MS, MINUTE_MS) if kind in {Kind.HOURS, Kind.KEY_HOURS} else ()
            await dataset.write_day(kind, start, ordered.slice(int(first), int(last - first)), tuple(minutes))
    return dataset
