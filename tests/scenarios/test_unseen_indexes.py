"""Reported incidents of indexes, each in several sights, and what must not be told beside them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.recordings import ACCOUNT, REGION, Recorded
from tests.support.unseen import Incident, want, wrongs

if TYPE_CHECKING:
    from pathlib import Path

EXCEEDED = "ProvisionedThroughputExceededException"
RAISE_TABLE = ("raise-capacity", "raise-max-capacity")
DAY = 86_400
VALIDATION = "ValidationException"


def consumed(table: float, **indexes: float) -> dict[str, Any]:
    total = table + sum(indexes.values())
    named = {name.replace("_", "-"): units for name, units in indexes.items()}
    return {"total": total, "write": total, "table": table, "indexes": named}


# an index that copies everything


def copies_all(*, units: bool = True, expected: float | None = None, metrics: bool = False) -> Recorded:
    indexes = {name: (name, "at") for name in ("by-user", "by-day", "by-kind", "by-host")}
    made = Recorded(minutes=5, table="audit").table("id", indexes=indexes)
    if expected is not None:
        declared = [{"name": name, "partition_key": name, "expected_write_amplification": expected} for name in indexes]
        write = {"id": "append", "operation": "PutItem", "key": {"id": "<id>"}}
        made.contract(write, key=("id",), indexes=declared)
    for number in range(1_500):
        spent = consumed(4, by_user=4, by_day=4, by_kind=4, by_host=4) if units else None
        made.request("PutItem", number / 5, key={"id": f"A#{number}"}, consumed=spent, caller="auditor")
    if metrics:
        made.quiet_metrics(write=1_200, operation="PutItem")
        for name in indexes:
            made.metric("ConsumedWriteCapacityUnits", [1_200] * 5, index=name)
    return made


# an index that somebody began to build an hour ago


def being_built(status: str = "CREATING", *, backfilling: bool = True, refuse: bool = True) -> Recorded:
    made = Recorded(minutes=5, table="people").table("id", indexes={"by-mail": ("mail",)})
    described = made._lines[-1]["table"]["GlobalSecondaryIndexes"][0]
    described |= {"IndexStatus": status, "Backfilling": backfilling}
    message = "Cannot read from backfilling global secondary index: by-mail"
    for number in range(300):
        made.request("GetItem", number, key={"id": f"P#{number}"}, units=0.5, caller="login")
        if refuse and number % 3 == 0:
            error = {"code": VALIDATION, "message": message}
            made.request(
                "Query", number + 0.4, key={"mail": f"m{number}"}, index="by-mail", error=error, caller="login"
            )
    return made


def built_metrics() -> Recorded:
    made = Recorded(minutes=10, table="people").table("id").quiet_metrics()
    made.metric(
        "OnlineIndexPercentageProgress", [10.0 * number for number in range(10)], stat="Maximum", index="by-mail"
    )
    made.metric("OnlineIndexConsumedWriteCapacity", [9_000] * 10, index="by-mail")
    return made


# code that asks for an index that is not there


def absent(message: str = "The table does not have the specified index: by-city", *, table: bool = True) -> Recorded:
    made = Recorded(minutes=4, table="shops")
    if table:
        made.table("id", indexes={"by-owner": ("owner",)})
    for number in range(240):
        made.request("GetItem", number, key={"id": f"S#{number}"}, units=0.5, caller="map")
        if number % 2:
            error = {"code": VALIDATION, "message": message}
            made.request(
                "Query", number + 0.4, key={"city": f"c{number}"}, index="by-city", error=error, caller="map-v2"
            )
    return made


# strong reads of an index


def strong(share: int = 1, *, message: bool = True, caller: str | None = "invoice-list") -> Recorded:
    made = Recorded(minutes=4, table="invoices").table("id", indexes={"by-owner": ("owner",)})
    said = "Consistent reads are not supported on global secondary indexes"
    for number in range(240):
        asked: dict[str, Any] = {"index": "by-owner", "caller": caller}
        if number % share == 0:
            error = {"code": VALIDATION} | ({"message": said} if message else {})
            asked |= {"consistent": True, "error": error}
        else:
            asked |= {"units": 2, "count": 10, "scanned": 10}
        made.request("Query", number, key={"owner": f"o{number}"}, **asked)
    return made


def strong_local() -> Recorded:
    made = Recorded(minutes=4, table="invoices").table("id", "at", local={"by-sum": ("id", "sum")})
    for number in range(240):
        asked: dict[str, Any] = {"index": "by-sum", "consistent": True, "caller": "invoice-list"}
        made.request("Query", number, key={"id": f"o{number}"}, units=2, count=10, scanned=10, **asked)
    return made


# a collection of 10 GB


def collection_full(*, told: bool = True, batch: bool = False) -> Recorded:
    made = Recorded(minutes=4, table="chat").table("room", "at", local={"by-author": ("room", "author")})
    code = "ItemCollectionSizeLimitExceededException"
    for number in range(480):
        key = {"room": "ROOM#lobby" if number % 4 == 0 else f"ROOM#{number}", "at": f"{number:05}"}
        call: dict[str, Any] = {"caller": "chat-api", "attempts": 1}
        if number % 4 == 0:
            call["error"] = {"code": code, "message": "Collection size exceeded." if told else ""}
        else:
            call["units"] = 1
        made.request("PutItem", number / 2, key=key, **call)
    return made


# an index that nobody reads


def unread(days: int = 16, reads: float = 0.0, writes: float = 900.0) -> Recorded:
    made = Recorded(minutes=days * 1440, table="parcels").table(
        "id", indexes={"by-carrier": ("carrier",)}, CreationDateTime="2025-01-01T00:00:00.000Z"
    )
    hours = days * 24
    for index, used in ((None, 50_000.0), ("by-carrier", reads)):
        made.metric("ConsumedReadCapacityUnits", [used] * hours, index=index, period=3600)
        made.metric("ConsumedWriteCapacityUnits", [writes * 60] * hours, index=index, period=3600)
    for none in ("ReadThrottleEvents", "WriteThrottleEvents"):
        made.metric(none, [], period=3600)
    made.metric("SystemErrors", [], period=3600, Operation="GetItem")
    return made.metric("SuccessfulRequestLatency", [5.0] * hours, stat="p99", period=3600, Operation="GetItem")


# an index with less write capacity than its table


def narrow(*, log: bool = True, metrics: bool = True, reason: bool = True) -> Recorded:
    made = Recorded(minutes=4, table="tickets").table("id", write=1_000, indexes={"by-agent": ("agent",)})
    described = made._lines[-1]["table"]["GlobalSecondaryIndexes"][0]
    described["ProvisionedThroughput"] = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 20}
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/tickets/index/by-agent"
    for number in range(2_400 if log else 0):
        key = {"id": f"T#{number}"}
        if number % 3 == 0:
            told = [{"reason": "IndexWriteProvisionedThroughputExceeded", "resource": arn}]
            error = {"code": EXCEEDED} | ({"reasons": told} if reason else {})
            made.request("PutItem", number / 10, key=key, error=error, attempts=3, caller="helpdesk")
        else:
            made.request("PutItem", number / 10, key=key, consumed=consumed(3, by_agent=3), caller="helpdesk")
    if metrics:
        made.quiet_metrics(write=1_200, operation="PutItem")
        made.metric("ConsumedWriteCapacityUnits", [1_200] * 4, index="by-agent")
        made.metric("ProvisionedWriteCapacityUnits", [20] * 4, stat="Average", index="by-agent")
        made.metric("WriteThrottleEvents", [600] * 4, index="by-agent")
        if reason:
            made.metric("WriteProvisionedThroughputThrottleEvents", [600] * 4, index="by-agent")
    return made


# a sparse index whose key is on every item: asked for, it gives the whole table


def not_sparse(*, contract: bool = True) -> Recorded:
    made = Recorded(minutes=5, table="mails").table("id", indexes={"unsent": ("unsent",)}, ItemCount=12_000)
    made._lines[-1]["table"]["GlobalSecondaryIndexes"][0]["ItemCount"] = 12_000
    if contract:
        made.contract(
            {"id": "unsent", "operation": "Query", "index": "unsent", "key": {"unsent": "Y"}, "callers": ["mailer"]},
            key=("id",),
            indexes=[{"name": "unsent", "partition_key": "unsent", "sparse": True}],
        )
    for number in range(60):
        for page in range(3):
            asked: dict[str, Any] = {"filter": "sent = :no", "count": 2, "scanned": 4_000, "more": page < 2}
            asked |= {"index": "unsent", "caller": "mailer", "resumed": page > 0}
            made.request("Query", 5 * number + 0.2 * page, key={"unsent": "Y"}, units=128.5, **asked)
    return made


# an index key of another type, or empty: the write is refused


def bad_index_key() -> Recorded:
    made = Recorded(minutes=4, table="rooms").table("id", indexes={"by-guest": ("guest",)})
    said = "One or more parameter values were invalid: Type mismatch for Index Key guest Expected: S Actual: NULL"
    for number in range(480):
        failed = {"error": {"code": VALIDATION, "message": said}, "attempts": 1} if number % 3 == 0 else {}
        units = None if failed else 2
        made.request("PutItem", number / 2, key={"id": f"R#{number}"}, units=units, caller="booking", **failed)
    return made


PRESSURE = ("gsi-back-pressure",)
INCIDENTS = (
    Incident("indexes that copy everything", copies_all, (want("write-amplification", "medium", table="audit"),)),
    Incident(
        "indexes that copy everything, as declared",
        partial(copies_all, expected=1.0),
        quiet_above="low",
    ),
    Incident(
        "indexes that copy everything, metrics",
        partial(copies_all, units=False, metrics=True),
        (want("write-amplification", "medium", table="audit"),),
    ),
    Incident(
        "an index is being built",
        being_built,
        (want("index-building", "low", index="by-mail"),),
        root=("index-building",),
        never=("gsi-consistent-read", "missing-index"),
    ),
    Incident(
        "an index is being built, nobody reads it",
        partial(being_built, refuse=False),
        (want("index-building", "low"),),
        quiet_above="low",
    ),
    Incident(
        "an index is being built, metrics alone", built_metrics, (want("index-building", "low"),), quiet_above="low"
    ),
    *(
        Incident(
            f"an index is not there, {name}",
            recorded,
            (want("missing-index", "critical", caller="map-v2"),),
            root=("missing-index",),
            never=("service-fault",),
        )
        for name, recorded in (
            ("as DynamoDB says it", absent),
            ("message withheld", partial(absent, message="")),
            ("table not described", partial(absent, table=False)),
        )
    ),
    *(
        Incident(
            f"strong reads of an index, {name}",
            recorded,
            (want("gsi-consistent-read", "critical", index="by-owner", caller=caller),),
            root=("gsi-consistent-read",),
            never=("strong-read-cost",),
        )
        for name, recorded, caller in (
            ("all", strong, "invoice-list"),
            ("one in three", partial(strong, 3), "invoice-list"),
            ("message withheld", partial(strong, message=False), "invoice-list"),
            ("caller unknown", partial(strong, caller=None), None),
        )
    ),
    Incident("strong reads of a local index", strong_local, never=("gsi-consistent-read",), quiet_above="low"),
    *(
        Incident(
            f"a collection is full, {name}",
            partial(collection_full, told=told),
            (want("item-collection-limit", "critical", caller="chat-api"),),
            root=("item-collection-limit",),
            never=("request-errors", "item-too-large", "hot-key"),
            secrets=("lobby",),
        )
        for name, told in (("told", True), ("message withheld", False))
    ),
    Incident(
        "an index nobody reads", unread, (want("unused-index", "medium", index="by-carrier"),), quiet_above="medium"
    ),
    Incident(
        "an index nobody reads, five days",
        partial(unread, 5),
        never=("unused-index",),
        forbidden=("delete-index",),
        quiet_above="low",
    ),
    Incident(
        "an index that is read a little",
        partial(unread, reads=3.0),
        never=("unused-index",),
        forbidden=("delete-index",),
        quiet_above="low",
    ),
    *(
        Incident(
            f"an index narrower than its table, {name}",
            recorded,
            (want("gsi-back-pressure", severity, index="by-agent", cause="provisioned"),),
            root=PRESSURE,
            never=("hot-key",),
            forbidden=RAISE_TABLE,
        )
        for name, recorded, severity in (
            ("log and metrics", narrow, "critical"),
            ("log alone", partial(narrow, metrics=False), "critical"),
            ("metrics alone", partial(narrow, log=False), "high"),
            ("metrics alone, reasons untold", partial(narrow, log=False, reason=False), "high"),
        )
    ),
    Incident(
        "an index narrower than its table, no reasons anywhere",
        partial(narrow, reason=False),
        (want("gsi-back-pressure", "critical", index="by-agent"),),
        root=PRESSURE,
        forbidden=RAISE_TABLE,
    ),
    *(
        Incident(
            f"an index that was meant to be sparse, {name}",
            partial(not_sparse, contract=contract),
            (want(detector, "high", index="unsent", caller="mailer"),),
            root=("filter-heavy-query", "unexpected-scan", "polling-read"),
        )
        for name, contract, detector in (
            ("declared", True, "filter-heavy-query"),
            ("no contract", False, "unexpected-scan"),
        )
    ),
    Incident(
        "an index key of the wrong type",
        bad_index_key,
        (want("request-errors", "high", caller="booking", cause="validation"),),
        root=("request-errors",),
    ),
)


@pytest.mark.parametrize("incident", INCIDENTS, ids=str)
def test_an_incident_is_told_right(incident: Incident, tmp_path: Path) -> None:
    assert wrongs(incident.recorded().replayed(tmp_path), incident) == []
