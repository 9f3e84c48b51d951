from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.autoscale_lag import AutoscaleLag
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.table import IndexDescription, Provisioning
from analyzer.model.traffic import Capacity, Place
from analyzer.model.window import Window
from analyzer.traffic.metric_throttles import metric_throttles
from tests.support.evidence import CASES, GSI2, limit, traffic
from tests.support.told import scaling, series, table

if TYPE_CHECKING:
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

REFUSED, NAMED, CONSUMED = "ReadThrottleEvents", "ReadProvisionedThroughputThrottleEvents", "ConsumedReadCapacityUnits"
HOUR_MS = 3_600_000


def place(**fields: Any) -> Place:
    return Place(capacity=Capacity("PROVISIONED", 100.0, 50.0), table=table("GSI2", **fields))


def scaled(
    refused: tuple[float, ...] = (0, 500, 300, 0, 0, 0),
    capacity: tuple[float, ...] = (100, 100, 100, 100, 300, 300),
    *,
    metric: str = NAMED,
    period_seconds: int = 60,
    target: Target = CASES,
    more: tuple[Any, ...] = (),
    **fields: Any,
) -> Traffic:
    """Minutes of refusals beside minutes of capacity."""
    metrics = (
        series(metric, refused, period_seconds=period_seconds, target=target),
        series("ProvisionedReadCapacityUnits", capacity, stat="Maximum", period_seconds=period_seconds, target=target),
        *more,
    )
    fields = {"place": place(), "window": Window(0, max(len(refused), 1) * period_seconds * 1000)} | fields
    told = metric_throttles(metrics, fields["place"].capacity, fields["window"])
    return traffic(target, metrics=metrics, metric_throttles=told, **fields)


def only(evidence: Traffic) -> Finding:
    (one,) = AutoscaleLag().detect(evidence)
    assert isinstance(one, Finding)
    return one


def silent(evidence: Traffic) -> bool:
    return list(AutoscaleLag().detect(evidence)) == []


def actions(one: Finding) -> list[str]:
    return [advice.action for advice in one.advice]


def test_capacity_that_rises_after_the_refusals_came_too_late() -> None:
    one = only(scaled())
    assert (one.cause, one.severity, one.confidence) == ("too-late", Severity.MEDIUM, Confidence.LIKELY)
    assert (one.direction, one.first_seen) == (Direction.READ, 60_000)
    assert (
        "800 read throttle events on cases met 100 provisioned units, while minutes later there were 300" in one.summary
    )
    assert actions(one) == ["back-off", "schedule-scaling", "switch-to-on-demand", "smooth-traffic"]


def test_what_autoscaling_was_told_makes_it_certain() -> None:
    assert only(scaled(scaling=(scaling(500),))).confidence is Confidence.CERTAIN


def test_at_its_maximum_no_waiting_helps() -> None:
    used = (series(CONSUMED, [6000.0] * 6),)
    one = only(scaled(scaling=(scaling(300),), more=used))
    assert (one.cause, one.severity) == ("at-maximum", Severity.HIGH)
    assert one.evidence["throttled_share_low"] == pytest.approx(0.03226)
    assert actions(one) == ["back-off", "raise-max-capacity", "switch-to-on-demand"]
    assert only(scaled((500, 0, 0, 0, 0, 0), (300,) * 6, scaling=(scaling(300),))).cause == "at-maximum"


@pytest.mark.parametrize("used", [(), (series(CONSUMED, [60_000.0] * 6),)], ids=["share unknown", "few of many"])
def test_at_its_maximum_few_refusals_are_medium(used: tuple[Any, ...]) -> None:
    assert only(scaled(scaling=(scaling(300),), more=used)).severity is Severity.MEDIUM


def test_capacity_that_was_lowered_just_before_is_told_as_such_also_when_it_rises_again() -> None:
    one = only(scaled((0, 0, 0, 0, 500, 0), (500, 500, 120, 120, 120, 500)))
    assert (one.cause, one.evidence["capacity_met"]) == ("scaled-in", 120)


def test_capacity_that_was_lowered_just_before_is_told_as_such() -> None:
    one = only(scaled((0, 0, 0, 0, 500, 0), (500, 500, 120, 120, 120, 120)))
    assert (one.cause, one.evidence["capacity_met"], one.evidence["capacity_reached"]) == ("scaled-in", 120, 500)


def test_a_handful_of_refusals_is_how_autoscaling_works() -> None:
    few = (0, 5, 4, 0, 0, 0)
    assert only(scaled(few)).severity is Severity.LOW
    assert only(scaled(few, throttles=(limit("provisioned"),))).severity is Severity.LOW
    assert only(scaled(few, throttles=(limit("provisioned", failed=3.0),))).severity is Severity.MEDIUM


def test_bursts_at_even_distances_have_a_period_and_get_a_schedule() -> None:
    refused, capacity = (0, 900, 0, 0) * 4, (100, 100, 400, 100) * 4
    one = only(scaled(refused, capacity, period_seconds=3600))
    assert silent(scaled(refused, (100,) * 16, period_seconds=3600))
    assert one.evidence["bursts"] == 4
    assert one.evidence["period_hours"] == 4
    assert "every 4 hours" in one.summary
    assert actions(one)[1] == "schedule-scaling"
    assert "dynamodb:table:ReadCapacityUnits" in (one.advice[1].command or "")


def test_uneven_distances_are_no_period() -> None:
    refused = [0.0] * 24
    for hour in (1, 4, 18):
        refused[hour] = 900
    capacity = [400.0 if refused[max(hour - 1, 0)] else 100.0 for hour in range(24)]
    one = only(scaled(tuple(refused), tuple(capacity), period_seconds=3600))
    assert (one.evidence["bursts"], one.evidence["period_hours"]) == (3, None)


def test_refusals_without_a_reason_count_unless_a_key_range_explains_them() -> None:
    assert only(scaled(metric=REFUSED)).cause == "too-late"
    ranged = (series("ReadKeyRangeThroughputThrottleEvents", (0, 500)),)
    assert silent(scaled(metric=REFUSED, more=ranged))


def test_an_index_is_scaled_apart() -> None:
    one = only(scaled(target=GSI2))
    assert (one.index, one.evidence["decreases_today"]) == ("GSI2", None)
    assert "table/cases/index/GSI2" in (one.advice[0].command or "")


def test_capacity_that_was_not_told_for_the_minute_is_taken_from_before_or_after() -> None:
    known = series("ProvisionedReadCapacityUnits", (100, 300), stat="Average", start=-3_600_000, period_seconds=1800)
    refused = series(NAMED, (0, 500))
    window = Window(-3_600_000, 120_000)
    one = traffic(metrics=(refused, known), place=place(), window=window)
    assert silent(one)
    later = series("ProvisionedReadCapacityUnits", (100, 300), stat="Average", start=120_000)
    assert only(traffic(metrics=(refused, later), place=place(), window=Window(0, 300_000))).cause == "too-late"


def test_bursts_from_nothing_are_told_without_a_ratio() -> None:
    assert "Bursts from nothing" in only(scaled(capacity=(0, 0, 0, 0, 300, 300))).advice[2].text


def test_capacity_that_cannot_be_lowered_today_is_told_as_low() -> None:
    one = only(traffic(place=place(decreases_today=27)))
    assert (one.severity, one.cause, actions(one)) == (
        Severity.LOW,
        "no-decrease-left",
        ["collect-longer", "schedule-scaling"],
    )
    index = IndexDescription(name="GSI2", kind="gsi", provisioning=Provisioning(decreases_today=27))
    described = Place(table=table(), capacity=Capacity("PROVISIONED"))
    held = type(described)(capacity=described.capacity, table=_with_index(index))
    assert only(traffic(GSI2, place=held)).index == "GSI2"


def _with_index(index: IndexDescription) -> Any:
    plain = table()
    return type(plain)(**{name: getattr(plain, name) for name in plain.__struct_fields__} | {"indexes": (index,)})


@pytest.mark.parametrize(
    "evidence",
    [
        scaled(capacity=(100,) * 6),
        scaled(capacity=(100, 100, 100, 100, 109, 109)),
        scaled(refused=(0,) * 6),
        scaled(capacity=()),
        scaled(place=Place(capacity=Capacity("PAY_PER_REQUEST"))),
        traffic(place=place(decreases_today=26)),
        traffic(GSI2, place=Place(table=table())),
        traffic(),
    ],
    ids=["no rise", "a small rise", "no refusal", "capacity unknown", "on demand", "one left", "no index", "none"],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert silent(evidence)
