"""Reported incidents of heat and limits, each in several sights: a log whole or sampled, metrics or insights alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.recordings import ACCOUNT, REGION, Recorded
from tests.support.unseen import Incident, want, wrongs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXCEEDED = "ProvisionedThroughputExceededException"
FULL = 180_000
RAISES = ("raise-capacity", "raise-max-capacity", "raise-index-capacity", "switch-to-on-demand")
STRATA: dict[str, Any] = {"sample_rate": 0.01, "strata": [{"by": "request", "rate": 0.01}]}


def arn(table: str, index: str | None = None) -> str:
    return f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}" + (f"/index/{index}" if index else "")


def refused(reason: str | None, table: str, index: str | None = None, code: str = EXCEEDED) -> dict[str, Any]:
    reasons = {"reasons": [{"reason": reason, "resource": arn(table, index)}]} if reason else {}
    return {"code": code, **reasons}


def tried(reason: str | None, *at: float, code: str = EXCEEDED) -> list[dict[str, Any]]:
    return [{"at_ms": when, "code": code, **({"reason": reason} if reason else {})} for when in at]


def insights(made: Recorded, rule: str, keys: dict[str, Sequence[float]], index: str | None = None) -> Recorded:
    """Add a report of Contributor Insights: keys (attributes joined by a bar) with their values a minute."""
    listed = [
        {
            "Keys": name.split("|"),
            "ApproximateAggregateValue": sum(values),
            "Datapoints": [
                {"Timestamp": made.time(60 * number), "ApproximateValue": value} for number, value in enumerate(values)
            ],
        }
        for name, values in keys.items()
    ]
    labels = ["PartitionKey", "SortKey"] if rule.startswith("SK") else ["PartitionKey"]
    report: dict[str, Any] = {
        "KeyLabels": labels,
        "AggregationStatistic": "Sum",
        "Contributors": listed,
        "MetricDatapoints": [],
    }
    report |= {"AggregateValue": sum(sum(values) for values in keys.values()), "ApproximateUniqueCount": len(listed)}
    mode = "ACCESSED_AND_THROTTLED_KEYS"
    return made.line("insights", table=made.name, index=index, rule=rule, mode=mode, period=60, report=report)


# the day is the partition key, the time the sort key: all writes of a day go to its end


def day_as_key(sampled: str = "whole", keys: str | None = None, **fields: Any) -> Recorded:
    made = Recorded(minutes=3, table="clickstream").table("day", "at", write=40_000, read=1_000)
    reason = "TableWriteKeyRangeThroughputExceeded"
    every: dict[str, Any] = {"caller": "collector"}
    if sampled == "tenth":
        every |= {"sample_rate": 0.1, "strata": [{"by": "request", "rate": 0.1}]}
    if keys:
        every["keys"] = keys
    a_second = 20
    units = 0.96 * 1_000 / a_second * (0.1 if sampled == "tenth" else 1)
    day = {"token": "~dk3jd92ma", "template": "<date>"}.get(keys or "", "2026-03-02")
    for number in range(180 * a_second):
        at = number / a_second
        sort = {"token": f"~d{number:08}", "template": "<time>"}.get(keys or "", f"{number:09}")
        call = every | fields
        if number % 10 == 9:
            call |= {"error": refused(reason, "clickstream"), "attempts": 4}
        else:
            call |= {"consumed": {"total": units, "write": units}, "attempts": 1}
        made.request("PutItem", at, key={"day": day, "at": sort}, **{k: v for k, v in call.items() if v is not None})
    return made


def day_as_key_metrics(mode: str = "provisioned") -> Recorded:
    made = Recorded(minutes=6, table="clickstream")
    made = made.table("day", "at", write=40_000, read=1_000) if mode == "provisioned" else made.table("day", "at")
    made.quiet_metrics(read=100, write=59_000, operation="PutItem")
    made.metric("WriteThrottleEvents", [3_000] * 6).metric("WriteKeyRangeThroughputThrottleEvents", [3_000] * 6)
    return made.metric("ThrottledRequests", [3_000] * 6, Operation="PutItem")


def day_as_key_insights() -> Recorded:
    made = Recorded(minutes=5, table="clickstream").table("day", "at", write=40_000, read=1_000)
    insights(made, "PKC", {"2026-03-02": [0.97 * FULL] * 5, "2026-03-01": [900.0] * 5})
    insights(made, "SKC", {f"2026-03-02|{number:06}": [30.0] * 5 for number in range(20)})
    return insights(made, "PKT", {"2026-03-02": [2_500.0] * 5})


# one tenant of an index


def big_tenant(*, entry: bool = True, share: int = 4, refuse: bool = True, **fields: Any) -> Recorded:
    made = Recorded(minutes=2, table="invoices").table("id", indexes={"by-tenant": ("tenant", "due")})
    reason = "IndexWriteKeyRangeThroughputExceeded"
    for number in range(120 * 12):
        big = number % 12 < 10
        tenant = "TENANT#hugecorp" if big else f"TENANT#{number % 300}"
        call: dict[str, Any] = {"caller": "billing-run" if big else "portal", "sample_rate": 0.1}
        if entry:
            call["index_keys"] = {"by-tenant": {"tenant": {"S": tenant}, "due": {"S": f"D#{number * 7919 % 9973}"}}}
        if refuse and big and number % share == 0:
            call |= {"error": refused(reason, "invoices", "by-tenant"), "attempts": 4}
        else:
            call["consumed"] = {"total": 20, "write": 20, "table": 10, "indexes": {"by-tenant": 10}}
        made.request("PutItem", number / 12, key={"id": f"INV#{number}"}, **(call | fields))
    return made


def big_tenant_metrics() -> Recorded:
    made = Recorded(minutes=6, table="invoices").table("id", indexes={"by-tenant": ("tenant", "due")})
    made.quiet_metrics(write=70_000, operation="PutItem")
    made.metric("ConsumedWriteCapacityUnits", [65_000] * 6, index="by-tenant")
    made.metric("WriteThrottleEvents", [2_000] * 6, index="by-tenant")
    return made.metric("WriteKeyRangeThroughputThrottleEvents", [2_000] * 6, index="by-tenant")


# burst credits are spent


def burst_spent(*, reason: bool = True) -> Recorded:
    made = Recorded(minutes=12, table="catalog").table("sku", read=100, write=10)
    made.metric("ProvisionedReadCapacityUnits", [100] * 12, stat="Average")
    made.metric("ConsumedReadCapacityUnits", [1_000] * 3 + [9_500] * 4 + [6_000] * 5)
    events = [0] * 7 + [1_900] * 5
    made.metric("ReadThrottleEvents", events)
    if reason:
        made.metric("ReadProvisionedThroughputThrottleEvents", events)
    made.metric("SuccessfulRequestLatency", [4.0] * 12, stat="p99", Operation="GetItem")
    return made.metric("ThrottledRequests", events, Operation="GetItem")


# everybody opens the mail at once; the table is on demand


def after_mail(*, warm: bool = True, metrics: bool = True, log: bool = True, every: int = 1) -> Recorded:
    more: dict[str, Any] = {
        "WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000, "Status": "ACTIVE"}
    }
    made = Recorded(minutes=4, table="coupons").table("code", **(more if warm else {}))
    if metrics:  # a collector wrote what it polled in two pieces
        made.metric("ConsumedReadCapacityUnits", [60 * 5_500.0] * 20, at=-1200)
        made.metric("ConsumedReadCapacityUnits", [60 * 5_500.0] + [60 * 14_000.0] * 3)
        made.metric("ReadThrottleEvents", [0, 9_000, 8_000, 4_000])
        made.metric("ReadKeyRangeThroughputThrottleEvents", [0, 9_000, 8_000, 4_000])
    rate = 0.01 / every
    sampled: dict[str, Any] = {"sample_rate": rate, "strata": [{"by": "request", "rate": rate}]}
    for number in range(0, 2_400 if log else 0, every):
        call: dict[str, Any] = {"caller": "landing-page", **sampled}
        if number > 600 and number % 9 == 0:
            call |= {"error": refused("TableReadKeyRangeThroughputExceeded", "coupons"), "attempts": 4}
        else:
            call |= {"units": 14.0, "attempts": 1}
        made.request("GetItem", number / 10, key={"code": f"C{number * 7919 % 100_003}"}, **call)
    return made


# autoscaling went in over lunch


def lunch(*, scaling: bool = True) -> Recorded:
    made = Recorded(minutes=120, table="till", start="2026-03-02T11:00:00.000Z").table("id", read=400, write=50)
    had = [400] * 75 + [120] * 29 + [400] * 16
    made.metric("ProvisionedReadCapacityUnits", had, stat="Average")
    used = [300 * 60.0] * 35 + [70 * 60.0] * 55 + [120 * 60.0] * 14 + [300 * 60.0] * 16
    made.metric("ConsumedReadCapacityUnits", used)
    made.metric("ReadThrottleEvents", [0] * 90 + [5_000] * 14 + [0] * 16)
    if scaling:
        made.line("scaling", table="till", dimension="read", min=100, max=2000, target=70, scheduled=[], activities=[])
    return made


# a table out of its backup


def restored(*, log: bool = True, change: bool = True) -> Recorded:
    made = Recorded(minutes=3, table="ledger-restored").table("id")
    if change:
        made.line(
            "change", time=made.time(-600), what="restore", table="ledger-restored", who="ops", source="cloudtrail"
        )
    made.metric("WriteKeyRangeThroughputThrottleEvents", [2_000] * 3)
    made.metric("ConsumedWriteCapacityUnits", [60 * 2_000.0] * 3)
    for number in range(1_800 if log else 0):
        call: dict[str, Any] = {"caller": "ledger", **STRATA}
        if number % 8 == 0:
            call |= {"error": refused("TableWriteKeyRangeThroughputExceeded", "ledger-restored"), "attempts": 4}
        else:
            call |= {"units": 2.0, "attempts": 1}
        made.request("PutItem", number / 10, key={"id": f"L#{number * 7919 % 100_003}"}, **call)
    return made


# a flag that used to be read through DAX


def cache_passed_by(caller: str | None = "checkout-v2", keys: str | None = None) -> Recorded:
    made = Recorded(minutes=2, table="flags").table("name")
    value = {"token": "FLAG#~k29dmal2x"}.get(keys or "", "FLAG#new-checkout")
    for number in range(120 * 20):
        call: dict[str, Any] = {"sample_rate": 0.01, "strata": [{"by": "request", "rate": 0.01}], "caller": caller}
        call["keys"] = keys
        if number % 20 == 0:
            call |= {"via": "dax", "caller": "checkout-v1"}
            made.request("GetItem", number / 20, key={"name": value}, units=0, **call)
        elif number % 6 == 0:
            error = refused("TableReadKeyRangeThroughputExceeded", "flags")
            made.request("GetItem", number / 20, key={"name": value}, attempts=3, error=error, consistent=True, **call)
        else:
            made.request("GetItem", number / 20, key={"name": value}, units=2, consistent=True, attempts=1, **call)
    return made


# a function whose SDK retries ten times at once, of a queue that redelivers


def legacy_retries(attempts: int | None = 11, *, told: bool = True) -> Recorded:
    made = Recorded(minutes=2, table="events").table("id", read=10, write=20)
    reason = "TableWriteProvisionedThroughputExceeded" if told else None
    for number in range(1_200):
        key = {"id": f"E#{number}"}
        if number % 2:
            error = refused(reason, "events")
            made.request("PutItem", number / 10, key=key, attempts=attempts, error=error, caller="ingest-fn")
        else:
            made.request("PutItem", number / 10, key=key, units=4, attempts=1 if attempts else None, caller="ingest-fn")
    return made


# a backfill that starts slowly and doubles every half minute


def backfill(*, metrics: bool = False) -> Recorded:
    made = Recorded(minutes=4, table="profiles").table("id", read=200, write=300)
    number, reason = 0, "TableWriteProvisionedThroughputExceeded"
    for second in range(240):
        for _ in range(min(2 ** (second // 30), 24)):
            number += 1
            parts = [{"op": "Put", "table": "profiles", "key": {"id": {"S": f"P#{number}-{n}"}}} for n in range(25)]
            call: dict[str, Any] = {"parts": parts, "caller": "backfill-2026", "attempts": 1}
            if second > 120 and number % 2:
                made.request("BatchWriteItem", second + number % 24 / 24, error=refused(reason, "profiles"), **call)
            else:
                made.request("BatchWriteItem", second + number % 24 / 24, units=25, **call)
        key = {"id": f"U#{second}"}
        failed = {"error": refused(reason, "profiles"), "attempts": 3} if second > 120 and second % 3 == 0 else {}
        made.request("PutItem", second, key=key, units=None if failed else 1, caller="signup", **failed)
    if metrics:
        made.metric("ConsumedWriteCapacityUnits", [3_000, 9_000, 18_000, 18_000])
        made.metric("WriteProvisionedThroughputThrottleEvents", [0, 0, 4_000, 9_000])
    return made


# an on-demand maximum that somebody set to save money


def own_maximum(direction: str = "Read") -> Recorded:
    made = Recorded(minutes=2, table="search").table("id", OnDemandThroughput={"MaxReadRequestUnits": 40})
    for number in range(1_200):
        call: dict[str, Any] = {"caller": "search-api", "attempts": 1}
        if number % 5 == 0:
            call |= {"error": refused(f"Table{direction}MaxOnDemandThroughputExceeded", "search"), "attempts": 3}
        else:
            call["units"] = 4
        made.request("GetItem", number / 10, key={"id": f"S#{number * 37 % 1009}"}, **call)
    return made


def own_maximum_metrics() -> Recorded:
    made = Recorded(minutes=5, table="search").table("id", OnDemandThroughput={"MaxReadRequestUnits": 40})
    made.quiet_metrics(read=2_400)
    made.metric("ReadThrottleEvents", [400] * 5)
    return made.metric("ReadMaxOnDemandThroughputThrottleEvents", [400] * 5)


# one tenant takes the table's capacity; nobody's key is hot


def noisy_neighbor(*, told: bool = True) -> Recorded:
    made = Recorded(minutes=2, table="docs").table("PK", "SK", read=200, write=50)
    reason = "TableReadProvisionedThroughputExceeded" if told else None
    for number in range(2_400):
        loud = number % 10 < 8
        key = {"PK": f"TENANT#{'acme' if loud else number % 50}#DOC#{number * 7919 % 9973}", "SK": "META"}
        call: dict[str, Any] = {"caller": "doc-api"}
        if number % 6 == 0:
            call |= {"error": refused(reason, "docs"), "attempts": 3}
        else:
            call |= {"units": 10, "attempts": 1}
        made.request("GetItem", number / 20, key=key, **call)
    return made


# DynamoDB answers with errors of its own, in one region


def brown_out(
    tables: Sequence[str] = ("carts", "users"), code: str = "InternalServerError", attempts: int = 4
) -> Recorded:
    made = Recorded(minutes=3, table=tables[0])
    for name in tables:
        made.name = name
        made.table("id", read=500, write=500)
        for number in range(900):
            call: dict[str, Any] = {"caller": f"{name}-api", "latency_ms": 5}
            if number % 7 == 0:
                call |= {"error": {"code": code, "message": "internal"}, "attempts": attempts, "latency_ms": 900}
            else:
                call |= {"units": 0.5, "attempts": 1}
            made.request("GetItem", number / 5, key={"id": f"X#{number}"}, **call)
    return made


def brown_out_metrics() -> Recorded:
    made = Recorded(minutes=5, table="carts")
    for name in ("carts", "users", "stock"):
        made.name = name
        made.table("id", read=500, write=500).quiet_metrics(read=3_000)
        made.metric("SystemErrors", [90] * 5, Operation="GetItem")
        made.metric("SuccessfulRequestLatency", [1_500] * 5, stat="SampleCount", Operation="GetItem")
    return made


def fault_injected() -> Recorded:
    made = Recorded(minutes=5, table="carts").table("id").quiet_metrics(read=3_000)
    made.metric("SystemErrors", [300] * 5, Operation="GetItem")
    return made.metric("FaultInjectionServiceInducedErrors", [300] * 5, Operation="GetItem")


# requests that are wrong, whatever the load


def wrong_calls(code: str, message: str, share: int = 1, table: str = "vault") -> Recorded:
    made = Recorded(minutes=3, table=table)
    for number in range(360):
        call: dict[str, Any] = {"caller": "vault-api", "attempts": 1}
        if number % share == 0:
            call["error"] = {"code": code, "message": message}
        else:
            call["units"] = 0.5
        made.request("GetItem", number / 2, key={"id": f"V#{number}"}, **call)
    return made


HEAT = ("hot-key",)
INCIDENTS = (
    *(
        Incident(
            f"a day is the partition key, {name}",
            recorded,
            (
                want("hot-key", "critical", direction="write", table="clickstream", index=None, **more),
                want("throttling", "high", cause="key-range", direction="write"),
            ),
            root=HEAT,
            forbidden=RAISES,
            heals="no",
            secrets=("2026-03-02", "kd3jd92ma"),
        )
        for name, recorded, more in (
            ("log whole", day_as_key, {"caller": "collector", "key": {"day": "2026-03-02"}}),
            ("log of a tenth", partial(day_as_key, "tenth"), {"caller": "collector", "key": {"day": "2026-03-02"}}),
            ("tokens", partial(day_as_key, keys="token"), {"key": {"day": "~dk3jd92ma"}}),
            ("caller unknown", partial(day_as_key, caller=None), {"caller": None}),
        )
    ),
    Incident(
        "a day is the partition key, keys as templates",
        partial(day_as_key, keys="template"),
        (want("throttling", "critical", cause="key-range"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "a day is the partition key, metrics alone",
        day_as_key_metrics,
        (want("throttling", "high", cause="key-range", confidence="certain"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "a day is the partition key, metrics alone, on demand",
        partial(day_as_key_metrics, "on-demand"),
        (want("throttling", "high", cause="key-range", confidence="possible"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "a day is the partition key, insights alone",
        day_as_key_insights,
        (want("hot-key", "high", key={"day": "2026-03-02"}),),
        root=HEAT,
        forbidden=RAISES,
        secrets=("2026-03-02",),
    ),
    Incident(
        "one tenant fills an index",
        big_tenant,
        (
            want("hot-key", "critical", index="by-tenant", key={"tenant": "TENANT#hugecorp"}, direction="write"),
            want("gsi-back-pressure", "critical", index="by-tenant", cause="key-range", caller="billing-run"),
        ),
        root=HEAT,
        forbidden=RAISES,
        secrets=("hugecorp",),
    ),
    Incident(
        "one tenant fills an index, its keys unknown",
        partial(big_tenant, entry=False),
        (want("gsi-back-pressure", "critical", index="by-tenant", cause="key-range"),),
        root=("gsi-back-pressure",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "one tenant fills an index, metrics alone",
        big_tenant_metrics,
        (want("gsi-back-pressure", "high", index="by-tenant", cause="key-range"),),
        root=("gsi-back-pressure",),
        never=HEAT,
        forbidden=RAISES,
    ),
    *(
        Incident(
            f"burst credits are spent, {name}",
            partial(burst_spent, reason=told),
            (want("throttling", "high", cause="provisioned", direction="read"),),
            root=("throttling",),
            never=HEAT,
        )
        for name, told in (("reasons told", True), ("reasons untold", False))
    ),
    Incident(
        "everybody opens the mail",
        after_mail,
        (want("throttling", "critical", cause="on-demand-ramp"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "everybody opens the mail, log of a thousandth",
        partial(after_mail, every=10),
        (want("throttling", "critical", direction="read"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "one tenant fills an index, units unknown",
        partial(big_tenant, consumed=None),
        (
            want("hot-key", "critical", index="by-tenant", key={"tenant": "TENANT#hugecorp"}, confidence="likely"),
            want("gsi-back-pressure", "critical", index="by-tenant", cause="key-range"),
        ),
        root=HEAT,
        forbidden=RAISES,
        secrets=("hugecorp",),
    ),
    Incident(
        "everybody opens the mail, warm throughput unknown",
        partial(after_mail, warm=False),
        (want("throttling", "critical", cause="on-demand-ramp"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "everybody opens the mail, metrics alone",
        partial(after_mail, log=False),
        (want("throttling", "high", cause="key-range", confidence="possible"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "autoscaling goes in over lunch",
        lunch,
        (want("autoscale-lag", "high", cause="scaled-in"), want("throttling", "high", cause="provisioned")),
        root=("autoscale-lag",),
        never=HEAT,
    ),
    Incident(
        "autoscaling goes in over lunch, its settings unknown",
        partial(lunch, scaling=False),
        (want("autoscale-lag", "high"), want("throttling", "high", cause="provisioned")),
        root=("autoscale-lag",),
        never=HEAT,
    ),
    Incident(
        "a table out of its backup",
        restored,
        (want("throttling", "critical", cause="partitions-splitting"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    Incident(
        "a table out of its backup, metrics alone",
        partial(restored, log=False),
        (want("throttling", "high", direction="write"),),
        root=("throttling",),
        never=HEAT,
        forbidden=RAISES,
    ),
    *(
        Incident(
            f"a cache is passed by, {name}",
            partial(cache_passed_by, caller, keys),
            (want("hot-key", "critical", cause="single-item", direction="read", caller=caller),),
            root=HEAT,
            forbidden=RAISES,
            heals="no",
            secrets=("new-checkout", "k29dmal2x"),
        )
        for name, caller, keys in (
            ("log of a hundredth", "checkout-v2", None),
            ("tokens", "checkout-v2", "token"),
        )
    ),
    Incident(
        "a function retries at once",
        legacy_retries,
        (want("retry-storm", "critical", caller="ingest-fn"), want("throttling", "critical", cause="provisioned")),
        root=("throttling",),
        never=HEAT,
    ),
    Incident(
        "a function retries at once, no reasons",
        partial(legacy_retries, told=False),
        (want("retry-storm", "critical"), want("throttling", "critical")),
        root=("throttling",),
        never=HEAT,
    ),
    Incident(
        "a function retries at once, tries unknown",
        partial(legacy_retries, attempts=None),
        (want("throttling", "critical", cause="provisioned"),),
        root=("throttling",),
        never=HEAT,
    ),
    *(
        Incident(
            f"a backfill doubles, {name}",
            partial(backfill, metrics=metrics),
            (want("unpaced-bulk", "high", caller="backfill-2026"), want("throttling", "critical", cause="provisioned")),
            root=("unpaced-bulk",),
            never=HEAT,
        )
        for name, metrics in (("log", False), ("log and metrics", True))
    ),
    *(
        Incident(
            f"a maximum of one's own, {name}",
            recorded,
            (want("throttling", "high", cause="max-on-demand"),),
            root=("throttling",),
            never=HEAT,
            forbidden=RAISES,
        )
        for name, recorded in (("log", own_maximum), ("metrics", own_maximum_metrics))
    ),
    Incident(
        "one tenant takes the table's capacity",
        noisy_neighbor,
        (want("throttling", "critical", cause="provisioned"),),
        root=("throttling",),
    ),
    Incident(
        "one tenant takes the table's capacity, no reasons",
        partial(noisy_neighbor, told=False),
        (want("throttling", "critical"),),
        root=("throttling",),
    ),
    *(
        Incident(
            f"DynamoDB fails, {name}",
            recorded,
            tuple(want("service-fault", "critical", table=table) for table in ("carts", "users")),
            root=("service-fault",),
            never=("hot-key", "throttling", "request-errors"),
            forbidden=RAISES,
        )
        for name, recorded in (
            ("5xx in the log", brown_out),
            ("5xx in metrics", brown_out_metrics),
            ("names unresolved", partial(brown_out, code="EndpointConnectionError", attempts=1)),
            ("unavailable", partial(brown_out, code="ServiceUnavailable")),
        )
    ),
    Incident(
        "a drill of fault injection",
        fault_injected,
        (want("service-fault", "medium"),),
        root=("service-fault",),
        never=("hot-key", "throttling"),
    ),
    *(
        Incident(
            f"wrong calls: {code}",
            partial(wrong_calls, code, message),
            (want("request-errors", "high", caller="vault-api", cause=cause),),
            root=("request-errors",),
            never=("service-fault", "throttling", "hot-key", "retry-storm"),
            forbidden=RAISES,
        )
        for code, message, cause in (
            ("ExpiredTokenException", "The security token included in the request is expired", "access"),
            ("ResourceNotFoundException", "Requested resource not found", "missing-table"),
            ("AccessDeniedException", "not authorized to perform: dynamodb:GetItem", "access"),
            ("KMSDisabledException", "the key is disabled", "key-unusable"),
            ("ValidationException", "The provided key element does not match the schema", "validation"),
        )
    ),
)


@pytest.mark.parametrize("incident", INCIDENTS, ids=str)
def test_an_incident_is_told_right(incident: Incident, tmp_path: Path) -> None:
    assert wrongs(incident.recorded().replayed(tmp_path), incident) == []
