from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.unpaced_bulk import UnpacedBulk
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity, Victim
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import Declared, Hurt, Place
from analyzer.model.window import Window
from analyzer.traffic.metric_throttles import metric_throttles
from tests.support.evidence import GSI2, WINDOW, limit, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Throttles, Traffic

WRITE = Direction.WRITE
BULK = Attribution(AttributionKind.DECLARED, "bulk")


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in UnpacedBulk().detect(evidence) if isinstance(one, Finding)]


def only(evidence: Traffic) -> Finding:
    (one,) = found(evidence)
    return one


def batches(
    caller: str | None = "loader-7", operation: str = "BatchWriteItem", units: float = 9000, **fields: Any
) -> PatternTraffic:
    of = shape(operation, "b", writes=True)
    return row(of, fields.pop("attribution", BULK), caller, write_units=units, **fields)


def puts(units: float = 1000) -> PatternTraffic:
    return row(shape("PutItem", "p"), caller="api", write_units=units)


def refused(*callers: str, tries: float = 100.0) -> Throttles:
    hurt = tuple(Hurt(caller, "save", "PutItem", 10, 0, 100) for caller in callers)
    return limit("provisioned", WRITE, tries=tries, hurt=hurt)


def test_a_caller_that_writes_most_in_batches_while_others_are_refused_is_high() -> None:
    one = only(traffic(rows=(batches(), puts()), throttles=(refused("api", "loader-7"),)))
    assert (one.severity, one.caller, one.pattern, one.cause) == (Severity.HIGH, "loader-7", "bulk", "unpaced")
    assert one.victims == (Victim("api", "save"),)
    assert one.evidence["share_of_write_units"] == 0.9
    assert [advice.action for advice in one.advice] == ["fix-caller", "pace-writes", "use-queue"]


def test_one_that_hurts_itself_alone_is_medium() -> None:
    assert only(traffic(rows=(batches(), puts()), throttles=(refused("loader-7"),))).severity is Severity.MEDIUM
    assert only(traffic(rows=(batches(),), throttles=(refused("loader-7"),))).severity is Severity.MEDIUM


def test_what_an_index_refuses_counts_too() -> None:
    index = traffic(GSI2, rows=(), throttles=(refused("api"),))
    assert only(traffic(rows=(batches(), puts()), indexes=(index,))).severity is Severity.HIGH


@pytest.mark.parametrize("caller", ["orders-backfill", "ReIndexer", "stream-replay", "csv_import"])
def test_single_puts_of_a_caller_with_a_telling_name_are_bulk(caller: str) -> None:
    assert only(traffic(rows=(batches(caller, "PutItem"), puts()), throttles=(refused(),))).caller == caller


def test_single_puts_that_are_declared_as_a_migration_are_bulk() -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", purpose="migration")})
    rows = (batches("mover", "UpdateItem"), puts())
    assert only(traffic(rows=rows, throttles=(refused(),), place=place)).caller == "mover"
    assert found(traffic(rows=rows, throttles=(refused(),), place=Place(patterns={"bulk": Declared(id="bulk")}))) == []


def test_a_pattern_over_its_declared_pace_is_told_without_any_refusal() -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    one = only(traffic(rows=(batches(units=9000),), place=place))
    assert (one.severity, one.cause, one.evidence["units_a_second"]) == (Severity.MEDIUM, "over-its-pace", 30)
    assert "30 units a second where it declared 20" in one.summary
    assert found(traffic(rows=(batches(units=6000),), place=place)) == []
    assert found(traffic(rows=(batches(units=9000, units_known=0.0),), place=place)) == []


def test_where_units_are_not_known_requests_stand_for_them() -> None:
    rows = (batches(units=0, units_known=0.0, requests=9000), puts())
    assert only(traffic(rows=rows, throttles=(refused(),), sampled=True)).confidence is Confidence.LIKELY


def test_of_two_callers_of_one_shape_over_their_pace_the_busier_is_named() -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=1)})
    rows = (batches("one", units=3000), batches("two", units=6000), batches("three", units=1000))
    assert only(traffic(rows=rows, place=place)).caller == "two"


def test_the_shapes_of_a_pattern_are_paced_together_and_those_of_another_apart() -> None:
    """4,000 units of puts and 3,000 of deletes in 300 s: 23 a second of a pattern that declared 20."""
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    puts_of_it, deletes = batches(operation="PutItem", units=4000), batches(operation="DeleteItem", units=3000)
    one = only(traffic(rows=(puts_of_it, deletes), place=place))
    assert (one.evidence["units_a_second"], one.evidence["declared_units_a_second"]) == (23.33, 20)
    other = Attribution(AttributionKind.DECLARED, "save")
    assert found(traffic(rows=(puts_of_it, batches(units=3000, attribution=other)), place=place)) == []


def test_callers_that_pass_the_pace_of_a_pattern_only_together_are_told_with_the_share_of_each() -> None:
    """3,000 and 4,000 units in 300 s: neither caller is over the 20 a second that the pattern declared."""
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    rows = (batches("first", units=3000), batches("second", units=4000))
    one = only(traffic(rows=rows, place=place))
    assert (one.severity, one.caller, one.cause) == (Severity.MEDIUM, "second", "over-its-pace")
    assert one.summary == (
        "bulk, written by 2 callers (second 57%, first 43%), takes 100% of the write units of cases, 23.3 units a"
        " second where it declared 20"
    )
    assert (one.evidence["units_a_second"], one.evidence["callers"]) == (23.33, "second 57%, first 43%")
    assert "Ask the owners of the 2 callers whether they may stop" in one.advice[0].text
    assert found(traffic(rows=(batches("first", units=3000), batches("second", units=3000)), place=place)) == []


def test_of_many_callers_of_a_pattern_three_are_named_and_none_of_them_is_a_victim() -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    rows = (*(batches(f"worker-{n}", units=1000 * n) for n in (1, 2, 3, 4, 5)), puts())
    one = only(traffic(rows=rows, throttles=(refused("worker-1", "api"),), place=place))
    assert one.evidence["callers"] == "worker-5 33%, worker-4 27%, worker-3 20%, 2 others 20%"
    assert (one.severity, one.victims) == (Severity.HIGH, (Victim("api", "save"),))


def test_each_pattern_that_is_over_its_pace_is_told() -> None:
    place = Place(
        patterns={
            "bulk": Declared(id="bulk", max_units_per_second=20),
            "save": Declared(id="save", max_units_per_second=1),
        }
    )
    save = row(shape("PutItem", "p"), Attribution(AttributionKind.DECLARED, "save"), "loader-7", write_units=900)
    rows = (batches(units=9000), save)
    assert [one.pattern for one in found(traffic(rows=rows, place=place))] == ["bulk", "save"]


def test_the_pattern_that_is_over_its_pace_is_named_and_not_what_its_caller_writes_beside() -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    beside = row(
        shape("UpdateItem", "u"), Attribution(AttributionKind.DECLARED, "save"), "loader-7", write_units=27_000
    )
    one = only(traffic(rows=(beside, batches(units=9000)), place=place))
    assert (one.pattern, one.fingerprint, one.evidence["share_of_write_units"]) == ("bulk", "b", 1)


@pytest.mark.parametrize(("units", "fires"), [(6000.1, True), (6000, False)])
def test_a_pace_that_is_just_kept_is_kept(units: float, *, fires: bool) -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    assert bool(found(traffic(rows=(batches(units=units),), place=place))) is fires


def test_less_than_a_second_is_judged_as_one() -> None:
    place = Place(patterns={"bulk": Declared(id="bulk", max_units_per_second=20)})
    for length_ms, rate in ((500, 60), (1500, 40)):
        one = only(traffic(rows=(batches(units=60),), place=place, window=Window(0, length_ms)))
        assert one.evidence["units_a_second"] == rate


@pytest.mark.parametrize(("units", "tries", "fires"), [(1000, 10, True), (999, 10, False), (1000, 9, False)])
def test_who_writes_half_of_it_while_ten_tries_are_refused(units: float, tries: float, *, fires: bool) -> None:
    assert bool(found(traffic(rows=(batches(units=units), puts()), throttles=(refused(tries=tries),)))) is fires


def test_where_nearly_all_is_refused_one_unit_is_most_of_it() -> None:
    assert only(traffic(rows=(batches(units=1),), throttles=(refused(),))).evidence["share_of_write_units"] == 1


def test_of_two_callers_that_write_the_same_the_first_is_named() -> None:
    rows = (batches("one", units=3000), batches("two", units=3000))
    assert only(traffic(rows=rows, throttles=(refused(),))).caller == "one"


def test_reads_and_entries_of_an_index_are_no_writes_of_a_caller() -> None:
    beside = (row(caller="loader-7"), batches(units=90_000, secondary=True, caller="api"))
    one = only(traffic(rows=(batches(), puts(), *beside), throttles=(refused(),)))
    assert (one.caller, one.evidence["share_of_write_units"]) == ("loader-7", 0.9)


def test_victims_are_told_by_name() -> None:
    hurt = [("web", "save"), (None, "save"), ("api", "save"), ("api", None)]
    both = limit("provisioned", WRITE, hurt=tuple(Hurt(caller, what, "PutItem", 9, 0, 90) for caller, what in hurt))
    one = only(traffic(rows=(batches(), puts()), throttles=(both,)))
    assert one.victims == (Victim(None, "save"), Victim("api", None), Victim("api", "save"), Victim("web", "save"))


def test_events_that_metrics_alone_counted_are_refusals() -> None:
    metrics = (series("WriteProvisionedThroughputThrottleEvents", (10,)),)
    told = metric_throttles(metrics, Place().capacity, WINDOW)
    assert only(traffic(rows=(batches(), puts()), metric_throttles=told)).evidence["throttled_tries"] == 10


def test_what_changes_the_writer_can_be_taken_back() -> None:
    one = only(traffic(rows=(batches(), puts()), throttles=(refused(),)))
    assert [(advice.risk, advice.reversible) for advice in one.advice] == [
        (Risk.NONE, None),
        (Risk.LOW, True),
        (Risk.LOW, True),
    ]


def measured(*batch: float, singles: float = 100.0, events: float = 50.0) -> Traffic:
    metrics = (
        series("WriteThrottleEvents", (events,)),
        series("SuccessfulRequestLatency", batch, stat="SampleCount", Operation="BatchWriteItem"),
        series("SuccessfulRequestLatency", (singles,), stat="SampleCount", Operation="PutItem"),
    )
    told = metric_throttles(metrics, Place().capacity, WINDOW)
    return traffic(sights=frozenset({Sight.METRICS}), rows=(), metrics=metrics, metric_throttles=told)


def test_metrics_alone_tell_it_by_the_operation() -> None:
    one = only(measured(300.0))
    assert (one.confidence, one.caller, one.evidence["batch_share"]) == (Confidence.LIKELY, None, 0.75)


def test_half_of_the_writes_in_batches_and_ten_events_are_enough() -> None:
    assert only(measured(100.0, events=10.0)).evidence["throttle_events"] == 10


@pytest.mark.parametrize(
    "evidence",
    [
        measured(99.0),
        measured(300.0, events=9.0),
        measured(singles=0.0),
        traffic(rows=(batches(units=900), puts()), throttles=(refused(),)),
        traffic(rows=(batches(), puts()), throttles=(refused(tries=9.0),)),
        traffic(rows=(batches("ingest", "PutItem"), puts()), throttles=(refused(),)),
        traffic(rows=(batches(None), puts()), throttles=(refused(),)),
        traffic(rows=(row(),), throttles=(refused(),)),
        traffic(GSI2, rows=(batches(),), throttles=(refused(),)),
        traffic(rows=(batches(units=0),), throttles=(refused(),)),
        traffic(),
    ],
    ids=[
        "few batches",
        "few events",
        "no writes",
        "a small part",
        "few refusals",
        "a busy service",
        "a caller not recorded",
        "reads",
        "an index",
        "no units",
        "none",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert found(evidence) == []
