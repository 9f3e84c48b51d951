from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.indexes.unused_index import UnusedIndex
from analyzer.detectors.money import prices_at
from analyzer.knowledge.prices import write_cost
from analyzer.model.finding import Change, Confidence, Finding, Risk, Severity
from analyzer.model.sight import Sight, Skipped, SkipReason
from analyzer.model.table import IndexDescription, Replica, TableDescription
from analyzer.model.traffic import Capacity, Declared, Place, Traffic
from analyzer.model.window import Window
from tests.support.evidence import CASES, GSI2, UNDECLARED, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.batch import MetricSeries

DAY = 86_400_000
FORTNIGHT = Window(0, 14 * DAY)
TOLD = frozenset({Sight.METRICS, Sight.TABLE})


def outcome(evidence: Traffic, **thresholds: Any) -> Finding | Skipped | None:
    return next(iter(UnusedIndex(**thresholds).detect(evidence)), None)


def daily(metric: str, *values: float, **fields: Any) -> MetricSeries:
    return series(metric, values, target=GSI2, period_seconds=86_400, **fields)


def described(size: int | None = None, units: float | None = None, **fields: Any) -> Place:
    index = IndexDescription(name="GSI2", kind=fields.pop("kind", "gsi"), status="ACTIVE", size_bytes=size)
    mode = "PAY_PER_REQUEST" if units is None else "PROVISIONED"
    table = TableDescription(name="cases", billing_mode=mode, indexes=(index,), **fields.pop("table", {}))
    return Place(table=table, capacity=Capacity(mode, units, units), **fields)


def unread(*, written: float = 0.0, days: int = 14, place: Place | None = None, **fields: Any) -> Traffic:
    metrics = (
        daily("ConsumedReadCapacityUnits", *[0.0] * days),
        daily("ConsumedWriteCapacityUnits", *[written] * days),
    )
    given = {"window": FORTNIGHT, "rows": (), "metrics": metrics, "place": place or described()} | fields
    return traffic(GSI2, TOLD, **given)


def test_an_index_that_nobody_read_for_two_weeks_costs_its_writes() -> None:
    one = outcome(unread(written=864_000.0))
    assert isinstance(one, Finding)
    assert (one.severity, one.confidence, one.cost_per_month_usd) == (Severity.MEDIUM, Confidence.CERTAIN, 16.43)
    assert (one.evidence["covered_days"], one.evidence["writes_usd"]) == (14.0, 16.43)
    assert [advice.action for advice in one.advice] == ["collect-longer", "delete-index"]


def test_provisioned_capacity_and_storage_cost_whether_it_is_written_or_not() -> None:
    one = outcome(unread(place=described(size=4 * 2**30, units=10.0)))
    assert isinstance(one, Finding)
    assert (one.evidence["capacity_usd"], one.evidence["storage_usd"], one.cost_per_month_usd) == (5.69, 1.0, 6.69)
    assert one.severity is Severity.MEDIUM


def test_under_five_dollars_a_month_it_is_low() -> None:
    one = outcome(unread(written=8_640.0))
    assert isinstance(one, Finding)
    assert one.severity is Severity.LOW


@pytest.mark.parametrize(("less", "severity"), [(0.0, Severity.MEDIUM), (0.01, Severity.LOW)])
def test_what_costs_just_so_much_is_medium(less: float, severity: Severity) -> None:
    evidence = unread(written=864_000.0)
    dollars = write_cost(10.0, "PAY_PER_REQUEST", prices_at(evidence)).dollars
    one = outcome(evidence, low_dollars=dollars + less)
    assert isinstance(one, Finding)
    assert one.severity is severity


@pytest.mark.parametrize("capacity", [Capacity("PROVISIONED"), Capacity("PROVISIONED", None, 5.0)])
def test_what_is_not_known_of_its_costs_is_not_invented(capacity: Capacity) -> None:
    one = outcome(unread(place=Place(table=described().table, capacity=capacity)))
    assert isinstance(one, Finding)
    assert (one.severity, one.cost_per_month_usd) == (Severity.MEDIUM, None)


def test_one_read_in_two_weeks_is_a_reader() -> None:
    metrics = (daily("ConsumedReadCapacityUnits", *[0.0] * 13, 0.5),)
    assert outcome(unread(metrics=metrics)) is None


def test_a_reader_in_the_request_log_is_a_reader_whatever_metrics_say() -> None:
    assert outcome(unread(rows=(row(shape("Query"), requests=1),))) is None


def test_less_than_two_weeks_is_skipped_with_what_is_covered() -> None:
    one = outcome(unread(days=13))
    assert isinstance(one, Skipped)
    assert (one.reason, one.needs) == (SkipReason.NOT_COVERED, ("SPAN(14d): 13 days are covered",))


def test_a_series_that_is_not_complete_covers_nothing() -> None:
    metrics = (daily("ConsumedReadCapacityUnits", *[0.0] * 14, is_complete=False),)
    assert isinstance(outcome(unread(metrics=metrics)), Skipped)


def test_an_index_without_a_point_of_reads_is_covered_by_what_was_asked_for_beside_it() -> None:
    nothing = daily("ConsumedReadCapacityUnits")
    base = traffic(CASES, TOLD, metrics=(series("ConsumedReadCapacityUnits", [9.0] * 14, period_seconds=86_400),))
    assert isinstance(outcome(unread(metrics=(nothing,), base=base)), Finding)
    minutes = traffic(CASES, TOLD, metrics=(series("ConsumedReadCapacityUnits", [9.0] * 20_160),))
    assert isinstance(outcome(unread(metrics=(nothing,), base=minutes)), Skipped)


@pytest.mark.parametrize(
    "fields",
    [
        {"place": described(table={"created": 2 * DAY})},
        {"changes": (Change(time=2 * DAY, what="index-created", table="cases", index="GSI2"),)},
    ],
    ids=["a new table", "a new index"],
)
def test_an_index_is_not_older_than_it_is(fields: dict[str, Any]) -> None:
    assert isinstance(outcome(unread(**fields)), Skipped)


def test_replicas_elsewhere_may_read_it() -> None:
    one = outcome(unread(place=described(table={"replicas": (Replica("eu-west-1"), Replica("us-east-1"))})))
    assert isinstance(one, Skipped)
    assert one.needs == ("reads of its replica in eu-west-1",)


def test_a_request_log_of_two_weeks_is_likely_right_and_knows_what_writes_cost() -> None:
    written = row(shape("PutItem"), requests=0, write_units=1_209_600.0, secondary=True)
    sights = frozenset({Sight.REQUESTS, Sight.TABLE})
    one = outcome(traffic(GSI2, sights, window=FORTNIGHT, rows=(written,), place=described()))
    assert isinstance(one, Finding)
    assert (one.confidence, one.evidence["write_units_a_second"]) == (Confidence.LIKELY, 1.0)


def test_an_index_of_which_nothing_was_seen_is_judged_with_its_table() -> None:
    sights = frozenset({Sight.REQUESTS, Sight.TABLE})
    one = outcome(traffic(CASES, sights, window=FORTNIGHT, place=described()))
    assert isinstance(one, Finding)
    assert (one.index, one.cost_per_month_usd) == ("GSI2", None)
    seen = traffic(GSI2, sights)
    assert outcome(traffic(CASES, sights, window=FORTNIGHT, place=described(), indexes=(seen,))) is None


@pytest.mark.parametrize(
    "place",
    [described(kind="lsi"), Place(), Place(table=TableDescription(name="cases"))],
    ids=["a local index", "no description", "not described"],
)
def test_an_index_that_is_no_gsi_of_the_table_is_not_judged(place: Place) -> None:
    assert outcome(unread(place=place)) is None


def test_an_index_that_is_being_built_is_not_judged() -> None:
    index = IndexDescription(name="GSI2", kind="gsi", status="CREATING")
    assert outcome(unread(place=Place(table=TableDescription(name="cases", indexes=(index,))))) is None


def test_an_index_that_scans_or_patterns_want_is_to_be_used_not_deleted() -> None:
    scan = row(shape("Scan", filter_attributes=("status",)), UNDECLARED)
    place = described(partition_key=("status",), patterns={"by-status": Declared(id="by-status", index="GSI2")})
    one = outcome(unread(place=place, base=traffic(CASES, rows=(scan,))))
    assert isinstance(one, Finding)
    assert [advice.action for advice in one.advice] == ["collect-longer", "query-instead-of-scan", "remove-declaration"]
    assert one.evidence["declared_by"] == "by-status"
    assert "by-status declares reads of GSI2: ask its owner whether they will come" in one.advice[2].text


def test_several_patterns_that_want_an_index_are_named_with_their_owner() -> None:
    patterns = {name: Declared(id=name, index="GSI2") for name in ("by-day", "by-status")}
    one = outcome(unread(place=described(partition_key=("status",), patterns=patterns)))
    assert isinstance(one, Finding)
    assert "by-day, by-status declare reads of GSI2: ask their owner" in one.advice[1].text


@pytest.mark.parametrize(
    ("is_scanned", "is_declared", "actions"),
    [
        (True, False, ["collect-longer", "query-instead-of-scan"]),
        (False, True, ["collect-longer", "remove-declaration"]),
        (False, False, ["collect-longer", "delete-index"]),
    ],
)
def test_an_index_is_deleted_only_where_nobody_wants_it(
    *, is_scanned: bool, is_declared: bool, actions: list[str]
) -> None:
    scan = row(shape("Scan", filter_attributes=("status",)), UNDECLARED)
    patterns = {"by-status": Declared(id="by-status", index="GSI2")} if is_declared else {}
    place = described(partition_key=("status",), patterns=patterns)
    one = outcome(unread(place=place, base=traffic(CASES, rows=(scan,) if is_scanned else ())))
    assert isinstance(one, Finding)
    assert [advice.action for advice in one.advice] == actions
    last = one.advice[-1]
    if last.action == "query-instead-of-scan":
        assert (last.risk, last.reversible) == (Risk.LOW, True)


def test_a_deletion_says_that_it_changes_production() -> None:
    one = outcome(unread())
    assert isinstance(one, Finding)
    look, delete = one.advice
    assert ((look.command or "")[-9:], (delete.command or "")[-18:]) == ("read-only", "changes production")
    assert (delete.risk, delete.reversible) == (Risk.HIGH, True)
