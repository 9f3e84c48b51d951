"""Where requests of a declared pattern stand to what it declares: facet by facet, each with bounds.

A facet is OUT where its interval lies wholly outside the declared bounds, IN where it lies wholly inside, and NOT
ENOUGH DATA otherwise. Upper bounds have a margin: a declared number is a round one. What nobody declared, or no request
tells, is no facet.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from analyzer.knowledge.capacity import READ_BLOCK_BYTES, WRITE_BLOCK_BYTES
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.statistics.rates import Standing, share_bounds, standing
from analyzer.traffic.measure import add, row_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Direction
    from analyzer.model.shape import Shape
    from analyzer.model.traffic import Declared, PatternTraffic, Traffic

__all__ = ["Facet", "Tolerance", "facets_of"]

_Z = 1.96
_NEARLY_ALL = 0.99
_STRONG_UNIT = 1.0
"""What a strong read costs at least; an eventual one of the same item costs half of it."""


class Tolerance(NamedTuple):
    """How far observations may leave a declaration: a factor for numbers, a share of requests for everything else.

    Fewer than `least` requests decide nothing.
    """

    margin: float
    other_share: float
    least: int


class Facet(NamedTuple):
    """One side of a pattern: what was seen and what is declared, as words and as an interval with its upper bound.

    `breaking` are the rows that break it, where each of their requests does.
    """

    name: str
    standing: Standing
    seen: Estimate
    most: float
    text: str
    declared: str
    is_harm: bool = False
    breaking: tuple[PatternTraffic, ...] = ()


def facets_of(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance) -> list[Facet]:
    """Return the facets that can be judged of a pattern's rows at one target."""
    asked = [row for row in rows if not row.secondary]
    found: list[Facet | None] = [
        _index(declared, asked, traffic, tolerance),
        _consistency(declared, asked, traffic, tolerance),
        _caller(declared, asked, traffic, tolerance),
        _filter(declared, asked, tolerance),
        _discarded(declared, asked, tolerance),
        _order(declared, asked, tolerance),
        _page_size(declared, asked, tolerance),
        _items_a_key(declared, asked, tolerance),
        _item_bytes(declared, asked, traffic, tolerance),
        _top_share(declared, asked, traffic, tolerance),
    ]
    return [facet for facet in found if facet is not None]


def _part(
    name: str,
    breaking: Iterable[PatternTraffic],
    of: Iterable[PatternTraffic],
    tolerance: Tolerance,
    *,
    text: str,
    declared: str,
    is_harm: bool = False,
) -> Facet | None:
    """Judge which share of requests breaks a declaration that says how each of them is."""
    whole, rows = sum(row.observed for row in of), tuple(breaking)
    if not whole:
        return None
    share = share_bounds(sum(row.observed for row in rows), whole)
    where = standing(share, most=tolerance.other_share) if whole >= tolerance.least else Standing.UNKNOWN
    return Facet(name, where, share, tolerance.other_share, text, declared, is_harm, rows)


def _number(name: str, seen: Estimate, declared: float, observed: int, tolerance: Tolerance, text: str) -> Facet:
    """Judge a number against a declared upper one, with its margin."""
    most = declared * tolerance.margin
    where = standing(seen, most=most) if observed >= tolerance.least else Standing.UNKNOWN
    return Facet(name, where, seen, most, text, f"{declared:g}")


def _mean(total: float, of: float, observed: int) -> Estimate:
    """Return a mean with its bounds: values are taken to scatter as much as their mean."""
    mean = total / of
    spread = math.exp(_Z / math.sqrt(max(observed, 1)))
    return Estimate(mean, mean / spread, mean * spread)


def _index(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance) -> Facet | None:
    """Judge where requests went that their client tagged with a pattern: all others are at its index anyway.

    What reads a local index is counted at its table, and names the index in its shape.
    """
    asked = [(row, row.shape.index or traffic.target.index) for row in rows if not row.shape.parts]
    wrong = [row for row, index in asked if index != declared.index]
    there = next((index for _, index in asked if index != declared.index), None)
    if not wrong:
        return None
    name = "the base table" if declared.index is None else declared.index
    return _part("index", wrong, rows, tolerance, text=f"at {there or 'the base table'}", declared=name)


def _consistency(
    declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance
) -> Facet | None:
    """Judge reads of the table; one that costs less than a strong read can is eventual, whatever was told."""
    if declared.consistency is None or traffic.target.index is not None:
        return None
    told = {id(row): strong for row in rows if (strong := _is_strong(row)) is not None}
    known = [row for row in rows if id(row) in told]
    wants_strong = declared.consistency == "strong"
    breaking = [row for row in known if told[id(row)] is not wants_strong]
    text = "read eventually" if wants_strong else "read strongly"
    return _part(
        "consistency", breaking, known, tolerance, text=text, declared=declared.consistency, is_harm=wants_strong
    )


def _is_strong(row: PatternTraffic) -> bool | None:
    if row.shape.writes or row.shape.operation.startswith("Transact"):
        return None
    if row.shape.consistent is not None:
        return row.shape.consistent
    served = row.requests.value - row.failed.value
    is_cheap = row.units_known > 0 and served > 0 and row.read_units.value / served < _STRONG_UNIT
    return False if is_cheap and row.shape.operation == "GetItem" else None


def _caller(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance) -> Facet | None:
    """Only a caller that the contract knows by name, or cannot be one of those that it describes, is a stranger."""
    place = traffic.place
    named = [row for row in rows if row.caller is not None]
    if not declared.callers or not named:
        return None
    is_closed = frozenset(declared.callers) <= place.mapped_callers
    others = [row for row in named if row.caller not in declared.callers]
    strangers = [row for row in others if is_closed or row.caller in place.known_callers]
    observed = sum(row.observed for row in strangers)
    whole = sum(row.observed for row in named)
    share = share_bounds(observed, whole)
    is_clear = not others and whole >= tolerance.least
    where = Standing.OUT if observed >= tolerance.least else Standing.IN if is_clear else Standing.UNKNOWN
    names = ", ".join(sorted({row.caller for row in strangers if row.caller is not None}))
    text = f"of {names}"
    return Facet("caller", where, share, 0.0, text, ", ".join(declared.callers), breaking=tuple(strangers))


def _filter(declared: Declared, rows: list[PatternTraffic], tolerance: Tolerance) -> Facet | None:
    if declared.is_filtered is not False:
        return None
    reads = [row for row in rows if row.shape.parsed and not row.shape.writes]
    breaking = [row for row in reads if row.shape.filter is not None]
    names = ", ".join(sorted({name for row in breaking for name in row.shape.filter_attributes}))
    return _part("filter", breaking, reads, tolerance, text=f"filtered by {names or '?'}", declared="none")


def _discarded(declared: Declared, rows: list[PatternTraffic], tolerance: Tolerance) -> Facet | None:
    counted = [row for row in rows if row.counts_known and row.scanned.value]
    if declared.discards_at_most is None or not counted:
        return None
    scanned, returned = add(row.scanned for row in counted), add(row.returned for row in counted)
    wasted = max(0.0, 1 - returned.value / scanned.value)
    observed = sum(row.observed for row in counted)
    share = share_bounds(wasted * observed, observed)
    return _number("discards", share, declared.discards_at_most, observed, tolerance, "of what is read is thrown away")


def _order(declared: Declared, rows: list[PatternTraffic], tolerance: Tolerance) -> Facet | None:
    """Judge queries: one that tells its key condition tells its order too, ascending where it says nothing."""
    if declared.order is None:
        return None
    queries = [row for row in rows if row.shape.operation == "Query" and _is_descending(row.shape) is not None]
    breaking = [row for row in queries if _is_descending(row.shape) is not (declared.order == "descending")]
    other = "ascending" if declared.order == "descending" else "descending"
    return _part("order", breaking, queries, tolerance, text=f"in {other} order", declared=declared.order)


def _is_descending(shape: Shape) -> bool | None:
    if shape.forward is not None:
        return not shape.forward
    return False if any(predicate.template for predicate in shape.key) else None


def _page_size(declared: Declared, rows: list[PatternTraffic], tolerance: Tolerance) -> Facet | None:
    """Judge limits, each above half of its bucket; without one the items that are read tell."""
    if declared.page_size is None:
        return None
    size = declared.page_size
    pages = [row for row in rows if row.shape.operation in {"Query", "Scan"}]
    judged = [row for row in pages if row.shape.limit_bucket is not None or row.counts_known]
    return _part(
        "page_size",
        [row for row in judged if _is_larger(row, size, tolerance)],
        judged,
        tolerance,
        text="of larger pages",
        declared=f"{size}",
    )


def _is_larger(row: PatternTraffic, size: int, tolerance: Tolerance) -> bool:
    if row.shape.limit_bucket is not None:
        return row.shape.limit_bucket // 2 >= size
    return row.scanned.value > size * tolerance.margin * max(row.requests.value, 1.0)


def _items_a_key(declared: Declared, rows: list[PatternTraffic], tolerance: Tolerance) -> Facet | None:
    """Judge queries of whole partitions, all pages together: what they read is what lies under a key."""
    if declared.items_per_key is None:
        return None
    whole = [row for row in rows if row.shape.operation == "Query" and row.counts_known and _is_of_partition(row.shape)]
    reads = sum(row.requests.value - row.resumed.value - row.failed.value for row in whole)
    if reads <= 0:
        return None
    observed = sum(row.observed for row in whole)
    items = _mean(sum(row.scanned.value for row in whole), reads, observed)
    return _number("items_per_key", items, declared.items_per_key, observed, tolerance, "items a key")


def _is_of_partition(shape: Shape) -> bool:
    return all(predicate.operator == "=" for predicate in shape.key) and len(shape.key) == 1


def _item_bytes(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance) -> Facet | None:
    """Judge sizes that calls of the book tell, else what units of single items allow at least and at most."""
    if declared.item_bytes is None:
        return None
    shapes = {row.shape.fingerprint for row in rows if row.shape.operation in {"PutItem", "GetItem"}}
    calls = () if traffic.calls is None else traffic.calls.of(traffic.target)
    sizes = [call.item_bytes for call in calls if call.item_bytes is not None and call.fingerprint in shapes]
    if len(sizes) >= tolerance.least:
        seen = _mean(sum(sizes), len(sizes), len(sizes))
        return _number("item_bytes", seen, declared.item_bytes, len(sizes), tolerance, "bytes an item")
    blocks = [one for row in rows if (one := _blocks(row)) is not None]
    if not blocks:
        return None
    observed = sum(count for count, _, _ in blocks)
    low = sum(count * least for count, least, _ in blocks) / observed
    high = sum(count * most for count, _, most in blocks) / observed
    spread = math.exp(_Z / math.sqrt(observed))
    seen = Estimate((low + high) / 2, low / spread, high * spread)
    return _number("item_bytes", seen, declared.item_bytes, observed, tolerance, "bytes an item")


def _blocks(row: PatternTraffic) -> tuple[int, float, float] | None:
    """Return requests of single items, and between which bytes their mean size lies by what they cost."""
    served = row.requests.value - row.failed.value
    if not row.units_known or served <= 0:
        return None
    if row.shape.operation in {"PutItem", "UpdateItem"}:
        blocks, size = row.write_units.value / served, WRITE_BLOCK_BYTES
    elif row.shape.operation == "GetItem" and row.shape.consistent is not None:
        blocks, size = row.read_units.value / served * (1 if row.shape.consistent else 2), READ_BLOCK_BYTES
    else:
        return None
    return row.observed, max(0.0, blocks - 1) * size, blocks * size


def _top_share(declared: Declared, rows: list[PatternTraffic], traffic: Traffic, tolerance: Tolerance) -> Facet | None:
    """Judge the hottest key's part of the pattern's units: at least what the sketch is sure of."""
    if declared.top_share is None:
        return None
    numbers = {at for at, row in enumerate(traffic.rows) if any(row is one for one in rows)}
    observed = sum(row.observed for row in rows)
    keys = [key for key in traffic.keys if key.level is KeyLevel.PARTITION]
    highest = max((_key_share(key.rows, numbers, rows, key.direction) for key in keys), default=0.0)
    if not highest:
        return None
    share = share_bounds(highest * observed, observed)
    most = min(_NEARLY_ALL, declared.top_share * tolerance.margin)
    where = standing(share, most=most) if observed >= tolerance.least else Standing.UNKNOWN
    return Facet("top_share", where, share, most, "of it by one key", f"{declared.top_share:g}")


def _key_share(
    parts: Iterable[tuple[int, float]], numbers: set[int], rows: list[PatternTraffic], direction: Direction
) -> float:
    whole = sum(row_units(row, direction).value for row in rows)
    own = sum(units for number, units in parts if number in numbers)
    return min(1.0, own / whole) if whole else 0.0
