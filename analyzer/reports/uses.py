"""What filters, indexes and transactions of a week cost, and what for."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from analyzer.knowledge.prices import provisioned_cost, storage_cost
from analyzer.model.estimate import Estimate
from analyzer.reports.week_values import FilterWaste, IndexUse, TransactionUse
from analyzer.traffic.transactions import TRANSACTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.contract.model import Contract
    from analyzer.model.table import IndexDescription
    from analyzer.model.target import Target
    from analyzer.model.traffic import PatternTraffic, Traffic
    from analyzer.reports.bill import Bill
    from analyzer.reports.frame import Frames

__all__ = ["indexes_of", "transactions_of", "waste_of"]

_UNUSED_DAYS = 14.0
"""As the detector `unused-index` has it: what comes once a fortnight is seen."""
_NEARLY = 0.98
_DAY_SECONDS = 86_400
_LEAST_WASTE = 0.01
_A_ITEM = 2
"""Units of the smallest item in a transaction (Developer Guide, "Capacity unit consumption")."""


def waste_of(traffics: Sequence[Traffic], bill: Bill) -> tuple[FilterWaste, ...] | None:
    """Return what filters threw away, the dearest first; None where no source counts what was scanned."""
    filtered = [
        (traffic, row)
        for traffic in traffics
        for row in traffic.rows
        if row.shape.filter_attributes or row.shape.filter
    ]
    if filtered and not any(row.counts_known for _, row in filtered):
        return None
    groups: dict[tuple[Target, str], list[PatternTraffic]] = defaultdict(list)
    for traffic, row in filtered:
        groups[traffic.target, row.attribution.pattern or row.shape.fingerprint].append(row)
    found = (_waste(*place, rows, bill) for place, rows in groups.items())
    return tuple(
        sorted((one for one in found if one.share >= _LEAST_WASTE), key=lambda one: (-one.dollars, one.pattern))
    )


def _waste(target: Target, pattern: str, rows: list[PatternTraffic], bill: Bill) -> FilterWaste:
    wasted, read = sum(row.wasted_units.value for row in rows), sum(row.read_units.value for row in rows)
    return FilterWaste(
        table=target.table,
        index=target.index,
        pattern=pattern,
        attributes=tuple(dict.fromkeys(name for row in rows for name in row.shape.filter_attributes)),
        callers=tuple(sorted({row.caller for row in rows if row.caller is not None})),
        wasted_units=wasted,
        share=wasted / read if read else 0.0,
        dollars=round(bill.dollars(target, wasted, 0.0), 2),
    )


def indexes_of(
    traffics: Sequence[Traffic], contract: Contract, frames: Frames, bill: Bill
) -> tuple[IndexUse, ...] | None:
    """Return what each index costs and who reads it, the dearest first; None where nobody tells of any.

    `frames` are all weeks, the oldest first. Without a description there are those that were asked, or are declared.
    """
    targets = _indexes(traffics, contract)
    if not targets and not any(traffic.place.table is not None for traffic in traffics):
        return None
    by_target = {traffic.target: traffic for traffic in traffics}
    found = []
    for target in sorted(targets, key=lambda one: one.order()):
        traffic, table = by_target.get(target), by_target.get(target.base)
        described = None if table is None or table.place.table is None else table.place.table.index(target.index)
        found.append(_index(target, described, traffic, frames, bill))
    return tuple(sorted(found, key=lambda one: -((one.unit_dollars or 0.0) + (one.storage_dollars or 0.0))))


def _indexes(traffics: Iterable[Traffic], contract: Contract) -> set[Target]:
    found = {traffic.target for traffic in traffics if traffic.target.index is not None}
    for traffic in traffics:
        table, declared = traffic.place.table, contract.table(traffic.target)
        names = [] if table is None else [index.name for index in table.indexes]
        if table is None and declared is not None:
            names = [index.name for index in declared.indexes]
        found |= {traffic.target.at(name) for name in names}
    return found


def _index(
    target: Target, described: IndexDescription | None, traffic: Traffic | None, frames: Frames, bill: Bill
) -> IndexUse:
    rows = () if traffic is None else traffic.rows
    reads = [row for row in rows if not row.secondary]
    requests = sum(row.requests.value for row in reads)
    unread = None if requests else _unread_days(target, frames)
    return IndexUse(
        table=target.table,
        index=target.index or "",
        kind="gsi" if described is None else described.kind,
        unit_dollars=_unit_dollars(target, described, [row for row in rows if row.secondary], bill),
        storage_dollars=_storage(target, described, bill),
        reads=requests,
        patterns=tuple(dict.fromkeys(row.attribution.pattern or row.shape.fingerprint for row in reads)),
        days_unread=unread,
        is_unused=unread is not None
        and unread >= _UNUSED_DAYS * _NEARLY
        and (described is None or described.kind == "gsi"),
    )


def _unit_dollars(
    target: Target, described: IndexDescription | None, written: list[PatternTraffic], bill: Bill
) -> float | None:
    """Return what its writes cost on demand, and provisioned its capacity, used or not."""
    tariff = bill.tariff(target)
    if tariff.mode == "PROVISIONED" and described is not None:
        has = described.provisioning
        if has.read_units is None or has.write_units is None:
            return None
        return round(provisioned_cost(has.read_units, has.write_units, tariff.prices).dollars, 2)
    return round(bill.dollars(target, 0.0, sum(row.write_units.value for row in written)), 2) if written else None


def _storage(target: Target, described: IndexDescription | None, bill: Bill) -> float | None:
    if described is None or described.size_bytes is None:
        return None
    return round(storage_cost(described.size_bytes, bill.tariff(target).prices).dollars, 2)


def _unread_days(target: Target, frames: Frames) -> float:
    """Return for how long before the end of the week nobody read it, of what was looked at."""
    seconds = 0.0
    for frame in reversed(frames):
        hours = frame.hours
        is_it = (hours["table_name"] == target.table) & (hours["index_name"] == target.index)
        if bool((is_it & ~hours["secondary"].astype(bool) & (hours["requests"] > 0)).any()):
            break
        seconds += frame.covered_seconds
    return round(seconds / _DAY_SECONDS, 1)


def transactions_of(traffics: Sequence[Traffic], contract: Contract, bill: Bill) -> tuple[TransactionUse, ...]:
    """Return who uses transactions of each table, how far, and what they cost more than plain calls."""
    found = []
    for traffic in traffics:
        groups: dict[tuple[str | None, str, str | None], list[PatternTraffic]] = defaultdict(list)
        for row in traffic.rows:
            if row.shape.operation in TRANSACTIONS and not row.secondary:
                groups[row.caller, row.shape.operation, row.attribution.pattern].append(row)
        found += [_transactions(traffic, name, rows, contract, bill) for name, rows in groups.items()]
    return tuple(sorted(found, key=lambda one: (-(one.dollars_more or 0.0), -one.requests)))


def _transactions(
    traffic: Traffic,
    name: tuple[str | None, str, str | None],
    rows: list[PatternTraffic],
    contract: Contract,
    bill: Bill,
) -> TransactionUse:
    caller, operation, pattern = name
    declared = contract.pattern(traffic.target, pattern)
    writes = rows[0].shape.writes
    same = [row for row in traffic.rows if row.shape.writes is writes and not row.secondary]
    requests = sum(row.requests.value for row in rows)
    read, written = (sum(row.read_units.value for row in rows), sum(row.write_units.value for row in rows))
    is_told = any(row.units_known for row in rows)
    return TransactionUse(
        table=traffic.target.table,
        caller=caller,
        operation=operation,
        pattern=pattern,
        requests=requests,
        share=requests / sum(row.requests.value for row in same),
        items_each=_items_each(rows, read + written, requests) if is_told else None,
        declared_items=None if declared is None else declared.transaction_items,
        because=None if declared is None else declared.transaction_because,
        dollars_more=round(bill.dollars(traffic.target, read / 2, written / 2), 2) if is_told else None,
    )


def _items_each(rows: list[PatternTraffic], units: float, requests: float) -> Estimate | None:
    """Return bounds: as many items as kinds of parts are in its shape, at most one for each two units."""
    if requests <= 0:
        return None
    least = min((max(1, len(row.shape.parts)) for row in rows), default=1)
    most = max(float(least), units / requests / _A_ITEM)
    return Estimate((least + most) / 2, float(least), round(most, 2))
