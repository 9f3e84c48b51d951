"""The join that is the product: declared patterns with observed requests, target by target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.contract.known import Library
from analyzer.contract.model import Contract
from analyzer.model.calls import CallBook, DeferredBook
from analyzer.model.counts import Count
from analyzer.model.finding import Change
from analyzer.model.history import History
from analyzer.model.observations import Observations
from analyzer.model.target import Target
from analyzer.model.traffic import Around, KeyHeat, KeySide, PatternTraffic, Refused, Throttles, Traffic
from analyzer.statistics.intervals import estimate_count
from analyzer.traffic.heat import heat_of, named_at
from analyzer.traffic.insight_heat import insight_keys
from analyzer.traffic.libraries import at_libraries, libraries_among, with_library
from analyzer.traffic.metric_throttles import metric_throttles
from analyzer.traffic.place import place_of, with_prices
from analyzer.traffic.rows import RowIndex, rows_of
from analyzer.traffic.series import total
from analyzer.traffic.sights import Evidence, sights_of
from analyzer.traffic.throttles import throttles_of
from analyzer.traffic.told import Told, told_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from analyzer.model.counts import Cell, Counts
    from analyzer.model.shape import Attribution
    from analyzer.model.window import Window

__all__ = ["join"]

_Where = tuple[str | None, str | None]
"""An account and a region."""


class _Seen(Struct):
    """What the request log shows, by target."""

    rows: dict[Target, list[PatternTraffic]] = {}
    throttles: dict[Target, list[Throttles]] = {}
    refusals: dict[Target, list[Refused]] = {}
    keys: dict[Target, list[KeyHeat]] = {}
    sides: dict[Target, list[KeySide]] = {}
    with_keys: set[Target] = set()
    with_transport_failures: set[Target] = set()
    with_server_errors: set[Target] = set()


class _Joined(Struct, frozen=True, kw_only=True):
    """What the traffic of every target is made of."""

    seen: _Seen
    told: Told
    calls: CallBook | None
    observations: Observations
    contract: Contract
    history: History
    around: dict[_Where, Around]
    changes: tuple[Change, ...]
    libraries: dict[Target, Library]
    template: Callable[[str, str], str]


def _unknown_template(_table: str, _value: str) -> str:
    return "<value>"


def join(
    observations: Observations,
    attribute: Callable[[Cell], Attribution],
    contract: Contract,
    history: History,
    template: Callable[[str, str], str] = _unknown_template,
    *,
    only: Collection[str] | None = None,
) -> tuple[Traffic, ...]:
    """Build the traffic of every target that was seen or described, in the order of their names.

    `template` writes the shape of a key value of a table, for keys that come without requests. `only` names the tables
    of the log that are wanted; what is described or measured is always.
    """
    told = told_of(observations)
    counts = None if observations.counts is None else told.at_home(observations.counts)
    libraries = libraries_among(counts, told.snapshots)
    seen = _Seen() if counts is None else _see(counts, at_libraries(attribute, libraries, contract), contract)
    book = observations.calls
    logged = {*seen.rows, *seen.throttles, *seen.keys}
    targets = {*told.targets(), *(one for one in logged if only is None or one.table in only)}
    joined = _Joined(
        seen=seen,
        told=told,
        calls=None if book is None else book.at_home(told.home_of, contract.caller_of),
        observations=observations,
        contract=contract,
        history=history,
        around=_around(targets, seen, told, observations.window),
        changes=tuple(change for batch in observations.batches for change in batch.placed_changes()),
        libraries=libraries,
        template=template,
    )
    alone = {target: _traffic(target, joined) for target in sorted(targets, key=lambda target: target.order())}
    indexes: dict[Target, list[Traffic]] = {}
    for target, traffic in alone.items():
        if target.index is not None:
            indexes.setdefault(target.base, []).append(traffic)
    return tuple(_with_relatives(traffic, alone, indexes) for traffic in alone.values())


def _with_relatives(traffic: Traffic, alone: dict[Target, Traffic], indexes: dict[Target, list[Traffic]]) -> Traffic:
    """Give a table the traffic of its indexes, and an index that of its table."""
    target = traffic.target
    if target.index is not None:
        return msgspec.structs.replace(traffic, base=alone.get(target.base))
    own = tuple(indexes.get(target, ()))
    return msgspec.structs.replace(traffic, indexes=own) if own else traffic


def _see(counts: Counts, attribute: Callable[[Cell], Attribution], contract: Contract) -> _Seen:
    rows, places = rows_of(counts, attribute, contract.caller_of)
    keys: dict[Target, list[KeyHeat]] = {}
    sides: dict[Target, list[KeySide]] = {}
    for heavy in counts.keys:
        side = KeySide(heavy.direction, heavy.distinct, heavy.total / 2, heavy.floor / 2)
        sides.setdefault(heavy.target, []).append(side)
        keys.setdefault(heavy.target, []).extend(heat_of(heavy, counts, places))
    return _Seen(
        rows=rows,
        throttles=throttles_of(counts, rows, places),
        refusals=_refusals(counts, places),
        keys=keys,
        sides=sides,
        with_keys={heavy.target for heavy in counts.keys if heavy.real},
        with_transport_failures=_with(counts, Count.TRANSPORT_FAILURES),
        with_server_errors=_with(counts, Count.SERVER_ERRORS),
    )


def _with(counts: Counts, column: Count) -> set[Target]:
    return {counts.cells[number].target for number in counts.values[:, column].nonzero()[0].tolist()}


def _traffic(target: Target, joined: _Joined) -> Traffic:
    seen, told, observations = joined.seen, joined.told, joined.observations
    place = place_of(target, joined.contract, told.snapshots.get(target.base))
    place = with_library(place, joined.libraries.get(target.base))
    place = with_prices(place, target, observations)
    rows = seen.rows.get(target, [])
    metrics = tuple(told.metrics.get(target, ()))
    insights = told.insights.get(target, [])
    scaling = tuple(told.scaling.get(target, ()))
    where = (target.account, target.region)
    indexes = place.index_keys if target.index is None else ()
    of_indexes = [tuple(told.metrics.get(target.at(index), ())) for index in indexes]
    refused = metric_throttles(metrics, place.capacity, observations.window, of_indexes)
    evidence = Evidence(
        target=target,
        rows=rows,
        place=place,
        metrics=metrics,
        insights=insights,
        scaling=scaling,
        has_keys=target in seen.with_keys,
        described=target.base in told.snapshots,
        calls=None if isinstance(joined.calls, DeferredBook) else joined.calls,
        span=joined.history.spans.get(target),
        has_probes=target in told.probes,
        has_changes=told.has_changes(target),
    )
    return Traffic(
        target=target,
        window=observations.window,
        sights=sights_of(evidence, observations),
        place=place,
        rows=tuple(rows),
        keys=tuple(named_at(key, place, rows) for key in seen.keys.get(target, ())),
        key_sides=tuple(seen.sides.get(target, ())),
        throttles=tuple(seen.throttles.get(target, ())),
        refusals=tuple(seen.refusals.get(target, ())),
        changes=tuple(
            one
            for one in joined.changes
            if one.table in {None, target.table} and one.is_at(target.account, target.region)
        ),
        sampled=any(not row.requests.is_exact for row in rows),
        hours=observations.hours,
        metrics=metrics,
        metric_throttles=refused,
        account_metrics=tuple(told.account_metrics.get(where, ())),
        insights=insight_keys(
            insights,
            metrics,
            place,
            observations.window,
            partial(joined.template, target.table),
            is_refused=any(one.cause == "key-range" for one in seen.throttles.get(target, ()))
            or any(one.cause == "unknown" for one in refused),
        ),
        scaling=scaling,
        quotas=told.quotas.get(where, {}),
        around=joined.around[where],
        calls=joined.calls,
        probes=tuple(told.probes.get(target, ())),
        history=joined.history,
    )


def _around(targets: set[Target], seen: _Seen, told: Told, window: Window) -> dict[_Where, Around]:
    """Say of each account and region how many of its tables saw the same trouble."""
    with_errors = {target.base for target in seen.with_server_errors}
    for target, metrics in told.metrics.items():
        if any(total(series, window) for series in metrics if series.metric == "SystemErrors"):
            with_errors.add(target.base)
    asked = _at_places(target.base for target in targets)
    failed, unanswered = _at_places(with_errors), _at_places(target.base for target in seen.with_transport_failures)
    return {
        place: Around(asked=tables, with_server_errors=failed[place], with_transport_failures=unanswered[place])
        for place, tables in asked.items()
    }


def _at_places(tables: Iterable[Target]) -> Counter[_Where]:
    return Counter((table.account, table.region) for table in set(tables))


def _refusals(counts: Counts, places: RowIndex) -> dict[Target, list[Refused]]:
    found: dict[Target, list[Refused]] = {}
    for refusal in counts.refusals:
        target, number = places[refusal.cell]
        calls = estimate_count([(refusal.calls, counts.cells[refusal.cell].sample_rate)])
        found.setdefault(target, []).append(Refused(number, refusal.code, refusal.message, calls))
    return found
