"""Lines of the checklist about what is read: documented, served by a key, spread, and not thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.reports.item_words import many
from analyzer.reports.readiness_view import agreed, declared, failed, named, not_observable, proved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import PatternDeclaration, TableDeclaration
    from analyzer.model.table import TableDescription
    from analyzer.reports.readiness_view import Answer, View

__all__ = [
    "each_is_mapped_to_a_key",
    "every_pattern_is_documented",
    "filters_hide_no_missing_key",
    "growth_is_bounded",
    "hot_keys_are_analyzed",
    "no_scan_is_of_high_volume",
    "strong_reads_are_not_on_indexes",
]

_MUCH_SHARE = 0.1
"""A tenth of the read units of a table is no job on the side."""
_MUCH_WASTE = 0.1
"""As `filter-heavy-query` has it, where the contract names no limit."""
_WARM = 0.7
_UNSEEN = "no request was seen this week"


def every_pattern_is_documented(view: View) -> Answer:
    """Judge whether all that is asked is declared."""
    if not view.contract.tables:
        return failed("no contract declares anything")
    if not any(True for _ in view.rows()):
        return not_observable(_UNSEEN)
    strangers = [one for one in view.undeclared if not one.is_ad_hoc]
    if strangers:
        requests = many(sum(one.requests for one in strangers))
        places = named(f"{one.table}/{one.index}" if one.index else one.table for one in strangers)
        return failed(f"{len(strangers)} undeclared, {requests} requests, on {places}")
    unclear = sum((one.unclear_share or 0.0) * one.requests for one in view.coverage)
    whole = sum(one.requests for one in view.coverage)
    if unclear > _MUCH_WASTE * whole:
        return not_observable(f"{percent(unclear / whole)} of requests cannot be told apart, or not be read")
    but = f" but {percent(unclear / whole)}" if percent(unclear / whole) != percent(0.0) else ""
    return proved(f"all of {many(whole)} requests{but} are of declared patterns")


def each_is_mapped_to_a_key(view: View) -> Answer:
    """Judge whether each declared pattern has the key of a table or index that exists."""
    if not any(True for _ in view.patterns()):
        return failed("no pattern is declared")
    described = {snapshot.target.table: snapshot.table for snapshot in view.tables}
    wrong = [words for table, pattern in view.patterns() for words in _misfits(table, pattern, described)]
    if wrong:
        return failed("; ".join(wrong[:3]) + (f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""))  # noqa: PLR2004 -- a few say enough
    count = sum(1 for _ in view.patterns())
    patterns = f"{count} {'pattern' if count == 1 else 'patterns'}"
    if all(table.name in described for table in view.contract.tables):
        return proved(f"the keys of {patterns} are those of tables and indexes as they are")
    return declared(f"the keys of {patterns} are declared; not every table was described")


def _misfits(
    table: TableDeclaration, pattern: PatternDeclaration, described: dict[str, TableDescription]
) -> Iterator[str]:
    known = described.get(table.name)
    if pattern.index is not None and known is not None and known.index(pattern.index) is None:
        yield f"{pattern.id} names {pattern.index}, which {table.name} has not"
        return
    if pattern.scans:
        return
    partition, _ = table.schema(pattern.index)
    if known is not None:
        place = known if pattern.index is None else known.index(pattern.index)
        partition = place.partition_key if place is not None and place.partition_key else partition
    keyed = {key.attribute for keys in pattern.keys for key in keys}
    if partition and not set(partition) <= keyed:
        yield f"{pattern.id} does not name {', '.join(partition)}"


def no_scan_is_of_high_volume(view: View) -> Answer:
    """Judge whether Scans take much of what a table reads."""
    units: dict[str, float] = {}
    scanned: dict[str, float] = {}
    for traffic, row in view.rows():
        table = traffic.target.table
        units[table] = units.get(table, 0.0) + row.read_units.value
        if row.shape.scans:
            scanned[table] = scanned.get(table, 0.0) + row.read_units.value
    found = view.found("unexpected-scan")
    if found:
        return failed(f"unexpected-scan on {named(one.table for one in found)}")
    if not units:
        return not_observable(_UNSEEN)
    shares = {table: scanned[table] / units[table] for table in scanned if units[table]}
    much = {table: share for table, share in shares.items() if share >= _MUCH_SHARE}
    if much:
        return failed(
            "Scans take " + named(f"{percent(share)} of the read units of {name}" for name, share in much.items())
        )
    if not shares:
        return proved("no Scan was seen")
    return proved(f"Scans take {percent(max(shares.values()))} of the read units of a table at most")


def filters_hide_no_missing_key(view: View) -> Answer:
    """Judge whether a filter does what a key should."""
    wasted: dict[str, tuple[float, float, float]] = {}
    is_counted = is_filtered = False
    for traffic, row in view.rows():
        if not (row.shape.filter or row.shape.filter_attributes) or row.shape.scans:
            continue
        is_filtered = True
        is_counted |= row.counts_known > 0
        pattern = traffic.place.patterns.get(row.attribution.pattern or "")
        limit = _MUCH_WASTE if pattern is None or pattern.discards_at_most is None else pattern.discards_at_most
        name = f"{row.attribution.pattern or row.shape.fingerprint} of {traffic.target}"
        over, thrown, read = wasted.get(name, (0.0, 0.0, 0.0))
        thrown_here, read_here = row.wasted_units.value, row.read_units.value
        wasted[name] = over + thrown_here - limit * read_here, thrown + thrown_here, read + read_here
    if not any(True for _ in view.rows()):
        return not_observable(_UNSEEN)
    if is_filtered and not is_counted:
        return not_observable("what was scanned and returned is not counted")
    too_much = [name for name, (over, _, _) in wasted.items() if over > 0]
    if too_much:
        return failed(f"filters throw away more than they may: {named(too_much)}")
    if not is_filtered:
        return proved("no query filters")
    most = max((thrown / read for _, thrown, read in wasted.values() if read), default=0.0)
    if most > _MUCH_WASTE:
        return declared(f"filters throw away {percent(most)} of what they read at most, which is declared")
    return proved(f"filters throw away {percent(most)} of what they read at most")


def hot_keys_are_analyzed(view: View) -> Answer:
    """Judge whether anybody knows how hot the hottest keys are, and will be."""
    found = view.found("hot-key", "low-cardinality-key")
    if found:
        return failed(f"{named(f'{one.detector} on {one.table}' for one in found)}")
    near = [one for one in view.forecasts or () if one.is_near]
    if near:
        one = near[0]
        return failed(f"{one.label} of {one.table} may reach its ceiling in {number(one.days_low)} days")
    if view.heat is not None and view.heat.rows:
        hottest = max(view.heat.rows, key=lambda row: row.hottest)
        text = f"the hottest key, {hottest.label} of {hottest.table}, reached {percent(hottest.hottest)} of its ceiling"
        return failed(text) if hottest.hottest >= _WARM else proved(text)
    told = [pattern.id for _, pattern in view.patterns() if pattern.per_key.top_share or pattern.per_key.read_rate]
    if told:
        return declared(f"what one key gets is declared of {named(told)}; no key was tracked")
    return not_observable("no key was tracked: it takes a request log with keys, or Contributor Insights")


def growth_is_bounded(view: View) -> Answer:
    """Judge whether items and collections may grow without end."""
    found = view.found("item-growth", "item-too-large", "item-collection-limit")
    if found:
        return failed(f"{named(f'{one.detector} on {one.table}' for one in found)}")
    told = [p.id for _, p in view.patterns() if p.items_per_key is not None or p.per_key.growth_per_day is not None]
    if told:
        return declared(f"items a key, or their growth, are declared of {named(told)}")
    return not_observable("no pattern declares items_per_key or growth_per_day, and item sizes are not in history")


def strong_reads_are_not_on_indexes(view: View) -> Answer:
    """Judge whether anybody reads a global index strongly, which DynamoDB refuses."""
    if view.found("gsi-consistent-read"):
        return failed(f"gsi-consistent-read on {named(one.table for one in view.found('gsi-consistent-read'))}")
    kinds = {(t.name, i.name): i.kind for t, i in view.indexes()}
    kinds |= {(s.target.table, i.name): i.kind for s in view.tables for i in s.table.indexes}
    meant = [
        p.id for t, p in view.patterns() if p.index and p.consistency == "strong" and _is_global(kinds, t.name, p.index)
    ]
    if meant:
        return failed(f"{agreed(meant, 'declares', 'declare')} strong reads of a global index")
    rows = list(view.rows())
    if not rows:
        return not_observable(_UNSEEN)
    strong = [
        str(traffic.target)
        for traffic, row in rows
        if row.shape.consistent
        and traffic.target.index
        and _is_global(kinds, traffic.target.table, traffic.target.index)
    ]
    return failed(f"strong reads of {named(strong)}") if strong else proved("no strong read of a global index was seen")


def _is_global(kinds: dict[tuple[str, str], str], table: str, index: str) -> bool:
    return kinds.get((table, index), "gsi") == "gsi"
