from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.unpaced_bulk import UnpacedBulk
from analyzer.model.finding import Confidence, Direction, Finding, Severity, Victim
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import Declared, Hurt, Place
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
        "an unknown caller",
        "reads",
        "an index",
        "no units",
        "none",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert found(evidence) == []
