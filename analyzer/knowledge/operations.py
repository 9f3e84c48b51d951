"""The operations of DynamoDB's data plane, and which of them write.

Source: DynamoDB API Reference, "Actions", read 2026-11-30.
"""

from __future__ import annotations

__all__ = ["OPERATIONS", "READS", "STATEMENTS", "WRITES"]

OPERATIONS = (
    "GetItem",
    "Query",
    "Scan",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchGetItem",
    "BatchWriteItem",
    "TransactGetItems",
    "TransactWriteItems",
    "ExecuteStatement",
    "BatchExecuteStatement",
    "ExecuteTransaction",
    "SearchVectors",
)

WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
"""The operations that only write; of a PartiQL operation the statement decides."""

READS = frozenset({"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems", "SearchVectors"})
"""The operations that only read; of a PartiQL operation the statement decides."""

STATEMENTS = frozenset({"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"})
"""The operations of PartiQL."""
