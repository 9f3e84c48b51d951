"""Rules over one pattern: what serves it, how large it is, what it leaves unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.nothing import is_nothing
from analyzer.contract.schedule import is_malformed
from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_pattern
from analyzer.knowledge.limits import BATCH_GET_KEYS, BATCH_WRITE_ITEMS, TRANSACTION_ITEMS
from analyzer.model.instant import DAY_MS, date_of, parse_instant
from analyzer.model.life import LONGEST_DAYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import PatternDeclaration

__all__ = [
    "allowed_for_years",
    "batch_too_large",
    "day_is_over",
    "filter_in_pattern",
    "item_operation_on_index",
    "malformed_schedule",
    "no_key_target",
    "scan_pattern",
    "strong_on_gsi",
    "title_without_numbers",
]

_MOST_ITEMS = {
    "BatchGetItem": BATCH_GET_KEYS,
    "BatchWriteItem": BATCH_WRITE_ITEMS,
    "BatchExecuteStatement": BATCH_WRITE_ITEMS,
    "TransactGetItems": TRANSACTION_ITEMS,
    "TransactWriteItems": TRANSACTION_ITEMS,
    "ExecuteTransaction": TRANSACTION_ITEMS,
}
_OF_INDEXES = frozenset({"Query", "Scan", "ExecuteStatement", "BatchExecuteStatement", "SearchVectors"})


def scan_pattern(scope: Scope) -> Iterator[Objection]:
    """Refuse Scans that are not declared operational: each reads the whole table, and costs more with every item."""
    for pattern in (p for p in scope.table.patterns if p.scans):
        missing = [what for what, is_told in _operational(pattern, scope.limits.today) if not is_told]
        if scope.limits.strict:
            yield of_pattern(
                FAIL,
                pattern,
                "it is served by a Scan",
                "serve it with a key: GetItem, or Query of the table or an index",
            )
        elif missing:
            message = f"it is served by a Scan, and is not declared operational: {', '.join(missing)}"
            yield of_pattern(FAIL, pattern, message, "serve it with a key, or declare what is missing")
        else:
            told = f"{', '.join(pattern.callers)} scans the whole table for {pattern.purpose}"
            yield of_pattern(WARN, pattern, told, "an export to S3 reads the table without spending its capacity")


def _operational(pattern: PatternDeclaration, today: str | None) -> tuple[tuple[str, bool], ...]:
    is_over = pattern.ends is not None and today is not None and pattern.ends < today
    when = f"when (it ended on {pattern.ends})" if is_over else "when (schedule or ends)"
    return (
        ("who (callers)", any(not is_nothing(caller) for caller in pattern.callers)),
        ("why (purpose)", not is_nothing(pattern.purpose)),
        (when, not is_over and (pattern.ends is not None or not is_nothing(pattern.schedule))),
        ("how fast (max_units_per_second)", pattern.max_units_per_second is not None),
    )


def no_key_target(scope: Scope) -> Iterator[Objection]:
    """Refuse patterns that no key serves: `pk` and `sk` of the table, or a named index."""
    for pattern in scope.table.patterns:
        if not pattern.keys and pattern.index is None and not pattern.scans:
            message = (
                f"it names no key target: neither a key of the table nor an index serves its {pattern.operations[0]}"
            )
            yield of_pattern(FAIL, pattern, message, "name the key that serves it (pk, sk), or its index")


def filter_in_pattern(scope: Scope) -> Iterator[Objection]:
    """Find filters: what they throw away is read and paid for first."""
    for pattern in scope.table.patterns:
        if pattern.filter is not None and pattern.filter.allowed:
            limit = pattern.filter.discards_at_most
            told = "" if limit is None else f", of which it may discard {limit:.0%}"
            mend = "move the attribute into a key, or into the key of a sparse index"
            yield of_pattern(WARN, pattern, f"it filters what it has read and paid for{told}", mend)


def batch_too_large(scope: Scope) -> Iterator[Objection]:
    """Refuse batches and transactions that DynamoDB refuses."""
    for pattern in scope.table.patterns:
        size = max(pattern.transaction_items or 0, pattern.page_size or 0, len(pattern.keys))
        for operation in pattern.operations:
            most = _MOST_ITEMS.get(operation, size)
            if size > most:
                mend = f"split it into calls of at most {most}"
                yield of_pattern(FAIL, pattern, f"{size} items in one {operation}, which takes {most}", mend)
        items = pattern.transaction_items or 0
        if items > TRANSACTION_ITEMS and not _MOST_ITEMS.keys() & set(pattern.operations):
            mend = f"split it into transactions of at most {TRANSACTION_ITEMS}"
            yield of_pattern(FAIL, pattern, f"{items} items in one transaction, which takes {TRANSACTION_ITEMS}", mend)


def malformed_schedule(scope: Scope) -> Iterator[Objection]:
    """Find cron and rate expressions that no scheduler takes."""
    for pattern in scope.table.patterns:
        if pattern.schedule is not None and is_malformed(pattern.schedule):
            mend = 'write five fields, "0 2 * * *", or rate(1 day), or a word such as nightly'
            yield of_pattern(WARN, pattern, f"its schedule {pattern.schedule[:80]!r} is no cron expression", mend)


def day_is_over(scope: Scope) -> Iterator[Objection]:
    """Find allowances and one-off patterns whose last day has passed; it takes a date to judge by."""
    today = scope.limits.today
    if today is None:
        return
    for pattern in scope.table.patterns:
        if pattern.ends is not None and pattern.ends < today:
            yield of_pattern(WARN, pattern, f"it ended on {pattern.ends}", "remove it, or correct `ends`")
        for allowance in pattern.allow:
            if allowance.until < today:
                message = f"{allowance.detector} was allowed until {allowance.until}, and is told again since"
                yield of_pattern(WARN, pattern, message, "remove the allowance, or set another day")


def allowed_for_years(scope: Scope) -> Iterator[Objection]:
    """Find allowances that last for more than a year, longer than any snooze; it takes a date to judge by."""
    today = scope.limits.today
    if today is None:
        return
    latest = date_of(parse_instant(today) + LONGEST_DAYS * DAY_MS)
    for pattern in scope.table.patterns:
        for allowance in pattern.allow:
            if allowance.until > latest:
                message = f"{allowance.detector} is allowed until {allowance.until}: nobody remembers for so long why"
                yield of_pattern(WARN, pattern, message, "name a day within a year, or set the detector's threshold")


def strong_on_gsi(scope: Scope) -> Iterator[Objection]:
    """Refuse strong reads of a GSI: it is copied to later, and refuses them."""
    for pattern in scope.table.patterns:
        index = scope.table.index(pattern.index)
        if pattern.consistency == "strong" and index is not None and index.kind != "lsi":
            message = f"it asks {index.name} for strong consistency, which a GSI refuses"
            yield of_pattern(
                FAIL, pattern, message, "read the table, or declare `consistency: eventual` and a freshness"
            )


def item_operation_on_index(scope: Scope) -> Iterator[Objection]:
    """Refuse item operations on an index: it is queried or scanned."""
    for pattern in scope.table.patterns:
        wrong = [operation for operation in pattern.operations if operation not in _OF_INDEXES]
        if pattern.index is not None and wrong:
            mend = "query the index, or leave `index` out"
            yield of_pattern(FAIL, pattern, f"{wrong[0]} cannot be served by {pattern.index}, an index", mend)


def title_without_numbers(scope: Scope) -> Iterator[Objection]:
    """Find patterns that say what is wanted, and not what it takes."""
    for pattern in (p for p in scope.table.patterns if not p.scans):
        missing = []
        if not pattern.keys:
            missing.append("key")
        if pattern.rate.p95 is None and pattern.rate.peak is None and pattern.frequency is None:
            missing.append("rate")
        if pattern.page_size is None and not pattern.returns_all and "Query" in pattern.operations:
            missing.append("page size")
        if missing:
            message = f"it says what it wants, but not its {', '.join(missing)}"
            yield of_pattern(WARN, pattern, message, "declare them, so that heat and cost can be judged before launch")
