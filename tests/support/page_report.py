"""A made-up report for the page: an orders table at its worst, so that every part of the screen shows something.

The traffic is made up; what is said of its hot key and of its throttles is what the detectors say of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from analyzer.detectors.heat.hot_key import HotKey
from analyzer.detectors.heat.throttling import Throttling
from analyzer.lifecycle.verdict import fault_of
from analyzer.model.batch import LagProbe
from analyzer.model.estimate import Estimate
from analyzer.model.finding import (
    Advice,
    Change,
    Confidence,
    Direction,
    Finding,
    KeyShown,
    Risk,
    Severity,
    Status,
)
from analyzer.model.instant import SLICE_MS, parse_instant
from analyzer.model.report import Coverage, KeyLine, PatternKind, PatternLine, Report
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Gap, GapReason, Sight, SightState, Skipped, SkipReason, SourceName
from analyzer.model.target import Target
from analyzer.model.traffic import Capacity, Hurt, KeySide, Place, Traffic
from analyzer.model.window import Window
from tests.support import evidence

__all__ = ["AS_OF", "GSI1", "ORDERS", "made_report"]

ORDERS = Target("111122223333", "us-east-1", "orders")
GSI1 = ORDERS.at("GSI1")
AS_OF = parse_instant("2026-06-01T14:06:00Z")
BEGAN = AS_OF - 240_000
"""When the key became hot: twenty seconds after a deploy."""
DEPLOY = Change(
    time=AS_OF - 260_000, what="deploy", table="orders", who="ci", detail="checkout-api 4.12.0", source="mark"
)
RAISED = Change(
    time=AS_OF - 1_900_000,
    what="capacity",
    table="orders",
    who="autoscaling",
    detail="read units 6,000 → 8,000",
    source="cloudtrail",
)
_HOT_KEY: KeyShown = {"PK": "ORDER#~k7f3a2c1b"}
_SHAPE: KeyShown = {"PK": "ORDER#<id>"}
_PATTERNS: tuple[tuple[str, str | None, str, float, float, float, float], ...] = (
    ("get-order", None, "GetItem", 372_000, 410_000, 0, 11.3),
    ("list-orders-of-user", None, "Query", 88_000, 96_500, 3_100, 16),
    ("put-order", None, "PutItem", 21_400, 43_800, 0, 22.6),
    ("list-open-orders", "GSI1", "Query", 9_300, 61_000, 0, 45.3),
    ("load-cart", None, "GetItem", 64_200, 33_400, 0, 8),
    ("append-event", None, "PutItem", 35_100, 35_100, 0, 16),
    ("expire-carts", None, "Scan", 12, 18_000, 17_400, 362),
)


def made_report(as_of: int = AS_OF) -> Report:
    """Return the report of five minutes that end then."""
    window = Window(as_of - 300_000, as_of)
    traffic = _traffic(window)
    findings = _findings(as_of, traffic[0])
    verdict = fault_of(findings)
    assert verdict is not None
    return Report(
        window=window,
        as_of=as_of,
        region=ORDERS.region,
        account=ORDERS.account,
        verdict=verdict,
        findings=findings,
        skipped=(
            Skipped("unused-index", "orders", "GSI1", SkipReason.NOT_COVERED, ("SPAN(14d)",)),
            Skipped("autoscale-lag", "orders", None, SkipReason.MISSING_SIGHT, ("SCALING",)),
        ),
        gaps=(
            Gap(
                SourceName.CONTRIBUTOR_INSIGHTS,
                GapReason.NOT_ENABLED,
                "DescribeContributorInsights on orders: DISABLED",
                "switch it on: `dynascope insights watch orders`",
                "orders",
            ),
            Gap(
                SourceName.CLOUDWATCH_METRICS,
                GapReason.LATE,
                "GetMetricData: ReadThrottleEvents is partial",
                "it is read again in a minute",
                "orders",
                "GSI1",
                as_of - 120_000,
                as_of,
            ),
        ),
        sight=tuple(
            SightState(target.table, target.index, capability, "seen")
            for target in (ORDERS, GSI1)
            for capability in (Sight.REQUESTS, Sight.REQUEST_KEYS, Sight.REQUEST_UNITS, Sight.METRICS)
        ),
        changes=(DEPLOY, RAISED),
        patterns=_patterns(),
        keys=(_key_line(1.24, 558_000), _key_line(0.22, 98_000)),
        coverage=(
            Coverage("orders", None, Direction.READ, 604_000, 612_000, 0.987),
            Coverage("orders", None, Direction.WRITE, 78_900, 81_000, 0.974),
            Coverage("orders", "GSI1", Direction.READ, 61_000, 90_000, 0.678),
        ),
        traffic=traffic,
    )


def _key_line(heat: float, units: float) -> KeyLine:
    return KeyLine(
        table="orders",
        index=None,
        direction=Direction.READ,
        key=_HOT_KEY,
        key_template=_SHAPE,
        units=units,
        units_low=units * 0.97,
        units_high=units * 1.03,
        heat=heat,
        peak_second=heat * 1.2,
    )


def _patterns() -> tuple[PatternLine, ...]:
    lines = [
        PatternLine(
            kind=PatternKind.DECLARED,
            pattern=pattern,
            fingerprint=f"{place:016x}",
            table="orders",
            index=index,
            operation=operation,
            text=f"{operation} orders",
            callers=("checkout-api",),
            requests=requests,
            requests_low=requests * 0.97,
            requests_high=requests * 1.03,
            units=units,
            waste_units=waste,
            p99_ms=p99,
            throttled=93_600 if place == 0 else 0,
            account=ORDERS.account,
            region=ORDERS.region,
        )
        for place, (pattern, index, operation, requests, units, waste, p99) in enumerate(_PATTERNS)
    ]
    undeclared = replace(
        lines[-1],
        kind=PatternKind.UNDECLARED,
        pattern=None,
        fingerprint="c0ffee00c0ffee00",
        text="Scan orders filter #status = :v",
        requests=4.0,
        requests_low=4.0,
        requests_high=4.0,
        callers=("report-cron",),
    )
    return (*lines, undeclared)


def _finding(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "account": ORDERS.account,
        "region": ORDERS.region,
        "table": "orders",
        "status": Status.ONGOING,
        "confidence": Confidence.CERTAIN,
        "sources": ("request-log", "cloudwatch-metrics"),
    }
    return Finding(**{**given, **fields})


def _judged(found: Any, as_of: int, **fields: Any) -> Finding:
    """Return what a detector found, carried on for some minutes."""
    assert isinstance(found, Finding)
    lived = {"status": Status.ONGOING, "first_seen": BEGAN, "last_seen": as_of, "since_change": DEPLOY}
    return replace(found, runbook=f"/docs/detectors/{found.detector}", **lived, **fields)


def _findings(as_of: int, orders: Traffic) -> tuple[Finding, ...]:
    (hot,) = (_judged(one, as_of, id="f-hot") for one in HotKey().detect(orders))
    (throttling,) = (_judged(one, as_of, id="f-throttling", caused_by="f-hot") for one in Throttling().detect(orders))
    scan = _finding(
        id="f-scan",
        detector="unexpected-scan",
        severity=Severity.MEDIUM,
        confidence=Confidence.LIKELY,
        summary="report-cron scans orders: 4 calls, 18,000 read units (3%), and no pattern declares it",
        fingerprint="c0ffee00c0ffee00",
        caller="report-cron",
        evidence={"read_units": 18_000, "share_of_read_units": 0.03},
        advice=(
            Advice(
                action="query-instead-of-scan",
                text="Query index GSI1: it is keyed by status",
                effect="reads only the items that are wanted",
                risk=Risk.LOW,
                reversible=True,
                takes="a deploy",
                snippet='table.query(IndexName="GSI1", KeyConditionExpression=Key("status").eq(value))',
            ),
        ),
        cost_per_month_usd=41.5,
        first_seen=AS_OF - 1_500_000,
        last_seen=as_of,
        runbook="/docs/detectors/unexpected-scan",
    )
    lag = _finding(
        id="f-lag",
        detector="gsi-lag",
        severity=Severity.MEDIUM,
        index="GSI1",
        summary="one write in 20 takes 6.1 seconds or more to appear in orders/GSI1, where 5 are borne",
        evidence={"lag_p95_seconds": 7.2, "lag_p95_seconds_low": 6.1, "lag_p95_seconds_high": 9.8},
        first_seen=AS_OF - 700_000,
        last_seen=as_of,
        runbook="/docs/detectors/gsi-lag",
    )
    return hot, throttling, scan, lag


def _traffic(window: Window) -> tuple[Traffic, ...]:
    get_order = Attribution(AttributionKind.DECLARED, "get-order", because="it is declared")
    read = evidence.row(
        evidence.shape("GetItem", "0" * 16),
        get_order,
        "checkout-api",
        requests=372_000,
        read_units=604_000,
        throttled=70_000,
        throttled_failed=12_000,
        throttled_tries=93_600,
        observed=3_720,
    )
    write = evidence.row(evidence.shape("PutItem", "2" * 16), requests=21_400, write_units=78_900, observed=214)
    hot = evidence.key(
        (60.0,) * 6 + (2940.0,) * 24,
        values=("ORDER#~k7f3a2c1b",),
        heat=Estimate(1.24, 1.19, 1.29),
        admitted=Estimate(0.98, 0.95, 1.01),
        share=Estimate(0.41, 0.40, 0.42),
        tries=91_400,
        tries_share=0.98,
        distinct_sorts=1,
        peak_second=3_004.0,
    )
    heat = replace(hot, key_template=_SHAPE)
    warm = evidence.key((300.0,) * 30, Direction.WRITE, values=("EVENT#~d3f3a2c1b",))
    hurt = (
        Hurt("checkout-api", "get-order", "GetItem", 88_000.0, 11_300.0, 372_000.0),
        Hurt("support-desk", "get-order", "GetItem", 5_600.0, 700.0, 8_100.0),
    )
    orders = evidence.traffic(
        ORDERS,
        window=window,
        rows=(read, write),
        keys=(heat, warm),
        key_sides=(KeySide(Direction.READ, 41_000, 604_000, 1_900), KeySide(Direction.WRITE, 3_000, 78_900, 210)),
        place=Place(declared=True, capacity=Capacity("PROVISIONED", 8_000, 3_000, "STANDARD"), owner="checkout"),
        throttles=(evidence.limit(tries=93_600, throttled=70_000, failed=12_000, calls=402_000, hurt=hurt),),
        sampled=True,
    )
    query = evidence.row(evidence.shape("Query", "3" * 16), requests=9_300, read_units=61_000, observed=93)
    gsi = evidence.traffic(
        GSI1,
        window=window,
        rows=(query, evidence.row(evidence.shape("PutItem"), write_units=40_000, secondary=True)),
        keys=(evidence.key((180.0,) * 30, Direction.WRITE, values=("STATUS#OPEN",)),),
        place=Place(declared=True, capacity=Capacity("PROVISIONED", 2_000, 200), staleness_tolerance_seconds=5.0),
        throttles=(evidence.limit("provisioned", Direction.WRITE, tries=1_240),),
        probes=_probes(window),
    )
    other = evidence.traffic(
        Target(ORDERS.account, ORDERS.region, "sessions"),
        window=window,
        rows=(),
        sights=frozenset({Sight.METRICS}),
        throttles=(evidence.limit("provisioned", tries=12),),
    )
    return orders, gsi, other


def _probes(window: Window) -> tuple[LagProbe, ...]:
    """Return 320 writes of the canary: most appear in a tenth of a second, some in seconds."""
    dice = np.random.default_rng(7)
    lags = np.where(dice.random(320) < 0.07, dice.uniform(5_000, 9_000, 320), dice.gamma(2.0, 45.0, 320))
    ages = (20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240)
    return tuple(
        LagProbe(
            GSI1,
            f"canary-{number % 16}",
            window.start + number * 900,
            tuple((float(age), float(age + 8), bool(lag <= age)) for age in ages),
        )
        for number, lag in enumerate(lags.tolist())
    )


SLICES = 3_600_000 // SLICE_MS
"""Columns of an hour."""
