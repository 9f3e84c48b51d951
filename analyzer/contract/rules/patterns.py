"""Rules over one pattern: what serves it, how large it is, what it leaves unsaid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_pattern
from analyzer.knowledge.limits import BATCH_GET_KEYS, BATCH_WRITE_ITEMS, TRANSACTION_ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.contract.model import PatternDeclaration

__all__ = [
    "batch_too_large",
    "filter_in_pattern",
    "item_operation_on_index",
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
        missing = [what for what, is_told in _operational(pattern) if not is_told]
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


def _operational(pattern: PatternDeclaration) -> tuple[tuple[str, bool], ...]:
    return (
        ("who (callers)", bool(pattern.callers)),
        ("why (purpose)", pattern.purpose is not None),
        ("when (schedule or ends)", pattern.schedule is not None or pattern.ends is not None),
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
