"""The case-management table: its keys, its items, and what is in it at the start."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

__all__ = [
    "CASES",
    "HOT_CASE",
    "INVESTIGATORS",
    "REGIONS",
    "TABLE",
    "TODAY",
    "audit_item",
    "case_item",
    "case_key",
    "complaint_item",
    "definition",
    "due",
    "seed_items",
]

Item = dict[str, Any]

TABLE = "cases"
TODAY = date(2026, 11, 30)
"""The demo's own day: what lies before it is overdue."""

CASES = tuple(f"C{number:05d}" for number in range(420))
HOT_CASE = "C99999"
"""A case with a document of 300 KB in it: 76 read units, strongly consistent."""
INVESTIGATORS = tuple(f"INV-{number:02d}" for number in range(20))
REGIONS = ("Ahr", "Bode", "Diemel", "Eder", "Fulda", "Glan", "Havel", "Isar", "Jagst", "Kinzig", "Leine", "Mosel")

_AUDITS_A_CASE = 8
_NOTE_BYTES = 1500
_ENTRY_BYTES = 900
_DOCUMENT_BYTES = 300 * 1024
_DAYS = 60


def case_key(case: str, sort: str = "META") -> Item:
    """Return the key of a case's item."""
    return {"PK": {"S": f"CASE#{case}"}, "SK": {"S": sort}}


def due(day: date, case: str) -> str:
    """Return the sort key of both indexes."""
    return f"DUE#{day.isoformat()}#{case}"


def case_item(case: str, region: str, investigator: str, day: date, note: str) -> Item:
    """Return an active case; both indexes hold it."""
    return {
        **case_key(case),
        "GSI1PK": {"S": f"INVESTIGATOR#{investigator}#STATUS#ACTIVE"},
        "GSI1SK": {"S": due(day, case)},
        "GSI2PK": {"S": f"REGION#{region}"},
        "GSI2SK": {"S": due(day, case)},
        "caseStatus": {"S": "ACTIVE"},
        "priority": {"S": "normal"},
        "investigator": {"S": investigator},
        "version": {"N": "1"},
        "note": {"S": note},
    }


def audit_item(case: str, timestamp: str, event: str, text: str) -> Item:
    """Return an audit entry."""
    return {**case_key(case, f"AUDIT#{timestamp}#{event}"), "text": {"S": text}, "actor": {"S": "case-worker"}}


def complaint_item(reference: str, case: str) -> Item:
    """Return a complaint; its key is its reference, so that a second one of that reference is refused."""
    return {"PK": {"S": f"COMPLAINT#{reference}"}, "SK": {"S": "COMPLAINT"}, "case": {"S": case}}


def definition(billing: str = "PAY_PER_REQUEST") -> dict[str, Any]:
    """Return the parameters of CreateTable."""
    names = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
    return {
        "TableName": TABLE,
        "KeySchema": _keys("PK", "SK"),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "BillingMode": billing,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeySchema": _keys("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
            {"IndexName": "GSI2", "KeySchema": _keys("GSI2PK", "GSI2SK"), "Projection": {"ProjectionType": "ALL"}},
        ],
    }


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def seed_items(seed: int) -> list[Item]:
    """Return what the table holds at the start, the same for the same seed."""
    chance = random.Random(seed)
    items: list[Item] = []
    for number, case in enumerate(CASES):
        day = TODAY + timedelta(days=chance.randrange(-_DAYS // 2, _DAYS // 2))
        note = "n" * chance.randrange(_NOTE_BYTES // 2, _NOTE_BYTES)
        item = case_item(case, REGIONS[number % len(REGIONS)], INVESTIGATORS[number % len(INVESTIGATORS)], day, note)
        item["priority"] = {"S": "critical" if number % 31 == 0 else "normal"}
        items.append(item)
        items += [
            audit_item(case, f"2026-11-{1 + entry:02d}T08:00:00.000Z", f"E{entry}", "a" * _ENTRY_BYTES)
            for entry in range(_AUDITS_A_CASE)
        ]
        items.append(complaint_item(f"R{number:05d}", case))
    hot = case_item(HOT_CASE, "Saale", "INV-99", TODAY, "n")
    hot["document"] = {"S": "d" * _DOCUMENT_BYTES}
    return [*items, hot]
