from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.hot_key import HotKey
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.sight import Sight, Skipped, SkipReason
from analyzer.model.traffic import MetricThrottles, Place
from analyzer.model.window import Window
from tests.support.evidence import ALL_REQUEST_SIGHTS, CASES, GSI2, exactly, key, limit, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import KeyHeat, Traffic

NO_UNITS = ALL_REQUEST_SIGHTS - {Sight.REQUEST_UNITS}
READ, WRITE = Direction.READ, Direction.WRITE
EVENING = Window(1_796_057_700_000, 1_796_058_000_000)
"""2026-11-30, from 16:55 to 17:00."""
ITEM, PREFIX = KeyLevel.ITEM, KeyLevel.PREFIX


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in HotKey().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def actions(one: Finding) -> list[str]:
    return [advice.action for advice in one.advice]


def test_one_record_of_a_sample_convicts_no_key_however_many_it_stands_for() -> None:
    few, many = (key(tries=1000, tries_seen=seen, tries_share=0.9) for seen in (9, 10))
    assert found(traffic(keys=(few,), throttles=(limit("key-range"),))) == []
    assert only(traffic(keys=(many,), throttles=(limit("key-range"),))).severity is Severity.HIGH


def test_a_key_range_reason_on_a_keys_requests_is_high() -> None:
    one = only(traffic(keys=(key(tries=200, tries_share=0.9),), throttles=(limit("key-range"),)))
    assert (one.severity, one.direction, one.key, one.caller) == (Severity.HIGH, READ, {"PK": "CASE#7"}, "api")
    assert one.evidence["throttled_tries"] == 200


def test_a_hot_key_whose_callers_see_errors_is_critical() -> None:
    one = only(traffic(keys=(key(tries=200, tries_share=0.9),), throttles=(limit("key-range", failed=3.0),)))
    assert one.severity is Severity.CRITICAL


def test_refused_tries_on_another_limit_do_not_convict_a_cool_key() -> None:
    assert found(traffic(keys=(key(tries=200, tries_share=0.9),), throttles=(limit("provisioned"),))) == []


def test_refused_tries_that_concentrate_on_a_warm_key_convict_it_whatever_the_limit() -> None:
    warm = key((2500.0,) * 3, tries=200, tries_share=0.3)
    assert only(traffic(keys=(warm,), throttles=(limit("provisioned"),))).severity is Severity.HIGH


def test_refused_tries_that_concentrate_for_no_reason_told_convict_a_cool_key_too() -> None:
    cool = key(tries=200, tries_share=0.4)
    assert only(traffic(keys=(cool,), throttles=(limit("unknown"),))).severity is Severity.HIGH


def test_a_key_that_asks_for_its_ceiling_for_a_minute_is_high_though_less_is_admitted() -> None:
    asks = key((2400.0,) * 6, tries=9, heat=exactly(1.1))
    assert only(traffic(keys=(asks,))).severity is Severity.HIGH


def test_a_key_that_asks_for_less_stays_just_below() -> None:
    asks = key((2400.0,) * 6, tries=9, heat=exactly(0.95))
    assert found(traffic(keys=(asks,))) == []


def test_a_key_that_is_refused_more_often_than_served_is_convicted() -> None:
    one = key((2500.0,) * 3, tries=200, tries_share=0.2, share=exactly(0.05))
    assert only(traffic(keys=(one,), throttles=(limit("unknown"),))).summary.endswith(
        "it is refused more often than it is served"
    )


def test_a_warm_key_with_its_fair_part_of_the_refusals_is_not() -> None:
    one = key((2500.0,) * 3, tries=200, tries_share=0.2, share=exactly(0.2))
    assert found(traffic(keys=(one,), throttles=(limit("unknown"),))) == []


def test_a_few_refused_tries_convict_nobody() -> None:
    assert found(traffic(keys=(key(tries=9, tries_share=1.0),), throttles=(limit("key-range"),))) == []


def test_a_key_at_its_ceiling_for_a_minute_is_high_without_any_throttle() -> None:
    assert only(traffic(keys=(key((2700.0,) * 6),))).severity is Severity.HIGH


def test_a_key_at_its_ceiling_for_fifty_seconds_stays_just_below() -> None:
    assert found(traffic(keys=(key((2700.0,) * 5),))) == []


def test_a_pause_breaks_the_minute_at_the_ceiling() -> None:
    assert found(traffic(keys=(key((2700.0,) * 5 + (0.0,) + (2700.0,) * 5),))) == []


def test_a_key_warm_for_five_minutes_is_medium() -> None:
    assert only(traffic(keys=(key((2100.0,) * 30),))).severity is Severity.MEDIUM


def test_seconds_at_the_ceiling_without_throttles_are_medium() -> None:
    assert only(traffic(keys=(key(seconds_over=3),))).severity is Severity.MEDIUM


def test_two_seconds_at_the_ceiling_stay_just_below() -> None:
    assert found(traffic(keys=(key(seconds_over=2),))) == []


def test_a_half_warm_key_with_double_bursts_is_medium() -> None:
    assert only(traffic(keys=(key((1600.0,) * 2, peak_second=3300.0),))).severity is Severity.MEDIUM


@pytest.mark.parametrize(("rate", "peak"), [(1600.0, 3100.0), (1400.0, 3300.0)])
def test_a_half_warm_key_needs_both_warmth_and_burst(rate: float, peak: float) -> None:
    assert found(traffic(keys=(key((rate,) * 2, peak_second=peak),))) == []


def test_a_skewed_key_far_from_its_ceiling_is_low_and_says_at_what_multiple_it_breaks() -> None:
    one = only(traffic(keys=(key((30.0,) * 30, share=exactly(0.4)),)))
    assert one.severity is Severity.LOW
    assert "breaks at 100 times today's traffic" in one.summary
    assert one.advice == ()


def test_skew_in_a_small_volume_is_not_judged_and_that_is_told() -> None:
    few = traffic(keys=(key((30.0,) * 30, share=exactly(0.4), observed=4),), rows=(row(requests=9),))
    (skipped,) = HotKey().detect(few)
    assert isinstance(skipped, Skipped)
    assert (skipped.reason, skipped.needs) == (
        SkipReason.TOO_LITTLE,
        ("10 records in the window, to tell skew from chance",),
    )


def test_a_key_below_the_share_of_skew_is_nothing() -> None:
    assert found(traffic(keys=(key((30.0,) * 30, share=exactly(0.24)),))) == []


def test_skew_whose_interval_reaches_warmth_is_not_called_cold() -> None:
    one = key((30.0,) * 30, share=exactly(0.4), heat=Estimate(0.05, 0.01, 0.2))
    assert found(traffic(keys=(one,))) == []


def test_no_keys_no_finding() -> None:
    assert found(traffic()) == []


def test_the_item_stands_for_its_collection_when_it_carries_the_heat() -> None:
    whole = key((2700.0,) * 6, tries=50, tries_share=0.9)
    item = key((2650.0,) * 6, level=ITEM, values=("CASE#7", "META"), tries=50, tries_share=0.9)
    one = only(traffic(keys=(whole, item), throttles=(limit(),)))
    assert one.key == {"PK": "CASE#7", "SK": "META"}
    assert one.self_heals is not None
    assert one.self_heals.answer == "no"


def test_the_collection_stands_when_its_items_share_the_heat() -> None:
    whole = key((2700.0,) * 6, distinct_sorts=40)
    item = key((900.0,) * 6, level=ITEM, values=("CASE#7", "META"))
    one = only(traffic(keys=(whole, item)))
    assert one.key == {"PK": "CASE#7"}
    assert one.self_heals is not None
    assert one.self_heals.answer == "unknown"


def test_the_item_that_takes_the_refusals_stands_even_if_others_take_units() -> None:
    whole = key((2700.0,) * 6, tries=50, tries_share=0.9)
    item = key((900.0,) * 6, level=ITEM, values=("CASE#7", "META"), tries=48, tries_share=0.9)
    assert only(traffic(keys=(whole, item), throttles=(limit(),))).key == {"PK": "CASE#7", "SK": "META"}


def test_a_prefix_is_hot_when_no_child_of_it_is() -> None:
    prefix = key((2700.0,) * 6, level=PREFIX, values=("CASE#",), tries=200, tries_share=0.9)
    child = key((300.0,) * 6, tries=12, tries_share=0.05)
    one = only(traffic(keys=(prefix, child), throttles=(limit(),)))
    assert (one.cause, actions(one)) == ("tenant", ["fix-caller", "spread-tenant", "wait-for-split"])


def test_a_prefix_is_silent_when_one_child_carries_it() -> None:
    prefix = key((2700.0,) * 6, level=PREFIX, values=("CASE#",), tries=200, tries_share=0.9)
    child = key((2700.0,) * 6, tries=200, tries_share=0.9)
    assert only(traffic(keys=(prefix, child), throttles=(limit(),))).key == {"PK": "CASE#7"}


def test_a_table_with_an_lsi_does_not_split_a_collection() -> None:
    one = only(traffic(keys=(key((2700.0,) * 6, distinct_sorts=40),), place=Place(has_lsi=True)))
    assert one.self_heals is not None
    assert "local secondary index" in one.self_heals.reason


def test_an_item_that_is_added_to_is_a_counter_and_gets_the_advice_for_writes() -> None:
    adds = row(shape("UpdateItem", update="ADD #0 :0"), write_units=9000)
    one = only(traffic(keys=(key((950.0,) * 6, WRITE, ITEM, ("CASE#7", "META")),), rows=(adds,)))
    assert one.cause == "counter"
    assert actions(one) == ["fix-caller", "aggregate-writes", "shard-key"]


def test_an_item_that_is_put_is_a_single_item() -> None:
    puts = row(shape("PutItem"), write_units=9000)
    one = only(traffic(keys=(key((950.0,) * 6, WRITE, ITEM, ("CASE#7", "META")),), rows=(puts,)))
    assert one.cause == "single-item"


def test_a_key_whose_template_has_no_variable_is_constant() -> None:
    constant = key((2700.0,) * 6, values=("OPEN",), distinct_sorts=9)
    fixed = type(constant)(
        **{f: getattr(constant, f) for f in constant.__struct_fields__} | {"key_template": {"PK": "OPEN"}}
    )
    assert only(traffic(keys=(fixed,))).cause == "constant"


def test_keys_that_rotate_with_the_clock_are_one_finding_in_every_window() -> None:
    def bucket(hour: str, rate: float) -> KeyHeat:
        return key((rate,) * 6, WRITE, values=(f"CLICKS#2026-11-30T{hour}",), distinct_sorts=40)

    both = only(traffic(keys=(bucket("16", 920.0), bucket("17", 960.0)), window=EVENING))
    assert (both.cause, both.key) == ("time-bucket", {"PK": "CLICKS#2026-11-30T17"})
    assert both.self_heals is not None
    assert both.self_heals.reason.startswith("the next period brings a new key")
    assert only(traffic(keys=(bucket("16", 920.0),), window=EVENING)).subject == both.subject
    assert actions(both) == ["fix-caller", "change-key", "shard-key"]


def test_of_two_keys_that_rotate_the_first_stays_where_it_is_hotter() -> None:
    hot = key((990.0,) * 6, WRITE, values=("CLICKS#2026-11-30T16",), distinct_sorts=40)
    less = key((920.0,) * 6, WRITE, values=("CLICKS#2026-11-30T17",), distinct_sorts=40)
    assert only(traffic(keys=(hot, less), window=EVENING)).key == {"PK": "CLICKS#2026-11-30T16"}


def test_a_table_that_is_refused_evenly_for_no_reason_told_has_no_hot_key() -> None:
    lease = key(tries=50, tries_share=1.0, share=exactly(1.0), heat=exactly(0.001), admitted=exactly(0.001))
    assert only(traffic(keys=(lease,), throttles=(limit("unknown"),))).severity is Severity.LOW


def test_failures_of_another_limit_do_not_make_it_critical() -> None:
    both = (limit("key-range"), limit("provisioned", failed=5.0))
    assert only(traffic(keys=(key(tries=200, tries_share=0.9),), throttles=both)).severity is Severity.HIGH


def test_a_key_of_which_nothing_was_served_is_told_by_its_refusals() -> None:
    nothing = key((), tries=400, tries_share=0.9, share=exactly(0.0))
    assert "had 400 read tries refused" in only(traffic(keys=(nothing,), throttles=(limit("unknown"),))).summary


def test_dynamodb_s_own_reason_and_the_place_of_the_limit_are_in_the_evidence() -> None:
    one = only(traffic(keys=(key(tries=200, tries_share=0.9),), throttles=(limit(),)))
    assert one.evidence["reason"] == "TableReadKeyRangeThroughputExceeded"
    assert one.evidence["resource"] == "arn:aws:dynamodb:us-east-1:111122223333:table/cases"


def test_a_key_that_takes_most_of_a_target_which_metrics_say_is_refused_for_a_key_range_is_the_one() -> None:
    told = MetricThrottles(
        direction=READ,
        cause="key-range",
        events=50.0,
        minutes=((0, 50.0),),
        period_seconds=60,
        is_reason_told=True,
    )
    one = only(traffic(keys=(key(share=exactly(0.6)),), metric_throttles=(told,)))
    assert one.summary.endswith("this key takes most of it")
    less = key(share=exactly(0.4))
    assert only(traffic(keys=(less,), metric_throttles=(told,))).severity is Severity.LOW


def test_an_index_key_is_told_at_the_index() -> None:
    one = only(traffic(GSI2, keys=(key((950.0,) * 6, WRITE),)))
    assert (one.index, actions(one)) == ("GSI2", ["fix-caller", "spread-tenant", "shard-key"])


def test_strong_reads_get_the_advice_to_read_eventually() -> None:
    strong = row(shape(consistent=True), read_units=9000)
    assert actions(only(traffic(keys=(key((2700.0,) * 6, distinct_sorts=40),), rows=(strong,)))) == [
        "fix-caller",
        "read-eventually",
        "cache-item",
        "spread-tenant",
    ]


def test_a_key_whose_rows_are_not_known_names_no_caller() -> None:
    one = only(traffic(keys=(key((2700.0,) * 6, rows=()),)))
    assert (one.caller, one.pattern) == (None, None)


def test_no_hot_key_ever_gets_the_advice_to_raise_capacity() -> None:
    hot = (key(tries=99, tries_share=1.0), key((990.0,) * 6, WRITE))
    both = found(traffic(keys=hot, throttles=(limit(),)))
    assert len(both) == 2
    for one in both:
        assert not [action for action in actions(one) if action.startswith("raise")]


def test_a_summary_holds_a_placeholder_and_never_the_key() -> None:
    one = only(traffic(keys=(key((2700.0,) * 6),)))
    assert "{key}" in one.summary
    assert "CASE#7" not in one.summary


def test_a_prefix_that_nobody_refuses_is_never_convicted_by_its_units_alone() -> None:
    assert found(traffic(keys=(key((2900.0,) * 30, level=PREFIX, values=("CASE#",)),))) == []


def test_numbers_from_a_sample_are_likely_and_say_why() -> None:
    one = only(traffic(keys=(key((2900.0,) * 30),), sampled=True))
    assert (one.confidence.value, one.because, one.caveat) == (
        "likely",
        "at its ceiling for 60 s or more",
        "the request log is sampled: numbers are estimates within their bounds",
    )


def test_a_second_above_the_slices_mean_is_told() -> None:
    assert (
        "2,700 of 3,000 read units a second (up to 4,200 in one)"
        in only(traffic(keys=(key((2700.0,) * 6, peak_second=4200.0),))).summary
    )


def test_a_key_that_begins_like_another_is_another() -> None:
    one = key((2700.0,) * 6, values=("A",), tries=100, tries_share=0.5)
    other = key((2700.0,) * 6, values=("A:B",), tries=100, tries_share=0.5)
    item = key((2700.0,) * 6, level=ITEM, values=("A:B", "X"), tries=100, tries_share=0.5)
    keys = [f.key for f in found(traffic(keys=(one, other, item), throttles=(limit(),)))]
    assert keys == [{"PK": "A"}, {"PK": "A:B", "SK": "X"}]


def test_a_cool_key_that_is_refused_more_often_than_served_stands_in_anothers_range() -> None:
    one = key((10.0,) * 3, tries=20, tries_share=0.2, share=exactly(0.01))
    assert found(traffic(keys=(one,), throttles=(limit("key-range"),))) == []


def test_a_lesser_item_of_a_hot_collection_is_not_told_beside_it() -> None:
    whole = key((2700.0,) * 6, tries=100, tries_share=1.0, distinct_sorts=40)
    item = key((300.0,) * 6, level=ITEM, values=("CASE#7", "A"), tries=30, tries_share=0.3)
    assert only(traffic(keys=(whole, item), throttles=(limit(),))).key == {"PK": "CASE#7"}


def test_an_item_that_is_worse_than_its_collection_is_told_beside_it() -> None:
    whole = key((30.0,) * 30, share=exactly(0.4), distinct_sorts=40)
    item = key((10.0,) * 30, level=ITEM, values=("CASE#7", "A"), seconds_over=3)
    levels = [one.severity for one in found(traffic(keys=(whole, item)))]
    assert levels == [Severity.LOW, Severity.MEDIUM]


def unmeasured(sights: frozenset[Sight] = NO_UNITS, **fields: Any) -> Traffic:
    return traffic(CASES, sights, rows=(row(units_known=0.0),), **fields)


def refused_alone(tries: int = 200, tries_share: float = 0.9, values: tuple[str, ...] = ("CASE#7",)) -> KeyHeat:
    return key((), tries=tries, tries_share=tries_share, share=exactly(0.0), rows=(), values=values)


def test_where_no_request_tells_its_units_refusals_for_a_key_range_name_the_key_with_less_confidence() -> None:
    one = only(unmeasured(keys=(refused_alone(),), throttles=(limit("key-range", failed=3.0),)))
    assert (one.severity, one.confidence.value, one.key) == (Severity.CRITICAL, "likely", {"PK": "CASE#7"})
    assert (one.because or "").startswith("no request tells its units")
    assert (one.caller, one.evidence["throttled_tries"], one.evidence["throttled_share"]) == ("api", 200, 0.9)
    assert [one.evidence[name] for name in ("heat", "admitted", "share", "table_units_a_second")] == [None] * 4
    assert one.summary.startswith("{key} on cases had 200 read tries refused, mostly of api")


@pytest.mark.parametrize("cause", ["unknown", "provisioned"])
def test_without_units_refusals_by_another_limit_name_no_key(cause: str) -> None:
    (skipped,) = HotKey().detect(unmeasured(keys=(refused_alone(),), throttles=(limit(cause),)))
    assert isinstance(skipped, Skipped)
    assert (skipped.reason, skipped.needs) == (SkipReason.MISSING_SIGHT, (Sight.REQUEST_UNITS,))


def test_without_units_and_refusals_what_is_missing_is_told_unless_insights_see_keys() -> None:
    cool = unmeasured(keys=(key((), share=exactly(0.0)),))
    (skipped,) = HotKey().detect(cool)
    assert isinstance(skipped, Skipped)
    assert list(HotKey().detect(unmeasured(sights=NO_UNITS | {Sight.INSIGHTS_ACCESSED}))) == []


def test_where_nothing_was_served_the_key_that_takes_the_refusals_stands_and_not_one_that_takes_few() -> None:
    item = key((), tries=12, tries_share=0.06, share=exactly(0.0), level=ITEM, values=("CASE#7", "A"), rows=())
    for make in (traffic, unmeasured):
        one = only(make(keys=(refused_alone(), item), throttles=(limit("key-range"),)))
        assert (one.key, one.evidence["heat"]) == ({"PK": "CASE#7"}, None)
