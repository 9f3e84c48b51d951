"""Reported incidents of writes and of contracts, each in several sights, and what must not be told beside them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.recordings import ACCOUNT, REGION, Recorded, typed
from tests.support.unseen import Incident, want, wrongs

if TYPE_CHECKING:
    from pathlib import Path

EXCEEDED = "ProvisionedThroughputExceededException"
CONDITION = "ConditionalCheckFailedException"
CANCELED = "TransactionCanceledException"


def refused(reason: str, table: str) -> dict[str, Any]:
    return {
        "code": EXCEEDED,
        "reasons": [{"reason": reason, "resource": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}"}],
    }


# a version that many change at once


def contended(failing: int = 2, condition: str = "attribute_exists(id) AND version = :v", keys: int = 1) -> Recorded:
    made = Recorded(minutes=5, table="seats").table("id")
    for number in range(900):
        call: dict[str, Any] = {"condition": condition, "update": "SET version = :n, taken = :t", "caller": "booking"}
        if number % failing == 0:
            call["error"] = {"code": CONDITION, "message": "The conditional request failed"}
        else:
            call["units"] = 1
        made.request("UpdateItem", number / 3, key={"id": f"SHOW#{number % keys}"}, **call)
    return made


def created_once(failing: int = 3) -> Recorded:
    """A queue delivers twice: the second put of an id fails, as it should."""
    made = Recorded(minutes=5, table="handled").table("id")
    for number in range(900):
        call: dict[str, Any] = {"condition": "attribute_not_exists(id)", "caller": "consumer"}
        key = {"id": f"M#{number - (number % failing == 0)}"}
        if number % failing == 0:
            made.request("PutItem", number / 3, key=key, error={"code": CONDITION}, **call)
        else:
            made.request("PutItem", number / 3, key=key, units=1, **call)
    return made


# a transaction that is used as a lock


def transaction_lock(code: str = "ConditionalCheckFailed", *, told: bool = True) -> Recorded:
    made = Recorded(minutes=20, table="locks").table("id")
    part = {"op": "Put", "table": "locks", "key": {"id": typed("LOCK#import")}, "condition": "attribute_not_exists(id)"}
    for number in range(240):
        error: dict[str, Any] = {"code": CANCELED}
        if told:
            error["cancellation"] = [code, None]
        else:
            error["message"] = (
                f"Transaction cancelled, please refer cancellation reasons for specific reasons [{code}, None]"
            )
        other = {"op": "Update", "table": "locks", "key": {"id": typed(f"RUN#{number}")}, "update": "SET a = :a"}
        made.request("TransactWriteItems", number * 5, parts=[part, other], error=error, caller="importer")
    return made


# transactions that are canceled because a limit refused a part


def transaction_throttled(codes: str = "ThrottlingError") -> Recorded:
    made = Recorded(minutes=3, table="accounts").table("id", write=50)
    for number in range(540):
        keys = [f"A#{number * 31 % 997}", f"B#{number * 37 % 997}"]
        parts = [
            {"op": "Update", "table": "accounts", "key": {"id": typed(key)}, "update": "SET n = :n"} for key in keys
        ]
        call: dict[str, Any] = {"parts": parts, "caller": "transfer"}
        if number % 4 == 0:
            call["error"] = {"code": CANCELED, "cancellation": [codes, None]}
        else:
            call["consumed"] = {"total": 4, "write": 4, "table": 4}
        made.request("TransactWriteItems", number / 3, **call)
    return made


def transaction_conflicts(share: int = 3) -> Recorded:
    made = Recorded(minutes=5, table="accounts").table("id")
    for number in range(600):
        keys = ["TOTAL#all", f"A#{number}"]
        parts = [{"op": "Update", "table": "accounts", "key": {"id": typed(key)}, "update": "ADD n :n"} for key in keys]
        call: dict[str, Any] = {"parts": parts, "caller": "transfer"}
        if number % share == 0:
            call["error"] = {"code": CANCELED, "cancellation": ["TransactionConflict", None]}
        else:
            call["consumed"] = {"total": 4, "write": 4, "table": 4}
        made.request("TransactWriteItems", number / 2, **call)
    return made


# times to live that are none


def lives(value: dict[str, str], *, declared: bool = True, status: str = "ENABLED", op: str = "PutItem") -> Recorded:
    made = Recorded(minutes=5, table="sessions").table("id")
    made.line("ttl", table="sessions", ttl={"TimeToLiveStatus": status, "AttributeName": "expires"})
    if declared:
        put = {"id": "save", "operation": op, "key": {"id": "<id>"}}
        made.contract(put, key=("id",), ttl_attribute="expires")
    for number in range(300):
        seen = {"attribute": "expires", "value": value}
        made.request(op, number, key={"id": f"S#{number}"}, units=1, ttl_seen=seen, caller="login", item_bytes=300)
    return made


# two regions write one key


def two_regions() -> Recorded:
    made = Recorded(minutes=10, table="carts").table("id", Replicas=[{"RegionName": "us-west-2"}])
    for number in range(600):
        region = REGION if number % 2 else "us-west-2"
        key = {"id": f"CART#{number // 2 % 20}"}
        made.request("PutItem", number, key=key, units=1, region=region, caller=f"cart-{region}", item_bytes=200)
    return made


def replica_behind() -> Recorded:
    made = Recorded(minutes=60, table="carts").table("id", Replicas=[{"RegionName": "us-west-2"}]).quiet_metrics()
    lag = [900.0] * 45 + [40_000.0] * 15
    return made.metric("ReplicationLatency", lag, stat="Average", ReceivingRegion="us-west-2")


# a consumer of the stream is stuck on one record


def poison() -> Recorded:
    made = Recorded(minutes=60, table="orders").table("id", StreamSpecification={"StreamEnabled": True}).quiet_metrics()
    made.metric(
        "AgeOfOldestUnreplicatedRecord",
        [1_000.0 + 60_000.0 * n for n in range(60)],
        stat="Maximum",
        DelegatedOperation="PutRecords",
    )
    return made


# a batch hands back what it could not write, and nobody looks


def handed_back(op: str = "BatchWriteItem", *, again: bool = False, every: int = 3) -> Recorded:
    made = Recorded(minutes=5, table="prices").table("id", write=100)
    kind = "Put" if op == "BatchWriteItem" else "Get"
    for number in range(150):
        parts = [{"op": kind, "table": "prices", "key": {"id": typed(f"P#{number}-{n}")}} for n in range(25)]
        back: dict[str, Any] = {"unprocessed": 5, "handed_back": [0, 1, 2, 3, 4]} if number % every == 0 else {}
        made.request(op, number * 2, parts=parts, units=20 if back else 25, caller="loader", **back)
        if back and again:
            made.request(op, number * 2 + 0.3, parts=parts[:5], units=5, caller="loader")
    return made


# an item that grows until it no longer fits


def grows(message: str = "Item size to update has exceeded the maximum allowed size") -> Recorded:
    made = Recorded(minutes=30, table="threads").table("id")
    for number in range(180):
        call: dict[str, Any] = {"update": "SET posts = list_append(posts, :p)", "caller": "forum"}
        size = 2.2 * number
        if size < 400:
            made.request("UpdateItem", number * 10, key={"id": "THREAD#1"}, units=round(size) + 1, **call)
        else:
            error = {"code": "ValidationException", "message": message}
            made.request("UpdateItem", number * 10, key={"id": "THREAD#1"}, error=error, **call)
    for number in range(20):
        error = {"code": "ValidationException", "message": message}
        call = {"update": "SET posts = list_append(posts, :p)", "caller": "forum"}
        made.request("UpdateItem", 1750 + number, key={"id": "THREAD#1"}, error=error, **call)
    return made


# tokens of one transaction used for another


def token_reused() -> Recorded:
    made = Recorded(minutes=5, table="orders").table("id")
    for number in range(200):
        parts = [{"op": "Put", "table": "orders", "key": {"id": typed(f"O#{number}-{n}")}} for n in range(2)]
        call: dict[str, Any] = {"parts": parts, "token_sent": True, "caller": "checkout"}
        if number % 10 == 0:
            call["error"] = {"code": "IdempotentParameterMismatchException"}
        else:
            call["units"] = 4
        made.request("TransactWriteItems", number, **call)
    return made


# callers other than those that were declared


def drifted(caller: str = "legacy-report", size: int = 2_000, units: float = 0.5, share: int = 2) -> Recorded:
    made = Recorded(minutes=10, table="cases").table()
    made.contract(
        {
            "id": "load-case",
            "operation": "GetItem",
            "key": {"PK": "CASE#<id>", "SK": "META"},
            "item_bytes": 2_000,
            "callers": ["dashboard"],
        },
        callers={"dashboard": {"services": ["dashboard"]}, "legacy-report": {"services": ["legacy-report"]}},
    )
    for number in range(1_200):
        who = caller if number % share == 0 else "dashboard"
        key = {"PK": f"CASE#{number * 7919 % 9973}", "SK": "META"}
        made.request("GetItem", number / 2, key=key, units=units, count=1, item_bytes=size, caller=who)
    return made


def undeclared() -> Recorded:
    made = Recorded(minutes=10, table="cases").table()
    made.contract({"id": "load-case", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}})
    for number in range(1_200):
        made.request("GetItem", number / 2, key={"PK": f"CASE#{number}", "SK": "META"}, units=0.5, caller="dashboard")
        key = {"PK": f"CASE#{number}", "SK": "NOTES"}
        made.request("GetItem", number / 2 + 0.1, key=key, units=0.5, caller="dashboard")
    return made


def nobody(days: int = 15) -> Recorded:
    made = Recorded(minutes=days * 1440, table="cases").table()
    made.contract(
        {"id": "load-case", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}},
        {"id": "old-list", "operation": "Query", "key": {"PK": "OWNER#<id>"}, "rate": {"p95": 5}},
    )
    for number in range(days * 48):
        key = {"PK": f"CASE#{number}", "SK": "META"}
        made.request("GetItem", number * 1800, key=key, units=0.5, caller="dashboard")
    return made


INCIDENTS = (
    Incident(
        "a version is contended",
        contended,
        (want("conditional-contention", "medium", caller="booking"),),
        never=("stuck-lock", "request-errors"),
    ),
    Incident(
        "versions of many are contended a little",
        partial(contended, 10, keys=50),
        never=("stuck-lock", "request-errors"),
        quiet_above="low",
    ),
    Incident("a message is delivered twice", created_once, never=("stuck-lock", "request-errors"), quiet_above="low"),
    *(
        Incident(
            f"a transaction is a lock, {name}",
            partial(transaction_lock, told=told),
            (want("conditional-contention", "low", table="locks", cause="create-once"),),
            never=("transaction-conflict", "throttling", "request-errors"),
            quiet_above="medium",
            secrets=("LOCK#import",),
        )
        for name, told in (("reasons listed", True), ("reasons in the message", False))
    ),
    *(
        Incident(
            f"a transaction meets a limit, {code}",
            partial(transaction_throttled, code),
            (want("throttling", "critical", table="accounts"),),
            root=("throttling",),
            never=("transaction-conflict", "conditional-contention", "hot-key"),
        )
        for code in ("ThrottlingError", "ProvisionedThroughputExceeded")
    ),
    Incident(
        "transactions meet at a total",
        transaction_conflicts,
        (want("transaction-conflict", "high", caller="transfer", key={"id": "TOTAL#all"}),),
        root=("transaction-conflict",),
        never=("throttling", "conditional-contention"),
        secrets=("TOTAL#all",),
    ),
    *(
        Incident(
            f"a time to live in {name}",
            partial(lives, value),
            (want("ttl-invalid", "medium", caller="login"),),
            quiet_above="high",
        )
        for name, value in (
            ("milliseconds", {"N": "1772442000000"}),
            ("words", {"S": "2026-03-02T10:00:00Z"}),
            ("digits of a string", {"S": "1772442000"}),
        )
    ),
    Incident(
        "a time to live as it should be", partial(lives, {"N": "1772449200"}), never=("ttl-invalid",), quiet_above="low"
    ),
    Incident(
        "a time to live that is switched off",
        partial(lives, {"N": "1772449200"}, status="DISABLED"),
        (want("ttl-invalid", "medium", cause="not-enabled"),),
        quiet_above="medium",
    ),
    Incident(
        "two regions write one key",
        two_regions,
        (want("replication-lag", "medium"),),
        quiet_above="high",
        root=("replication-lag",),
    ),
    Incident(
        "a replica is behind",
        replica_behind,
        (want("replication-lag", "medium"),),
        quiet_above="high",
        root=("replication-lag",),
    ),
    Incident("a consumer is stuck", poison, (want("stream-lag", "high"),), root=("stream-lag",)),
    Incident(
        "a batch hands back writes",
        handed_back,
        (want("unprocessed-dropped", "critical", caller="loader"),),
        root=("unprocessed-dropped", "throttling"),
    ),
    Incident(
        "a batch hands back reads",
        partial(handed_back, "BatchGetItem"),
        (want("unprocessed-dropped", "high", caller="loader"),),
        root=("unprocessed-dropped", "throttling"),
    ),
    Incident(
        "a batch hands back writes, which are sent again",
        partial(handed_back, again=True, every=30),
        never=("unprocessed-dropped",),
    ),
    *(
        Incident(
            f"an item no longer fits, {name}",
            partial(grows, message),
            (want("item-too-large", "critical", caller="forum", key={"id": "THREAD#1"}),),
            root=("item-too-large", "item-growth"),
            never=("request-errors",),
            secrets=("THREAD#1",),
        )
        for name, message in (
            ("of an update", "Item size to update has exceeded the maximum allowed size"),
            ("of a put", "Item size has exceeded the maximum allowed size"),
        )
    ),
    Incident(
        "tokens are reused",
        token_reused,
        (want("idempotency-mismatch", "medium", caller="checkout"),),
        root=("idempotency-mismatch",),
        never=("transaction-conflict",),
    ),
    Incident(
        "a stranger calls",
        drifted,
        (want("pattern-drift", "low", pattern="load-case", cause="caller"),),
        quiet_above="medium",
    ),
    Incident(
        "a deploy doubles the units of a read",
        partial(drifted, "dashboard", 9_000, 1.5),
        (want("pattern-drift", "medium", pattern="load-case", cause="item-bytes"),),
        quiet_above="medium",
    ),
    Incident(
        "traffic as declared",
        partial(drifted, "dashboard"),
        never=("pattern-drift", "undeclared-pattern"),
        quiet_above="low",
    ),
    Incident(
        "traffic that nobody declared",
        undeclared,
        (want("undeclared-pattern", "medium", caller="dashboard"),),
        quiet_above="medium",
    ),
    Incident(
        "a declaration that nobody uses",
        nobody,
        (want("unused-pattern", "low", pattern="old-list"),),
        quiet_above="medium",
    ),
    Incident(
        "a declaration that nobody used for two days", partial(nobody, 2), never=("unused-pattern",), quiet_above="low"
    ),
)


@pytest.mark.parametrize("incident", INCIDENTS, ids=str)
def test_an_incident_is_told_right(incident: Incident, tmp_path: Path) -> None:
    assert wrongs(incident.recorded().replayed(tmp_path), incident) == []
