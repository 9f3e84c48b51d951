"""Forty access patterns of a shop that is well: who asks what, how often, at what cost, and as which declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["PATTERNS", "TABLES", "Pattern", "contract_document", "table_documents"]

TABLES = ("orders", "users", "stock", "ledger", "carts", "events")
_INDEX = "by-owner"


class Pattern(Struct, frozen=True, kw_only=True):
    """One pattern: `weight` is its part of all requests, `keys` how many partition keys it spreads over.

    `scanned` and `returned` are items a call, `units` capacity units a call.
    """

    id: str
    table: str
    operation: str
    entity: str
    weight: float
    keys: int
    units: float
    caller: str
    index: str | None = None
    sort: str | None = None
    scanned: int = 0
    returned: int = 0
    condition: str | None = None

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.operation in {"PutItem", "UpdateItem", "DeleteItem"}


def _of_table(table: str, weight: float) -> Iterable[Pattern]:
    """Yield what is asked of each table: six patterns, and of some one more."""
    caller, worker = f"{table}-api", f"{table}-worker"
    entity = table.upper().rstrip("S")
    yield Pattern(
        id=f"load-{table}",
        table=table,
        operation="GetItem",
        entity=entity,
        sort="META",
        weight=weight * 8,
        keys=4000,
        units=0.5,
        caller=caller,
        scanned=1,
        returned=1,
    )
    yield Pattern(
        id=f"list-{table}",
        table=table,
        operation="Query",
        entity=entity,
        weight=weight * 3,
        keys=3000,
        units=2.5,
        caller=caller,
        scanned=18,
        returned=18,
    )
    yield Pattern(
        id=f"own-{table}",
        table=table,
        operation="Query",
        entity="OWNER",
        index=_INDEX,
        weight=weight * 2,
        keys=900,
        units=1.5,
        caller=caller,
        scanned=11,
        returned=11,
    )
    yield Pattern(
        id=f"save-{table}",
        table=table,
        operation="PutItem",
        entity=entity,
        sort="META",
        weight=weight * 1.5,
        keys=4000,
        units=2,
        caller=caller,
    )
    yield Pattern(
        id=f"touch-{table}",
        table=table,
        operation="UpdateItem",
        entity=entity,
        sort="META",
        weight=weight,
        keys=4000,
        units=1,
        caller=worker,
        condition="version = :v",
    )
    yield Pattern(
        id=f"drop-{table}",
        table=table,
        operation="DeleteItem",
        entity=entity,
        sort="DRAFT",
        weight=weight * 0.2,
        keys=4000,
        units=1,
        caller=worker,
    )


PATTERNS: tuple[Pattern, ...] = (
    *(pattern for number, table in enumerate(TABLES) for pattern in _of_table(table, 1 / (1 + number))),
    Pattern(
        id="peek-stock",
        table="stock",
        operation="GetItem",
        entity="SKU",
        sort="LEVEL",
        weight=2.5,
        keys=5000,
        units=0.5,
        caller="web",
        scanned=1,
        returned=1,
    ),
    Pattern(
        id="recent-events",
        table="events",
        operation="Query",
        entity="EVENT",
        index=_INDEX,
        weight=0.5,
        keys=600,
        units=1,
        caller="web",
        scanned=5,
        returned=5,
    ),
    Pattern(
        id="open-carts",
        table="carts",
        operation="Query",
        entity="CART",
        weight=0.4,
        keys=700,
        units=1,
        caller="mailer",
        scanned=4,
        returned=4,
    ),
    Pattern(
        id="post-ledger",
        table="ledger",
        operation="PutItem",
        entity="LEDGER",
        sort="ENTRY",
        weight=0.6,
        keys=3000,
        units=1,
        caller="billing",
    ),
)
"""Forty in all; a Zipf law of 0.6 spreads each over its keys."""


def contract_document() -> dict[str, Any]:
    """Return the contract that declares all of it, and the nightly Scan, the leases and the locks."""
    tables = [_declared(table) for table in TABLES]
    tables[0]["patterns"].append(
        {
            "id": "nightly-archive",
            "operation": "Scan",
            "purpose": "export",
            "callers": ["archiver"],
            "schedule": "0 1 * * *",
            "max_units_per_second": 400,
        }
    )
    tables += [_declared_leases(), _declared_locks()]
    return {"version": 1, "tables": tables}


def _declared(table: str) -> dict[str, Any]:
    return {
        "name": table,
        "partition_key": "PK",
        "sort_key": "SK",
        "indexes": [{"name": _INDEX, "partition_key": "owner", "sort_key": "SK"}],
        "patterns": [_declared_pattern(pattern) for pattern in PATTERNS if pattern.table == table],
    }


def _declared_pattern(pattern: Pattern) -> dict[str, Any]:
    attribute = "PK" if pattern.index is None else "owner"
    key = {attribute: f"{pattern.entity}#<id>"} | ({"SK": pattern.sort} if pattern.sort else {})
    told: dict[str, Any] = {"id": pattern.id, "operation": pattern.operation, "key": key, "callers": [pattern.caller]}
    return told | ({"index": pattern.index} if pattern.index else {})


def _declared_leases() -> dict[str, Any]:
    patterns = [
        {"id": "renew-lease", "operation": "UpdateItem", "key": {"PK": "LEASE#<shard>"}, "condition": "version"},
        {"id": "read-lease", "operation": "GetItem", "key": {"PK": "LEASE#<shard>"}},
    ]
    return {"name": "leases", "partition_key": "PK", "patterns": patterns}


def _declared_locks() -> dict[str, Any]:
    patterns = [
        {"id": "lock", "operation": "PutItem", "key": {"PK": "LOCK#<job>"}, "condition": "create-only"},
        {"id": "unlock", "operation": "DeleteItem", "key": {"PK": "LOCK#<job>"}},
    ]
    return {"name": "locks", "partition_key": "PK", "patterns": patterns}


def table_documents() -> list[dict[str, Any]]:
    """Return what DescribeTable says of them."""
    documents = [_described(table, has_sort=True) for table in TABLES]
    return [*documents, _described("leases", has_sort=False), _described("locks", has_sort=False)]


def _described(table: str, *, has_sort: bool) -> dict[str, Any]:
    schema = [{"AttributeName": "PK", "KeyType": "HASH"}]
    told: dict[str, Any] = {"TableName": table, "TableStatus": "ACTIVE", "KeySchema": schema, "ItemCount": 40_000}
    told["BillingModeSummary"] = {"BillingMode": "PAY_PER_REQUEST"}
    if has_sort:
        schema.append({"AttributeName": "SK", "KeyType": "RANGE"})
        keys = [{"AttributeName": "owner", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]
        told["GlobalSecondaryIndexes"] = [{"IndexName": _INDEX, "IndexStatus": "ACTIVE", "KeySchema": keys}]
    return told
