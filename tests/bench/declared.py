"""The contract of the bench's workload: what its twelve access patterns a table declare."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.bench.workload import TABLES

__all__ = ["contract"]

_CASE = "CASE#<caseId>"
_PATTERNS: tuple[tuple[str, Any, str | None, dict[str, str]], ...] = (
    ("load-case", "GetItem", None, {"PK": _CASE, "SK": "META"}),
    ("load-complaint", "GetItem", None, {"PK": _CASE, "SK": "COMPLAINT#<complaintId>"}),
    ("read-audit", "Query", None, {"PK": _CASE, "SK": "begins_with AUDIT#"}),
    ("read-entries", "Query", None, {"PK": _CASE, "SK": "begins_with ENTRY#"}),
    ("list-active", "Query", "GSI1", {"GSI1PK": "INVESTIGATOR#<id>#STATUS#ACTIVE", "GSI1SK": "begins_with DUE#"}),
    ("list-region", "Query", "GSI2", {"GSI2PK": "REGION#<region>"}),
    ("append-audit", "PutItem", None, {"PK": _CASE, "SK": "AUDIT#<time>#<eventId>"}),
    ("change-case", "UpdateItem", None, {"PK": _CASE, "SK": "META"}),
    ("drop-entry", "DeleteItem", None, {"PK": _CASE, "SK": "ENTRY#<number>"}),
    ("load-entries", "BatchGetItem", None, {"PK": _CASE, "SK": "ENTRY#<number>"}),
)


def contract(*, hard: bool) -> dict[str, Any]:
    """Return the contract as its file's structure; `hard` adds rival templates to one table."""
    tables = []
    for number in range(TABLES):
        patterns = [
            {"id": f"{name}-{number}", "operation": operation, "key": key, **({"index": index} if index else {})}
            for name, operation, index, key in _PATTERNS
        ]
        if hard and number == 3:
            rivals = ("TENANT#<tenant>#CASE#<caseId>", "TENANT#<tenant>#<rest>", "<kind>#<tenant>#CASE#<caseId>")
            patterns += [
                {"id": f"rival-{rival}", "operation": "GetItem", "key": {"PK": text, "SK": "META"}}
                for rival, text in enumerate(rivals)
            ]
        tables.append(
            {
                "name": f"cases-{number}",
                "partition_key": "PK",
                "sort_key": "SK",
                "indexes": [
                    {"name": "GSI1", "partition_key": "GSI1PK", "sort_key": "GSI1SK"},
                    {"name": "GSI2", "partition_key": "GSI2PK"},
                ],
                "patterns": patterns,
            }
        )
    return {"version": 1, "tables": tables}


if __name__ == "__main__":
    json.dump(contract(hard="--hard" in sys.argv), sys.stdout)
