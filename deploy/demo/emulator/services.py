"""Everything that stands beside DynamoDB's data plane: one object that holds it, and who answers what.

DynamoDB itself is the overlay's; what is named nowhere here goes to moto as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from deploy.demo.emulator.clock import Clock
from deploy.demo.emulator.cloudwatch import CloudWatch
from deploy.demo.emulator.faults import Faults
from deploy.demo.emulator.insights import Insights, unknown_table
from deploy.demo.emulator.meter import Meter
from deploy.demo.emulator.minutes import Minutes, Resource
from deploy.demo.emulator.overlay import Overlay, UnknownTable
from deploy.demo.emulator.rates import Rates
from deploy.demo.emulator.reports import Reports
from deploy.demo.emulator.scaling import MEMBERS, Scaling
from deploy.demo.emulator.series import Series
from deploy.demo.emulator.standing import Standing
from deploy.demo.emulator.trail import Trail

if TYPE_CHECKING:
    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.moto import Moto
    from deploy.demo.emulator.overlay import Call
    from deploy.demo.emulator.store import Schema, Table
    from deploy.demo.emulator.wire import Asked, Reply

__all__ = ["INSIGHTS", "Services"]

Body = dict[str, Any]

INSIGHTS = frozenset({"DescribeContributorInsights", "ListContributorInsights", "UpdateContributorInsights"})
_ACCESS_KEY = re.compile(rb"<AccessKeyId>([^<]+)</AccessKeyId>")
_ROLE = re.compile(r"arn:aws[\w-]*:iam::(\d{12}):role/")


class Services:
    """The emulator's state."""

    def __init__(self, moto: Moto) -> None:
        self.moto = moto
        self.clock = Clock()
        self.overlay = Overlay(moto, wall=self.clock.now)
        self.faults = Faults()
        self.rates = Rates()
        self.scaling = Scaling(moto)
        self.trail = Trail(self.clock)
        self.accounts: dict[str, str] = {}
        """Access key of an assumed role to its account."""
        self.calls: Counter[tuple[str, str]] = Counter()
        """Calls by service and operation, those that a fault struck too."""
        self._begin()
        self.overlay.on_tables.append(self._follow)

    def _begin(self) -> None:
        self.standing = Standing()
        self.insights = Insights(self.clock)
        minutes = Minutes()
        self.meter = Meter(minutes)
        self.reports = Reports(minutes, self.insights, self.clock)
        self.cloudwatch = CloudWatch(Series(minutes, self.standing, self.clock), self.reports, self.clock)
        self.overlay.journal.listeners = [self.meter.listen]

    async def reset(self) -> None:
        """Forget everything, moto's part too, and run with the machine's clock."""
        await self.moto.forward("POST", "/moto-api/reset", b"", {})
        self.clock.run()
        self.overlay.clear()
        self.faults.clear()
        self.rates = Rates()
        self.scaling.clear()
        self.trail = Trail(self.clock)
        self.accounts.clear()
        self.calls.clear()
        self._begin()

    def stand(self, at: float) -> None:
        """Let the clock stand; where it goes back, what is there now is there since then."""
        self.insights.go_back(at)
        self.standing.go_back(at)
        self.clock.stand(at)

    def _follow(self, call: Call, table: Table | None) -> None:
        if table is None:
            name = str(call.body["TableName"]).rpartition(":table/")[2]
            self.standing.forget(call.place, name, self.clock.now())
            self.insights.forget(call.place, name)
        else:
            self.standing.learn(table, self.clock.now())

    def schema(self, place: Place, table: str, index: str | None) -> Schema:
        """Return the keys of a table or index; raises DynamoDB's answer where there is none."""
        try:
            found = self.overlay.find(place, table)
        except UnknownTable:
            raise unknown_table(table) from None
        if index is not None and index not in found.indexes:
            raise unknown_table(f"{table}/index/{index}")
        return found.base.schema if index is None else found.indexes[index].schema

    def serve_insights(self, call: Call) -> Body:
        """Serve DynamoDB's three operations of Contributor Insights; raises Refused."""
        body = dict(call.body)
        if body.get("TableName"):
            body["TableName"] = str(body["TableName"]).rpartition(":table/")[2]
        if call.operation == "ListContributorInsights":
            return self.insights.list(call.place, body)
        index = body.get("IndexName")
        schema = self.schema(call.place, str(body.get("TableName")), index)
        resource = Resource(call.place, str(body["TableName"]), index)
        if call.operation == "DescribeContributorInsights":
            return self.insights.describe(resource)
        return self.insights.update(resource, schema, body)

    async def serve(self, asked: Asked) -> Body | None:
        """Serve a call of another service; None where moto has to; raises Rejected."""
        if asked.service == "monitoring" and self.cloudwatch.is_asked(asked.operation, asked.body):
            return self.cloudwatch.serve(asked.operation, asked.place, asked.body)
        if asked.service == "monitoring" and asked.operation == "DescribeInsightRules":
            return self.insights.describe_rules(asked.place, asked.body)
        if asked.service == "application-autoscaling" and asked.operation in MEMBERS:
            return await self.scaling.serve(asked)
        if asked.service == "cloudtrail" and asked.operation == "LookupEvents":
            return self.trail.serve(asked.place, asked.body)
        return None

    def learn(self, asked: Asked, reply: Reply) -> None:
        """Take from a call that succeeded what is told elsewhere: changes, and whose an access key is."""
        self.trail.note(asked)
        if asked.service == "sts" and asked.operation == "AssumeRole":
            role = _ROLE.match(str(asked.body.get("RoleArn")))
            key = _ACCESS_KEY.search(reply.body)
            if role is not None and key is not None:
                self.accounts[key[1].decode()] = role[1]
