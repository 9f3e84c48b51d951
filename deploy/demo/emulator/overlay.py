"""What all operations share: the tables, admission by the buckets, the record stream, and moto behind them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deploy.demo.emulator.buckets import Buckets
from deploy.demo.emulator.catalog import Catalog
from deploy.demo.emulator.charges import charge_write
from deploy.demo.emulator.journal import Journal, Served
from deploy.demo.emulator.refusal import Refused, canceled, throttled
from deploy.demo.emulator.store import Table
from deploy.demo.emulator.writes import WorkingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from deploy.demo.emulator.charges import Charge
    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.moto import Moto
    from deploy.demo.emulator.refusal import ThrottleReason

__all__ = ["Call", "Overlay", "UnknownTable", "without"]

_ACCEPTED_AT_MOST = 2000
_PRIVATE = ("ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ClientRequestToken")


class UnknownTable(Exception):  # noqa: N818 - moto is asked, and knows what to answer
    """A call names a table that the mirror does not have."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: operation, parsed body, the headers that say who asks, and the account and region that are asked."""

    operation: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    place: Place

    @property
    def wanted(self) -> str | None:
        """ReturnConsumedCapacity as asked."""
        asked = self.body.get("ReturnConsumedCapacity")
        return None if asked is None else str(asked)


def without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a body without what moto need not know."""
    return {name: value for name, value in body.items() if name not in _PRIVATE and name not in names}


class Overlay:
    """The state of the emulator."""

    def __init__(
        self, moto: Moto, clock: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time
    ) -> None:
        self.on_tables: list[Callable[[Call, Table | None], None]] = []
        """Told after each call that changes or describes a table: the table, None where it is gone."""
        self.moto = moto
        self.buckets = Buckets()
        self.journal = Journal()
        self.working = WorkingSet(moto)
        self.catalog = Catalog()
        self.lock = asyncio.Lock()
        self.tokens: dict[str, dict[str, Any]] = {}
        self._tables: dict[tuple[Place, str], Table] = {}
        self._accepted: set[object] = set()
        self._clock = clock
        self._wall = wall

    def table(self, call: Call, name: str | None = None) -> Table:
        """Return the table that a call names, by name or ARN; raises UnknownTable."""
        asked = str(name if name is not None else call.body.get("TableName"))
        return self.find(call.place, asked)

    def find(self, place: Place, name: str) -> Table:
        """Return a table by name or ARN; raises UnknownTable."""
        found = self._tables.get((place, name.rpartition(":table/")[2]))
        if found is None:
            raise UnknownTable(name)
        return found

    def has(self, place: Place, name: str) -> bool:
        """Whether there is such a table."""
        return (place, name) in self._tables

    def tables(self, place: Place) -> list[Table]:
        """Return the tables of an account and region."""
        return [table for (home, _), table in self._tables.items() if home == place]

    def clear(self) -> None:
        """Forget everything; moto has to be told by itself."""
        self.buckets = Buckets()
        self.journal.seconds.clear()
        self.tokens.clear()
        self.catalog.clear()
        self._tables.clear()
        self._accepted.clear()

    async def accept(self, call: Call, shape: object, body: Mapping[str, Any]) -> None:
        """Let moto validate a request whose like it has not seen; raises what it answers."""
        if (call.operation, shape) in self._accepted:
            return
        await self.moto.call(call.operation, without(body, "ExclusiveStartKey"), call.headers)
        if len(self._accepted) >= _ACCEPTED_AT_MOST:
            self._accepted.clear()
        self._accepted.add((call.operation, shape))

    def refusals(self, charges: Iterable[Charge]) -> tuple[ThrottleReason, ...]:
        """Return why charges cannot be taken now."""
        return self.buckets.refusals(charges, self._clock())

    def refuse(self, call: Call, charges: Sequence[Charge], reasons: tuple[ThrottleReason, ...]) -> Refused:
        """Note a refusal and return the answer."""
        self._note(call, charges, reasons)
        return throttled(reasons)

    def take(self, call: Call, charges: Sequence[Charge]) -> None:
        """Take and note charges, whatever the buckets hold."""
        self.buckets.take(charges, self._clock())
        self._note(call, charges, ())

    def admit(self, call: Call, charges: Sequence[Charge]) -> None:
        """Take charges, or raise the refusal."""
        reasons = self.refusals(charges)
        if reasons:
            raise self.refuse(call, charges, reasons)
        self.take(call, charges)

    def refusal(self, reasons: tuple[ThrottleReason, ...]) -> Refused:
        """Return the answer to what was noted already."""
        return throttled(tuple(dict.fromkeys(reasons)))

    def admit_transaction(self, call: Call, members: Sequence[Sequence[Charge]]) -> None:
        """Take the charges of all members or of none, and raise the cancellation with a reason a member."""
        charges = [charge for member in members for charge in member]
        reasons = self.refusals(charges)
        if not reasons:
            self.take(call, charges)
            return
        self._note(call, charges, reasons)
        told = [
            tuple(r for r in reasons if r.resource in {c.table.resource(c.resource) for c in member})
            if any(self.refusals([charge]) for charge in member)
            else ()
            for member in members
        ]
        raise canceled(told if any(told) else [reasons, *((),) * (len(members) - 1)])

    def _note(self, call: Call, charges: Sequence[Charge], reasons: tuple[ThrottleReason, ...]) -> None:
        for name in dict.fromkeys(charge.table.name for charge in charges):
            own = tuple(charge for charge in charges if charge.table.name == name)
            resources = {charge.table.resource(charge.resource) for charge in own}
            told = tuple(reason for reason in reasons if reason.resource in resources)
            self.journal.note(Served(self._wall(), call.operation, name, own, told))

    async def control(self, call: Call) -> dict[str, Any]:
        """Pass on what changes or describes tables, and learn from the answer."""
        answer = await self.moto.call(call.operation, call.body, call.headers)
        described = answer.get("TableDescription") or answer.get("Table")
        if not isinstance(described, dict):
            return answer
        name = (call.place, described["TableName"])
        self._accepted.clear()
        if call.operation == "DeleteTable":
            self._tables.pop(name, None)
            self._tell(call, None)
            return answer
        self.catalog.complete(call, described)
        if name not in self._tables:
            self._tables[name] = Table(described)
        else:
            self._tables[name].learn(described)
        self._tell(call, self._tables[name])
        if call.operation == "DescribeTable":
            _fill_sizes(described, self._tables[name])
            self.catalog.patch(call.place, described)
        return answer

    def _tell(self, call: Call, table: Table | None) -> None:
        for listen in self.on_tables:
            listen(call, table)

    async def ask_moto(self, call: Call) -> dict[str, Any]:
        """Let moto answer from whole tables, and take over what it changed; its units are made up, and dropped.

        What it changed is charged; what it read is not.
        """
        async with self.lock:
            tables = self.tables(call.place)
            for table in tables:
                await self.working.hold_all(table, call.headers)
            answer = await self.moto.call(call.operation, without(call.body), call.headers)
            if call.operation not in {"Query", "Scan", "GetItem", "BatchGetItem"}:
                for table in tables:
                    charges = await self._adopt(table, call)
                    if charges:
                        self.take(call, charges)
        answer.pop("ConsumedCapacity", None)
        return answer

    async def _adopt(self, table: Table, call: Call) -> list[Charge]:
        """Take over what moto has of a table; returns what the changes cost."""
        charges: list[Charge] = []
        body: dict[str, Any] = {"TableName": table.name}
        gone = set(table.base.entries)
        while True:
            page = await self.moto.call("Scan", body, call.headers)
            for item in page["Items"]:
                key = table.key_of(item)
                gone.discard(key)
                before = table.get(key)
                if before != item:
                    charges += charge_write(table, before, item)
                    table.replace(key, item)
                table.held[key] = True
            if "LastEvaluatedKey" not in page:
                break
            body["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        for key in gone:
            charges += charge_write(table, table.get(key), None)
            table.replace(key, None)
        return charges

    def seed(self, place: Place, name: str, items: Iterable[dict[str, Any]]) -> int:
        """Put items into a table at no cost and without a record; raises UnknownTable."""
        table = self.find(place, name)
        count = 0
        for item in items:
            key = table.key_of(item)
            table.replace(key, item)
            if key in table.held:
                table.held[key] = False
            count += 1
        return count


def _fill_sizes(described: dict[str, Any], table: Table) -> None:
    described["ItemCount"] = len(table.base.entries)
    described["TableSizeBytes"] = sum(entry.size_bytes for entry in table.base.entries.values())
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in described.get(member) or ():
            entries = table.indexes[index["IndexName"]].entries.values()
            index["ItemCount"] = len(entries)
            index["IndexSizeBytes"] = sum(entry.size_bytes for entry in entries)
