"""A week beside its declaration: its rows become traffic again, and the facets of the core judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from analyzer.contract.model import is_glob
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.shape import Attribution, AttributionKind, Shape
from analyzer.model.target import Target
from analyzer.model.traffic import Declared, Latency, PatternTraffic, Traffic
from analyzer.model.window import Window
from analyzer.reports.drift_series import codes_of
from analyzer.reports.drift_values import FacetDrift, Side
from analyzer.statistics.rates import Standing, share_bounds
from analyzer.traffic.drift import Facet, Tolerance, facets_of
from analyzer.traffic.drift_rate import rate_facet
from analyzer.traffic.place import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.contract.model import Contract
    from analyzer.reports.frame import Frame

__all__ = ["Promises", "promises_of", "traffic_of"]

_TOLERANCE = Tolerance(margin=1.5, other_share=0.05, least=20)
"""As the detector `pattern-drift` has it by default."""
_OVER_SHARE = 0.05
"""A p95 is passed in a twentieth of the hours."""
_SERIES = ["account", "region", "table_name", "index_name", "kind_of_pattern", "pattern", "fingerprint", "operation"]
_COUNTS = (
    "requests",
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
_SHARES = ("units_known", "counts_known", "attempts_a_request")


class Promises(msgspec.Struct, frozen=True):
    """What is declared of the tables of a week, and how it stands: by target and pattern."""

    declared: dict[tuple[Target, str], Declared]
    facets: dict[tuple[Target, str], tuple[FacetDrift, ...]]


def promises_of(week: Frame, contract: Contract) -> Promises:
    """Judge every declared pattern that was seen against its declaration; what nobody asked for is declared only."""
    declared: dict[tuple[Target, str], Declared] = {}
    facets: dict[tuple[Target, str], tuple[FacetDrift, ...]] = {}
    traffics = traffic_of(week, contract)
    for traffic in traffics:
        for pattern in traffic.place.patterns.values():
            declared.setdefault((traffic.target.at(pattern.index), pattern.id), pattern)
        found: dict[str, list[PatternTraffic]] = {}
        for row in traffic.rows:
            if row.attribution.pattern in traffic.place.patterns and not row.secondary:
                found.setdefault(row.attribution.pattern or "", []).append(row)
        for name, rows in found.items():
            pattern = traffic.place.patterns[name]
            judged = [*facets_of(pattern, rows, traffic, _TOLERANCE), _rate(pattern, rows, traffic, week)]
            facets[traffic.target, name] = tuple(_facet(one) for one in judged if one is not None)
    return Promises(declared, facets)


def _facet(facet: Facet) -> FacetDrift:
    return FacetDrift(
        name=facet.name,
        side=Side.DECLARED,
        standing=facet.standing,
        seen=facet.seen,
        margin=facet.most,
        text=facet.text,
        declared=facet.declared,
    )


def _rate(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, week: Frame) -> Facet | None:
    """Judge the mean of the week, and the hours one by one: more than a twentieth of them over p95 breaks it."""
    facet = rate_facet(declared, rows, traffic, _TOLERANCE)
    if facet is None or facet.standing is Standing.OUT or declared.p95_rate is None:
        return facet
    most = declared.p95_rate * max([_TOLERANCE.margin, *declared.surge.values()])
    rates = _hourly(declared.id, traffic.target, week) / 3600
    over = rates[rates > most]
    share = share_bounds(len(over), len(rates))
    if share.low <= _OVER_SHARE:
        return facet
    text = f"requests a second in {len(over)} of {len(rates)} hours"
    return facet._replace(standing=Standing.OUT, seen=Estimate.exact(float(over.mean())), most=most, text=text)


def _hourly(pattern: str, target: Target, week: Frame) -> np.ndarray:
    rows = week.hours
    at = (rows["pattern"] == pattern) & (rows["table_name"] == target.table) & ~rows["secondary"]
    for name, value in (("index_name", target.index), ("account", target.account), ("region", target.region)):
        at &= rows[name].isna() if value is None else rows[name] == value
    found: np.ndarray = rows[at].groupby("start")["requests"].sum().to_numpy(dtype=float)
    return found


def traffic_of(week: Frame, contract: Contract) -> tuple[Traffic, ...]:
    """Return a week as the traffic of every target in it; of declared tables that nobody asked, an empty one."""
    rows: dict[Target, list[PatternTraffic]] = {}
    for target, row in _rows(week):
        rows.setdefault(target, []).append(row)
    snapshots = {snapshot.target: snapshot for snapshot in week.tables}
    targets = [*rows, *(target for target in snapshots if target not in rows)]
    targets += _unseen(contract, targets)
    return tuple(
        Traffic(
            target=target,
            window=_covered_window(week),
            sights=frozenset(),
            place=place_of(target, contract, snapshots.get(target.base)),
            rows=tuple(rows.get(target, ())),
        )
        for target in sorted(targets, key=lambda target: target.order())
    )


def _unseen(contract: Contract, targets: Iterable[Target]) -> list[Target]:
    """Return the declared tables that history knows nothing of; what a glob stands for is not known."""
    known = {id(contract.table(target)) for target in targets}
    lacking = [table for table in contract.tables if not is_glob(table.name) and id(table) not in known]
    return [Target(_only(table.where.accounts), _only(table.where.regions), table.name) for table in lacking]


def _only(names: tuple[str, ...]) -> str | None:
    """Return the one place that is named; None where several may be meant, or none is named."""
    return names[0] if len(names) == 1 and not is_glob(names[0]) else None


def _covered_window(week: Frame) -> Window:
    """Return a window as long as what was looked at, so that means are means of that."""
    end = week.window.start + round(week.covered_seconds * 1000)
    return Window(week.window.start, max(end, week.window.start))


def _rows(week: Frame) -> Iterable[tuple[Target, PatternTraffic]]:
    hours = week.hours
    if not len(hours):
        return
    keys = hours[[*_SERIES, "caller", "secondary"]].astype(object)
    code, first = codes_of(keys, list(keys.columns))
    many = len(first)
    requests = hours["requests"].to_numpy(dtype=float)
    sums = {name: np.bincount(code, hours[name].fillna(0).to_numpy(dtype=float), many) for name in _COUNTS}
    observed = np.bincount(code, hours["observed"].fillna(hours["requests"]).to_numpy(dtype=float), many)
    below, above = (
        np.sqrt(np.bincount(code, (hours[name].fillna(hours["requests"]).to_numpy(dtype=float) - requests) ** 2, many))
        for name in ("requests_low", "requests_high")
    )
    shares = {
        name: np.bincount(code, hours[name].fillna(0).to_numpy(dtype=float) * requests, many)
        / np.maximum(sums["requests"], 1e-9)
        for name in _SHARES
    }
    latency = np.zeros((many, week.latency.shape[1]), dtype=np.int64)
    np.add.at(latency, code, week.latency)
    sum_ms = np.bincount(code, hours["latency_sum_ms"].fillna(0).to_numpy(dtype=float), many)
    told = keys.iloc[first].where(keys.iloc[first].notna(), None)
    for number, values in enumerate(told.itertuples(index=False)):
        one = values._asdict()
        fields: dict[str, Any] = {name: _exact(sums[name][number]) for name in _COUNTS}
        fields |= {name: float(shares[name][number]) for name in _SHARES}
        seen = sums["requests"][number]
        fields["requests"] = Estimate(seen, seen - below[number], seen + above[number])
        calls = int(latency[number].sum())
        yield (
            Target(one["account"], one["region"], one["table_name"], one["index_name"]),
            PatternTraffic(
                shape=_shape(week, one),
                attribution=Attribution(AttributionKind(one["kind_of_pattern"]), one["pattern"]),
                caller=one["caller"],
                observed=round(observed[number]),
                latency=Latency(tuple(latency[number].tolist()), float(sum_ms[number]), calls),
                secondary=bool(one["secondary"]),
                **fields,
            ),
        )


def _exact(value: float) -> Estimate:
    return Estimate.exact(float(value)) if value else ZERO


def _shape(week: Frame, one: dict[str, Any]) -> Shape:
    """Return the shape of a fingerprint; one that history does not know has its operation, and tells nothing else."""
    known = week.shapes.get(one["fingerprint"])
    if known is not None:
        return known
    return Shape(
        fingerprint=one["fingerprint"],
        operation=one["operation"],
        table=one["table_name"],
        index=one["index_name"],
        writes=one["operation"] in {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"},
        parsed=False,
    )
