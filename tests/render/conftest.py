"""A small report by hand: a hot key that explains throttling and retries, an undeclared Scan, and a snoozed waste."""

from __future__ import annotations

import pytest

from analyzer.model.finding import (
    Advice,
    Change,
    Confidence,
    Direction,
    Finding,
    Risk,
    SelfHeals,
    Severity,
    Status,
    Victim,
)
from analyzer.model.instant import Instant, parse_instant
from analyzer.model.report import (
    Coverage,
    KeyLine,
    PatternKind,
    PatternLine,
    Report,
    Verdict,
    VerdictState,
)
from analyzer.model.sight import Gap, GapReason, Sight, SightState, Skipped, SkipReason, SourceName
from analyzer.model.window import Window


def at(clock: str) -> Instant:
    return parse_instant(f"2026-06-01T{clock}Z")


HOT = Finding(
    id="6f1c2a90",
    status=Status.ONGOING,
    detector="hot-key",
    severity=Severity.CRITICAL,
    confidence=Confidence.CERTAIN,
    account="111122223333",
    region="us-east-1",
    table="cases",
    subject="secret subject",
    summary="one key, {key}, takes 72% of the reads of cases and stands at its partition's ceiling of 3,000 units/s",
    because="all its reads land on one partition, whatever the table may serve; the key-range reason names it",
    sources=("request-log",),
    key={"PK": "CASE#canary-4711", "SK": "META"},
    key_template={"PK": "CASE#<id>", "SK": "META"},
    pattern="load-case",
    fingerprint="00c0ffee00c0ffee",
    caller="case-dashboard-api",
    victims=(Victim("case-dashboard-api", "load-case"), Victim("reporter", None)),
    cause="key-range",
    direction=Direction.READ,
    evidence={
        "share": 0.72,
        "share_low": 0.7,
        "share_high": 0.741,
        "heat": 1.04,
        "heat_low": 1.04,
        "heat_high": 1.04,
        "threshold": 0.9,
        "throttled_tries": 5400.0,
        "p99_ms": 212.5,
        "shape": "single-item",
        "item_bytes": None,
    },
    advice=(
        Advice(
            action="cache-item",
            text="serve {key} from a cache; every second read of it is the same",
            effect="takes 70% of the reads off the table",
            takes="an hour",
            reversible=True,
        ),
        Advice(
            action="read-eventually",
            text="read {key} eventually consistent",
            command="aws dynamodb get-item --table-name cases --key {key} --region us-east-1  # read-only",
            risk=Risk.LOW,
        ),
    ),
    self_heals=SelfHeals("no", "a single item never splits"),
    first_seen=at("10:00:10.000"),
    last_seen=at("10:03:00.000"),
    since_change=Change(time=at("09:58:00.000"), what="deploy", who="ci", detail="case-dashboard-api 2.4.1"),
    runbook="http://127.0.0.1:8642/docs/detectors/hot-key",
)

THROTTLING = Finding(
    id="7a7a7a7a",
    detector="throttling",
    severity=Severity.HIGH,
    confidence=Confidence.CERTAIN,
    table="cases",
    summary="12% of the reads of cases are throttled, and 3% of them fail",
    cause="key-range",
    direction=Direction.READ,
    caused_by="6f1c2a90",
    first_seen=at("10:00:20.000"),
)

RETRIES = Finding(
    id="8b8b8b8b",
    detector="retry-storm",
    severity=Severity.HIGH,
    confidence=Confidence.LIKELY,
    table="cases",
    summary="callers send 2.4 times what they mean to",
    caused_by="7a7a7a7a",
)

SCAN = Finding(
    id="5ca95ca9",
    status=Status.CLOSED,
    detector="unexpected-scan",
    severity=Severity.MEDIUM,
    confidence=Confidence.LIKELY,
    table="cases",
    index="GSI1",
    summary="report-job scans cases/GSI1: 6,000 units, 20% of its reads, and no pattern declares it",
    caller="report-job",
    fingerprint="5ca95ca95ca95ca9",
    evidence={"share": 0.2, "wasted_units": 5800.0, "waste_share": 0.9667},
    advice=(
        Advice(
            action="query-instead-of-scan",
            text="query GSI2 by region",
            command="aws dynamodb describe-table --table-name cases --region us-east-1  # read-only",
        ),
    ),
    self_heals=SelfHeals("yes", "it stops when the job does"),
    cost_per_month_usd=31.239,
    first_seen=at("10:01:00.000"),
    last_seen=at("10:02:00.000"),
)

REPORT = Report(
    window=Window(at("10:00:00.000"), at("10:03:00.000")),
    as_of=at("10:02:58.000"),
    region="us-east-1",
    account="111122223333",
    verdict=Verdict(
        VerdictState.FAULT,
        "cases: one key, {key}, is over its partition's limit since 10:00:10; reads of case-dashboard-api fail",
        Confidence.CERTAIN,
        "6f1c2a90",
    ),
    findings=(SCAN, RETRIES, THROTTLING, HOT),
    skipped=(
        Skipped("unused-index", "cases", "GSI1", SkipReason.MISSING_SIGHT, ("SPAN(14d)",)),
        Skipped("unused-index", "cases", "GSI2", SkipReason.MISSING_SIGHT, ("SPAN(14d)",)),
        Skipped("low-cardinality-key", "cases", "GSI2", SkipReason.TOO_LITTLE),
    ),
    gaps=(
        Gap(
            SourceName.CONTRIBUTOR_INSIGHTS,
            GapReason.NOT_ENABLED,
            "PKC",
            hint="aws dynamodb update-contributor-insights",
            table="cases",
        ),
        Gap(
            SourceName.REQUEST_LOG,
            GapReason.MALFORMED,
            "3 lines could not be read",
            start=at("10:00:00.000"),
            end=at("10:03:00.000"),
        ),
    ),
    sight=(SightState("cases", None, Sight.REQUEST_KEYS, "complete", at("10:00:00.000")),),
    changes=(Change(time=at("09:58:00.000"), what="deploy", who="ci", detail="case-dashboard-api 2.4.1"),),
    patterns=(
        PatternLine(
            kind=PatternKind.DECLARED,
            pattern="load-case",
            fingerprint="00c0ffee00c0ffee",
            table="cases",
            operation="GetItem",
            callers=("case-dashboard-api",),
            requests=48_000.4,
            requests_low=47_000.0,
            requests_high=49_000.0,
            units=1_234_567.0,
            waste_units=0.0,
            p99_ms=212.5,
            errors=1440,
        ),
        PatternLine(
            kind=PatternKind.UNDECLARED,
            fingerprint="5ca95ca95ca95ca9",
            table="cases",
            index="GSI1",
            operation="Scan",
            text="Scan cases/GSI1 filter #0 = :0",
            callers=("report-job",),
            requests=12.0,
            requests_low=12.0,
            requests_high=12.0,
            units=6000.0,
            waste_units=5800.0,
            p99_ms=12_500.0,
        ),
        PatternLine(
            kind=PatternKind.AMBIGUOUS,
            candidates=("list-open", "list-all"),
            table="cases",
            operation="Query",
            requests=90.0,
            requests_low=90.0,
            requests_high=90.0,
            units=None,
            waste_units=None,
            p99_ms=None,
        ),
        PatternLine(
            kind=PatternKind.OTHER,
            requests=3.0,
            requests_low=3.0,
            requests_high=3.0,
            units=1.5,
            waste_units=0.0,
            p99_ms=None,
        ),
    ),
    keys=(
        KeyLine(
            table="cases",
            index=None,
            direction=Direction.READ,
            key={"PK": "CASE#canary-4711", "SK": "META"},
            key_template={"PK": "CASE#<id>", "SK": "META"},
            units=540_000.0,
            units_low=530_000.0,
            units_high=540_000.0,
            heat=1.04,
            peak_second=1.033,
        ),
    ),
    coverage=(Coverage("cases", None, Direction.READ, 1_240_567.0, None, None),),
)


@pytest.fixture
def report() -> Report:
    return REPORT
