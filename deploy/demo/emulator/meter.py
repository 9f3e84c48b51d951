"""The meter: turns what was served, refused and answered into minutes.

The four verbs below are the only ones that write what DynamoDB publishes; a planted history uses the same four, so that
metrics and insights agree whichever it was.

Sources: Developer Guide, "DynamoDB metrics and dimensions" and "Contributor Insights: how it works", read 2026-11-30.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.knowledge.throttling import THROTTLE_CODES, is_throttle
from deploy.demo.emulator.clock import minute_of
from deploy.demo.emulator.minutes import Minutes, Place, Ranked, Resource, dimensions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.journal import Served
    from deploy.demo.emulator.minutes import Key

__all__ = ["Finished", "Meter"]

_ITEM_OPERATIONS = frozenset(
    {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem"}
    | {"TransactGetItems", "TransactWriteItems", "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"}
)
STATEMENTS = frozenset({"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"})
_COUNTED_ITEMS = frozenset({"Query", "Scan", "ExecuteStatement"})
_WRITE_WEIGHT = 3
"""ConsumedThroughputUnits of a write unit; a read unit has one."""
_KEYS_A_CLOSED_MINUTE = 100
"""Four times what a report may ask for."""
_KEY_SECONDS_KEPT = 25 * 3600
"""A report looks back 24 hours at most."""
_STATEMENT_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE)\s+"?([A-Za-z0-9_.-]+)', re.IGNORECASE)
_REASON = re.compile(r"(?P<place>Table|Index)(?P<direction>Read|Write)(?P<limit>\w+)Exceeded")
_SERVER_ERROR = 500
_OK = 200


@dataclass(frozen=True, slots=True)
class Finished:
    """One call of DynamoDB's data plane and how it ended; `code` is the error's, without its namespace."""

    place: Place
    operation: str
    body: Mapping[str, Any]
    status: int
    answer: Mapping[str, Any]
    milliseconds: float

    @property
    def code(self) -> str:
        """The error code; empty where there was none."""
        return str(self.answer.get("__type", "")).rpartition("#")[2]

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the call names."""
        return tuple(dict.fromkeys(name.rpartition(":table/")[2] for name in _named(self.body)))


class Meter:
    """Writes minutes."""

    def __init__(self, minutes: Minutes) -> None:
        self.minutes = minutes
        self._lived: deque[int] = deque()
        """Minutes in which something was really served: their keys are bounded, planted ones are not."""

    def consume(
        self, resource: Resource, minute: int, direction: str, units: float, requests: float = 1, **dimensions: str
    ) -> None:
        """Count units that requests consumed, in equal parts."""
        metric = "ConsumedReadCapacityUnits" if direction == "read" else "ConsumedWriteCapacityUnits"
        named = dimensions_of(resource.table, resource.index, **dimensions)
        self.minutes.count(resource.place, metric, named, minute, units / requests, requests)

    def touch(self, resource: Resource, minute: int, key: Key, direction: str, units: float) -> None:
        """Count units on a key: a partition key ranks in PKC, a pair of keys in SKC."""
        ranking = self.minutes.ranking(Ranked(resource, "PKC" if len(key) == 1 else "SKC"), minute)
        _add(ranking, key, units * (_WRITE_WEIGHT if direction == "write" else 1))

    def refuse(self, resource: Resource, minute: int, reasons: Iterable[str], times: float = 1) -> None:
        """Count throttle events of a resource by reason, and once an event in all."""
        named = dimensions_of(resource.table, resource.index)
        directions = set()
        for reason in reasons:
            found = _REASON.fullmatch(reason)
            if found is None:
                raise ValueError(f"{reason} is none of the sixteen reasons")
            directions.add(found["direction"])
            metric = f"{found['direction']}{found['limit']}ThrottleEvents"
            self.minutes.count(resource.place, metric, named, minute, 1.0, times)
        for direction in directions:
            self.minutes.count(resource.place, f"{direction}ThrottleEvents", named, minute, 1.0, times)

    def accuse(self, resource: Resource, minute: int, key: Key, times: float = 1) -> None:
        """Count throttles of a key: PKT or SKT."""
        _add(self.minutes.ranking(Ranked(resource, "PKT" if len(key) == 1 else "SKT"), minute), key, times)

    def listen(self, served: Served) -> None:
        """Take a record of the journal."""
        minute = minute_of(served.at)
        if not self._lived or minute > self._lived[-1]:
            self._close(minute)
        if served.refusals:
            self._note_refusals(served, minute)
        else:
            self._note_units(served, minute)

    def _close(self, minute: int) -> None:
        """Begin a minute: of the last one the top keys are kept, of those too old for a report none."""
        if self._lived:
            self.minutes.trim(self._lived[-1], _KEYS_A_CLOSED_MINUTE)
        self._lived.append(minute)
        while self._lived[0] < minute - _KEY_SECONDS_KEPT:
            self.minutes.trim(self._lived.popleft(), 0)

    def _note_units(self, served: Served, minute: int) -> None:
        by_resource: dict[tuple[str | None, str], list[Charge]] = {}
        for charge in served.charges:
            by_resource.setdefault((charge.resource, charge.direction), []).append(charge)
        for (index, direction), charges in by_resource.items():
            table = charges[0].table
            resource = Resource(table.place, table.name, index)
            self.consume(resource, minute, direction, sum(charge.units for charge in charges))
            if served.operation not in STATEMENTS:  # Contributor Insights does not support PartiQL
                self._note_keys(resource, minute, direction, charges)

    def _note_keys(self, resource: Resource, minute: int, direction: str, charges: list[Charge]) -> None:
        """Do for many keys what `touch` does for one: a Scan reads hundreds."""
        weight = _WRITE_WEIGHT if direction == "write" else 1
        partitions = self.minutes.ranking(Ranked(resource, "PKC"), minute)
        pairs = self.minutes.ranking(Ranked(resource, "SKC"), minute)
        for charge in charges:
            if charge.partition:
                partition, weighed = readable(charge.partition), charge.units * weight
                _add(partitions, (partition,), weighed)
                for sort, share in charge.shares:
                    _add(pairs, (partition, readable(sort)), weighed * share)

    def _note_refusals(self, served: Served, minute: int) -> None:
        by_resource: dict[str, list[str]] = {}
        for reason in served.refusals:
            by_resource.setdefault(reason.resource, []).append(reason.reason)
        counted: set[Resource] = set()
        for charge in served.charges:
            reasons = by_resource.get(charge.table.resource(charge.resource))
            resource = Resource(charge.table.place, charge.table.name, charge.resource)
            if not reasons:
                continue
            if resource not in counted:
                counted.add(resource)
                self.refuse(resource, minute, reasons)
            if served.operation not in STATEMENTS and not is_blind(charge.resource, charge.direction):
                self._accuse(resource, minute, charge)

    def _accuse(self, resource: Resource, minute: int, charge: Charge) -> None:
        if charge.partition:
            partition = readable(charge.partition)
            self.accuse(resource, minute, (partition,))
            for sort, _ in charge.shares:
                self.accuse(resource, minute, (partition, readable(sort)))

    def finish(self, call: Finished, at: float, is_known: Callable[[str], bool]) -> None:
        """Count a finished call: latency and items of what succeeded, and errors by kind; of tables that exist."""
        if call.operation not in _ITEM_OPERATIONS:
            return
        minute = minute_of(at)
        tables = [name for name in call.tables if is_known(name)]
        if call.status == _OK:
            self._succeed(call, minute, tables)
        elif call.status >= _SERVER_ERROR:
            self.answer(call.place, minute, tables, call.operation, "SystemErrors")
        else:
            self._fail(call, minute, tables)

    def answer(
        self,
        place: Place,
        minute: int,
        tables: Iterable[str],
        operation: str,
        metric: str,
        value: float = 1.0,
        times: float = 1,
    ) -> None:
        """Count a value of a metric by table and operation."""
        for table in tables:
            self.minutes.count(place, metric, dimensions_of(table, Operation=operation), minute, value, times)

    def _succeed(self, call: Finished, minute: int, tables: list[str]) -> None:
        latency = float(f"{call.milliseconds:.3g}")  # few distinct values, for percentiles
        self.answer(call.place, minute, tables, call.operation, "SuccessfulRequestLatency", latency)
        if call.operation in _COUNTED_ITEMS:
            items = float(call.answer.get("Count", len(call.answer.get("Items") or ())))
            self.answer(call.place, minute, tables, call.operation, "ReturnedItemCount", items)

    def _fail(self, call: Finished, minute: int, tables: list[str]) -> None:
        reasons = [str(each.get("Code")) for each in call.answer.get("CancellationReasons") or ()]
        codes = Counter([call.code, *reasons])
        is_throttled = call.code in THROTTLE_CODES or any(is_throttle(code) for code in reasons)
        conditions = codes["ConditionalCheckFailed"] + codes["ConditionalCheckFailedException"]
        conflicts = codes["TransactionConflict"] + codes["TransactionConflictException"]
        for name in tables:
            if conditions:
                named = dimensions_of(name)
                self.minutes.count(call.place, "ConditionalCheckFailedRequests", named, minute, 1.0, conditions)
            if conflicts:
                self.minutes.count(call.place, "TransactionConflict", dimensions_of(name), minute, conflicts)
        if is_throttled:
            self.answer(call.place, minute, tables, call.operation, "ThrottledRequests")
        if not (is_throttled or conditions):
            self.minutes.count(call.place, "UserErrors", (), minute, 1.0)


def _add(ranking: dict[Key, float], key: Key, value: float) -> None:
    ranking[key] = ranking.get(key, 0.0) + value


def is_blind(index: str | None, direction: str) -> bool:
    """Whether throttle rules do not see it: a table's write that an index refused."""
    return index is not None and direction == "write"


def readable(parts: Iterable[object]) -> str:
    """Return a key as reports show it."""
    return "|".join(part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in parts)


def _named(body: Mapping[str, Any]) -> Iterable[str]:
    if "TableName" in body:
        yield str(body["TableName"])
    if isinstance(body.get("RequestItems"), dict):
        yield from body["RequestItems"]
    for member in body.get("TransactItems") or ():
        yield from (str(part["TableName"]) for part in member.values() if "TableName" in part)
    for holder in (body, *(body.get("Statements") or ()), *(body.get("TransactStatements") or ())):
        yield from _STATEMENT_TABLE.findall(str(holder.get("Statement", "")))
