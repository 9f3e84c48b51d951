"""Reported incidents of reads, each in several sights, and what must not be told beside them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.recordings import ACCOUNT, REGION, Recorded
from tests.support.unseen import Incident, want, wrongs

if TYPE_CHECKING:
    from pathlib import Path

EXCEEDED = "ProvisionedThroughputExceededException"
FULL_TABLE = "TableReadProvisionedThroughputExceeded"


def arn(table: str) -> str:
    return f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}"


def refused(table: str, reason: str | None = FULL_TABLE) -> dict[str, Any]:
    return {"code": EXCEEDED} | ({"reasons": [{"reason": reason, "resource": arn(table)}]} if reason else {})


# an export job reads the table in parallel segments in working hours


def exported(
    *, contract: bool = False, caller: str | None = "glue-export", hurt: bool = True, told: bool = True
) -> Recorded:
    made = Recorded(minutes=4, table="bookings").table("id", read=800, write=100)
    if contract:
        made.contract({"id": "load", "operation": "GetItem", "key": {"id": "<id>"}, "callers": ["web"]}, key=("id",))
    for second in range(240):
        for segment in range(6):
            page: dict[str, Any] = {"segment": segment, "total_segments": 6, "count": 900, "scanned": 900}
            page |= {"more": True, "resumed": second > 0, "caller": caller}
            made.request("Scan", second + segment / 7, units=128.5, **page)
        for number in range(4):
            failed = number == 1
            error = {"error": refused("bookings", FULL_TABLE if told else None), "attempts": 4} if failed else {}
            units = None if failed else 2
            key = {"id": f"B#{second}-{number}"}
            made.request("GetItem", second + number / 5, key=key, units=units, caller="web", **error)
    return made


def exported_metrics(*, schedule: bool = False) -> Recorded:
    made = Recorded(minutes=6, table="bookings", start="2026-03-02T14:00:00.000Z").table("id", read=800, write=100)
    if schedule:
        made.contract(
            {"id": "load", "operation": "GetItem", "key": {"id": "<id>"}},
            {"id": "nightly", "operation": "Scan", "schedule": "0 2 * * *", "purpose": "export", "callers": ["glue"]},
            key=("id",),
        )
    made.quiet_metrics(read=47_000)
    made.metric("SuccessfulRequestLatency", [360] * 6, stat="SampleCount", Operation="Scan")
    made.metric("SuccessfulRequestLatency", [40.0] * 6, stat="p99", Operation="Scan")
    made.metric("ReadThrottleEvents", [500] * 6).metric("ReadProvisionedThroughputThrottleEvents", [500] * 6)
    made.metric("ThrottledRequests", [400] * 6, Operation="GetItem")
    return made.metric("ThrottledRequests", [100] * 6, Operation="Scan")


# a tile on a wall that shows how many orders there are


def counted(*, select: bool = True, every: int = 30, pages: int = 12) -> Recorded:
    made = Recorded(minutes=10, table="orders").table("id")
    for number in range(600 // every):
        for page in range(pages):
            asked: dict[str, Any] = {"count": 8_000, "scanned": 8_000, "more": page < pages - 1, "resumed": page > 0}
            asked |= {"select": "COUNT" if select else None, "caller": "wall", "trace_id": f"tile-{number}"}
            made.request("Scan", number * every + page / 10, units=128.5, **asked)
    for number in range(600):
        made.request("GetItem", number, key={"id": f"O#{number}"}, units=0.5, caller="shop")
    return made


# a statement that names no key


def statement(text: str = 'SELECT * FROM "people" WHERE mail = ?', units: float | None = 64.0) -> Recorded:
    made = Recorded(minutes=5, table="people").table("id")
    for number in range(300):
        asked: dict[str, Any] = {"statement": text, "count": 1, "caller": "sign-in"}
        made.request("ExecuteStatement", number, units=units, **asked)
        made.request("GetItem", number + 0.4, key={"id": f"P#{number}"}, units=0.5, caller="sign-in")
    return made


# an object mapper that scans where it was asked for one


def mapper(filter_: str = "email = :e", units: float | None = 120.0, *, counts: bool = True) -> Recorded:
    made = Recorded(minutes=5, table="members").table("id", indexes={"by-email": ("email",)})
    for number in range(150):
        asked: dict[str, Any] = {"filter": filter_, "caller": "member-service"}
        asked |= {"count": 1, "scanned": 9_000} if counts else {}
        made.request("Scan", 2 * number, units=units, **asked)
        made.request("GetItem", 2 * number + 1, key={"id": f"M#{number}"}, units=0.5, caller="member-service")
    return made


# a page of a shop that loads each line by itself


def one_by_one(op: str = "GetItem", *, trace: bool = True, other: bool = False) -> Recorded:
    made = Recorded(minutes=5, table="baskets").table("id", "line")
    for view in range(30):
        at, traced = view * 10.0, {"trace_id": f"t{view}"} if trace else {}
        made.request("Query", at, key={"id": f"B#{view}"}, units=2, count=25, scanned=25, caller="shop", **traced)
        if other:
            made.name = "goods"
        for number in range(25):
            key = {"id": f"G#{view}-{number}", "line": "META"}
            made.request(op, at + 0.1 + number / 50, key=key, units=0.5, count=1, caller="shop", **traced)
        made.name = "baskets"
    return made


# the first page taken for all


def first_page(*, returns_all: bool = True, share: int = 1, trace: bool = True) -> Recorded:
    made = Recorded(minutes=5, table="payments").table()
    declared: dict[str, Any] = {"id": "of-account", "operation": "Query", "key": {"PK": "ACCOUNT#<id>"}}
    made.contract(declared | ({"returns_all": True} if returns_all else {}))
    for number in range(60):
        cut = number % share == 0
        page: dict[str, Any] = {"count": 3_000 if cut else 20, "scanned": 3_000 if cut else 20, "more": cut}
        page |= {"trace_id": f"t{number}"} if trace else {}
        made.request("Query", number * 5, key={"PK": f"ACCOUNT#{number}"}, units=128.5, caller="statement", **page)
    return made


# a poller of a flag, cheap


def cheap_poll(a_second: float = 4, units: float = 0.5, others: int = 0, tables: str = "PAY_PER_REQUEST") -> Recorded:
    made = Recorded(minutes=5, table="flags")
    made = made.table("id") if tables == "PAY_PER_REQUEST" else made.table("id", read=100, write=10)
    for number in range(round(300 * a_second)):
        made.request("GetItem", number / a_second, key={"id": "FLAG#maintenance"}, units=units, caller="edge", count=1)
    for number in range(others):
        made.request("GetItem", number * 300 / others, key={"id": f"F#{number}"}, units=0.5, caller="web", count=1)
    return made


# a declared Scan that ran at noon instead of at night, and one that ran as declared


def declared(
    at: str = "2026-03-02T02:00:00.000Z", pace: float = 100, start: int = 2, caller: str = "archiver"
) -> Recorded:
    made = Recorded(minutes=5, table="logs", start=at).table("id", read=1_000, write=100)
    made.contract(
        {"id": "load", "operation": "GetItem", "key": {"id": "<id>"}},
        {
            "id": "archive",
            "operation": "Scan",
            "schedule": f"0 {start} * * *",
            "max_units_per_second": 150,
            "callers": ["archiver"],
            "purpose": "export",
        },
        key=("id",),
    )
    for number in range(round(300 * pace / 100)):
        page: dict[str, Any] = {"count": 900, "scanned": 900, "more": True, "resumed": number > 0, "caller": caller}
        made.request("Scan", number * 100 / pace, units=100, **page)
    for number in range(600):
        made.request("GetItem", number / 2, key={"id": f"L#{number}"}, units=0.5, caller="web", count=1)
    return made


# a small table of settings that every process reads whole when it starts


def small_table() -> Recorded:
    made = Recorded(minutes=10, table="settings").table("name")
    for number in range(40):
        made.request("Scan", number * 15, units=0.5, count=20, scanned=20, more=False, caller="boot")
    return made


SCAN = ("unexpected-scan",)
INCIDENTS = (
    *(
        Incident(
            f"an export in working hours, {name}",
            recorded,
            (want("unexpected-scan", "critical", caller=caller, table="bookings"),),
            root=SCAN,
            never=("hot-key",),
        )
        for name, recorded, caller in (
            ("no contract", exported, "glue-export"),
            ("undeclared", partial(exported, contract=True), "glue-export"),
            ("caller unknown", partial(exported, caller=None), None),
            ("no reasons", partial(exported, told=False), "glue-export"),
        )
    ),
    *(
        Incident(
            f"an export in working hours, metrics alone, {name}",
            partial(exported_metrics, schedule=schedule),
            (want("unexpected-scan", "critical"), want("throttling", "high", cause="provisioned")),
            root=SCAN,
            never=("hot-key",),
        )
        for name, schedule in (("no contract", False), ("outside its schedule", True))
    ),
    *(
        Incident(
            f"a tile counts by reading, {name}",
            recorded,
            (want("unexpected-scan", "high", caller="wall"),),
            root=SCAN,
        )
        for name, recorded in (("by Select", counted), ("in the client", partial(counted, select=False)))
    ),
    *(
        Incident(
            f"a statement without a key, {name}",
            recorded,
            (want("unexpected-scan", "high", caller="sign-in"),),
            root=SCAN,
            never=("undeclared-pattern",),
        )
        for name, recorded in (
            ("equality", statement),
            ("begins", partial(statement, 'SELECT id FROM "people" WHERE begins_with(mail, ?)')),
        )
    ),
    Incident(
        "a statement with its key",
        partial(statement, 'SELECT * FROM "people" WHERE id = ?', 0.5),
        never=("unexpected-scan",),
        quiet_above="low",
    ),
    *(
        Incident(
            f"a mapper scans, {name}",
            recorded,
            (want("unexpected-scan", "high", caller="member-service"),),
            root=SCAN,
            never=("filter-heavy-query",),
        )
        for name, recorded in (
            ("an index would serve", mapper),
            ("by the table's own key", partial(mapper, "id = :e")),
            ("counts unknown", partial(mapper, counts=False)),
        )
    ),
    Incident("a mapper scans, units unknown", partial(mapper, units=None), (want("unexpected-scan", "medium"),)),
    *(
        Incident(
            f"one by one, {name}",
            recorded,
            (want("n-plus-one", "medium", caller="shop"),),
        )
        for name, recorded in (("by GetItem", one_by_one), ("of another table", partial(one_by_one, other=True)))
    ),
    Incident("one by one, without traces", partial(one_by_one, trace=False), never=("n-plus-one",), quiet_above="low"),
    Incident(
        "the first page for all",
        first_page,
        (want("missing-pagination", "high", caller="statement", pattern="of-account"),),
        root=("missing-pagination",),
    ),
    Incident(
        "the first page for all, not declared so",
        partial(first_page, returns_all=False),
        (want("missing-pagination", "medium"),),
    ),
    Incident(
        "the first page for all, now and then",
        partial(first_page, share=4),
        (want("missing-pagination", "high"),),
        root=("missing-pagination",),
    ),
    Incident("a flag is polled cheaply", cheap_poll, quiet_above="low"),
    Incident("a flag is polled cheaply beside others", partial(cheap_poll, others=2_000), quiet_above="low"),
    Incident("a flag is polled cheaply, provisioned", partial(cheap_poll, tables="PROVISIONED"), quiet_above="low"),
    Incident(
        "a declared Scan as declared",
        declared,
        (want("declared-scan", "low"),),
        never=("unexpected-scan",),
        quiet_above="low",
    ),
    Incident(
        "a declared Scan too fast",
        partial(declared, pace=400),
        (want("unpaced-scan", "medium"),),
        root=("unpaced-scan",),
        never=("unexpected-scan",),
    ),
    Incident("settings read whole", small_table, quiet_above="low"),
)


@pytest.mark.parametrize("incident", INCIDENTS, ids=str)
def test_an_incident_is_told_right(incident: Incident, tmp_path: Path) -> None:
    assert wrongs(incident.recorded().replayed(tmp_path), incident) == []
