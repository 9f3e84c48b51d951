"""Each threshold of a hot key just reached, and just missed."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.heat.hot_key import HotKey
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Confidence, Direction, Finding, Severity, Victim
from analyzer.model.sight import Sight, Skipped
from analyzer.model.traffic import Hurt, KeyHeat, MetricThrottles, Place, Throttles, Traffic
from analyzer.model.window import Window
from analyzer.traffic.insight_heat import insight_keys
from tests.support.evidence import ALL_REQUEST_SIGHTS, CASES, WINDOW, exactly, key, limit, row, traffic
from tests.support.told import insight

READ, WRITE = Direction.READ, Direction.WRITE
ITEM, PREFIX = KeyLevel.ITEM, KeyLevel.PREFIX
RANGE, UNNAMED, PROVISIONED = limit("key-range"), limit("unknown"), limit("provisioned")


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in HotKey().detect(evidence) if isinstance(one, Finding)]


def severity(*keys: KeyHeat, **fields: Any) -> Severity | None:
    (one,) = found(traffic(keys=keys, **fields)) or (None,)
    return one.severity if one else None


def refused(tries: int = 200, tries_share: float = 0.25, **fields: Any) -> KeyHeat:
    return key((100.0,) * 3, tries=tries, tries_share=tries_share, **fields)


@pytest.mark.parametrize(
    ("rates", "peak", "judged"),
    [
        ((2700.0,) * 6, None, Severity.HIGH),
        ((2699.0,) * 6, None, None),
        ((2100.0,) * 30, None, Severity.MEDIUM),
        ((2099.0,) * 30, None, None),
        ((2100.0,) * 29, None, None),
        ((1500.0,) * 2, 3000.0, Severity.MEDIUM),
        ((1500.0,) * 2, 2999.0, None),
        ((1499.0,) * 2, 3000.0, None),
        ((1500.0,) * 2, None, None),
    ],
)
def test_warmth_by_units_alone(rates: tuple[float, ...], peak: float | None, judged: Severity | None) -> None:
    assert severity(key(rates, peak_second=peak)) is judged


@pytest.mark.parametrize(("rates", "judged"), [((900.0,) * 6, Severity.HIGH), ((899.0,) * 6, None)])
def test_the_ceiling_of_writes_is_a_third(rates: tuple[float, ...], judged: Severity | None) -> None:
    assert severity(key(rates, WRITE)) is judged


@pytest.mark.parametrize(("heat", "judged"), [(1.25, Severity.HIGH), (1.24, None)])
def test_demand_is_the_admitted_units_times_what_was_asked_for(heat: float, judged: Severity | None) -> None:
    assert severity(key((2400.0,) * 6, heat=exactly(heat), admitted=exactly(1.0))) is judged
    assert severity(key((2400.0,) * 5, heat=exactly(heat), admitted=exactly(1.0))) is None


def test_a_run_may_begin_late_and_must_have_no_gap() -> None:
    assert severity(key((100.0, 100.0, *(2700.0,) * 6))) is Severity.HIGH
    assert severity(key((*(2700.0,) * 3, 0.0, *(2700.0,) * 3))) is None


@pytest.mark.parametrize(("seconds", "tries", "judged"), [(3, 0, Severity.MEDIUM), (2, 0, None), (3, 1, None)])
def test_full_seconds_are_told_where_nothing_was_refused(seconds: int, tries: int, judged: Severity | None) -> None:
    assert severity(key((30.0,) * 3, seconds_over=seconds, tries=tries)) is judged


@pytest.mark.parametrize("seconds", [3, None])
def test_a_prefix_is_never_judged_by_full_seconds_or_skew(seconds: int | None) -> None:
    assert severity(key((30.0,) * 30, level=PREFIX, values=("C",), seconds_over=seconds, share=exactly(0.4))) is None


@pytest.mark.parametrize(
    ("share", "heat", "observed", "judged"),
    [
        (exactly(0.25), exactly(0.099), 10, Severity.LOW),
        (Estimate(0.3, 0.249, 0.4), exactly(0.05), 10, None),
        (exactly(0.25), exactly(0.1), 10, None),
        (exactly(0.25), exactly(0.05), 9, None),
    ],
)
def test_skew(share: Estimate, heat: Estimate, observed: int, judged: Severity | None) -> None:
    assert severity(key(share=share, heat=heat, admitted=heat, observed=observed)) is judged


@pytest.mark.parametrize(
    ("one", "throttles", "judged"),
    [
        (refused(10), RANGE, Severity.HIGH),
        (refused(9), RANGE, None),
        (refused(), RANGE, Severity.HIGH),
        (refused(tries_share=0.249), RANGE, None),
        (refused(), PROVISIONED, None),
        (refused(), limit("key-range", WRITE), None),
        (refused(heat=exactly(0.7)), PROVISIONED, Severity.HIGH),
        (refused(heat=exactly(0.699)), PROVISIONED, None),
        (refused(heat=Estimate(0.8, 0.69, 0.9)), PROVISIONED, None),
        (refused(heat=exactly(0.1), share=exactly(0.2)), UNNAMED, Severity.HIGH),
        (refused(heat=exactly(0.099), share=exactly(0.2)), UNNAMED, None),
        (refused(tries_share=0.375, heat=exactly(0.01), share=exactly(0.125)), UNNAMED, Severity.HIGH),
        (refused(tries_share=0.374, heat=exactly(0.01), share=exactly(0.125)), UNNAMED, None),
        (refused(tries_share=0.1875, heat=exactly(0.7), share=exactly(0.0625)), RANGE, Severity.HIGH),
        (refused(tries_share=0.187, heat=exactly(0.7), share=exactly(0.0625)), RANGE, None),
        (refused(tries_share=0.1875, heat=exactly(0.69), share=exactly(0.0625)), RANGE, None),
    ],
)
def test_refusals_convict(one: KeyHeat, throttles: Throttles, judged: Severity | None) -> None:
    assert severity(one, throttles=(throttles,)) is judged


def test_why_it_is_convicted_is_told() -> None:
    said = {
        limited.cause: found(traffic(keys=(refused(heat=exactly(0.8)),), throttles=(limited,)))[0].summary
        for limited in (RANGE, UNNAMED)
    }
    assert said["key-range"].endswith("DynamoDB refused its requests for the key range")
    assert said["unknown"].endswith("refused requests concentrate on it")


@pytest.mark.parametrize(
    ("throttles", "judged"),
    [
        (limit("key-range", failed=0.5), Severity.CRITICAL),
        (limit("unknown", failed=0.5), Severity.CRITICAL),
        (limit("provisioned", failed=0.5), Severity.HIGH),
        (limit("key-range", WRITE, failed=0.5), Severity.HIGH),
    ],
)
def test_calls_that_failed_for_its_own_limit_make_it_critical(throttles: Throttles, judged: Severity) -> None:
    assert severity(refused(heat=exactly(0.8)), throttles=(UNNAMED, throttles)) is judged


def told(direction: Direction = READ, cause: str = "key-range", events: float = 10.0) -> MetricThrottles:
    return MetricThrottles(
        direction=direction,
        cause=cause,
        events=events,
        minutes=((0, events),),
        period_seconds=60,
        is_reason_told=True,
    )


@pytest.mark.parametrize(
    ("one", "metric", "judged"),
    [
        (key(share=exactly(0.5)), told(), Severity.HIGH),
        (key(share=Estimate(0.6, 0.49, 0.7)), told(), Severity.LOW),
        (key(share=exactly(0.5)), told(events=9.0), Severity.LOW),
        (key(share=exactly(0.5)), told(WRITE), Severity.LOW),
        (key(share=exactly(0.5)), told(cause="provisioned"), Severity.LOW),
        (key(share=exactly(0.5), level=PREFIX, values=("CASE#",)), told(), None),
    ],
)
def test_metrics_convict_the_key_that_takes_half(one: KeyHeat, metric: MetricThrottles, judged: Severity) -> None:
    assert severity(one, metric_throttles=(metric,)) is judged


@pytest.mark.parametrize(("rate", "told_key"), [(2160.0, {"PK": "CASE#7", "SK": "A"}), (2159.0, {"PK": "CASE#7"})])
def test_an_item_with_four_fifths_of_the_units_stands_for_its_collection(rate: float, told_key: dict[str, str]) -> None:
    """It has to be hot itself, so that something is told at all."""
    item = key((rate,) * 6, level=ITEM, values=("CASE#7", "A"), heat=exactly(1.4), admitted=exactly(1.0))
    assert [one.key for one in found(traffic(keys=(key((2700.0,) * 6), item)))] == [told_key]


@pytest.mark.parametrize(("tries", "told_key"), [(40, {"PK": "CASE#7", "SK": "A"}), (39, {"PK": "CASE#7"})])
def test_an_item_with_four_fifths_of_the_refusals_stands_too(tries: int, told_key: dict[str, str]) -> None:
    whole = refused(50, 0.9)
    item = key((10.0,) * 3, level=ITEM, values=("CASE#7", "A"), tries=tries, tries_share=0.7)
    assert [one.key for one in found(traffic(keys=(whole, item), throttles=(RANGE,)))] == [told_key]


def test_an_item_of_another_collection_stands_beside_it() -> None:
    item = key((2700.0,) * 6, level=ITEM, values=("CASE#8", "A"))
    assert len(found(traffic(keys=(key((2700.0,) * 6), item)))) == 2


@pytest.mark.parametrize(("records", "skips"), [(10, 0), (9, 1)])
def test_ten_records_are_enough_to_judge(records: int, skips: int) -> None:
    rows = (row(requests=4), row(requests=records - 4))
    assert len(list(HotKey().detect(traffic(rows=rows)))) == skips


@pytest.mark.parametrize(
    ("rate", "observed", "skips"),
    [(1500.0, 10, 1), (1499.0, 9, 0), (1500.0, 11, 0)],
)
def test_heat_of_a_few_records_is_skipped_from_half_the_ceiling_on(rate: float, observed: int, skips: int) -> None:
    """Two slices of 1,500 units a second are 30,000 units: one of ten stands for a tenth of what a slice serves."""
    one = key((rate,) * 2, kept=0.001, observed=observed)
    (skipped,) = list(HotKey().detect(traffic(keys=(one,), sampled=True))) or (None,)
    assert isinstance(skipped, Skipped) is bool(skips)


def test_a_coarse_key_is_convicted_by_none_of_its_units() -> None:
    coarse = key((2800.0,) * 6, kept=0.001, observed=20, peak_second=9000.0)
    assert found(traffic(keys=(coarse,), sampled=True)) == []
    tried = key((2800.0,) * 6, kept=0.001, observed=20, tries=200, tries_share=0.9)
    assert found(traffic(keys=(tried,), throttles=(PROVISIONED,), sampled=True)) == []


def test_the_caller_is_the_one_refused_most_where_the_keys_rows_are_unknown() -> None:
    hurt = (Hurt("batch", None, "Query", 30.0, 0.0, 50.0), Hurt("api", "load-case", "GetItem", 70.0, 0.0, 50.0))
    (one,) = found(traffic(keys=(refused(rows=()),), throttles=(limit("key-range", hurt=hurt),)))
    assert (one.caller, one.victims) == ("api", (Victim("api", "load-case"), Victim("batch", None)))


def test_a_key_without_a_refusal_has_no_victims_and_no_cause_to_wait() -> None:
    (one,) = found(traffic(keys=(key((2700.0,) * 6, distinct_sorts=40),), throttles=(PROVISIONED,)))
    assert one.victims == ()
    assert "wait-for-split" not in [advice.action for advice in one.advice]
    (tried,) = found(traffic(keys=(key((2700.0,) * 6, distinct_sorts=40, tries=1),), throttles=(PROVISIONED,)))
    assert tried.victims == (Victim("api", "load-case"),)
    assert "wait-for-split" in [advice.action for advice in tried.advice]


def test_who_uses_it_how_and_with_what_certainty() -> None:
    (one,) = found(traffic(keys=(key((2700.0,) * 6),)))
    assert (one.pattern, one.fingerprint, one.caller, one.confidence) == (
        "load-case",
        "f0",
        "api",
        Confidence.CERTAIN,
    )
    assert (one.because, one.caveat) == ("at its ceiling for 60 s or more", None)


def test_skew_has_neither_a_prognosis_nor_advice() -> None:
    (one,) = found(traffic(keys=(key(share=exactly(0.4)),)))
    assert (one.severity, one.self_heals, one.advice) == (Severity.LOW, None, ())


def test_without_keys_in_the_log_nothing_is_said_of_requests() -> None:
    metrics = traffic(CASES, ALL_REQUEST_SIGHTS - {Sight.REQUEST_KEYS}, keys=(key((2700.0,) * 6),), rows=())
    assert list(HotKey().detect(metrics)) == []


@pytest.mark.parametrize("rate", [2640.0, 2200.0])
def test_a_collection_at_its_ceiling_is_told_though_the_item_that_takes_most_of_it_stays_below(rate: float) -> None:
    item = key((rate,) * 6, level=ITEM, values=("CASE#7", "A"))
    (one,) = found(traffic(keys=(key((2700.0,) * 6), item)))
    assert (one.key, one.severity) == ({"PK": "CASE#7"}, Severity.HIGH)


def test_an_item_that_is_warm_does_not_hide_a_collection_at_its_ceiling_nor_stand_beside_it() -> None:
    item = key((2500.0,) * 30, level=ITEM, values=("CASE#7", "A"))
    (one,) = found(traffic(keys=(key((2700.0,) * 30), item)))
    assert (one.key, one.severity) == ({"PK": "CASE#7"}, Severity.HIGH)


def test_one_refused_try_of_an_item_hides_no_collection_at_its_ceiling() -> None:
    item = key((900.0,) * 6, level=ITEM, values=("CASE#7", "A"), tries=1)
    (one,) = found(traffic(keys=(key((2700.0,) * 6, tries=1), item)))
    assert one.key == {"PK": "CASE#7"}


@pytest.mark.parametrize(("tries", "told_key"), [(1, {"PK": "CASE#7", "SK": "A"}), (0, {"PK": "CASE#7"})])
def test_a_single_refusal_is_carried_too(tries: int, told_key: dict[str, str]) -> None:
    whole = key((2900.0,) * 6, tries=1)
    item = key((2300.0,) * 6, level=ITEM, values=("CASE#7", "A"), tries=tries, heat=exactly(1.4), admitted=exactly(1.0))
    assert [one.key for one in found(traffic(keys=(whole, item)))] == [told_key]


@pytest.mark.parametrize(("tries", "told_key"), [(160, {"PK": "CASE#7", "SK": "A"}), (159, {"PK": "CASE#7"})])
def test_where_nothing_was_served_an_item_stands_for_its_collection_by_its_refusals_alone(
    tries: int, told_key: dict[str, str]
) -> None:
    whole = key((), tries=200, tries_share=1.0, share=exactly(0.0))
    item = key((), level=ITEM, values=("CASE#7", "A"), tries=tries, tries_share=0.7, share=exactly(0.0))
    assert [one.key for one in found(traffic(keys=(whole, item), throttles=(RANGE,)))] == [told_key]


def test_half_a_unit_is_carried_too() -> None:
    whole = key((0.05,), share=exactly(0.4))
    item = key((0.05,), level=ITEM, values=("CASE#7", "A"), share=exactly(0.4))
    assert [one.key for one in found(traffic(keys=(whole, item)))] == [{"PK": "CASE#7", "SK": "A"}]


def test_reads_are_told_before_writes() -> None:
    both = (key((950.0,) * 6, WRITE), key((2700.0,) * 6))
    assert [one.direction for one in found(traffic(keys=both))] == [READ, WRITE]


def test_a_gap_ends_one_run_and_not_the_search_for_another() -> None:
    assert severity(key((2700.0, 0.0, *(2700.0,) * 6))) is Severity.HIGH


def test_one_slice_below_the_ceiling_breaks_a_run_that_is_counted_whole() -> None:
    assert severity(key((*(2900.0,) * 5, 2600.0))) is None


def bucket(hour: str, rates: tuple[float, ...], **fields: Any) -> KeyHeat:
    return key(rates, WRITE, values=(f"CLICKS#2026-11-30T{hour}",), distinct_sorts=40, **fields)


EVENING = Window(1_796_057_700_000, 1_796_058_000_000)
"""2026-11-30, from 16:55 to 17:00."""


def test_of_two_keys_that_rotate_and_are_as_hot_the_first_stays() -> None:
    (one,) = found(traffic(keys=(bucket("16", (950.0,) * 6), bucket("17", (950.0,) * 6)), window=EVENING))
    assert one.key == {"PK": "CLICKS#2026-11-30T16"}


def test_a_little_heat_is_more_than_none() -> None:
    none = bucket("16", (), tries=50, tries_share=0.4, share=exactly(0.0))
    little = bucket("17", (50.0,) * 6, tries=50, tries_share=0.4)
    (one,) = found(traffic(keys=(none, little), throttles=(limit("key-range", WRITE),), window=EVENING))
    assert one.key == {"PK": "CLICKS#2026-11-30T17"}


def seen_by_both(log: KeyHeat) -> list[Finding]:
    """What requests and Contributor Insights tell of one key that stands at its ceiling, as Insights sees it."""
    place = Place(partition_key=("PK",), sort_key=("SK",))
    use = insight("PKC", (180_000.0,), "CASE#7")
    told_by_it = insight_keys((use,), (), place, WINDOW, lambda _: "CASE#<id>", is_refused=False)
    sights = ALL_REQUEST_SIGHTS | {Sight.INSIGHTS_ACCESSED}
    return found(
        traffic(
            CASES, sights, keys=(log,), insights=told_by_it, place=place, metric_throttles=(told(WRITE),), rows=(row(),)
        )
    )


def test_insights_speak_of_a_key_that_requests_call_skewed_and_not_of_one_that_they_convict() -> None:
    (convicted,) = seen_by_both(key((950.0,) * 6, WRITE, share=exactly(0.4)))
    assert (convicted.severity, convicted.sources) == (Severity.HIGH, ("request-log",))
    (skewed,) = seen_by_both(key((30.0,) * 6, WRITE, share=exactly(0.4)))
    assert (skewed.severity, skewed.sources) == (Severity.HIGH, ("contributor-insights",))
