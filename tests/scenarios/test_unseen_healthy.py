"""Days without a fault that look like one: nothing of them may wake anybody, and nothing contradicts itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.recordings import Recorded, typed
from tests.support.unseen import Incident, want, wrongs

if TYPE_CHECKING:
    from pathlib import Path

EXCEEDED = "ProvisionedThroughputExceededException"
CONDITION = "ConditionalCheckFailedException"
SAMPLED: dict[str, Any] = {"sample_rate": 0.01, "strata": [{"by": "request", "rate": 0.01}]}


def skewed_test_table(requests: int = 60) -> Recorded:
    """A tester calls one item again and again: all of very little."""
    made = Recorded(minutes=10, table="orders-test").table("id", read=5, write=5)
    for number in range(requests):
        key = {"id": "T#1" if number % 10 else f"T#{number}"}
        made.request("GetItem", number * 7.3 % 600, key=key, units=0.5, caller="tester", count=1)
        made.request("PutItem", number * 9.1 % 600, key=key, units=1, caller="tester", item_bytes=300)
    return made


def weekly_batch(*, refused: bool = False) -> Recorded:
    """A declared batch writes at its declared pace, with a throttle now and then that a retry absorbs."""
    made = Recorded(minutes=5, table="ratings", start="2026-03-01T03:00:00.000Z").table("id", read=100, write=400)
    batch = {"id": "import", "operation": "BatchWriteItem", "callers": ["importer"], "max_units_per_second": 200}
    made.contract(
        batch | {"key": {"id": "R#<id>"}, "schedule": "0 3 * * 0", "purpose": "import"},
        {"id": "load", "operation": "GetItem", "key": {"id": "R#<id>"}},
        key=("id",),
    )
    for number in range(1_500):
        parts = [{"op": "Put", "table": "ratings", "key": {"id": typed(f"R#{number}-{n}")}} for n in range(25)]
        call: dict[str, Any] = {"parts": parts, "caller": "importer", "attempts": 1}
        if refused and number % 750 == 10:
            call |= {"attempts": 2, "tries": [{"at_ms": 3, "code": EXCEEDED}]}
        made.request("BatchWriteItem", number / 5, units=25, **call)
        made.request("GetItem", number / 5 + 0.1, key={"id": f"R#{number}"}, units=0.5, caller="web", count=1)
    return made


def leases(workers: int = 4) -> Recorded:
    """Workers of a stream keep leases: conditional updates, some lost to another, and a Scan every ten seconds."""
    made = Recorded(minutes=20, table="kinesis-app").table("leaseKey", read=50, write=50)
    for second in range(0, 1_200, 5):
        for worker in range(workers):
            key = {"leaseKey": f"shardId-{worker:012}"}
            call: dict[str, Any] = {"condition": "leaseCounter = :c AND leaseOwner = :o", "caller": f"worker-{worker}"}
            update = "SET leaseCounter = :n, leaseOwner = :o"
            if (second // 5 + worker) % 60 == 0:
                made.request(
                    "UpdateItem", second + worker / 9, key=key, error={"code": CONDITION}, update=update, **call
                )
            else:
                made.request("UpdateItem", second + worker / 9, key=key, units=1, update=update, **call)
        if second % 10 == 0:
            made.request("Scan", second + 0.7, units=0.5, count=workers, scanned=workers, caller="worker-0")
    return made


def cron_reads() -> Recorded:
    """A cron looks every minute what is due, among the reads of a site."""
    made = Recorded(minutes=30, table="plans").table("id", indexes={"due": ("bucket", "at")})
    for minute in range(30):
        asked: dict[str, Any] = {"index": "due", "caller": "cron", "limit": 25, "count": 3, "scanned": 3}
        made.request("Query", minute * 60, key={"bucket": "B#0"}, units=0.5, **asked)
    for number in range(5_400):
        key = {"id": f"P#{number * 7919 % 4_001}"}
        made.request("GetItem", number / 3 + 0.05 * (number % 5), key=key, units=0.5, caller="web", count=1)
    return made


def absorbed(*, metrics: bool = True) -> Recorded:
    """Autoscaling goes out in the morning; two minutes have some throttles, all absorbed."""
    made = Recorded(minutes=60, table="wall", start="2026-03-02T07:00:00.000Z").table("id", read=200, write=20)
    made.line("scaling", table="wall", dimension="read", min=50, max=4000, target=70, scheduled=[], activities=[])
    if metrics:
        had = [100] * 30 + [200] * 30
        made.metric("ProvisionedReadCapacityUnits", had, stat="Average")
        made.metric("ConsumedReadCapacityUnits", [60 * 40.0] * 20 + [60 * 95.0] * 10 + [60 * 120.0] * 30)
        made.metric("ReadThrottleEvents", [0] * 26 + [3, 2] + [0] * 32).metric("WriteThrottleEvents", [])
        made.metric("ConsumedWriteCapacityUnits", [60.0] * 60)
        made.metric("SuccessfulRequestLatency", [9_000] * 60, stat="SampleCount", Operation="GetItem")
        made.metric("SuccessfulRequestLatency", [5.0] * 60, stat="p99", Operation="GetItem")
        made.metric("SystemErrors", [], Operation="GetItem")
    return made


def deployed() -> Recorded:
    """A deploy: a handful of calls lose their connection, and a new version asks a little differently for a moment."""
    made = Recorded(minutes=10, table="profiles").table("id")
    made.line("change", time=made.time(240), what="deploy", table="profiles", who="ci", detail="v12", source="changes")
    for number in range(3_000):
        call: dict[str, Any] = {"caller": "api", "caller_version": "v12" if number > 1_200 else "v11", "latency_ms": 5}
        if number in {1_199, 1_200, 1_201}:
            call |= {"error": {"code": "ConnectTimeoutError"}, "attempts": 1}
        else:
            call |= {"units": 0.5, "attempts": 1, "count": 1}
        made.request("GetItem", number / 5, key={"id": f"P#{number * 7919 % 9_973}"}, **call)
    return made


def load_test(*, sampled: bool = True) -> Recorded:
    """Twenty thousand units a second over even keys of a table that was warmed for it; nothing is refused."""
    warm: dict[str, Any] = {"ReadUnitsPerSecond": 40_000, "WriteUnitsPerSecond": 10_000, "Status": "ACTIVE"}
    made = Recorded(minutes=5, table="shop").table("id", WarmThroughput=warm)
    rate = SAMPLED if sampled else {}
    for number in range(3_000):
        key = {"id": f"S#{number * 7919 % 100_003}"}
        made.request("GetItem", number / 10, key=key, units=20, caller="load-test", count=1, attempts=1, **rate)
    return made


def mutex(failing: int = 4) -> Recorded:
    """A lock that is taken and given back all day; others wait for it."""
    made = Recorded(minutes=30, table="locks").table("name")
    for number in range(360):
        key, at = {"name": f"LOCK#{number % 5}"}, number * 5.0
        call: dict[str, Any] = {"condition": "attribute_not_exists(#n)", "names": {"#n": "name"}, "caller": "worker"}
        made.request("PutItem", at, key=key, units=1, **call)
        for waiting in range(failing):
            made.request("PutItem", at + 0.5 + waiting / 2, key=key, error={"code": CONDITION}, **call)
        made.request("DeleteItem", at + 4, key=key, units=1, caller="worker")
    return made


def quiet_night() -> Recorded:
    made = Recorded(minutes=30, table="orders", start="2026-03-02T02:00:00.000Z").table("id", read=100, write=100)
    return made.quiet_metrics(read=30, write=3)


def spread_at_its_limit() -> Recorded:
    """A provisioned table at nine tenths of its capacity, as autoscaling aims at; keys are even."""
    made = Recorded(minutes=10, table="feed").table("id", read=1_000, write=100)
    made.metric("ProvisionedReadCapacityUnits", [1_000] * 10, stat="Average")
    return made.quiet_metrics(read=53_000, write=300)


def popular_but_small() -> Recorded:
    """Half of the reads are of one item, at a hundredth of what its partition serves."""
    made = Recorded(minutes=5, table="pages").table("slug")
    for number in range(6_000):
        slug = "home" if number % 2 else f"p{number * 7919 % 997}"
        made.request("GetItem", number / 20 + 0.01 * (number % 7), key={"slug": slug}, units=1, caller="site", count=1)
    return made


def sampled_little(rate: float = 0.01) -> Recorded:
    """Forty records of a hundredth: too few to say which key is hot."""
    made = Recorded(minutes=5, table="carts").table("id")
    strata = {"sample_rate": rate, "strata": [{"by": "request", "rate": rate}]}
    for number in range(40):
        key = {"id": f"C#{number * 7919 % 13}"}
        made.request("GetItem", number * 7.4, key=key, units=4, caller="shop", count=1, **strata)
    return made


def paged_export() -> Recorded:
    """A reader follows every page to the end."""
    made = Recorded(minutes=5, table="ledger").table()
    for number in range(40):
        for page in range(4):
            told: dict[str, Any] = {"count": 900, "scanned": 900, "more": page < 3, "resumed": page > 0}
            told |= {"trace_id": f"t{number}", "caller": "statement"}
            made.request("Query", number * 7 + page / 5, key={"PK": f"ACCOUNT#{number}"}, units=30, **told)
    return made


def strong_lock_reads() -> Recorded:
    """Strong reads that a conditional write of the same key follows: they are needed."""
    made = Recorded(minutes=5, table="stock").table("sku")
    for number in range(300):
        key = {"sku": f"S#{number * 31 % 97}"}
        made.request(
            "GetItem", number, key=key, units=1, consistent=True, count=1, caller="shop", trace_id=f"t{number}"
        )
        call = {"condition": "version = :v", "update": "SET n = :n, version = :w", "trace_id": f"t{number}"}
        made.request("UpdateItem", number + 0.02, key=key, units=1, caller="shop", **call)
    return made


def small_cells() -> Recorded:
    """A partition key that rotates with the hour, far below any limit."""
    made = Recorded(minutes=5, table="metrics").table("hour", "at")
    for number in range(1_500):
        key = {"hour": "2026-03-02T09", "at": f"{number:08}"}
        made.request("PutItem", number / 5, key=key, units=1, caller="agent", item_bytes=900)
    return made


HEALTHY = (
    Incident("a test table with a favorite", skewed_test_table, quiet_above="low"),
    Incident("a weekly batch", weekly_batch, never=("unpaced-bulk",), quiet_above="low"),
    Incident(
        "a weekly batch with a throttle or two",
        partial(weekly_batch, refused=True),
        never=("unpaced-bulk",),
        quiet_above="medium",
    ),
    Incident("leases of a stream", leases, never=("unexpected-scan", "stuck-lock", "polling-read"), quiet_above="low"),
    Incident("a cron that reads what is due", cron_reads, never=("polling-read",), quiet_above="low"),
    Incident("throttles that were absorbed", absorbed, never=("hot-key",), quiet_above="low"),
    Incident("a deploy", deployed, never=("service-fault", "request-errors", "retry-storm"), quiet_above="low"),
    Incident("a load test on warm partitions", load_test, never=("hot-key", "throttling"), quiet_above="low"),
    Incident("a mutex", mutex, never=("stuck-lock", "retry-storm"), quiet_above="low"),
    Incident("a quiet night, metrics alone", quiet_night, quiet_above="low"),
    Incident(
        "a table near what it is provisioned for",
        spread_at_its_limit,
        never=("throttling", "hot-key"),
        quiet_above="low",
    ),
    Incident("a popular item", popular_but_small, (want("hot-key", "low"),), quiet_above="low"),
    Incident("a log of few records", sampled_little, quiet_above="low"),
    Incident("a reader that follows its pages", paged_export, never=("missing-pagination",), quiet_above="low"),
    Incident(
        "strong reads before a conditional write", strong_lock_reads, never=("strong-read-cost",), quiet_above="low"
    ),
    Incident("an hour as partition key", small_cells, quiet_above="low"),
)
INCIDENTS = HEALTHY


@pytest.mark.parametrize("incident", HEALTHY, ids=str)
def test_a_healthy_day_wakes_nobody(incident: Incident, tmp_path: Path) -> None:
    assert wrongs(incident.recorded().replayed(tmp_path), incident) == []
