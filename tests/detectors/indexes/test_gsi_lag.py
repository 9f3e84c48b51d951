from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.indexes.gsi_lag import GsiLag
from analyzer.model.batch import LagProbe
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.shape import KeyPredicate
from analyzer.model.sight import Sight, Skipped, SkipReason
from analyzer.model.traffic import MetricThrottles, Place, Traffic
from analyzer.model.window import Window
from analyzer.traffic.gsi_lag import estimate_lag
from analyzer.traffic.lag_pairs import probe_pairs
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, shape, traffic
from tests.support.lagging_store import logged
from tests.support.told import series

if TYPE_CHECKING:
    import numpy as np

HOUR = 3_600_000
NOW = Window(170 * HOUR, 171 * HOUR)
AGES = tuple(range(0, 30_000, 500))


def outcome(evidence: Traffic) -> Finding | Skipped | None:
    return next(iter(GsiLag().detect(evidence)), None)


def finding(evidence: Traffic) -> Finding:
    one = outcome(evidence)
    assert isinstance(one, Finding)
    return one


def probed(*lags_ms: float, ages: tuple[int, ...] = AGES, **fields: Any) -> Traffic:
    """An index of which the canary wrote once for each lag, and looked for each write at those ages."""
    probes = tuple(
        LagProbe(GSI2, f"k{n % 16}", n, tuple((float(age), float(age), age >= lag) for age in ages))
        for n, lag in enumerate(lags_ms)
    )
    return traffic(GSI2, probes=probes, rows=(), **fields)


def test_the_least_that_the_slowest_writes_took_is_judged_by_the_tolerance() -> None:
    one = finding(probed(*[200.0] * 280, *[12_000.0] * 40))
    assert (one.severity, one.confidence, one.index) == (Severity.MEDIUM, Confidence.CERTAIN, "GSI2")
    assert one.sources == ("canary",)
    low = one.evidence["lag_p99_seconds_low"]
    assert isinstance(low, float)
    assert 5 < low <= 12.5
    assert [advice.action for advice in one.advice] == ["check-service-health", "read-base-table"]


def test_a_lag_that_half_of_the_writes_have_is_high() -> None:
    one = finding(probed(*[9_000.0] * 40))
    assert (one.severity, one.confidence) == (Severity.HIGH, Confidence.LIKELY)
    assert "one write in 2 takes" in one.summary


def test_a_lag_within_the_tolerance_is_nothing() -> None:
    assert outcome(probed(*[4_000.0] * 400)) is None


@pytest.mark.parametrize(("tolerance", "is_found"), [(1.0, True), (20.0, False)])
def test_the_contract_says_what_is_borne(tolerance: float, is_found: bool) -> None:  # noqa: FBT001
    place = Place(staleness_tolerance_seconds=tolerance)
    assert isinstance(outcome(probed(*[9_000.0] * 40, place=place)), Finding) is is_found


def test_what_was_never_seen_has_no_upper_bound() -> None:
    one = finding(probed(*[99_000.0] * 40))
    assert (one.evidence["lag_p50_seconds"], one.evidence["lag_p50_seconds_high"]) == (None, None)
    assert one.evidence["stale_share_after_a_second"] == 1.0


def test_reads_and_writes_of_the_application_tell_it_too() -> None:
    def slow(rng: np.random.Generator, count: int) -> np.ndarray:
        return rng.uniform(8, 12, count)

    calls = logged(1, slow, items=40, writes=4, gap_seconds=30.0)
    one = finding(traffic(GSI2, calls=calls, place=Place(partition_key=("status",))))
    assert (one.severity, one.sources) == (Severity.HIGH, ("request-log",))


def test_too_few_writes_are_not_judged_and_no_pairs_need_sight() -> None:
    few = outcome(probed(*[9_000.0] * 19))
    none = outcome(traffic(GSI2, calls=book()))
    assert isinstance(few, Skipped)
    assert isinstance(none, Skipped)
    assert (few.reason, none.reason) == (SkipReason.TOO_LITTLE, SkipReason.MISSING_SIGHT)
    assert none.needs == ("RETURNED_KEYS", "CANARY")


def test_where_items_go_without_a_word_nothing_is_concluded() -> None:
    gone = LagProbe(GSI2, "k", 0, ((0.0, 1.0, True), (500.0, 501.0, False)))
    evidence = probed(*[9_000.0] * 36)
    few, many = (traffic(GSI2, probes=(*evidence.probes, *(gone for _ in range(n)))) for n in (4, 5))
    one = outcome(many)
    assert isinstance(outcome(few), Finding)
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.NOT_COVERED


@pytest.mark.parametrize(("fast", "slow", "rarity"), [(290, 10, 100), (40, 20, 20), (0, 300, 2)])
def test_the_commonest_of_the_writes_that_take_so_long_are_told(fast: int, slow: int, rarity: int) -> None:
    one = finding(probed(*[200.0] * fast, *[12_000.0] * slow, ages=(1000, 11_000, 13_000)))
    assert one.summary.startswith(f"one write in {rarity} takes ")


def unseen(after_ms: int, writes: int = 20) -> Traffic:
    """An application's log: each write is looked for once, so long after, and is not there yet."""
    calls = []
    for number in range(writes):
        key, entry = item("CASE", f"S{number}"), item(f"OPEN{number}")
        of = shape("PutItem", "put", condition="attribute_not_exists(PK)")
        calls.append(call("PutItem", number * 60, of, key=key, index_keys=(("GSI2", entry),)))
        asked = shape("Query", "ask", index="GSI2", key=(KeyPredicate("status", "=", "OPEN<n>"),))
        told = {"target": GSI2, "key": entry, "returned": (), "count": 0}
        calls.append(call("Query", number * 60 + after_ms / 1000, asked, **told))
    return traffic(GSI2, calls=book(*calls), place=Place(partition_key=("status",)))


def test_clocks_may_differ_by_ten_milliseconds_before_a_lag_is_over_the_tolerance() -> None:
    assert outcome(unseen(5_010)) is None
    assert finding(unseen(5_011)).evidence["lag_p50_seconds_low"] == 5.001


def test_a_median_just_at_what_is_borne_is_medium() -> None:
    evidence = probed(*[6_000.0] * 50, *[12_000.0] * 10, ages=(1000, 5000, 7000, 11_000, 13_000))
    lag = estimate_lag(probe_pairs(evidence.probes))
    assert lag is not None
    assert lag.p50 is not None
    for borne, severity in ((lag.p50.low, Severity.MEDIUM), (lag.p50.low - 0.001, Severity.HIGH)):
        place = Place(staleness_tolerance_seconds=borne)
        assert finding(traffic(GSI2, probes=evidence.probes, place=place)).severity is severity


def test_how_many_reads_missed_a_write_is_told_where_reads_came_so_late() -> None:
    late = finding(probed(*[9_000.0] * 20))
    assert late.summary.endswith("where 5 are borne; 28% of reads a second after a write missed it")
    soon = tuple(LagProbe(GSI2, "k", n, ((400.0, 400.0, False), (900.0, 900.0, True))) for n in range(20))
    one = finding(traffic(GSI2, probes=soon, place=Place(staleness_tolerance_seconds=0.1)))
    assert one.evidence["stale_share_after_a_second"] is None
    assert one.summary.endswith("where 0.1 are borne")


def test_strong_reads_can_be_taken_back() -> None:
    assert [(advice.risk, advice.reversible) for advice in finding(probed(*[9_000.0] * 20)).advice] == [
        (Risk.NONE, None),
        (Risk.LOW, True),
    ]


def test_a_table_has_no_lag() -> None:
    assert outcome(traffic(CASES)) is None


# signs in metrics


def behind(now: float, *, past: int = 24, events: float = 40.0, cause: str = "provisioned", **fields: Any) -> Traffic:
    """An index that used to take half of its table's writes, by the hour, and takes `now` in the last one."""
    start = NOW.start - past * HOUR
    own = series("ConsumedWriteCapacityUnits", [500.0] * past + [now], target=GSI2, start=start, period_seconds=3600)
    its = series("ConsumedWriteCapacityUnits", [1000.0] * (past + 1), start=start, period_seconds=3600)
    refused = MetricThrottles(
        direction=Direction.WRITE,
        cause=cause,
        events=events,
        minutes=((NOW.start, events),),
        period_seconds=60,
        is_reason_told=True,
    )
    base = traffic(CASES, metrics=(its, series("ConsumedWriteCapacityUnits", [9.0])), window=NOW)
    given = {"metrics": (own,), "metric_throttles": (refused,) if events else (), "base": base, "window": NOW}
    return traffic(GSI2, frozenset({Sight.METRICS}), **given | fields)


def test_index_writes_that_fell_behind_the_table_s_with_throttles_are_a_possible_lag() -> None:
    one = finding(behind(400.0))
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.POSSIBLE)
    assert (one.evidence["write_ratio"], one.evidence["write_ratio_of_the_week"]) == (0.4, 0.5)
    assert "raise-index-capacity" in {advice.action for advice in one.advice}
    assert "raise-index-capacity" not in {advice.action for advice in finding(behind(400.0, cause="key-range")).advice}


@pytest.mark.parametrize(
    "evidence",
    [
        behind(401.0),
        behind(100.0, events=0.0),
        behind(100.0, past=2),
        behind(100.0, base=None),
        behind(100.0, metrics=()),
        behind(0.0, metrics=(series("ConsumedWriteCapacityUnits", [0.0] * 172, target=GSI2, period_seconds=3600),)),
    ],
    ids=["just below", "no throttle", "no past", "no table", "no writes known", "never written"],
)
def test_what_shows_no_sign_is_said_not_to_be_measured(evidence: Traffic) -> None:
    one = outcome(evidence)
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.MISSING_SIGHT
