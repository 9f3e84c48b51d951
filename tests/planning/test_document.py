from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from analyzer.model.finding import Confidence, Direction
from analyzer.model.report import KeyLine, PatternKind, PatternLine, Report, Verdict, VerdictState
from analyzer.model.window import Window
from analyzer.planning.capacity import plan_capacity
from analyzer.planning.document import Design, design_of, seen_in_plan, seen_in_report
from tests.support.planned import contract_of, observed
from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.contract.model import Contract

ORDER = {"name": "Order", "PK": "C#<c>", "SK": "O#<o>", "item_bytes": 1800}
GET: dict[str, Any] = {
    "id": "get",
    "title": "Get an order",
    "entity": "Order",
    "operation": "GetItem",
    "key": {"PK": "C#<c>", "SK": "O#<o>"},
    "rate": {"p95": 5, "peak": 9},
    "per_key": {"read_rate": 60},
}
OPEN: dict[str, Any] = {
    "id": "open",
    "entity": "Order",
    "operation": "Query",
    "index": "I",
    "key": {"S": "<s>", "SK": "begins_with O#"},
}
PUT: dict[str, Any] = {
    "id": "put",
    "entity": "Order",
    "operation": "PutItem",
    "key": {"PK": "C#<c>", "SK": "O#<o>"},
    "frequency": "high",
}
INDEX: dict[str, Any] = {
    "name": "I",
    "partition_key": "S",
    "sort_key": "SK",
    "projection": ["status", "total"],
    "staleness_tolerance": "5s",
    "backfill_impact": "none",
    "hot_key_risk": "OPEN",
    "owner": "packing",
}


def contract(*more: dict[str, Any], **fields: Any) -> Contract:
    told = {"entities": [ORDER], "indexes": [INDEX], "owner": "shop"} | fields
    return contract_of(GET, OPEN, PUT, *more, **told)


def design(declared: Contract | None = None) -> Design:
    return design_of((declared or contract()).tables[0])


def report(*patterns: PatternLine, keys: tuple[KeyLine, ...] = ()) -> Report:
    return Report(
        window=Window(0, 60_000),
        as_of=60_000,
        region=None,
        account=None,
        verdict=Verdict(VerdictState.CLEAN, "clean", Confidence.CERTAIN),
        findings=(),
        patterns=patterns,
        keys=keys,
    )


def line(pattern: str | None, requests: float, table: str = "orders") -> PatternLine:
    return PatternLine(
        kind=PatternKind.DECLARED if pattern else PatternKind.UNDECLARED,
        pattern=pattern,
        table=table,
        requests=requests,
        requests_low=requests,
        requests_high=requests,
        units=None,
        waste_units=None,
        p99_ms=None,
    )


def test_the_list_says_pattern_entity_key_frequency_and_who_serves_it() -> None:
    get, opened, put = design().patterns
    assert (get.id, get.title, get.entity, get.read_write) == ("get", "Get an order", "Order", "read")
    assert (get.key_condition, get.frequency, get.served_by) == (
        "PK=C#<c>, SK=O#<o>",
        "p95 5/s, peak 9/s",
        "base table GetItem",
    )
    assert (opened.key_condition, opened.served_by, opened.frequency) == (
        "S=<s>, SK begins_with O#",
        "I Query",
        "not declared",
    )
    assert (put.read_write, put.frequency, put.seen) == ("write", "high", None)


def test_a_transaction_s_keys_belong_together_and_a_batch_s_are_alternatives() -> None:
    keys = [{"PK": "C#<c>", "SK": "A"}, {"PK": "C#<c>", "SK": "B"}]
    both = {"id": "both", "operation": "TransactWriteItems", "key": keys}
    either = {"id": "either", "operation": "BatchGetItem", "key": keys}
    scan = {"id": "export", "operation": "Scan", "purpose": "export", "callers": ["x"], "schedule": "0 2 * * *"}
    told = {one.id: one for one in design(contract(both, either, scan)).patterns}
    assert told["both"].key_condition == "PK=C#<c>, SK=A and PK=C#<c>, SK=B"
    assert told["either"].key_condition == "PK=C#<c>, SK=A or PK=C#<c>, SK=B"
    assert (told["export"].key_condition, told["export"].frequency) == ("none", "at 0 2 * * *")


def test_an_entity_is_served_by_table_and_indexes() -> None:
    (order,) = design().entities
    assert (order.encoding, order.item_bytes) == ("PK=C#<c>, SK=O#<o>", 1800)
    assert order.served_by == {"base table": ("get", "put"), "I": ("open",)}


def test_an_index_s_record_says_all_that_is_declared() -> None:
    (one,) = design().indexes
    assert (one.patterns, one.keys, one.projection, one.kind) == (("open",), "S, SK", "status+total", "gsi")
    assert (one.staleness_tolerance_seconds, one.backfill_impact, one.hot_key_risk, one.owner) == (
        5,
        "none",
        "OPEN",
        "packing",
    )
    assert (one.written_by, one.rate, one.write_amplification) == (("put",), None, None)


def test_rates_and_amplification_of_an_index_are_said_as_far_as_they_are_known() -> None:
    rated = OPEN | {"id": "rated", "rate": {"peak": 7}, "key": {"S": "<s>"}}
    (one,) = design(contract(rated, indexes=[INDEX | {"expected_write_amplification": 1.5}])).indexes
    assert one.rate == "up to 7 reads a second, 1 of 2 patterns without a rate"
    assert one.write_amplification == "1.5 declared, in units of the table's writes"
    (sparse,) = design(contract(indexes=[INDEX | {"sparse": True}])).indexes
    assert (sparse.write_amplification or "").startswith("not known: no entity declares the key of the index")


def test_risks_are_declared_heat_with_its_arithmetic_or_what_lacks() -> None:
    told = {(one.place, one.direction, one.template): one for one in design().risks}
    read = told["base table", Direction.READ, "PK=C#<c>"]
    assert read.declared == pytest.approx(0.01)
    assert (read.words, read.verdict) == ("(get: 60/s on a key × 0.5 units) ÷ 3,000", "low")
    write = told["base table", Direction.WRITE, "PK=C#<c>"]
    assert (write.declared, write.verdict) == (None, "not known")
    assert write.words == "too little is declared: put"


@pytest.mark.parametrize(("rate", "verdict"), [(3600, "little headroom"), (7200, "throttles: mend the key")])
def test_a_verdict_follows_the_heat(rate: float, verdict: str) -> None:
    listed = {"id": "list", "operation": "Query", "key": {"PK": "C#<c>"}}
    declared = contract_of(GET | {"per_key": {"read_rate": rate}}, listed, entities=[ORDER])
    (risk,) = design(declared).risks
    assert risk.verdict == verdict
    assert risk.words.endswith("; too little is declared: list")


def test_without_traffic_costs_are_those_of_the_declared_rates() -> None:
    told = {one.pattern: one for one in design().costs}
    assert told["get"].should is not None
    assert told["get"].should.dollars_as_declared == pytest.approx(5 * 0.5 * 2.628 * 0.125)
    assert (told["get"].requests_a_second, told["get"].dollars) == (None, None)


def test_traffic_of_a_log_stands_beside_the_declaration(tmp_path: Path) -> None:
    made = Recorded(minutes=10)
    for second in range(600):
        key = {"PK": "C#1", "SK": f"O#{second}"}
        index_keys = {"I": {"S": {"S": "OPEN"}, "SK": {"S": key["SK"]}}}
        made.request(
            "PutItem", second, key=key, consumed={"total": 2, "table": 1, "indexes": {"I": 1}}, index_keys=index_keys
        )
    seen, declared = observed(made, tmp_path, contract())
    table = declared.tables[0]
    done = design_of(table, seen_in_plan(plan_capacity(seen, table), seen))
    assert [one.seen for one in done.patterns] == [0, 0, 1]
    assert (done.indexes[0].rate, done.indexes[0].write_amplification) == ("0 observed", "1.00 observed")
    assert done.indexes[0].seen_writing == ("put",)
    risks = {(one.place, one.direction): one for one in done.risks}
    assert risks["base table", Direction.WRITE].seen == pytest.approx(0.001)
    assert risks["I", Direction.WRITE].seen == pytest.approx(0.001)
    assert done.costs[0].pattern == "put"


def test_a_key_that_nothing_declares_is_a_risk_too(tmp_path: Path) -> None:
    made = Recorded(minutes=1)
    for number in range(100):
        made.request("GetItem", 5 + number / 100, key={"PK": "X#1", "SK": "X"}, units=30)
        made.request("GetItem", 25 + number / 100, key={"PK": "X#2", "SK": "X"}, units=2)
    seen, declared = observed(made, tmp_path, contract())
    table = declared.tables[0]
    done = design_of(table, seen_in_plan(plan_capacity(seen, table), seen))
    first = done.risks[0]
    assert (first.declared, first.words) == (None, "observed; nothing declared tells this key")
    assert first.seen == pytest.approx(0.1)
    assert first.verdict == "low"


def test_a_daemon_s_report_tells_rates_and_heat() -> None:
    hot = KeyLine(
        table="orders",
        index=None,
        direction=Direction.READ,
        key={"PK": "C#1"},
        key_template={"PK": "C#<id>"},
        units=1,
        units_low=1,
        units_high=1,
        heat=0.6,
        peak_second=None,
    )
    elsewhere = replace(hot, table="users", heat=1.2)
    told = report(line("get", 60), line("get", 60), line(None, 9), line("get", 9, "users"), keys=(hot, elsewhere))
    declared = contract()
    seen = seen_in_report(told, declared)["orders"]
    assert seen.rates == {"get": 2}
    done = design_of(declared.tables[0], seen)
    assert (done.risks[0].seen, done.risks[0].verdict) == (0.6, "little headroom")
    assert done.indexes[0].rate == "0 observed"
    assert seen_in_report(report(), declared) == {}


def test_the_unnamed_table_and_faults_are_said() -> None:
    done = design_of(contract(name="*").tables[0], faults=("no-owner: x",))
    assert (done.table, done.faults) == ("the table", ("no-owner: x",))
