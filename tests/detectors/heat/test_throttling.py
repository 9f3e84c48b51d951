from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.throttling import Throttling
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Change, Confidence, Direction, Finding, Severity, Victim
from analyzer.model.sight import Sight
from analyzer.model.table import IndexDescription, Provisioning, TableDescription
from analyzer.model.traffic import Capacity, Hurt, KeyHeat, Place, Throttles
from analyzer.traffic.metric_throttles import metric_throttles
from tests.support.evidence import CASES, GSI2, WINDOW, exactly, key, limit, row, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic


def only(one: Throttles, *, index: bool = False, **fields: Any) -> Finding:
    (finding,) = Throttling().detect(traffic(GSI2 if index else CASES, throttles=(one,), **fields))
    assert isinstance(finding, Finding)
    return finding


@pytest.mark.parametrize(
    ("throttled", "severity"),
    [(0.5, Severity.LOW), (1.0, Severity.MEDIUM), (9.9, Severity.MEDIUM), (10.0, Severity.HIGH)],
)
def test_severity_follows_the_share_of_throttled_requests(throttled: float, severity: Severity) -> None:
    assert only(limit(throttled=throttled)).severity is severity


def test_any_failed_call_is_high() -> None:
    assert only(limit(throttled=0.5, failed=1.0)).severity is Severity.HIGH


def test_a_caller_with_five_percent_failed_calls_is_critical() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 10, 5, 100),)
    assert only(limit(failed=5.0, hurt=hurt)).severity is Severity.CRITICAL


def test_a_caller_just_below_five_percent_is_high() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 10, 4.9, 100),)
    assert only(limit(failed=4.9, hurt=hurt)).severity is Severity.HIGH


def test_no_throttle_no_finding() -> None:
    assert list(Throttling().detect(traffic())) == []


@pytest.mark.parametrize(
    ("cause", "index", "action"),
    [
        ("provisioned", False, "raise-capacity"),
        ("provisioned", True, "raise-index-capacity"),
        ("max-on-demand", False, "raise-on-demand-maximum"),
        ("account-limit", False, "raise-account-quota"),
    ],
)
def test_the_advice_raises_the_limit_that_refused(cause: str, *, index: bool, action: str) -> None:
    assert [advice.action for advice in only(limit(cause), index=index).advice] == ["back-off", action]


def test_the_code_of_the_account_s_quota_alone_does_not_say_that_it_was_the_table_s() -> None:
    by_code = only(limit("account-limit", reasons=("RequestLimitExceeded",)))
    assert by_code.confidence is Confidence.LIKELY
    assert "by the account's quota of its region" in by_code.summary
    assert by_code.advice[1].text == "Ask AWS for a higher throughput quota"
    by_reason = only(limit("account-limit", reasons=("TableReadAccountLimitExceeded",)))
    assert by_reason.confidence is Confidence.CERTAIN
    assert "by the account's limit for one table" in by_reason.summary


@pytest.mark.parametrize("cause", ["key-range", "unknown"])
def test_a_key_range_or_an_unknown_limit_gets_no_advice_to_raise_anything(cause: str) -> None:
    assert [advice.action for advice in only(limit(cause)).advice] == ["back-off"]


def test_the_provisioned_limit_of_writes_names_write_units() -> None:
    (_, raise_it) = only(limit("provisioned", Direction.WRITE)).advice
    assert "WriteCapacityUnits" in raise_it.text


def test_it_names_who_is_hurt_and_the_reason() -> None:
    one = only(limit())
    assert one.victims == (Victim("api", "load-case"),)
    assert one.evidence["reason"] == "TableReadKeyRangeThroughputExceeded"


def test_an_unknown_limit_is_told_as_possible() -> None:
    assert only(limit("unknown", reasons=(), hurt=(), calls=0.0)).confidence.value == "possible"


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in Throttling().detect(evidence) if isinstance(one, Finding)]


def measured(metric: str, *values: float, place: Place | None = None, **fields: Any) -> Traffic:
    metrics = (series(metric, values), *fields.pop("metrics", ()))
    place = place or Place()
    told = metric_throttles(metrics, place.capacity, WINDOW)
    fields = {"rows": (), "sights": frozenset({Sight.METRICS})} | fields
    return traffic(metrics=metrics, metric_throttles=told, place=place, **fields)


def test_a_handful_of_refusals_that_nobody_noticed_is_never_high() -> None:
    assert only(limit("provisioned", tries=9.0, throttled=9.0, calls=100.0)).severity is Severity.MEDIUM


def test_two_failed_calls_of_a_small_caller_page_nobody() -> None:
    hurt = (Hurt("cron", "nightly", "GetItem", 2, 2, 10),)
    assert only(limit(failed=2.0, hurt=hurt)).severity is Severity.HIGH


def test_events_of_an_unknown_share_are_medium_and_a_few_are_low() -> None:
    (many,) = found(measured("ReadProvisionedThroughputThrottleEvents", 10))
    (few,) = found(measured("ReadProvisionedThroughputThrottleEvents", 9))
    assert (many.severity, few.severity) == (Severity.MEDIUM, Severity.LOW)
    assert "some of read requests to cases were throttled (10 throttle events)" in many.summary


def test_metrics_name_the_operation_that_is_refused_most() -> None:
    more = (
        series("ThrottledRequests", (90,), Operation="Scan"),
        series("ThrottledRequests", (10,), Operation="Query"),
        series("SuccessfulRequestLatency", (900,), stat="SampleCount", Operation="Query"),
    )
    (one,) = found(measured("ReadProvisionedThroughputThrottleEvents", 100, metrics=more))
    assert one.summary.startswith(
        "10% of read requests to cases were throttled (100 throttle events, most of them Scan)"
    )


def test_its_id_does_not_depend_on_a_cause_that_becomes_known_later() -> None:
    assert only(limit("unknown")).subject == only(limit("provisioned")).subject == "read"


def test_two_limits_at_once_are_two_findings_and_the_greater_speaks_for_the_direction() -> None:
    both = traffic(throttles=(limit("provisioned", tries=20.0), limit("key-range", tries=90.0)))
    assert [(one.cause, one.subject) for one in found(both)] == [
        ("key-range", "read"),
        ("provisioned", "read:provisioned"),
    ]


def test_a_key_range_fault_of_an_on_demand_table_whose_keys_are_unseen_may_be_a_ramp() -> None:
    place = Place(capacity=Capacity("PAY_PER_REQUEST"))
    (one,) = found(measured("WriteKeyRangeThroughputThrottleEvents", 100, place=place))
    assert (one.cause, one.confidence) == ("key-range", Confidence.POSSIBLE)


def test_a_ramp_and_splitting_partitions_get_time_or_warmth() -> None:
    even = tuple(key(values=(str(number),), share=exactly(0.01)) for number in range(5))
    risen = (series("ConsumedReadCapacityUnits", (600, 600_000), start=-60_000),)
    ramp = Place(capacity=Capacity("PAY_PER_REQUEST"))
    (one,) = found(traffic(throttles=(limit(),), keys=even, metrics=risen, place=ramp))
    assert (one.cause, [advice.action for advice in one.advice]) == (
        "on-demand-ramp",
        ["back-off", "wait-for-split", "prewarm"],
    )
    raised = (Change(time=0, what="capacity", table="cases"),)
    (split,) = found(traffic(throttles=(limit(),), keys=even, changes=raised))
    assert (split.cause, split.confidence) == ("partitions-splitting", Confidence.LIKELY)


def test_the_maximum_that_was_set_is_told() -> None:
    most = Provisioning(most_read_units=4000.0, most_write_units=2000.0)
    index = IndexDescription(name="GSI2", kind="gsi", provisioning=Provisioning())
    place = Place(table=TableDescription(name="cases", provisioning=most, indexes=(index,)))
    for direction, told in ((Direction.READ, ": it is 4,000 read"), (Direction.WRITE, ": it is 2,000 write")):
        assert told in only(limit("max-on-demand", direction), place=place).advice[1].text
    assert only(limit("max-on-demand"), index=True, place=place).advice[1].text.endswith("maximum of cases/GSI2")


def test_the_command_of_a_maximum_names_its_place() -> None:
    most = Provisioning(most_read_units=4000.0, most_write_units=2000.0)
    index = IndexDescription(name="GSI2", kind="gsi", provisioning=most)
    place = Place(table=TableDescription(name="cases", provisioning=most, indexes=(index,)))
    command = only(limit("max-on-demand", Direction.WRITE), place=place).advice[1].command or ""
    assert "--on-demand-throughput MaxWriteRequestUnits=2500" in command
    command = only(limit("max-on-demand"), index=True, place=place).advice[1].command or ""
    assert "Update={IndexName=GSI2,OnDemandThroughput={MaxReadRequestUnits=5000}}" in command


def asked(tries: int, part: float, level: KeyLevel = KeyLevel.PARTITION, **fields: Any) -> KeyHeat:
    values = ("CASE#7",) if level is not KeyLevel.ITEM else ("CASE#7", "META")
    return key((), level=level, values=values, tries=tries, tries_share=part, **fields)


BLIND = (row(units_known=0.0),)


def test_where_no_request_tells_units_the_key_that_refused_tries_asked_for_is_named() -> None:
    one = only(limit("unknown", tries=31.0, reasons=()), keys=(asked(9, 0.29),), rows=BLIND)
    assert one.summary.endswith("; 9 of 31 refused tries asked for {key}")
    assert one.key == {"PK": "CASE#7"}
    assert one.key_template is not None
    assert (one.evidence["key_tries"], one.evidence["key_tries_share"]) == (9, 0.29)


def test_an_item_speaks_for_its_partition_key_where_it_has_as_many() -> None:
    keys = (asked(9, 0.3), asked(9, 0.3, KeyLevel.ITEM), asked(30, 1.0, KeyLevel.PREFIX))
    assert only(limit("unknown", tries=30.0), keys=keys, rows=BLIND).key == {"PK": "CASE#7", "SK": "META"}


@pytest.mark.parametrize(
    "keys",
    [
        (),
        (asked(4, 0.3),),
        (asked(9, 0.24),),
        (asked(9, 0.5, direction=Direction.WRITE),),
        (asked(9, 0.9, KeyLevel.PREFIX),),
    ],
)
def test_refusals_that_spread_or_are_few_name_no_key(keys: tuple[KeyHeat, ...]) -> None:
    assert only(limit("unknown"), keys=keys, rows=BLIND).key is None


def test_where_units_are_told_the_hot_key_is_named_by_its_heat_alone() -> None:
    assert only(limit("unknown"), keys=(asked(50, 0.5),)).key is None
