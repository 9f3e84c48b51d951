"""Keys that Contributor Insights convicts, through the detector that tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.hot_key import HotKey
from analyzer.detectors.insight_verdict import certain, direction_of
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Sight
from analyzer.model.traffic import MetricThrottles, Place
from analyzer.traffic.insight_heat import insight_keys
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, WINDOW, limit, row, shape, traffic
from tests.support.evidence import key as heavy
from tests.support.told import insight, series

if TYPE_CHECKING:
    from analyzer.model.batch import InsightSeries, MetricSeries
    from analyzer.model.traffic import Traffic

READ, WRITE = Direction.READ, Direction.WRITE
INSIGHTS = frozenset({Sight.INSIGHTS_ACCESSED, Sight.INSIGHTS_THROTTLED})
BOTH_KEYS = Place(partition_key=("PK",), sort_key=("SK",))
FULL = 180_000.0
"""ConsumedThroughputUnits of a minute at the ceiling."""


def told(
    *keys: InsightSeries,
    metrics: tuple[MetricSeries, ...] = (),
    place: Place = BOTH_KEYS,
    template: str = "CASE#<id>",
    **fields: Any,
) -> Traffic:
    is_refused = any(one.cause == "key-range" for one in fields.get("throttles", ()))
    insights = insight_keys(keys, metrics, place, WINDOW, lambda _: template, is_refused=is_refused)
    fields = {"rows": (), "sights": INSIGHTS} | fields
    return traffic(fields.pop("target", CASES), insights=insights, metrics=metrics, place=place, **fields)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in HotKey().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def ranged(direction: Direction = READ) -> MetricThrottles:
    return MetricThrottles(
        direction=direction, cause="key-range", events=90.0, minutes=(), period_seconds=60, is_reason_told=True
    )


def reads(units: float = FULL, writes: float = 60.0) -> tuple[MetricSeries, ...]:
    return series("ConsumedReadCapacityUnits", (units,)), series("ConsumedWriteCapacityUnits", (writes,))


def test_an_item_at_its_ceiling_is_high_and_likely_where_nothing_bounds_the_mixture() -> None:
    one = only(told(insight("SKC", (0.97 * FULL,), "CASE#7", "META")))
    assert (one.severity, one.confidence, one.cause) == (Severity.HIGH, Confidence.LIKELY, "single-item")
    assert (one.key, one.direction, one.caller) == ({"PK": "CASE#7", "SK": "META"}, None, None)
    assert "takes 48% to 97% of its ceiling" in one.summary
    assert one.evidence["heat_low"] == 0.485
    assert [advice.action for advice in one.advice] == ["fix-caller", "cache-item", "shard-key", "aggregate-writes"]


def test_a_table_that_hardly_writes_proves_that_it_is_reads() -> None:
    one = only(told(insight("SKC", (0.97 * FULL,), "CASE#7", "META"), metrics=reads()))
    assert (one.confidence, one.caveat, one.direction) == (Confidence.CERTAIN, None, READ)
    assert [advice.action for advice in one.advice] == ["fix-caller", "cache-item"]


def test_a_mixture_that_may_be_half_of_each_convicts_nobody() -> None:
    assert found(told(insight("SKC", (0.95 * FULL,), "CASE#7", "META"), metrics=reads(FULL / 2, FULL / 6))) == []


def test_an_item_warm_for_five_minutes_is_medium_and_for_four_not() -> None:
    assert only(told(insight("SKC", (0.75 * FULL,) * 5, "CASE#7", "META"))).severity is Severity.MEDIUM
    assert found(told(insight("SKC", (0.75 * FULL,) * 4, "CASE#7", "META"))) == []
    gap = insight("SKC", (0.75 * FULL, 0.75 * FULL, 0.1 * FULL, 0.75 * FULL, 0.75 * FULL), "CASE#7", "META")
    assert found(told(gap)) == []


def test_the_item_stands_for_the_collection_that_it_heats() -> None:
    evidence = told(insight("SKC", (0.95 * FULL,), "CASE#7", "META"), insight("PKC", (FULL,), "CASE#7"))
    assert only(evidence).key == {"PK": "CASE#7", "SK": "META"}


def test_a_collection_with_refusals_is_high() -> None:
    items = [insight("SKC", (0.2 * FULL,), "CASE#7", str(number)) for number in range(5)]
    other = insight("PKC", (0.1 * FULL,), "CASE#8")
    refused = insight("PKT", (500.0,), "CASE#7")
    one = only(told(*items, insight("PKC", (FULL,), "CASE#7"), refused, other))
    assert (one.severity, one.cause, one.evidence["throttle_events"]) == (Severity.HIGH, "tenant", 500)
    assert one.evidence["effective_items"] == 5
    assert one.self_heals is not None
    assert one.self_heals.reason == "its heat lies on about 5 items: a split may help little"


def test_a_collection_without_refusals_whose_items_are_each_cool_is_split_already() -> None:
    items = [insight("SKC", (0.4 * FULL,), "CASE#7", str(number)) for number in range(3)]
    assert found(told(*items, insight("PKC", (1.2 * FULL,), "CASE#7"))) == []
    assert only(told(*items, insight("PKC", (1.0 * FULL,), "CASE#7"))).severity is Severity.MEDIUM


def test_a_collection_of_which_no_item_is_listed_is_judged_by_the_ceiling_of_one_partition() -> None:
    assert only(told(insight("PKC", (FULL,), "CASE#7"))).severity is Severity.HIGH
    assert only(told(insight("PKC", (1.2 * FULL,), "CASE#7"))).severity is Severity.MEDIUM
    assert only(told(insight("PKC", (1.2 * FULL,), "CASE#7"), throttles=(limit(),))).severity is Severity.HIGH


def test_refusals_that_concentrate_convict_a_cool_key_but_not_in_a_table_that_is_refused_as_a_whole() -> None:
    use, refused = insight("PKC", (0.3 * FULL,), "CASE#7"), insight("PKT", (500.0,), "CASE#7")
    assert only(told(use, refused)).summary.endswith("refused tries concentrate on it")
    assert found(told(use, refused, throttles=(limit("provisioned"),))) == []
    warm = insight("PKC", (0.8 * FULL,), "CASE#7")
    assert only(told(warm, refused, throttles=(limit("provisioned"),))).severity is Severity.HIGH
    assert found(told(use, insight("PKT", (9.0,), "CASE#7"))) == []


def test_a_key_of_which_refusals_alone_are_counted_is_told_by_its_share_of_them() -> None:
    one = only(told(insight("PKT", (500.0,), "CASE#7"), insight("PKT", (50.0,), "CASE#8")))
    assert "was refused with 500 throttle events, 91% of all" in one.summary
    assert (one.confidence, one.evidence["heat"]) == (Confidence.LIKELY, None)
    assert one.caveat == "Contributor Insights counts its refusals alone, not its use"
    assert found(told(insight("PKT", (500.0,), "CASE#7"), throttles=(limit("provisioned"),))) == []
    assert found(told(insight("PKT", (9.0,), "CASE#7"))) == []


def counting(**fields: Any) -> Traffic:
    adds = row(shape("UpdateItem", update="ADD #0 :0"), requests=900)
    return told(
        *(insight("SKC", (0.4 * FULL,), "CASE#7", str(number)) for number in range(2)),
        insight("PKC", (FULL,), "CASE#7"),
        insight("PKC", (0.1 * FULL,), "CASE#8"),
        rows=(adds, row(requests=100)),
        **fields,
    )


def test_few_items_that_are_added_to_are_counters() -> None:
    assert only(counting()).cause == "counter"


def test_a_written_key_gets_parts_and_a_rolling_sort_key_does_not_heal() -> None:
    calls = book(*(call("PutItem", n, of=shape("PutItem"), key=item("CASE#7", f"{n:03}")) for n in range(60)))
    other = insight("PKC", (0.1 * FULL,), "CASE#8")
    one = only(told(insight("PKC", (FULL,), "CASE#7"), other, metric_throttles=(ranged(WRITE),), calls=calls))
    assert (one.direction, one.cause, one.evidence["write_shards"]) == (WRITE, "sequential", 2)
    assert one.self_heals is not None
    assert one.self_heals.answer == "no"


@pytest.mark.parametrize(
    ("template", "keys", "kind"),
    [("OPEN", ("OPEN", "DONE"), "constant"), ("<id>", ("OPEN",), "constant"), ("<id>", ("1", "2"), "tenant")],
)
def test_a_key_without_a_variable_or_without_another_beside_it_is_constant(
    template: str, keys: tuple[str, ...], kind: str
) -> None:
    series_of_keys = [insight("PKC", (FULL if at == 0 else 60.0,), name) for at, name in enumerate(keys)]
    assert only(told(*series_of_keys, template=template)).cause == kind


def test_a_table_without_sort_key_has_one_item_a_key_and_an_index_may_have_many() -> None:
    place = Place(partition_key=("PK",))
    keys = (insight("PKC", (FULL,), "CASE#7"), insight("PKC", (60.0,), "CASE#8"))
    assert only(told(*keys, place=place)).cause == "single-item"
    assert only(told(*keys, place=place, target=GSI2)).cause == "tenant"


def test_a_key_that_rotates_with_the_clock_is_known_without_its_time() -> None:
    first, second = (insight("PKC", (FULL,), f"m{minute:08}") for minute in (0, 1))
    both = only(told(first, second))
    assert both.cause == "time-bucket"
    assert only(told(second)).subject == both.subject


def test_a_key_of_which_refusals_alone_are_counted_has_no_heat() -> None:
    (refused,) = told(insight("PKT", (500.0,), "CASE#7")).insights
    assert certain(refused) == 0


def test_what_the_request_log_convicted_is_not_told_twice_and_has_the_same_id() -> None:
    log = heavy((950.0,) * 6, WRITE)
    sights = INSIGHTS | {Sight.REQUEST_KEYS, Sight.REQUEST_UNITS}
    puts = row(shape("PutItem"), write_units=9000)
    use, metrics = insight("PKC", (FULL,), "CASE#7"), (ranged(WRITE),)
    both = only(told(use, rows=(puts,), keys=(log,), sights=sights, metric_throttles=metrics))
    assert both.sources == ("request-log",)
    assert only(told(use, metric_throttles=metrics)).subject == both.subject


def test_the_direction_is_what_fills_the_partitions() -> None:
    assert direction_of(traffic(metric_throttles=(ranged(WRITE),))) is WRITE
    assert direction_of(traffic(throttles=(limit(),))) is READ
    assert direction_of(traffic(throttles=(limit(), limit(direction=WRITE)), metrics=reads(0.0, 10.0))) is WRITE
    assert direction_of(traffic(metrics=reads(30.0, 10.0))) is None
    assert direction_of(traffic(metrics=reads(31.0, 10.0))) is READ
    assert direction_of(traffic()) is None


@pytest.mark.parametrize(
    ("consumed", "direction"), [({"write_units": 900}, WRITE), ({"read_units": 900}, READ), ({}, None)]
)
def test_where_metrics_do_not_tell_requests_say_which_side_it_is(
    consumed: dict[str, Any], direction: Direction | None
) -> None:
    one = only(told(insight("SKC", (0.97 * FULL,), "CASE#7", "META"), rows=(row(**consumed),)))
    assert one.direction is direction
