"""The rule that arithmetic decides before launch: declared peak × top share against what one partition serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import PatternDeclaration
from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_pattern
from analyzer.knowledge.capacity import PAGE_BYTES, Consistency, read_units, write_units
from analyzer.knowledge.limits import READ_UNITS_A_PARTITION, WRITE_UNITS_A_PARTITION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import TableDeclaration

__all__ = ["constant_index_key", "peak_over_ceiling", "units_a_request"]

_WARM = 0.5
_TRANSACTIONS = frozenset({"TransactGetItems", "TransactWriteItems", "ExecuteTransaction"})


class _Load(Struct, frozen=True):
    """What one pattern asks of the hottest key of one key template at its peak, in units a second."""

    pattern: PatternDeclaration
    units: float
    requests: float
    share: float
    cost: float


def units_a_request(table: TableDeclaration, pattern: PatternDeclaration) -> float:
    """Return the capacity units of one request as declared; sizes that are not declared count as the least."""
    entity = table.entity(pattern.entity)
    size = pattern.item_bytes or (entity.item_bytes if entity is not None else None) or 1
    is_transaction = bool(_TRANSACTIONS.intersection(pattern.operations))
    if pattern.writes:
        return write_units(0, size, transactional=is_transaction)
    items = 1.0
    if "Query" in pattern.operations:
        known = [
            n for n in (None if pattern.returns_all else pattern.page_size, pattern.items_per_key) if n is not None
        ]
        items = min(known, default=1.0)
    price = Consistency.STRONG if pattern.consistency == "strong" else Consistency.EVENTUAL
    return read_units(min(round(items * size), PAGE_BYTES), Consistency.TRANSACTIONAL if is_transaction else price)


def peak_over_ceiling(scope: Scope) -> Iterator[Objection]:
    """Judge declared peaks: a key that gets more than a partition serves is throttled, whatever the table has."""
    loads: dict[tuple[str | None, bool, tuple[str, ...]], list[_Load]] = {}
    for pattern in scope.table.patterns:
        load = _load(scope.table, pattern)
        if load is not None:
            partition, _ = scope.table.schema(pattern.index)
            texts = tuple(t.text for name in partition if (t := pattern.template(name)) is not None)
            loads.setdefault((pattern.index, pattern.writes, texts), []).append(load)
    for (index, is_write, texts), listed in loads.items():
        yield from _judge(index or scope.table.name, texts, listed, is_write=is_write)


def _judge(place: str, texts: tuple[str, ...], loads: list[_Load], *, is_write: bool) -> Iterator[Objection]:
    ceiling = WRITE_UNITS_A_PARTITION if is_write else READ_UNITS_A_PARTITION
    word = "write" if is_write else "read"
    heat = sum(load.units for load in loads) / ceiling
    surge = sum(load.units * max(load.pattern.surge.values(), default=1.0) for load in loads) / ceiling
    first = max(loads, key=lambda load: load.units)
    terms = " + ".join(_term(load, len(loads)) for load in loads)
    against = f"({terms}, against {ceiling:,} {word} units a second on one key {'+'.join(texts)} of {place})"
    mend = "shard the key (<0..9>), cache it, read eventually or smaller pages, or split the pattern"
    if heat >= 1:
        yield of_pattern(FAIL, first.pattern, f"at peak heat is {heat:.1f}: will throttle {against}", mend)
    elif surge >= 1:
        yield of_pattern(WARN, first.pattern, f"in a surge heat is {surge:.1f}: would throttle {against}", mend)
    elif heat >= _WARM:
        yield of_pattern(WARN, first.pattern, f"at peak heat is {heat:.2f}: little headroom {against}", mend)


def _term(load: _Load, terms: int) -> str:
    name = f"{load.pattern.id}: " if terms > 1 else ""
    return f"{name}{load.requests:,.4g} requests a second × {load.share:.3g} × {load.cost:.4g} units"


def _load(table: TableDeclaration, pattern: PatternDeclaration) -> _Load | None:
    """Return the load on the hottest key: of the peak its share, or what a key is said to get, whichever is more."""
    if pattern.scans or not pattern.keys:
        return None
    cost = units_a_request(table, pattern)
    per_key, peak = pattern.per_key, pattern.rate.most
    share = per_key.top_share if per_key.top_share is not None else _constant_share(table, pattern)
    direct = per_key.write_rate if pattern.writes else per_key.read_rate
    loads = []
    if peak is not None and share is not None:
        loads.append(_Load(pattern, peak * share * cost, peak, share, cost))
    if direct is not None:
        loads.append(_Load(pattern, direct * cost, direct, 1.0, cost))
    return max(loads, key=lambda load: load.units, default=None)


def _constant_share(table: TableDeclaration, pattern: PatternDeclaration) -> float | None:
    """Return 1 for a key without a variable: it gets all there is."""
    partition, _ = table.schema(pattern.index)
    templates = [t for name in partition if (t := pattern.template(name)) is not None]
    return 1.0 if templates and not any(template.slots for template in templates) else None


def constant_index_key(scope: Scope) -> Iterator[Objection]:
    """Find entities whose index key never varies: all their writes land on one key, and hold up the table."""
    table = scope.table
    for index in table.indexes:
        constant = {
            entity.name: entity.key
            for entity in table.entities
            if (templates := [k.template for k in entity.key if k.attribute in index.partition_key])
            and not any(template.slots for template in templates)
        }
        writers = [p for p in table.patterns if p.writes and p.entity in constant and p.rate.most]
        total = sum((p.rate.most or 0.0) for p in writers)
        if total >= WRITE_UNITS_A_PARTITION * _WARM:
            severity = FAIL if total >= WRITE_UNITS_A_PARTITION else WARN
            names = ", ".join(p.id for p in writers)
            message = (
                f"at peak {names} write {total:,.0f} times a second to one key of {index.name}, which takes "
                f"{WRITE_UNITS_A_PARTITION:,} write units: the index pushes back on the table"
            )
            yield of_pattern(severity, writers[0], message, f"add a shard suffix <0..9> to the key of {index.name}")
