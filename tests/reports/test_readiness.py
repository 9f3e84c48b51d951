"""Each line of the checklist, in each way that it can stand."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.contract.load import contract_from
from analyzer.model.estimate import ZERO, Estimate
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind, PartShape, Shape
from analyzer.model.table import IndexDescription, TableDescription, TableSnapshot, TimeToLive
from analyzer.model.target import Target
from analyzer.model.traffic import Declared, Latency, PatternTraffic, Place, Traffic
from analyzer.model.window import Window
from analyzer.reports.readiness import LINES, readiness_of
from analyzer.reports.readiness_view import View, named
from analyzer.reports.week_values import CoverageOfContract, KeyForecast, KeyRow, ReadinessState, Undeclared, WeekMap

PROVED, DECLARED, FAILED = ReadinessState.PROVED, ReadinessState.DECLARED, ReadinessState.FAILED
NOT = ReadinessState.NOT_OBSERVABLE
T = Target(None, None, "t")
WINDOW = Window(0, 604_800_000)


def row(operation: str = "GetItem", pattern: str | None = "p", **fields: Any) -> PatternTraffic:
    shape = {name: fields.pop(name) for name in tuple(fields) if name in Shape.__struct_fields__}
    made = Shape(fingerprint="f", operation=operation, table="t", **shape)
    kind = AttributionKind.DECLARED if pattern else AttributionKind.UNDECLARED
    values: dict[str, Any] = dict.fromkeys(
        ("failed", "throttled", "throttled_failed", "throttled_tries", "write_units", "scanned", "returned"), ZERO
    )
    values |= {"read_units": Estimate.exact(100.0), "wasted_units": ZERO, "requests": Estimate.exact(100.0)}
    values |= {"units_known": 1.0, "counts_known": 1.0, "attempts_a_request": 1.0, "observed": 100, "caller": "c"}
    return PatternTraffic(
        shape=made, attribution=Attribution(kind, pattern), latency=Latency((), 0.0, 100), **(values | fields)
    )


def snapshot(*indexes: str, **fields: Any) -> TableSnapshot:
    ttl = fields.pop("ttl", TimeToLive("DISABLED"))
    listed = tuple(IndexDescription(name=name, kind="gsi", partition_key=("GPK",)) for name in indexes)
    table = TableDescription(name="t", partition_key=("PK",), indexes=listed, **fields)
    return TableSnapshot(target=T, table=table, ttl=ttl)


def view(*rows: PatternTraffic, contract: dict[str, Any] | None = None, **fields: Any) -> View:
    at: Target = fields.pop("at", T)
    place = Place(patterns=fields.pop("patterns", {}))
    requests = sum(one.requests.value for one in rows)
    tables = [{"name": "t", "partition_key": "PK", **contract}] if contract is not None else []
    covered = CoverageOfContract(
        table="t",
        owner=None,
        is_declared=True,
        requests=requests,
        declared_share=1.0,
        undeclared_share=0.0,
        unclear_share=fields.pop("unclear", 0.0),
        units_share=1.0,
        patterns=1,
        patterns_seen=1,
    )
    values: dict[str, Any] = {"findings": (), "tables": (), "heat": None, "forecasts": None, "covered_share": 1.0}
    values["undeclared"] = ()
    return View(
        contract=contract_from({"version": 1, "tables": tables}, "t.yaml"),
        traffics=(Traffic(target=at, window=WINDOW, sights=frozenset(), place=place, rows=rows),),
        coverage=(covered,) if rows else (),
        **(values | fields),
    )


def finding(detector: str, index: str | None = None) -> tuple[Finding]:
    severity, confidence = Severity.MEDIUM, Confidence.CERTAIN
    return (Finding(detector=detector, severity=severity, confidence=confidence, table="t", index=index, summary="s"),)


def pattern(operation: str = "GetItem", **fields: Any) -> dict[str, Any]:
    key = {} if operation == "Scan" else {"key": {"PK": "X#<id>"}}
    return {"patterns": [{"id": "p", "operation": operation, **key, **fields}]}


def stranger(*, is_ad_hoc: bool) -> tuple[Undeclared]:
    return (
        Undeclared(
            table="t",
            index=None,
            fingerprint="f",
            text="",
            callers=(),
            requests=10.0,
            dollars=None,
            is_ad_hoc=is_ad_hoc,
            yaml="",
            yaml_table="t",
        ),
    )


def heat(hottest: float) -> WeekMap:
    key = KeyRow(
        label="X#<id>",
        table="t",
        index=None,
        direction=Direction.READ,
        heat=(hottest,),
        hottest=hottest,
        hottest_at=0,
        units=1.0,
        is_second=True,
    )
    return WeekMap(start=0, step_ms=1, columns=1, rows=(key,))


def forecast(*, is_near: bool) -> KeyForecast:
    return KeyForecast(
        label="X#<id>",
        table="t",
        index=None,
        direction=Direction.READ,
        heat=0.5,
        growth_a_week=Estimate(1.1, 1.05, 1.15),
        days=20,
        days_low=10,
        days_high=30,
        is_near=is_near,
        days_fitted=28,
    )


INDEX = {"name": "G", "partition_key": "GPK"}
KNOWN_INDEX = INDEX | {"staleness_tolerance": "5s", "expected_write_amplification": 2}
SECONDARY = row("PutItem", secondary=True)
STREAM = {"consumer": "c"}
TX = pattern("TransactWriteItems", transaction={"items": 3, "because": "both or none"})
FILTERED = row("Query", filter="a > :v0", filter_attributes=("a",), wasted_units=Estimate.exact(50.0))
EXPORT = pattern("Scan", purpose="export", max_units_per_second=200)

DOCUMENTED, MAPPED, SCANS, FILTERS, HOT, GROWTH, INDEXES, STRONG = (name for name, _ in LINES[:8])
CONDITIONS, RETRIES, TRANSACTIONS, TTL, CONSUMERS, DASHBOARD, BULK, TRUTH = (name for name, _ in LINES[8:])


@pytest.mark.parametrize(
    ("name", "seen", "state", "evidence"),
    [
        (DOCUMENTED, view(row()), FAILED, "no contract declares anything"),
        (DOCUMENTED, view(contract={}), NOT, "no request was seen"),
        (
            DOCUMENTED,
            view(row(), contract={}, undeclared=stranger(is_ad_hoc=False)),
            FAILED,
            "1 undeclared, 10 requests",
        ),
        (
            DOCUMENTED,
            view(row(), contract={}, undeclared=stranger(is_ad_hoc=True)),
            PROVED,
            "all of 100 requests are of",
        ),
        (DOCUMENTED, view(row(), contract={}, unclear=0.5), NOT, "50% of requests"),
        (MAPPED, view(contract={}), FAILED, "no pattern is declared"),
        (MAPPED, view(contract=pattern()), DECLARED, "not every table was described"),
        (MAPPED, view(contract=pattern(), tables=(snapshot(),)), PROVED, "the keys of 1 pattern are those"),
        (MAPPED, view(contract=pattern("Scan"), tables=(snapshot(),)), PROVED, "the keys of 1 pattern are those"),
        (MAPPED, view(contract=pattern(key={"SK": "A"})), FAILED, "p does not name PK"),
        (
            MAPPED,
            view(contract=pattern("Query", index="G", key={"GPK": "A"}) | {"indexes": [INDEX]}, tables=(snapshot(),)),
            FAILED,
            "p names G, which t has not",
        ),
        (
            MAPPED,
            view(
                contract=pattern("Query", index="G", key={"GPK": "A"}) | {"indexes": [INDEX]}, tables=(snapshot("G"),)
            ),
            PROVED,
            "the keys of 1 pattern are those",
        ),
        (SCANS, view(), NOT, "no request was seen"),
        (SCANS, view(row()), PROVED, "no Scan was seen"),
        (SCANS, view(row("Scan", scans=True), row()), FAILED, "50% of the read units of t"),
        (
            SCANS,
            view(row("Scan", scans=True, read_units=Estimate.exact(1.0)), row()),
            PROVED,
            "0.99% of the read units",
        ),
        (SCANS, view(row(), findings=finding("unexpected-scan")), FAILED, "unexpected-scan on t"),
        (FILTERS, view(), NOT, "no request was seen"),
        (FILTERS, view(row()), PROVED, "no query filters"),
        (FILTERS, view(FILTERED), FAILED, "p of t"),
        (FILTERS, view(FILTERED, patterns={"p": Declared(id="p", discards_at_most=0.6)}), DECLARED, "is declared"),
        (FILTERS, view(row("Query", filter="a", wasted_units=Estimate.exact(0.0))), PROVED, "throw away 0%"),
        (FILTERS, view(row("Query", filter="a", counts_known=0.0)), NOT, "is not counted"),
        (HOT, view(), NOT, "no key was tracked"),
        (HOT, view(findings=finding("hot-key")), FAILED, "hot-key on t"),
        (HOT, view(forecasts=(forecast(is_near=True),)), FAILED, "in 10 days"),
        (HOT, view(forecasts=(forecast(is_near=False),), heat=heat(0.2)), PROVED, "20% of its ceiling"),
        (HOT, view(heat=heat(0.8)), FAILED, "80% of its ceiling"),
        (HOT, view(contract=pattern(per_key={"top_share": "10%"})), DECLARED, "declared of p"),
        (GROWTH, view(), NOT, "no pattern declares"),
        (GROWTH, view(findings=finding("item-growth")), FAILED, "item-growth on t"),
        (GROWTH, view(contract=pattern("Query", items_per_key=20)), DECLARED, "declared of p"),
        (INDEXES, view(), NOT, "no index is declared"),
        (INDEXES, view(tables=(snapshot(),)), PROVED, "there is no index"),
        (INDEXES, view(tables=(snapshot("G"),)), FAILED, "t/G is not declared"),
        (INDEXES, view(contract={"indexes": [INDEX]}), FAILED, "t/G declares no staleness_tolerance"),
        (INDEXES, view(contract={"indexes": [INDEX, INDEX | {"name": "H"}]}), FAILED, "t/G, t/H declare no"),
        (INDEXES, view(contract={"indexes": [KNOWN_INDEX]}), DECLARED, "of 1 indexes"),
        (INDEXES, view(SECONDARY, at=T.at("G"), contract={"indexes": [KNOWN_INDEX]}), PROVED, "were counted"),
        (INDEXES, view(findings=finding("gsi-lag", "G")), FAILED, "gsi-lag on t/G"),
        (STRONG, view(), NOT, "no request was seen"),
        (STRONG, view(row()), PROVED, "no strong read"),
        (STRONG, view(row("Query", consistent=True), at=T.at("G")), FAILED, "strong reads of t/G"),
        (STRONG, view(findings=finding("gsi-consistent-read")), FAILED, "gsi-consistent-read on t"),
        (
            STRONG,
            view(contract=pattern("Query", index="G", key={"GPK": "A"}, consistency="strong") | {"indexes": [INDEX]}),
            FAILED,
            "p declares strong reads",
        ),
        (CONDITIONS, view(), NOT, "no pattern declares"),
        (CONDITIONS, view(contract=pattern("PutItem", condition="none")), DECLARED, "no write needs a condition"),
        (CONDITIONS, view(contract=pattern("PutItem", condition="version")), DECLARED, "none was written"),
        (
            CONDITIONS,
            view(row("PutItem", writes=True), contract=pattern("PutItem", condition="version")),
            FAILED,
            "p was",
        ),
        (
            CONDITIONS,
            view(row("PutItem", writes=True, condition="v = :v0"), contract=pattern("PutItem", condition="version")),
            PROVED,
            "every write of p",
        ),
        (CONDITIONS, view(findings=finding("unconditional-write")), FAILED, "unconditional-write on t"),
        (RETRIES, view(), NOT, "no pattern that writes is declared"),
        (RETRIES, view(contract=pattern("PutItem")), NOT, "declares its idempotency"),
        (RETRIES, view(contract=pattern("PutItem", idempotency="natural")), DECLARED, "all 1 patterns"),
        (
            RETRIES,
            view(
                contract={
                    "patterns": [
                        *pattern("PutItem", idempotency="natural")["patterns"],
                        {"id": "q", "operation": "DeleteItem"},
                    ]
                }
            ),
            FAILED,
            "q declares no idempotency",
        ),
        (RETRIES, view(findings=finding("idempotency-mismatch")), FAILED, "idempotency-mismatch on t"),
        (TRANSACTIONS, view(), NOT, "no request was seen"),
        (TRANSACTIONS, view(row()), PROVED, "no transaction was seen"),
        (TRANSACTIONS, view(row("TransactWriteItems", None)), FAILED, "transactions on t"),
        (TRANSACTIONS, view(contract=pattern("TransactWriteItems")), FAILED, "p declares no reason"),
        (TRANSACTIONS, view(row("TransactWriteItems"), contract=TX), DECLARED, "declared of p"),
        (TRANSACTIONS, view(findings=finding("transaction-conflict")), FAILED, "transaction-conflict on t"),
        (TTL, view(), NOT, "was not described"),
        (TTL, view(tables=(snapshot(),)), PROVED, "no table has a time to live"),
        (TTL, view(tables=(snapshot(ttl=TimeToLive("ENABLED", "e")),)), FAILED, "t has a time to live"),
        (TTL, view(contract={"ttl_attribute": "e"}), FAILED, "t has a time to live"),
        (TTL, view(contract={"ttl_attribute": "e", "ttl_purpose": "cleanup"}), DECLARED, "t: cleanup"),
        (TTL, view(findings=finding("ttl-invalid")), FAILED, "ttl-invalid on t"),
        (CONSUMERS, view(), NOT, "no table was described"),
        (CONSUMERS, view(tables=(snapshot(),)), PROVED, "no table has a stream"),
        (CONSUMERS, view(tables=(snapshot(stream="arn"),)), FAILED, "t has a stream"),
        (CONSUMERS, view(contract={"streams": [STREAM]}), NOT, "c of t does not say"),
        (CONSUMERS, view(contract={"streams": [STREAM | {"idempotent": True}]}), DECLARED, "c is"),
        (CONSUMERS, view(contract={"streams": [STREAM, STREAM | {"consumer": "d"}]}), NOT, "c of t, d of t do not say"),
        (CONSUMERS, view(contract={"streams": [STREAM | {"idempotent": False}]}), FAILED, "c of t"),
        (DASHBOARD, view(), FAILED, "nothing was seen"),
        (DASHBOARD, view(row(), tables=(snapshot(),), heat=heat(0.1)), PROVED, "of 1 tables all week"),
        (
            DASHBOARD,
            view(row(units_known=0.0), covered_share=0.5),
            FAILED,
            "50% of the week; units of 100% of requests",
        ),
        (BULK, view(), NOT, "no pattern is declared a migration"),
        (BULK, view(contract=pattern("Scan", purpose="export")), FAILED, "p declares no max_units_per_second"),
        (BULK, view(contract=EXPORT), DECLARED, "p at 200/s"),
        (BULK, view(row("Scan", scans=True, resumed=Estimate.exact(9.0)), contract=EXPORT), PROVED, "page by page"),
        (BULK, view(findings=finding("unpaced-scan")), FAILED, "unpaced-scan on t"),
        (TRUTH, view(), FAILED, "no contract declares any table"),
        (TRUTH, view(contract={}), FAILED, "t does not declare source_of_truth"),
        (TRUTH, view(contract={"source_of_truth": True}), DECLARED, "in the contract of t"),
        (TRUTH, view(contract={"source_of_truth": False}), FAILED, "how to rebuild it"),
        (TRUTH, view(contract={"source_of_truth": True, "name": "other"}, tables=(snapshot(),)), FAILED, "t is in no"),
    ],
)
def test_a_line_stands_as_what_speaks_for_it_and_against_it(
    name: str, seen: View, state: ReadinessState, evidence: str
) -> None:
    line = next(one for one in readiness_of(seen) if one.name == name)
    assert (line.state, evidence in line.evidence) == (state, True), line


def test_a_part_of_a_transaction_may_bear_the_condition() -> None:
    parts = (PartShape("Update", condition="v = :v0"),)
    seen = view(row("PutItem", writes=True, parts=parts), contract=pattern("PutItem", condition="required"))
    assert next(one for one in readiness_of(seen) if one.name == CONDITIONS).state is PROVED


def test_many_misfits_are_a_few_and_a_number() -> None:
    patterns = [{"id": f"p{n}", "operation": "GetItem", "key": {"SK": "A"}} for n in range(5)]
    (line,) = [one for one in readiness_of(view(contract={"patterns": patterns})) if one.name == MAPPED]
    assert line.evidence.endswith("and 2 more")
    assert named("abcdef") == "a, b, c, d and 2 more"


def test_the_sixteen_lines_are_those_that_people_track() -> None:
    assert [name for name, _ in LINES] == [
        "every request-path pattern documented",
        "each mapped to table key or index",
        "no high-volume path on Scan",
        "filters not hiding missing keys",
        "hot-key analysis",
        "bounded item growth",
        "index cost and staleness understood",
        "strong reads not on indexes",
        "conditional writes enforce state",
        "idempotency for retried commands",
        "transactions justified and bounded",
        "TTL not a scheduler",
        "stream consumers idempotent",
        "dashboard complete",
        "backfill and replay throttled and resumable",
        "a record says source of truth or projection",
    ]
