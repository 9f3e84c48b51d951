"""The healthy workload: what five services do all day, exactly as the contract declares it."""

from __future__ import annotations

import itertools
import random
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dynascope_sampler

from deploy.demo.cases import (
    CASES,
    INVESTIGATORS,
    REGIONS,
    TABLE,
    TODAY,
    audit_item,
    case_item,
    case_key,
    complaint_item,
    due,
)
from deploy.demo.pace import Outcomes, Routine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from botocore.client import BaseClient

__all__ = ["AuditWriter", "CaseWorker", "Dashboard", "NightlyReport", "Notifier", "Workload"]

Call = tuple[float, "Callable[[], object]"]

_PAGE = 25
_HISTORY = 20
_REPORT = 10
_REPEATED_COMPLAINTS = 8


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Caller(ABC):
    """One service with its client and its own chance."""

    name = ""

    def __init__(self, client: BaseClient, seed: int) -> None:
        self.client: Any = client
        self.chance = random.Random(f"{seed}:{self.name}")
        self._events = (f"{self.name[:2]}{number}" for number in itertools.count())

    def a_case(self) -> str:
        """Return some case, all alike."""
        return self.chance.choice(CASES)

    def event(self) -> str:
        """Return an event id that was not used before in this run."""
        return next(self._events)

    @abstractmethod
    def calls(self) -> list[Call]:
        """Return (calls a second, call)."""


class Dashboard(_Caller):
    """What people look at."""

    name = "case-dashboard-api"

    def __init__(self, client: BaseClient, seed: int) -> None:
        super().__init__(client, seed)
        self._investigators = itertools.cycle(INVESTIGATORS)
        self._references = itertools.count()

    def calls(self) -> list[Call]:
        """Return what the dashboard does."""
        return [(10.0, self.load_case), (4.0, self.list_active), (2.0, self.history), (1.0, self.register)]

    def load_case(self) -> object:
        """Load one case."""
        return self.client.get_item(TableName=TABLE, Key=case_key(self.a_case()))

    def list_active(self) -> object:
        """List an investigator's active cases, soonest due first."""
        with dynascope_sampler.pattern("list-active-cases"):
            return self.client.query(
                TableName=TABLE,
                IndexName="GSI1",
                KeyConditionExpression="GSI1PK = :who AND begins_with(GSI1SK, :due)",
                ExpressionAttributeValues={
                    ":who": {"S": f"INVESTIGATOR#{next(self._investigators)}#STATUS#ACTIVE"},
                    ":due": {"S": "DUE#"},
                },
                Limit=_PAGE,
            )

    def history(self) -> object:
        """List a case's audit entries, newest first."""
        return self.client.query(
            TableName=TABLE,
            KeyConditionExpression="PK = :case AND begins_with(SK, :audit)",
            ExpressionAttributeValues={":case": {"S": f"CASE#{self.a_case()}"}, ":audit": {"S": "AUDIT#"}},
            ScanIndexForward=False,
            Limit=_HISTORY,
        )

    def register(self) -> object:
        """Register a complaint; now and then somebody sends one twice, and the second is refused."""
        number = next(self._references)
        reference = f"N{number - 1 if number % _REPEATED_COMPLAINTS == _REPEATED_COMPLAINTS - 1 else number:06d}"
        return self.client.put_item(
            TableName=TABLE,
            Item=complaint_item(reference, self.a_case()),
            ConditionExpression="attribute_not_exists(PK)",
        )


class CaseWorker(_Caller):
    """What changes the state of cases."""

    name = "case-worker"

    def __init__(self, client: BaseClient, seed: int, delivered: list[tuple[str, str]]) -> None:
        super().__init__(client, seed)
        self._outbox = delivered
        self._cases = itertools.cycle(self.chance.sample(CASES, len(CASES)))
        self._approved: list[tuple[str, int]] = []
        self._versions: dict[str, int] = {}
        self._opened = itertools.count()

    def calls(self) -> list[Call]:
        """Return what the worker does."""
        return [(1.5, self.approve), (1.5, self.reopen), (0.5, self.open_case)]

    def approve(self) -> object:
        """Approve a case: state, audit entry and outbox item together, if nobody changed it since it was read."""
        case, event = next(self._cases), self.event()
        version = self._versions.get(case, 1)
        with dynascope_sampler.pattern("approve-case"):
            answer = self.client.transact_write_items(
                TransactItems=[
                    {"Update": {"TableName": TABLE, "Key": case_key(case), **_approval(version)}},
                    {"Put": {"TableName": TABLE, "Item": audit_item(case, _now(), event, "approved")}},
                    {"Put": {"TableName": TABLE, "Item": {**case_key(case, f"OUTBOX#{event}"), "to": {"S": "owner"}}}},
                ]
            )
        self._versions[case] = version + 1
        self._approved.append((case, version + 1))
        self._outbox.append((case, event))
        return answer

    def reopen(self) -> object:
        """Reopen the case that was approved first."""
        if not self._approved:
            return None
        case, version = self._approved.pop(0)
        who = INVESTIGATORS[CASES.index(case) % len(INVESTIGATORS)]
        day = TODAY + timedelta(days=self.chance.randrange(1, 30))
        answer = self.client.update_item(
            TableName=TABLE,
            Key=case_key(case),
            UpdateExpression="SET caseStatus = :active, version = :next, GSI1PK = :who, GSI1SK = :due",
            ConditionExpression="version = :version",
            ExpressionAttributeValues={
                ":active": {"S": "ACTIVE"},
                ":version": {"N": str(version)},
                ":next": {"N": str(version + 1)},
                ":who": {"S": f"INVESTIGATOR#{who}#STATUS#ACTIVE"},
                ":due": {"S": due(day, case)},
            },
        )
        self._versions[case] = version + 1
        return answer

    def open_case(self) -> object:
        """Open a new case."""
        number = next(self._opened)
        region, who = REGIONS[number % len(REGIONS)], INVESTIGATORS[number % len(INVESTIGATORS)]
        item = case_item(f"N{number:05d}", region, who, TODAY + timedelta(days=14), "opened by telephone")
        return self.client.put_item(TableName=TABLE, Item=item)


def _approval(version: int) -> dict[str, Any]:
    return {
        "UpdateExpression": "SET caseStatus = :approved, version = :next REMOVE GSI1PK, GSI1SK",
        "ConditionExpression": "version = :version",
        "ExpressionAttributeValues": {
            ":approved": {"S": "APPROVED"},
            ":version": {"N": str(version)},
            ":next": {"N": str(version + 1)},
        },
    }


class AuditWriter(_Caller):
    """What writes down who did what."""

    name = "audit-writer"

    def calls(self) -> list[Call]:
        """Return what the audit writer does."""
        return [(5.0, self.append)]

    def append(self) -> object:
        """Append an audit entry."""
        item = audit_item(self.a_case(), _now(), self.event(), "looked at by " + "x" * 300)
        return self.client.put_item(TableName=TABLE, Item=item)


class Notifier(_Caller):
    """What tells people of overdue cases and of approvals."""

    name = "notifier"

    def __init__(self, client: BaseClient, seed: int, outbox: list[tuple[str, str]]) -> None:
        super().__init__(client, seed)
        self._outbox = outbox
        self._regions = itertools.cycle(REGIONS)

    def calls(self) -> list[Call]:
        """Return what the notifier does."""
        return [(2.0, self.overdue), (1.0, self.mark), (1.5, self.deliver)]

    def overdue(self) -> object:
        """List a region's overdue cases."""
        return self.client.query(
            TableName=TABLE,
            IndexName="GSI2",
            KeyConditionExpression="GSI2PK = :region AND GSI2SK < :today",
            ExpressionAttributeValues={
                ":region": {"S": f"REGION#{next(self._regions)}"},
                ":today": {"S": f"DUE#{TODAY.isoformat()}"},
            },
        )

    def mark(self) -> object:
        """Remember that a case's owner was told."""
        return self.client.update_item(
            TableName=TABLE,
            Key=case_key(self.a_case()),
            UpdateExpression="SET notifiedAt = :now",
            ExpressionAttributeValues={":now": {"S": _now()}},
        )

    def deliver(self) -> object:
        """Take a delivered message out of the outbox."""
        if not self._outbox:
            return None
        case, event = self._outbox.pop(0)
        return self.client.delete_item(TableName=TABLE, Key=case_key(case, f"OUTBOX#{event}"))


class NightlyReport(_Caller):
    """What puts lists together."""

    name = "report-job"

    def calls(self) -> list[Call]:
        """Return what the report job does."""
        return [(0.5, self.cases_of_report)]

    def cases_of_report(self) -> object:
        """Read the cases of one report."""
        keys = [case_key(case) for case in self.chance.sample(CASES, _REPORT)]
        return self.client.batch_get_item(RequestItems={TABLE: {"Keys": keys}})


class Workload:
    """All services, started and stopped together; `outcomes` says how their calls ended."""

    def __init__(self, connect: Callable[[str], Any], seed: int) -> None:
        self.outcomes = Outcomes(expected=("ConditionalCheckFailedException",))
        outbox: list[tuple[str, str]] = []
        self.callers: tuple[_Caller, ...] = (
            Dashboard(connect(Dashboard.name), seed),
            CaseWorker(connect(CaseWorker.name), seed, outbox),
            AuditWriter(connect(AuditWriter.name), seed),
            Notifier(connect(Notifier.name), seed, outbox),
            NightlyReport(connect(NightlyReport.name), seed),
        )
        self._routines = [Routine(caller.name, caller.calls(), self.outcomes) for caller in self.callers]

    def start(self) -> None:
        """Begin."""
        for routine in self._routines:
            routine.start()

    def stop(self) -> None:
        """End."""
        for routine in self._routines:
            routine.stop()

    def clients(self) -> Iterator[tuple[str, Any]]:
        """Yield each caller's client: a fault is what the same service does after a bad deploy."""
        for caller in self.callers:
            yield caller.name, caller.client
