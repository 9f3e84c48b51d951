"""Faults of heat, each as a recording that is replayed; variants have other numbers, or a field or source less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.finding import Confidence, Direction, Severity
from tests.docs.examples import heat as examples
from tests.support.recordings import Recorded, alarms, only_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report

READ, WRITE = Direction.READ, Direction.WRITE
KEY_RANGE = "TableReadKeyRangeThroughputExceeded"
FULL = 180_000
"""ConsumedThroughputUnits of a minute at a partition's ceiling."""


def insights(
    made: Recorded, rule: str, *keys: tuple[Sequence[str], Sequence[float]], index: str | None = None, period: int = 60
) -> Recorded:
    """Add a report of Contributor Insights: of each key its values, one a period."""
    contributors = [
        {
            "Keys": list(names),
            "ApproximateAggregateValue": sum(values),
            "Datapoints": [
                {"Timestamp": made.time(number * period), "ApproximateValue": value}
                for number, value in enumerate(values)
            ],
        }
        for names, values in keys
    ]
    total = sum(sum(values) for _, values in keys)
    labels = ["PartitionKey", "SortKey"] if rule.startswith("SK") else ["PartitionKey"]
    report = {
        "KeyLabels": labels,
        "AggregationStatistic": "Sum",
        "AggregateValue": total,
        "ApproximateUniqueCount": len(contributors),
        "Contributors": contributors,
        "MetricDatapoints": [],
    }
    mode = "ACCESSED_AND_THROTTLED_KEYS"
    return made.line("insights", table=made.name, index=index, rule=rule, mode=mode, period=period, report=report)


def found(report: Report, detector: str) -> list[Finding]:
    return [one for one in report.findings if one.detector == detector]


def of_concern(report: Report, detector: str) -> list[Finding]:
    return [one for one in found(report, detector) if one.severity is not Severity.LOW]


def advised(report: Report) -> set[str]:
    return {advice.action for one in report.findings for advice in one.advice}


# one item that everybody reads, in a table with much room


def popular(*, reason: bool = True) -> Recorded:
    """A table of 20,000 read units a second of which a quarter is used, and one item at its ceiling."""
    made = Recorded(minutes=3, table="articles").table("slug", read=20_000, write=100)
    made.metric("ConsumedReadCapacityUnits", [5_000 * 60.0] * 3)
    events = "ReadKeyRangeThroughputThrottleEvents" if reason else "ReadThrottleEvents"
    made.metric(events, [4_000] * 3)
    return insights(made, "PKC", (["LAUNCH"], [0.98 * FULL] * 3), (["ABOUT"], [0.02 * FULL] * 3))


def test_an_item_at_its_ceiling_is_named_and_capacity_is_not_advised(tmp_path: Path) -> None:
    report = popular().replayed(tmp_path)
    hot, throttling = only_of(report, "hot-key"), only_of(report, "throttling")
    assert (hot.severity, hot.key, hot.cause, hot.direction) == (
        Severity.HIGH,
        {"slug": "LAUNCH"},
        "single-item",
        READ,
    )
    assert (throttling.cause, throttling.caused_by) == ("key-range", hot.id)
    assert not {action for action in advised(report) if action.startswith("raise")}


@pytest.mark.parametrize("quiet", [(0,), (2,), (0, 2)])
def test_an_item_that_was_refused_in_some_of_the_minutes_only_is_named_all_the_same(
    quiet: tuple[int, ...], tmp_path: Path
) -> None:
    made = Recorded(minutes=3, table="articles").table("slug", read=20_000, write=100)
    made.metric("ConsumedReadCapacityUnits", [5_000 * 60.0] * 3)
    made.metric("ReadKeyRangeThroughputThrottleEvents", [0 if at in quiet else 4_000 for at in range(3)])
    values = [(0.5 if at in quiet else 0.98) * FULL for at in range(3)]
    report = insights(made, "PKC", (["LAUNCH"], values), (["ABOUT"], [0.02 * FULL] * 3)).replayed(tmp_path)
    hot = only_of(report, "hot-key")
    assert (hot.severity, hot.key, hot.confidence) == (Severity.HIGH, {"slug": "LAUNCH"}, Confidence.LIKELY)
    assert only_of(report, "throttling").caused_by == hot.id
    assert not {action for action in advised(report) if action.startswith("raise")}


def test_where_no_metric_names_the_reason_the_key_still_stands_out(tmp_path: Path) -> None:
    report = popular(reason=False).replayed(tmp_path)
    assert only_of(report, "hot-key").key == {"slug": "LAUNCH"}
    assert {one.cause for one in found(report, "throttling")} == {"unknown"}


def test_the_request_log_alone_tells_it_with_caller_and_reason(tmp_path: Path) -> None:
    report = examples.hot_key(sample_rate=None).replayed(tmp_path)
    hot = only_of(report, "hot-key")
    assert (hot.severity, hot.caller, hot.confidence) == (Severity.CRITICAL, "storefront", Confidence.CERTAIN)
    assert hot.evidence["reason"] == KEY_RANGE
    assert "read-eventually" in [advice.action for advice in hot.advice]


# a few statistics items that every write of a day goes to, on demand


def statistics(attempts: int | None = 10, **error: Any) -> Recorded:
    made = Recorded(minutes=1, table="usage").table("tenant", "name")
    code = {"code": "ThrottlingException", "message": "Throughput exceeds the current capacity of your table"}
    for number in range(300):
        item = {"tenant": "acme", "name": "TOTAL#logins"}
        made.request("PutItem", number / 5, key=item, attempts=attempts, error=code | error)
        if number % 5 == 0:
            made.request("PutItem", number / 5, key={"tenant": f"t{number}", "name": "PROFILE"}, units=1, attempts=1)
    return made


def test_an_item_whose_writes_are_all_refused_is_hot_and_its_retries_are_a_storm(tmp_path: Path) -> None:
    report = statistics().replayed(tmp_path)
    assert {"hot-key", "retry-storm"} <= alarms(report)
    hot = only_of(report, "hot-key")
    assert (hot.key, hot.direction) == ({"tenant": "acme", "name": "TOTAL#logins"}, WRITE)
    assert only_of(report, "retry-storm").evidence["retry_mode"] == "legacy"
    assert "provisioned" not in {one.cause for one in found(report, "throttling")}


def test_a_reason_makes_the_cause_known(tmp_path: Path) -> None:
    reasons = [{"reason": "TableWriteKeyRangeThroughputExceeded"}]
    report = statistics(code="ProvisionedThroughputExceededException", reasons=reasons).replayed(tmp_path)
    assert only_of(report, "throttling").cause == "key-range"
    assert only_of(report, "throttling").caused_by == only_of(report, "hot-key").id


def test_a_log_without_units_whose_refusals_name_a_key_range_and_a_key_names_it(tmp_path: Path) -> None:
    made = Recorded(minutes=1, table="usage").table("tenant", "name")
    for number in range(300):
        refusal = {"at_ms": 1, "code": "ThrottlingException", "reason": "TableWriteKeyRangeThroughputExceeded"}
        of_one: dict[str, Any] = {"key": {"tenant": "acme", "name": "TOTAL#logins"}, "tries": [refusal], "attempts": 2}
        made.request("UpdateItem", number / 5, caller="billing", **of_one)
        made.request("PutItem", number / 5, key={"tenant": f"t{number}", "name": "PROFILE"}, caller="signup")
    hot = only_of(made.replayed(tmp_path), "hot-key")
    assert (hot.key, hot.direction) == ({"tenant": "acme", "name": "TOTAL#logins"}, WRITE)
    assert (hot.confidence, hot.caller, hot.evidence["throttled_tries"]) == (Confidence.LIKELY, "billing", 300)


def test_where_tries_are_not_told_there_is_no_storm_but_the_key_is_hot(tmp_path: Path) -> None:
    report = statistics(attempts=None).replayed(tmp_path)
    assert "hot-key" in alarms(report)
    assert all(one.evidence["repeated_calls"] for one in found(report, "retry-storm"))


# an index whose partition key has one value


def single_topic(*, first: float = 0.97, refused: int = 900) -> Recorded:
    """Three minutes at the ceiling of an index key; `first` and `refused` are the first one's heat and events."""
    values = [heat * FULL for heat in (first, 0.97, 0.97)]
    made = Recorded(minutes=3, table="outgoing").table("id", indexes={"pending": ("channel", "createdAt")})
    made.metric("WriteKeyRangeThroughputThrottleEvents", [refused, 900, 900], index="pending")
    made.metric("ConsumedWriteCapacityUnits", [59_000] * 3, index="pending")
    insights(made, "PKC", *[([f"M#{number}"], [1_000.0] * 3) for number in range(8)])
    return insights(made, "PKC", (["mail"], values), index="pending")


@pytest.mark.parametrize("first", [{}, {"first": 0.5, "refused": 0}], ids=["all along", "after a quiet minute"])
def test_the_index_key_is_hot_and_its_table_is_not(first: dict[str, Any], tmp_path: Path) -> None:
    report = single_topic(**first).replayed(tmp_path)
    (hot,) = of_concern(report, "hot-key")
    assert (hot.index, hot.key, hot.cause, hot.direction) == ("pending", {"channel": "mail"}, "constant", WRITE)
    assert (hot.severity, only_of(report, "gsi-back-pressure").caused_by) == (Severity.HIGH, hot.id)


def test_without_insights_of_the_index_no_key_is_guessed(tmp_path: Path) -> None:
    made = Recorded(minutes=3, table="outgoing").table("id", indexes={"pending": ("channel", "createdAt")})
    made.metric("WriteKeyRangeThroughputThrottleEvents", [900] * 3, index="pending")
    report = insights(made, "PKC", *[([f"M#{number}"], [1_000.0] * 3) for number in range(8)]).replayed(tmp_path)
    assert found(report, "hot-key") == []
    assert only_of(report, "gsi-back-pressure").index == "pending"


# few values of an index key, far from any limit


@pytest.mark.parametrize(("units", "severity"), [(8.0, Severity.MEDIUM), (0.5, Severity.LOW)])
def test_few_values_are_told_by_how_near_the_first_of_them_is_to_its_ceiling(
    units: float, severity: Severity, tmp_path: Path
) -> None:
    report = examples.low_cardinality_key(units=units).replayed(tmp_path)
    one = only_of(report, "low-cardinality-key")
    assert (one.severity, one.index, one.evidence["distinct_values"]) == (severity, "by-state", 4)
    assert not alarms(report)


def test_too_few_requests_say_nothing_of_values(tmp_path: Path) -> None:
    assert found(examples.low_cardinality_key(rate=1.0).replayed(tmp_path), "low-cardinality-key") == []


# a bar that has to be read: units of Contributor Insights are neither requests nor units a second


@pytest.mark.parametrize(("period", "values"), [(60, [174_000.0] * 5), (300, [870_000.0])])
def test_the_unit_of_the_most_accessed_keys_is_read_right(period: int, values: list[float], tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="mixed").table("id")
    small = [value / 29 for value in values]
    report = insights(made, "PKC", (["busy"], values), (["quiet"], small), period=period).replayed(tmp_path)
    hot = only_of(report, "hot-key")
    assert (hot.key, hot.evidence["heat_high"]) == ({"id": "busy"}, 0.967)


# a limiter that keeps several counters of one entity under one key


def limiter(counters: int = 2, update: str = "ADD used :n", **fields: Any) -> Recorded:
    made = Recorded(minutes=1, table="quotas").table("entity", "window")
    names = [f"W#{number}" for number in range(counters)]
    insights(made, "PKC", (["E#77"], [0.99 * FULL]))
    insights(made, "SKC", *[(["E#77", name], [0.99 * FULL / counters]) for name in names])
    insights(made, "PKT", (["E#77"], [800.0]))
    for number in range(590):
        key = {"entity": "E#77", "window": names[number % counters]}
        sampled = {"sample_rate": 0.01, "strata": [{"by": "request", "rate": 0.01}]}
        made.request("UpdateItem", number / 10, key=key, units=1, update=update, **sampled, **fields)
    return made


def test_counters_of_one_entity_are_hot_together(tmp_path: Path) -> None:
    report = limiter().replayed(tmp_path)
    (hot,) = of_concern(report, "hot-key")
    assert (hot.key, hot.cause, hot.direction) == ({"entity": "E#77"}, "counter", WRITE)
    assert [advice.action for advice in hot.advice][:3] == ["fix-caller", "aggregate-writes", "shard-key"]
    assert "provisioned" not in {one.cause for one in found(report, "throttling")}


def test_many_items_of_one_entity_may_split(tmp_path: Path) -> None:
    (hot,) = of_concern(limiter(counters=20, update="SET used = :n").replayed(tmp_path), "hot-key")
    assert hot.cause in {"constant", "tenant"}
    assert hot.self_heals is not None
    assert hot.self_heals.answer == "unknown"


# an append-only log under one key, far from any limit


@pytest.mark.parametrize("sort", ["2026-03-02T09:{0:02}", "{0}"])
def test_skew_without_heat_is_low_with_the_multiple_at_which_it_breaks(sort: str, tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="backoffice").table()
    for number in range(15):
        key = {"PK": "AUDIT", "SK": sort.format(number)}
        made.request("PutItem", number * 20, key=key, units=1, caller="admin")
    report = made.replayed(tmp_path)
    one = only_of(report, "hot-key")
    assert (one.severity, one.key and one.key["PK"]) == (Severity.LOW, "AUDIT")
    assert not alarms(report)
    assert not found(report, "throttling")


# a log that is written at its ceiling under one key: does it heal alone?


def appended(
    *, is_rolling: bool, seconds: int = 90, local: dict[str, Any] | None = None, clock: bool = False
) -> Recorded:
    """A key takes 960 write units a second: two batches of large items a second, told as one write each."""
    made = Recorded(minutes=2, table="journal").table("stream", "seq", local=local or {})
    for number in range(seconds * 2):
        second = number // 2
        rank = number if is_rolling else number * 7919 % 100_003
        stream = f"S#2026-03-02T09:{second // 60:02}" if clock else "S#1"
        key = {"stream": stream, "seq": f"{rank:06}"}
        made.request("PutItem", number / 2, key=key, units=480, caller="recorder")
        made.request("PutItem", number / 2, key={"stream": f"S#{number + 2}", "seq": "0"}, units=1, caller="recorder")
    return made


def test_a_sort_key_that_only_moves_on_does_not_heal(tmp_path: Path) -> None:
    hot = only_of(appended(is_rolling=True).replayed(tmp_path), "hot-key")
    assert (hot.cause, hot.self_heals and hot.self_heals.answer) == ("sequential", "no")
    assert hot.self_heals is not None
    assert "Kendall's tau 1.00" in hot.self_heals.reason
    assert hot.evidence["sort_key_tau"] == 1


def test_sort_keys_without_order_may(tmp_path: Path) -> None:
    hot = only_of(appended(is_rolling=False).replayed(tmp_path), "hot-key")
    assert (hot.cause, hot.self_heals and hot.self_heals.answer) == ("tenant", "unknown")


def test_beside_a_local_index_they_do_not(tmp_path: Path) -> None:
    made = appended(is_rolling=False, local={"by-kind": ("stream", "kind")})
    hot = only_of(made.replayed(tmp_path), "hot-key")
    assert hot.self_heals is not None
    assert "local secondary index" in hot.self_heals.reason


def test_a_key_that_rotates_every_minute_is_one_fault(tmp_path: Path) -> None:
    hot = only_of(appended(is_rolling=True, seconds=120, clock=True).replayed(tmp_path), "hot-key")
    assert (hot.cause, hot.self_heals and hot.self_heals.answer) == ("time-bucket", "no")
    assert hot.first_seen is not None
    assert hot.last_seen is not None
    assert "change-key" in [advice.action for advice in hot.advice]


# a capacity tool that kept averages: half a unit a request, whatever the load


@pytest.mark.parametrize("side", ["Read", "Write"])
@pytest.mark.parametrize("counted", [True, False], ids=["with counts", "alone"])
def test_an_average_of_units_is_no_rate_and_is_told_as_that(side: str, *, counted: bool, tmp_path: Path) -> None:
    made = Recorded(minutes=4, table="catalogue").table("sku", read=400, write=400)
    made.metric(f"Consumed{side}CapacityUnits", [0.5] * 4, stat="Average")
    if counted:
        made.metric(f"Consumed{side}CapacityUnits", [20_000, 21_000, 19_500, 20_400], stat="SampleCount")
    report = made.replayed(tmp_path)
    assert any(f"Consumed{side}CapacityUnits" in gap.detail for gap in report.gaps)
    assert report.findings == ()


# an append-only log with room to grow, and units of five minutes that are no units of one


@pytest.mark.parametrize("rate", [1, 4])
def test_an_append_only_log_stays_low_while_it_has_room(rate: int, tmp_path: Path) -> None:
    made = Recorded(minutes=5, table="backoffice").table()
    for number in range(60 * rate):
        made.request("PutItem", number * 5 / rate, key={"PK": "JOURNAL", "SK": f"{number:06}"}, units=2, caller="admin")
    report = made.replayed(tmp_path)
    assert {one.severity for one in found(report, "hot-key")} <= {Severity.LOW}
    assert not alarms(report)


@pytest.mark.parametrize(("heat", "is_hot"), [(0.97, True), (0.1, False)])
def test_units_of_five_minutes_are_divided_by_five_minutes(heat: float, *, is_hot: bool, tmp_path: Path) -> None:
    made = Recorded(minutes=10, table="mixed").table("id")
    values = [heat * 5 * FULL] * 2
    report = insights(made, "PKC", (["busy"], values), (["quiet"], [9_000.0] * 2), period=300).replayed(tmp_path)
    assert bool(of_concern(report, "hot-key")) is is_hot
