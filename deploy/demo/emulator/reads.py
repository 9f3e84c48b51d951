"""Reads, answered from the mirror: pages, filters, projections, and what they cost. Pure but for the mirror."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.knowledge.capacity import PAGE_BYTES, Consistency, item_bytes, read_units
from deploy.demo.emulator.charges import Charge, whole
from deploy.demo.emulator.expressions import ORDERS, matches, parse, parse_paths, pick, sort_conditions
from deploy.demo.emulator.refusal import invalid
from deploy.demo.emulator.store import comparable, hash_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from deploy.demo.emulator.store import Entry, Item, ItemKey, Table, View

__all__ = ["Answer", "get_one", "query", "refuse_index", "scan"]

Body = dict[str, Any]

_STRONG_ON_GSI = "Consistent reads are not supported on global secondary indexes"
_PARTITION_BITS = 16


@dataclass(slots=True)
class Answer:
    """A response and what it cost."""

    body: Body
    charges: list[Charge] = field(default_factory=list)


def get_one(table: Table, key: ItemKey, body: Body, consistency: Consistency) -> tuple[Item | None, Charge]:
    """Read one item; one that is not there costs a block."""
    entry = table.base.entries.get(key)
    units = read_units(0 if entry is None else entry.size_bytes, consistency)
    length = len(table.base.schema.partition)
    charge = Charge(table, None, "read", key[:length], units, shares=whole(key[length:]))
    return (None if entry is None else _projected(entry.item, body)), charge


def query(table: Table, body: Body) -> Answer:
    """Read one partition of a table or index in order."""
    view = _view(table, body)
    schema, values = view.schema, body.get("ExpressionAttributeValues") or {}
    conditions = sort_conditions(parse(body["KeyConditionExpression"], body.get("ExpressionAttributeNames")))
    partition = tuple(comparable(values[conditions[name][1][0]]) for name in schema.partition)
    rows = view.partitions.get(partition, [])
    for position, name in enumerate(schema.sort):
        if name in conditions:
            operator, placeholders = conditions[name]
            bounds = tuple(comparable(values[placeholder]) for placeholder in placeholders)
            rows = [row for row in rows if _takes(operator, row[0][position], bounds)]
    is_forward = body.get("ScanIndexForward", True)
    start = body.get("ExclusiveStartKey")
    if start:
        rows = _after(rows, (schema.sort_of(start), table.key_of(start)), is_forward=is_forward)
    keys = (key for _, key in (rows if is_forward else reversed(rows)))
    page = _read_page(view, keys, body)
    alone = whole(schema.sort_of(page.entries[0].item)) if len(page.entries) == 1 else ()
    return _answer(table, view, page, body, {partition: _Read(page.size_bytes, alone)})


def scan(table: Table, body: Body) -> Answer:
    """Read a table or index, or a segment of it, partition by partition."""
    view = _view(table, body)
    page = _read_page(view, _scanned(table, view, body), body)
    items: dict[ItemKey, list[tuple[ItemKey, int]]] = {}
    for entry in page.entries:
        item = (view.schema.sort_of(entry.item), entry.size_bytes)
        items.setdefault(view.schema.partition_of(entry.item), []).append(item)
    return _answer(table, view, page, body, {partition: _read_all(found) for partition, found in items.items()})


def refuse_index(table: Table, body: Body) -> None:
    """Refuse what no index of the table can serve, in DynamoDB's words; moto's would be others."""
    name = body.get("IndexName")
    if name is None:
        return
    if name not in table.indexes:
        raise invalid(f"The table does not have the specified index: {name}")
    schema = table.indexes[name].schema
    if body.get("ConsistentRead") and not schema.is_local:
        raise invalid(_STRONG_ON_GSI)
    if body.get("Select") == "ALL_ATTRIBUTES" and schema.attributes is not None and not schema.is_local:
        raise invalid(
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
            f"secondary index {name} because its projection type is not ALL"
        )


def _view(table: Table, body: Body) -> View:
    name = body.get("IndexName")
    return table.base if name is None else table.indexes[name]


def _takes(operator: str, value: Any, bounds: tuple[Any, ...]) -> bool:  # noqa: ANN401 - bytes or Decimal
    if operator == "between":
        return bool(bounds[0] <= value <= bounds[1])
    if operator == "begins_with":
        return bool(value.startswith(bounds[0]))
    return ORDERS[operator](value, bounds[0])


def _after(
    rows: list[tuple[ItemKey, ItemKey]], place: tuple[ItemKey, ItemKey], *, is_forward: bool
) -> list[tuple[ItemKey, ItemKey]]:
    at = bisect_left(rows, place)
    if not is_forward:
        return rows[:at]
    return rows[at + 1 :] if at < len(rows) and rows[at] == place else rows[at:]


def _scanned(table: Table, view: View, body: Body) -> Iterator[ItemKey]:
    hashed, start = view.by_hash(), body.get("ExclusiveStartKey")
    segment, total = int(body.get("Segment", 0)), int(body.get("TotalSegments", 1))
    first = 0
    place: tuple[ItemKey, ItemKey] | None = None
    if start:
        partition = view.schema.partition_of(start)
        first = bisect_left(hashed, (hash_of(partition), partition))
        place = (view.schema.sort_of(start), table.key_of(start))
        if first < len(hashed) and hashed[first][1] != partition:
            place = None
    for position in range(first, len(hashed)):
        hash_value, partition = hashed[position]
        if int.from_bytes(hash_value[:2]) * total >> _PARTITION_BITS != segment:
            continue
        rows = view.partitions[partition]
        if place is not None and position == first:
            rows = _after(rows, place, is_forward=True)
        yield from (key for _, key in rows)


@dataclass(slots=True)
class _Page:
    entries: list[Entry]
    is_full: bool
    size_bytes: int


def _read_page(view: View, keys: Iterable[ItemKey], body: Body) -> _Page:
    """Evaluate items until the limit or a megabyte is reached; the item that crosses it still belongs to the page."""
    limit = body.get("Limit")
    read: list[Entry] = []
    taken = 0
    is_full = False
    for key in keys:
        entry = view.entries[key]
        read.append(entry)
        taken += entry.page_bytes
        if taken >= PAGE_BYTES or len(read) == limit:
            is_full = True
            break
    return _Page(read, is_full, sum(entry.size_bytes for entry in read))


class _Read(NamedTuple):
    """What was read of one partition: its size, and the shares of sort keys in it."""

    size_bytes: int
    shares: tuple[tuple[ItemKey, float], ...]


def _read_all(items: Sequence[tuple[ItemKey, int]]) -> _Read:
    """Return what a Scan read of one partition, item by item."""
    total = sum(size for _, size in items)
    return _Read(total, tuple((sort, size / total) for sort, size in items if sort and total))


def _answer(table: Table, view: View, page: _Page, body: Body, partitions: Mapping[ItemKey, _Read]) -> Answer:
    schema, names = view.schema, body.get("ExpressionAttributeNames")
    consistency = Consistency.STRONG if body.get("ConsistentRead") else Consistency.EVENTUAL
    units = read_units(page.size_bytes, consistency)
    charges = _spread(table, view, units, partitions)
    items: list[Item] = [entry.item for entry in page.entries]
    if schema.is_local and body.get("Select") == "ALL_ATTRIBUTES" and schema.attributes is not None:
        items = [table.base.entries[table.key_of(item)].item for item in items]
        charges += [_fetch(table, item, consistency) for item in items]
    if body.get("FilterExpression"):
        node, values = parse(body["FilterExpression"], names), body.get("ExpressionAttributeValues") or {}
        items = [item for item in items if matches(node, item, values)]
    answer: Body = {"Count": len(items), "ScannedCount": len(page.entries)}
    if body.get("Select") != "COUNT":
        answer["Items"] = [_projected(item, body) for item in items]
    if page.is_full:
        last = page.entries[-1].item
        answer["LastEvaluatedKey"] = {name: last[name] for name in dict.fromkeys((*table.base.schema.key, *schema.key))}
    return Answer(answer, charges)


def _fetch(table: Table, item: Item, consistency: Consistency) -> Charge:
    """Return what it costs to fetch what an LSI does not project: each item is rounded up."""
    return Charge(table, None, "read", table.base.schema.partition_of(item), read_units(item_bytes(item), consistency))


def _spread(table: Table, view: View, units: float, partitions: Mapping[ItemKey, _Read]) -> list[Charge]:
    """Divide a page's units over the partition keys it touched, so that each bucket pays its share."""
    schema = view.schema
    if not partitions:
        return [Charge(table, schema.name, "read", (), units, schema.is_local)]
    total = sum(read.size_bytes for read in partitions.values())
    parts = [units * r.size_bytes / total if total else units / len(partitions) for r in partitions.values()]
    parts[0] += units - sum(parts)
    return [
        Charge(table, schema.name, "read", partition, part, schema.is_local, () if schema.is_local else read.shares)
        for (partition, read), part in zip(partitions.items(), parts, strict=True)
    ]


def _projected(item: Item, body: Body) -> Item:
    if body.get("ProjectionExpression"):
        return pick(item, parse_paths(body["ProjectionExpression"], body.get("ExpressionAttributeNames")))
    return item
