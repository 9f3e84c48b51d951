"""Rules over indexes: how many, what for, and whether their keys make sense."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.contract.scope import FAIL, WARN, Objection, Scope, of_index, of_table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "index_an_attribute",
    "index_like_table",
    "lsi_of_another_key",
    "no_staleness",
    "projects_all",
    "too_many_indexes",
    "too_many_key_attributes",
    "unserved_index",
]

# Developer Guide, "Multi-attribute keys" of global secondary indexes, read 2026-11-30.
_KEY_ATTRIBUTES_OF_AN_INDEX = 4
_AN_ATTRIBUTE_EACH = 3
_GENERIC_KEY = re.compile(r"(?:g|l)si_?-?\d*_?-?(?:[ps]k)?\d*|[ps]k\d*", re.IGNORECASE)


def too_many_indexes(scope: Scope) -> Iterator[Objection]:
    """Count indexes: AWS raises the number of GSIs on request, never that of LSIs."""
    kinds = [index.kind for index in scope.table.indexes]
    for kind, most, mend in (
        ("gsi", scope.limits.gsis, "overload one index with several patterns, or ask AWS to raise the quota"),
        ("lsi", scope.limits.lsis, "serve the patterns with GSIs: the number of LSIs cannot be raised"),
    ):
        if kinds.count(kind) > most:
            message = f"{kinds.count(kind)} {kind.upper()}s, and a table may have {most}"
            yield of_table(FAIL, scope.table, message, mend)


def unserved_index(scope: Scope) -> Iterator[Objection]:
    """Find indexes that no pattern reads: every write pays for them."""
    read = {pattern.index for pattern in scope.table.patterns}
    for index in scope.table.indexes:
        if index.name not in read:
            mend = "declare the pattern that it serves, or drop the index"
            yield of_index(WARN, index, "it serves no pattern, and every write pays for it", mend)


def index_like_table(scope: Scope) -> Iterator[Objection]:
    """Find indexes with the table's own key: they serve nothing that the table does not."""
    table = scope.table
    for index in table.indexes:
        same_sort = not index.sort_key or index.sort_key == table.sort_key
        if table.has_sure_keys(index.name) and index.partition_key == table.partition_key and same_sort:
            mend = "query the table itself"
            yield of_index(WARN, index, "its key is the table's own key", mend)


def index_an_attribute(scope: Scope) -> Iterator[Objection]:
    """Find one index for each attribute, a relational habit: each costs a write, and none serves two patterns."""
    plain = [
        index.name
        for index in scope.table.indexes
        if index.kind == "gsi"
        and not index.keys_assumed
        and not index.sort_key
        and len(index.partition_key) == 1
        and not _GENERIC_KEY.fullmatch(index.partition_key[0])
    ]
    if len(plain) >= _AN_ATTRIBUTE_EACH:
        message = f"{len(plain)} indexes on one attribute each: {', '.join(plain)}"
        mend = "give items generic index keys (GSI1PK, GSI1SK) that serve several patterns"
        yield of_table(WARN, scope.table, message, mend)


def projects_all(scope: Scope) -> Iterator[Objection]:
    """Find projections of everything: they store and write every item twice."""
    for index in scope.table.indexes:
        if index.projection == "all":
            message = "it projects all attributes: each item is stored, and each change written, once more"
            yield of_index(WARN, index, message, "project the attributes that its patterns return")


def lsi_of_another_key(scope: Scope) -> Iterator[Objection]:
    """Refuse local indexes that do not share the table's partition key."""
    table = scope.table
    for index in table.indexes:
        if index.kind == "lsi" and table.has_sure_keys(index.name) and index.partition_key != table.partition_key:
            message = f"an LSI has the table's partition key, {', '.join(table.partition_key)}"
            yield of_index(FAIL, index, message, "give it that key, or make it a GSI")


def too_many_key_attributes(scope: Scope) -> Iterator[Objection]:
    """Refuse keys of too many attributes: a table has one each, an index up to four."""
    table = scope.table
    if len(table.partition_key) > 1 or len(table.sort_key) > 1:
        message = "a table has one partition key attribute and at most one sort key attribute"
        yield of_table(FAIL, table, message, "join the values into one attribute, or use an index")
    for index in table.indexes:
        most = max(len(index.partition_key), len(index.sort_key))
        if most > _KEY_ATTRIBUTES_OF_AN_INDEX:
            message = f"{most} attributes in one key, and an index takes {_KEY_ATTRIBUTES_OF_AN_INDEX}"
            yield of_index(FAIL, index, message, "join some of the values into one attribute")


def no_staleness(scope: Scope) -> Iterator[Objection]:
    """Ask how stale a GSI may be: it lags behind its table, and its readers see that."""
    for index in scope.table.indexes:
        readers = [p for p in scope.table.patterns if p.index == index.name]
        silent = [p.id for p in readers if p.freshness_seconds is None]
        if index.kind == "gsi" and index.staleness_tolerance_seconds is None and silent:
            message = f"nobody says how stale it may be for {', '.join(silent[:3])}"
            yield of_index(
                WARN, index, message, "declare staleness_tolerance of the index, or freshness of the patterns"
            )
