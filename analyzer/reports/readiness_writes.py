"""Lines of the checklist about what is written, and about what is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number
from analyzer.reports.readiness_view import agreed, declared, failed, named, not_observable, proved
from analyzer.traffic.transactions import TRANSACTIONS

if TYPE_CHECKING:
    from analyzer.reports.readiness_view import Answer, View

__all__ = [
    "bulk_is_throttled_and_resumable",
    "conditions_enforce_state",
    "consumers_are_idempotent",
    "each_record_says_what_it_is",
    "retries_are_idempotent",
    "time_to_live_is_no_scheduler",
    "transactions_are_justified",
]

_GUARDED = frozenset({"required", "create-only", "version"})
_SAFE = frozenset({"natural", "token", "record"})
_BULK = frozenset({"migration", "export", "repair", "admin"})


def conditions_enforce_state(view: View) -> Answer:
    """Judge whether writes that need a condition have one."""
    found = view.found("unconditional-write")
    if found:
        return failed(f"unconditional-write on {named(one.table for one in found)}")
    meant = {(table.name, pattern.id) for table, pattern in view.patterns() if pattern.condition in _GUARDED}
    if not meant:
        told = [pattern.id for _, pattern in view.patterns() if pattern.writes and pattern.condition is not None]
        if told:
            return declared(f"no write needs a condition, as declared of {named(told)}")
        return not_observable("no pattern declares whether its writes need a condition")
    names = {name for _, name in meant}
    bare: set[str] = set()
    guarded: set[str] = set()
    for _, row in view.rows():
        name = row.attribution.pattern
        if name in names and row.shape.writes:
            has = row.shape.condition or any(part.condition for part in row.shape.parts)
            (guarded if has else bare).add(name)
    if bare:
        return failed(f"{agreed(bare, 'was', 'were')} written without the condition that is declared")
    if guarded:
        return proved(f"every write of {named(guarded)} came with a condition")
    return declared(f"conditions are declared of {named(names)}; none was written this week")


def retries_are_idempotent(view: View) -> Answer:
    """Judge whether a command that is sent twice does no harm."""
    found = view.found("idempotency-mismatch")
    if found:
        return failed(f"idempotency-mismatch on {named(one.table for one in found)}")
    writing = [pattern for _, pattern in view.patterns() if pattern.writes]
    if not writing:
        return not_observable("no pattern that writes is declared")
    silent = [pattern.id for pattern in writing if pattern.idempotency not in _SAFE]
    if len(silent) == len(writing):
        return not_observable("no pattern that writes declares its idempotency")
    if silent:
        return failed(f"{agreed(silent, 'declares', 'declare')} no idempotency, and others do")
    return declared(f"all {len(writing)} patterns that write declare theirs")


def transactions_are_justified(view: View) -> Answer:
    """Judge whether transactions have a reason and a bound."""
    found = view.found("unneeded-transaction", "transaction-conflict")
    if found:
        return failed(f"{named(f'{one.detector} on {one.table}' for one in found)}")
    rows = [(traffic, row) for traffic, row in view.rows() if row.shape.operation in TRANSACTIONS]
    patterns = {pattern.id: pattern for _, pattern in view.patterns() if TRANSACTIONS & set(pattern.operations)}
    if not rows and not patterns:
        seen = any(True for _ in view.rows())
        return (
            proved("no transaction was seen or declared") if seen else not_observable("no request was seen this week")
        )
    bare = {str(traffic.target) for traffic, row in rows if row.attribution.pattern not in patterns}
    if bare:
        return failed(f"transactions on {named(bare)} belong to no declared pattern")
    silent = [one.id for one in patterns.values() if one.transaction_because is None or one.transaction_items is None]
    if silent:
        return failed(f"{agreed(silent, 'declares', 'declare')} no reason, or no number of items")
    return declared(f"reason and items are declared of {named(patterns)}")


def time_to_live_is_no_scheduler(view: View) -> Answer:
    """Judge whether anything waits for items to expire on time: DynamoDB deletes them within days."""
    found = view.found("ttl-invalid", "ttl-stale-read")
    if found:
        return failed(f"{named(f'{one.detector} on {one.table}' for one in found)}")
    enabled = [one for one in view.tables if one.ttl is not None and one.ttl.status in {"ENABLED", "ENABLING"}]
    purposes = {table.name: table.ttl_purpose for table in view.contract.tables if table.ttl_attribute is not None}
    silent = [one.target.table for one in enabled if purposes.get(one.target.table) is None]
    silent += [name for name, purpose in purposes.items() if purpose is None]
    if silent:
        one, many = "has a time to live, and its", "have a time to live, and their"
        return failed(f"{agreed(silent, one, many)} ttl_purpose is not declared")
    if purposes:
        return declared("; ".join(f"{name}: {purpose}" for name, purpose in sorted(purposes.items())))
    if view.tables and all(one.ttl is not None for one in view.tables):
        return proved("no table has a time to live")
    return not_observable("whether tables have a time to live was not described")


def consumers_are_idempotent(view: View) -> Answer:
    """Judge whether what reads streams may see a record twice."""
    consumers = [(table.name, stream) for table in view.contract.tables for stream in table.streams]
    unsafe = [f"{stream.consumer} of {name}" for name, stream in consumers if stream.idempotent is False]
    if unsafe:
        return failed(f"{agreed(unsafe, 'is', 'are')} declared not to be")
    known = {name for name, _ in consumers}
    open_streams = [one.target.table for one in view.tables if one.table.stream is not None]
    strangers = [name for name in open_streams if name not in known]
    if strangers:
        return failed(f"{agreed(strangers, 'has', 'have')} a stream, and no consumer is declared")
    silent = [f"{stream.consumer} of {name}" for name, stream in consumers if stream.idempotent is None]
    if silent:
        return not_observable(f"{agreed(silent, 'does', 'do')} not say")
    if consumers:
        return declared(agreed((stream.consumer for _, stream in consumers), "is", "are"))
    return proved("no table has a stream") if view.tables else not_observable("no table was described")


def bulk_is_throttled_and_resumable(view: View) -> Answer:
    """Judge whether backfills, exports and replays have a pace, and go on where they stopped."""
    found = view.found("unpaced-bulk", "unpaced-scan")
    if found:
        return failed(f"{named(f'{one.detector} on {one.table}' for one in found)}")
    bulk = [pattern for _, pattern in view.patterns() if pattern.purpose in _BULK]
    if not bulk:
        return not_observable("no pattern is declared a migration, an export or a repair")
    unpaced = [pattern.id for pattern in bulk if pattern.max_units_per_second is None]
    if unpaced:
        return failed(f"{agreed(unpaced, 'declares', 'declare')} no max_units_per_second")
    names = {pattern.id for pattern in bulk}
    resumed = {
        row.attribution.pattern for _, row in view.rows() if row.attribution.pattern in names and row.resumed.value
    }
    if resumed:
        whose = "its" if len(resumed) == 1 else "their"
        return proved(f"{named(map(str, resumed))} went on page by page within {whose} pace")
    paces = named(f"{one.id} at {number(one.max_units_per_second or 0)}/s" for one in bulk)
    return declared(f"paces are declared: {paces}; none was seen to go on from a page")


def each_record_says_what_it_is(view: View) -> Answer:
    """Judge whether each table says that it is a source of truth, or what it is built from."""
    if not view.contract.tables:
        return failed("no contract declares any table")
    silent = [table.name for table in view.contract.tables if table.source_of_truth is None]
    if silent:
        return failed(f"{agreed(silent, 'does', 'do')} not declare source_of_truth")
    lost = [table.name for table in view.contract.tables if table.source_of_truth is False and table.rebuild is None]
    if lost:
        one, many = "is a projection, and how to rebuild it", "are projections, and how to rebuild them"
        return failed(f"{agreed(lost, one, many)} is not declared")
    strangers = {one.target.table for one in view.tables if view.contract.table(one.target) is None}
    if strangers:
        return failed(f"{agreed(strangers, 'is', 'are')} in no contract")
    return declared(f"it stands in the contract of {named(table.name for table in view.contract.tables)}")
