"""DynamoDB's limits, each with its source and the day it was read there."""

from __future__ import annotations

__all__ = [
    "BATCH_GET_KEYS",
    "BATCH_WRITE_ITEMS",
    "COLLECTION_BYTES",
    "GSIS_A_TABLE",
    "ITEM_BYTES",
    "LSIS_A_TABLE",
    "READ_UNITS_A_PARTITION",
    "RULE_QUOTA",
    "TRANSACTION_ITEMS",
    "WRITE_UNITS_A_PARTITION",
]

# Developer Guide, "Best practices for designing and using partition keys effectively", read 2026-11-30.
READ_UNITS_A_PARTITION = 3000
"""Read units a second that one partition serves, whatever the table has."""
WRITE_UNITS_A_PARTITION = 1000
"""Write units a second that one partition serves."""

# Developer Guide, "Quotas in Amazon DynamoDB", read 2026-11-30. The number of GSIs can be raised on request.
GSIS_A_TABLE = 20
LSIS_A_TABLE = 5
ITEM_BYTES = 400 * 1024
COLLECTION_BYTES = 10 * 1024**3
"""What one partition key of a table with a local index may hold, entries in its local indexes included."""

# API Reference: BatchGetItem, BatchWriteItem, TransactWriteItems, read 2026-11-30.
BATCH_GET_KEYS = 100
BATCH_WRITE_ITEMS = 25
TRANSACTION_ITEMS = 100

# CloudWatch User Guide, "CloudWatch service quotas", read 2023; AWS raises it on request.
RULE_QUOTA = 100
"""Contributor Insights rules that a region and account may have by default."""
