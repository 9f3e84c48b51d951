"""The planted faults: what each does, and what has to be found of it.

Each runs on the client of the service that is at fault, beside that service's healthy calls.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from deploy.demo.cases import CASES, HOT_CASE, INVESTIGATORS, REGIONS, TABLE, TODAY, case_item, case_key
from deploy.demo.pace import Burst, Outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FAULTS", "Expected", "Fault"]

_THROTTLED = "ProvisionedThroughputExceededException"
_WHOLE_CASES = 40.0
_FILTERED = 12.0
_HOT_READS = 70.0
_IMPORTED = 20
_IMPORT_BYTES = 100_000
_IMPORTS = 16.0
_MARKS = 4.0


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding: by detector, place, cause and caller; None says nothing of that field."""

    detector: str
    index: str | None = None
    caller: str | None = None
    cause: str | None = None
    direction: str | None = None
    pattern: str | None = None

    def fits(self, finding: Mapping[str, Any]) -> bool:
        """Whether a finding, as formats.md writes it, is this one."""
        if finding["detector"] != self.detector or finding["table"] != TABLE or finding.get("index") != self.index:
            return False
        told = {"caller": self.caller, "cause": self.cause, "direction": self.direction, "pattern": self.pattern}
        return all(wanted is None or finding.get(name) == wanted for name, wanted in told.items())


@dataclass(frozen=True, slots=True)
class Fault:
    """One planted fault: `must` be found, `may` be found beside it at medium or above as what it causes."""

    name: str
    story: str
    must: tuple[Expected, ...]
    may: tuple[Expected, ...]
    plant: Callable[[Mapping[str, Any]], list[Burst]]

    def start(self, clients: Mapping[str, Any]) -> list[Burst]:
        """Switch it on; stop what is returned to switch it off."""
        bursts = self.plant(clients)
        for burst in bursts:
            burst.start()
        return bursts


def _hot_case(clients: Mapping[str, Any]) -> list[Burst]:
    """Read one case with a huge document again and again, strongly: 76 units each, 39 a second fit."""
    client = clients["case-dashboard-api"]

    def read() -> object:
        return client.get_item(TableName=TABLE, Key=case_key(HOT_CASE), ConsistentRead=True)

    return [Burst(_HOT_READS, read, Outcomes((_THROTTLED,)))]


def _scan(clients: Mapping[str, Any]) -> list[Burst]:
    """Scan the table page after page for a list that an index could serve; nobody declared it."""
    client = clients["report-job"]
    start: dict[str, Any] = {}

    def page() -> object:
        answer = client.scan(
            TableName=TABLE,
            FilterExpression="caseStatus = :approved",
            ExpressionAttributeValues={":approved": {"S": "APPROVED"}},
            **start,
        )
        start.clear()
        if "LastEvaluatedKey" in answer:
            start["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return answer

    return [Burst(3.0, page, Outcomes(), threads=1)]


def _filtered(clients: Mapping[str, Any]) -> list[Burst]:
    """Ask for the critical ones among a region's overdue cases by a filter: one in thirty is kept.

    Index, partition key and sort condition are those of the declared pattern overdue-actions. Filters only set
    patterns apart that match alike, so that the request still belongs to it and is no undeclared pattern.
    """
    client = clients["notifier"]
    regions = itertools.cycle(REGIONS)

    def ask() -> object:
        return client.query(
            TableName=TABLE,
            IndexName="GSI2",
            KeyConditionExpression="GSI2PK = :region AND GSI2SK < :until",
            FilterExpression="priority = :critical",
            ExpressionAttributeValues={
                ":region": {"S": f"REGION#{next(regions)}"},
                ":until": {"S": f"DUE#{(TODAY + timedelta(days=90)).isoformat()}"},
                ":critical": {"S": "critical"},
            },
        )

    return [Burst(_FILTERED, ask, Outcomes())]


def _hot_index_key(clients: Mapping[str, Any]) -> list[Burst]:
    """Import large cases that all land in one region: that key of GSI2 takes 10 of them a second.

    The cases are spread over partitions of the table, which has room; another service's writes are refused as well.
    """
    worker, notifier = clients["case-worker"], clients["notifier"]
    numbers = itertools.count()
    marks = itertools.count()
    document = "d" * _IMPORT_BYTES

    def put() -> object:
        number = next(numbers)
        case = f"I{number % _IMPORTED:05d}"
        who = INVESTIGATORS[number % len(INVESTIGATORS)]
        item = case_item(case, "Unassigned", who, TODAY + timedelta(days=14), f"revision {number}")
        return worker.put_item(TableName=TABLE, Item={**item, "document": {"S": document}})

    def mark() -> object:
        number = next(marks)
        return notifier.update_item(
            TableName=TABLE,
            Key=case_key(f"I{number % _IMPORTED:05d}"),
            UpdateExpression="SET notifiedAt = :now",
            ExpressionAttributeValues={":now": {"S": f"mark {number}"}},
        )

    outcomes = Outcomes((_THROTTLED,))
    return [Burst(_IMPORTS, put, outcomes), Burst(_MARKS, mark, outcomes)]


def _bad_deploy(clients: Mapping[str, Any]) -> list[Burst]:
    """Load whole cases, strongly, by a Query without a sort condition: no pattern declares that."""
    client = clients["case-dashboard-api"]
    cases = itertools.cycle(CASES)

    def load() -> object:
        return client.query(
            TableName=TABLE,
            KeyConditionExpression="PK = :case",
            ExpressionAttributeValues={":case": {"S": f"CASE#{next(cases)}"}},
            ConsistentRead=True,
        )

    return [Burst(_WHOLE_CASES, load, Outcomes())]


FAULTS: tuple[Fault, ...] = (
    Fault(
        "hot case",
        "case-dashboard-api reads one case of 300 KB, strongly, over and over",
        (Expected("hot-key", caller="case-dashboard-api", cause="single-item", direction="read", pattern="load-case"),),
        (
            Expected("throttling", cause="key-range", direction="read"),
            Expected("retry-storm", caller="case-dashboard-api"),
        ),
        _hot_case,
    ),
    Fault(
        "undeclared Scan",
        "report-job scans the table for a list",
        (Expected("unexpected-scan", caller="report-job", direction="read"),),
        (),
        _scan,
    ),
    Fault(
        "filtered Query",
        "notifier asks for critical cases by a filter and throws the others away",
        (Expected("filter-heavy-query", "GSI2", caller="notifier", direction="read", pattern="overdue-actions"),),
        (Expected("pattern-drift", "GSI2", caller="notifier", cause="filter", pattern="overdue-actions"),),
        _filtered,
    ),
    Fault(
        "hot index key",
        "case-worker imports large cases that all land in one region of GSI2",
        (
            Expected("gsi-back-pressure", "GSI2", caller="case-worker", cause="key-range", direction="write"),
            Expected("hot-key", "GSI2", caller="case-worker", direction="write"),
        ),
        (
            Expected("throttling", "GSI2", cause="key-range", direction="write"),
            Expected("retry-storm", caller="case-worker"),
            Expected("retry-storm", caller="notifier"),
            Expected("write-cost", caller="notifier", cause="large-items", direction="write"),
        ),
        _hot_index_key,
    ),
    Fault(
        "bad deploy",
        "case-dashboard-api loads whole cases by a Query that nobody declared",
        (Expected("undeclared-pattern", caller="case-dashboard-api"),),
        (),
        _bad_deploy,
    ),
)
"""In the order in which they are switched on."""
