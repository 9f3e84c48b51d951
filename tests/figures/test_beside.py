"""What stands beside a map: the places to choose from, marks, the strip of indexes."""

from __future__ import annotations

from msgspec.structs import replace

from analyzer.exporters.api import gsi_object
from analyzer.figures.lag import index_strip
from analyzer.figures.marks import marks_of
from analyzer.figures.targets import hottest_places, keys_from
from analyzer.model.counts import KeyLevel, KeyName
from analyzer.model.finding import Change, Direction
from analyzer.model.heatmap import HeatMark, KeysFrom, MarkKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import Capacity, InsightKey, InsightMinute, MetricThrottles, Place
from analyzer.model.window import Window
from tests.figures.test_insight_map import consumed
from tests.figures.test_insight_map import key as insight
from tests.support import evidence
from tests.support.evidence import CASES, GSI2, traffic
from tests.support.page_report import AS_OF, GSI1, ORDERS, made_report

METRICS = frozenset({Sight.METRICS})
THROTTLED = MetricThrottles(
    direction=Direction.READ, cause="provisioned", events=7.0, minutes=(), period_seconds=60, is_reason_told=True
)


def test_the_hottest_place_comes_first_then_throttles_then_units() -> None:
    cold = traffic(CASES.at("COLD"), rows=(evidence.row(read_units=90_000),), keys=())
    hot = traffic(CASES, keys=(evidence.key((2700.0,) * 30),), rows=(evidence.row(read_units=1.0),))
    refused = traffic(CASES.at("GSI1"), rows=(), sights=METRICS, metric_throttles=(THROTTLED,))
    told = hottest_places([cold, refused, hot])
    assert [(one.target.index, one.throttled) for one in told] == [(None, 0.0), ("GSI1", 7.0), ("COLD", 0.0)]
    assert told[0].heat is not None
    assert told[0].heat.value == 0.9


def test_a_direction_in_which_nothing_was_done_is_no_place() -> None:
    assert hottest_places([traffic(rows=(evidence.row(requests=0),))]) == []


def test_throttles_of_the_log_count_for_their_direction() -> None:
    told = hottest_places([traffic(rows=(), throttles=(evidence.limit(tries=40, direction=Direction.WRITE),))])
    assert [(one.direction, one.throttled) for one in told] == [(Direction.WRITE, 40.0)]


def test_who_tells_the_keys_is_known_of_each_place() -> None:
    assert keys_from(traffic(keys=(evidence.key(),)), Direction.READ) is KeysFrom.REQUEST_LOG
    assert keys_from(traffic(), Direction.READ) is KeysFrom.REQUEST_LOG
    assert keys_from(traffic(sights=METRICS), Direction.READ) is KeysFrom.NOT_VISIBLE
    only = traffic(sights=METRICS, insights=(insight("A", (0, 0.4), (1, 0.8)),), metrics=(consumed(600.0),))
    assert keys_from(only, Direction.READ) is KeysFrom.CONTRIBUTOR_INSIGHTS
    (place, _) = hottest_places([only])
    assert place.heat is not None
    assert (place.heat.low, place.heat.value, place.units_a_second) == (0.4, 0.8, 10.0)


def test_keys_that_were_only_throttled_have_no_heat() -> None:
    minute = (InsightMinute(0, 5.0),)
    name = KeyName(KeyLevel.PARTITION, "A")
    used = InsightKey(rule="PKC", name=name, key={}, key_template={}, period_seconds=60, minutes=minute, share=1.0)
    (place,) = hottest_places([traffic(sights=METRICS, insights=(used,), metrics=(consumed(600.0),))])
    assert place.heat is None


def test_capacity_is_the_limit() -> None:
    told = traffic(rows=(evidence.row(read_units=1, write_units=1),), place=Place(capacity=Capacity("", 5.0, 7.0)))
    assert {one.direction: one.limit for one in hottest_places([told])} == {Direction.READ: 5.0, Direction.WRITE: 7.0}


def test_changes_and_beginnings_within_the_map_are_marks() -> None:
    report = made_report()
    hour = Window(AS_OF - 3_600_000, AS_OF)
    assert [mark.what for mark in marks_of(report, ORDERS, hour)] == [
        "capacity read units 6,000 → 8,000",
        "unexpected-scan began (3% of read units)",
        "deploy checkout-api 4.12.0",
        "hot-key began (heat 1.24)",
        "throttling began (throttled share 17%)",
    ]
    assert [mark.what for mark in marks_of(report, GSI1, hour)][-1] == "deploy checkout-api 4.12.0"
    assert marks_of(report, ORDERS, Window(0, 1)) == ()


def test_a_finding_that_began_says_how_much_of_it_there_is() -> None:
    first, *_ = made_report().findings

    def told(evidence: dict[str, float | str | None]) -> str:
        found = (replace(first, detector="x", evidence=evidence, first_seen=5),)
        (mark,) = marks_of(replace(made_report(), findings=found, changes=()), ORDERS, Window(0, 10))
        assert mark.kind is MarkKind.FINDING
        return mark.what

    assert told({}) == told({"reason": "so", "share": None}) == "x began"
    assert told({"calls": 12.0, "shape": "queue"}) == "x began (calls 12)"
    assert told({"calls": 12.0, "share": 0.25}) == "x began (share 25%)"


def test_changes_of_everything_concern_every_table() -> None:
    told = replace(made_report(), changes=(Change(time=5, what="x"), Change(time=6, what="y", table="other")))
    assert marks_of(told, CASES, Window(0, 10)) == (HeatMark(5, "x"),)


def test_what_happened_in_another_region_is_no_mark() -> None:
    report = made_report()
    there = replace(ORDERS, region="eu-west-1")
    assert report.region != "eu-west-1"
    began = tuple(replace(one, first_seen=5) for one in report.findings)
    mark = Change(time=6, what="deploy")
    of_orders = Change(time=7, what="capacity", table="orders", account=ORDERS.account, region=ORDERS.region)
    told = replace(report, findings=began, changes=(mark, of_orders))
    assert marks_of(told, there, Window(0, 10)) == (HeatMark(6, "deploy"),)
    assert HeatMark(7, "capacity") in marks_of(told, ORDERS, Window(0, 10))


def test_an_index_of_another_region_has_findings_of_its_own() -> None:
    report = made_report()
    gsi = next(one for one in report.traffic if one.target == GSI1)
    twin = replace(gsi, target=replace(GSI1, region="eu-west-1"))
    found = replace(report.findings[0], id="f-gsi", table="orders", index=GSI1.index)
    told = gsi_object(replace(report, traffic=(gsi, twin), findings=(found,)))
    assert {one["region"]: one["findings"] for one in told["indexes"]} == {GSI1.region: ["f-gsi"], "eu-west-1": []}


def test_an_index_says_how_its_lag_would_become_visible() -> None:
    strip = index_strip(traffic(GSI2, metric_throttles=(THROTTLED,)))
    assert strip.lag is None
    assert strip.hint is not None
    assert "dynascope canary" in strip.hint
    assert [one.tries for one in strip.throttles] == [7.0]


def test_an_index_that_the_canary_watches_has_its_lag() -> None:
    gsi = next(one for one in made_report().traffic if one.target == GSI1)
    strip = index_strip(gsi)
    assert strip.hint is None
    assert strip.lag is not None
    assert strip.lag.writes == 320
    assert (strip.tolerance_seconds, strip.write_limit) == (5.0, 200)
    assert [(one.cause, one.tries) for one in strip.throttles] == [("provisioned", 1240.0)]
