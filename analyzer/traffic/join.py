"""The join that is the product: declared patterns with observed requests, target by target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.target import Target
from analyzer.model.traffic import KeyHeat, PatternTraffic, Refused, Throttles, Traffic
from analyzer.statistics.intervals import estimate_count
from analyzer.traffic.heat import heat_of
from analyzer.traffic.place import place_of
from analyzer.traffic.rows import RowIndex, rows_of
from analyzer.traffic.sights import sights_of
from analyzer.traffic.throttles import throttles_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.model import Contract
    from analyzer.model.counts import Cell, Counts
    from analyzer.model.history import History
    from analyzer.model.observations import Observations
    from analyzer.model.shape import Attribution
    from analyzer.model.table import TableSnapshot

__all__ = ["join"]


class _Seen(Struct):
    """What the request log shows, by target."""

    rows: dict[Target, list[PatternTraffic]] = {}
    throttles: dict[Target, list[Throttles]] = {}
    refusals: dict[Target, list[Refused]] = {}
    keys: dict[Target, list[KeyHeat]] = {}
    with_keys: set[Target] = set()


def join(
    observations: Observations, attribute: Callable[[Cell], Attribution], contract: Contract, history: History
) -> tuple[Traffic, ...]:
    """Build the traffic of every target that was seen or described, in the order of their names."""
    seen = _Seen() if observations.counts is None else _see(observations.counts, attribute, contract)
    snapshots = _snapshots(observations)
    targets = {*seen.rows, *seen.throttles, *seen.keys, *snapshots}
    ordered = sorted(targets, key=lambda target: target.order())
    return tuple(
        _traffic(target, seen, snapshots.get(target.base), observations, contract, history) for target in ordered
    )


def _see(counts: Counts, attribute: Callable[[Cell], Attribution], contract: Contract) -> _Seen:
    rows, places = rows_of(counts, attribute, contract.caller_of)
    keys: dict[Target, list[KeyHeat]] = {}
    for heavy in counts.keys:
        keys.setdefault(heavy.target, []).extend(heat_of(heavy, counts, places))
    return _Seen(
        rows=rows,
        throttles=throttles_of(counts, rows, places),
        refusals=_refusals(counts, places),
        keys=keys,
        with_keys={heavy.target for heavy in counts.keys if heavy.real},
    )


def _traffic(
    target: Target,
    seen: _Seen,
    snapshot: TableSnapshot | None,
    observations: Observations,
    contract: Contract,
    history: History,
) -> Traffic:
    rows = seen.rows.get(target, [])
    place = place_of(target, contract, snapshot)
    has_keys = target in seen.with_keys
    changes = (change for batch in observations.batches for change in batch.changes)
    return Traffic(
        target=target,
        window=observations.window,
        sights=sights_of(
            rows, place, observations, has_keys=has_keys, described=snapshot is not None, span=history.spans.get(target)
        ),
        place=place,
        rows=tuple(rows),
        keys=tuple(seen.keys.get(target, ())),
        throttles=tuple(seen.throttles.get(target, ())),
        refusals=tuple(seen.refusals.get(target, ())),
        changes=tuple(change for change in changes if change.table in {None, target.table}),
        sampled=any(not row.requests.is_exact for row in rows),
        hours=observations.hours,
    )


def _snapshots(observations: Observations) -> dict[Target, TableSnapshot]:
    """Return the newest description of each table."""
    newest: dict[Target, TableSnapshot] = {}
    for snapshot in (snapshot for batch in observations.batches for snapshot in batch.tables):
        known = newest.get(snapshot.target)
        if known is None or (snapshot.time or 0) >= (known.time or 0):
            newest[snapshot.target] = snapshot
    return newest


def _refusals(counts: Counts, places: RowIndex) -> dict[Target, list[Refused]]:
    found: dict[Target, list[Refused]] = {}
    for refusal in counts.refusals:
        target, number = places[refusal.cell]
        calls = estimate_count([(refusal.calls, counts.cells[refusal.cell].sample_rate)])
        found.setdefault(target, []).append(Refused(number, refusal.code, refusal.message, calls))
    return found
