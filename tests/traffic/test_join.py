from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.contract.model import (
    CallerNames,
    Contract,
    FilterLimit,
    IndexDeclaration,
    PatternDeclaration,
    Rate,
    TableDeclaration,
)
from analyzer.knowledge.prices import LIST_PRICES
from analyzer.model.batch import Batch
from analyzer.model.counts import (
    LATENCY_BOUNDS_MS,
    Cell,
    Count,
    HeavyKey,
    HeavyKeys,
    KeyLevel,
    KeyName,
    Refusal,
    ThrottleCount,
)
from analyzer.model.finding import Change, Direction
from analyzer.model.history import EMPTY, History, PatternPast
from analyzer.model.observations import Observations
from analyzer.model.report import Coverage
from analyzer.model.sight import Covers, GapReason, Sight, SourceName
from analyzer.model.table import TableSnapshot
from analyzer.model.target import Target
from analyzer.model.traffic import Capacity, Declared, Hurt, Latency, Traffic
from analyzer.model.window import Window
from analyzer.traffic.join import join
from analyzer.traffic.lines import MOST_LINES, coverage_gaps, coverage_lines, key_lines, pattern_lines
from analyzer.traffic.measure import add, busiest_caller, direction_units, evidence_of, victims_of
from analyzer.traffic.sights import sight_states
from collectors.table_catalog.parse import parse_table
from tests.support.counting import cell, counts
from tests.support.evidence import (
    CASES,
    DECLARED,
    GSI2,
    UNDECLARED,
    exactly,
    key,
    limit,
    row,
    shape,
    traffic,
)
from tests.support.told import insight, scaling, series

if TYPE_CHECKING:
    from analyzer.model.counts import Counts
    from analyzer.model.prices import Prices
    from analyzer.model.shape import Attribution

WRITE, READ = Direction.WRITE, Direction.READ
PUT = shape("PutItem", "put")
CONTRACT = Contract(
    tables=(
        TableDeclaration(
            name="cases",
            partition_key=("PK",),
            sort_key=("SK",),
            owner="case-platform",
            ttl_attribute="expiresAt",
            indexes=(
                IndexDeclaration(
                    name="GSI2", partition_key=("GSI2PK",), sort_key=("GSI2SK",), staleness_tolerance_seconds=5.0
                ),
            ),
            patterns=(
                PatternDeclaration(
                    id="load-case",
                    operations=("GetItem",),
                    callers=("api",),
                    filter=FilterLimit(allowed=True, discards_at_most=0.1),
                    rate=Rate(peak=600.0),
                ),
                PatternDeclaration(id="plain", operations=("Query",)),
            ),
        ),
    )
)
TABLE: dict[str, Any] = {
    "TableName": "cases",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 50},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "GSI2",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "IndexStatus": "CREATING",
            "ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 9},
        }
    ],
}


def attribute(of: Cell) -> Attribution:
    return UNDECLARED if of.shape.scans else DECLARED


def seen(
    evidence: Counts | None, *batches: Batch, contract: Contract = CONTRACT, history: History = EMPTY, **fields: Any
) -> dict[str, Traffic]:
    fields = {"sources": frozenset({SourceName.REQUEST_LOG})} | fields
    observations = Observations(window=Window(0, 60_000), counts=evidence, batches=batches, **fields)
    return {str(one.target): one for one in join(observations, attribute, contract, history)}


def described(table: dict[str, Any], time: int | None = 0, **fields: Any) -> Batch:
    return Batch(
        window=Window(0, 60_000),
        tables=(TableSnapshot(target=CASES, time=time, table=parse_table({"TableName": "cases"} | table)),),
        **fields,
    )


def test_each_target_gets_its_own_rows() -> None:
    evidence = counts((cell(), {Count.REQUESTS: 1}), (cell(target=GSI2), {Count.REQUESTS: 2}))
    found = seen(evidence)
    assert {name: one.rows[0].requests.value for name, one in found.items()} == {"cases": 1, "cases/GSI2": 2}


def test_nothing_collected_is_no_traffic() -> None:
    assert seen(None) == {}


def test_what_the_contract_says_of_a_place_is_joined() -> None:
    found = seen(counts((cell(), {Count.REQUESTS: 1}), (cell(target=GSI2), {Count.REQUESTS: 1})))
    place, index = found["cases"].place, found["cases/GSI2"].place
    assert (place.owner, place.partition_key, place.ttl_attribute, place.has_lsi) == (
        "case-platform",
        ("PK",),
        "expiresAt",
        False,
    )
    assert place.index_keys == {"GSI2": ("GSI2PK",)}
    assert place.patterns["load-case"] == Declared(
        id="load-case",
        operations=("GetItem",),
        owner="case-platform",
        callers=("api",),
        is_filtered=True,
        discards_at_most=0.1,
        peak_rate=600.0,
    )
    assert place.patterns["plain"].discards_at_most is None
    assert (index.partition_key, index.sort_key, index.staleness_tolerance_seconds) == (("GSI2PK",), ("GSI2SK",), 5.0)


def test_a_place_knows_which_callers_the_contract_names_and_maps_and_traffic_what_history_knows() -> None:
    callers = (CallerNames("api", services=("api-*",)), CallerNames("batch"))
    past = History(patterns={CASES: {"load-case": PatternPast(before=(1.0,), now=(2.0,))}})
    contract = Contract(CONTRACT.tables, callers)
    one = seen(counts((cell(), {Count.REQUESTS: 1})), contract=contract, history=past)["cases"]
    assert one.place.known_callers == {"api", "batch"}
    assert one.place.mapped_callers == {"api"}
    assert one.history is past


def test_an_undeclared_table_has_no_place_and_no_sight_of_a_contract() -> None:
    other = Target(None, None, "other")
    one = seen(counts((cell(target=other), {Count.REQUESTS: 1})))["other"]
    assert (one.place.declared, one.place.has_lsi, one.place.partition_key) == (False, None, ())
    assert Sight.CONTRACT not in one.sights


def test_a_description_is_right_about_keys_and_capacity() -> None:
    found = seen(counts((cell(target=GSI2), {Count.REQUESTS: 1})), described(TABLE))
    table, index = found["cases"].place, found["cases/GSI2"].place
    assert (table.partition_key, table.sort_key) == (("pk",), ("sk",))
    assert table.capacity == Capacity("PROVISIONED", 100, 50)
    assert (index.partition_key, index.index_status, index.index_keys) == (("g",), "CREATING", {"GSI2": ("g",)})
    assert (index.capacity.read_units, index.capacity.write_units) == (7, 9)
    assert Sight.TABLE in found["cases"].sights


def test_a_table_on_demand_has_no_provisioned_units() -> None:
    on_demand = TABLE | {"BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"}, "LocalSecondaryIndexes": []}
    one = seen(None, described(on_demand | {"TableClassSummary": {"TableClass": "STANDARD"}}))["cases"]
    assert one.place.capacity == Capacity("PAY_PER_REQUEST", None, None, "STANDARD")


def test_a_local_secondary_index_is_seen_in_the_description() -> None:
    lsi = {"IndexName": "L", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}
    assert seen(None, described(TABLE | {"LocalSecondaryIndexes": [lsi]}))["cases"].place.has_lsi is True


def test_the_newest_description_counts() -> None:
    newer = described(TABLE | {"ProvisionedThroughput": {"ReadCapacityUnits": 1}}, time=9)
    assert seen(None, newer, described(TABLE, time=None))["cases"].place.capacity.read_units == 1


def test_changes_of_the_table_and_of_everything_are_there_and_others_are_not() -> None:
    changes = tuple(Change(time=1, what="deploy", table=table) for table in (None, "cases", "other"))
    one = seen(None, described(TABLE, changes=changes))["cases"]
    assert [change.table for change in one.changes] == [None, "cases"]


def test_a_throttle_stands_at_the_resource_whose_limit_it_was_and_names_the_hurt() -> None:
    arn = Target("111122223333", "us-east-1", "cases", "GSI2")
    throttle = ThrottleCount(0, "IndexWriteKeyRangeThroughputExceeded", arn, WRITE, 30, 2)
    row_of = {Count.REQUESTS: 100, Count.THROTTLED: 20}
    found = seen(counts((cell(PUT), row_of), throttles=(throttle,)))
    (one,) = found["cases/GSI2"].throttles
    assert (one.cause, one.direction) == ("key-range", WRITE)
    assert [e.value for e in (one.tries, one.throttled, one.failed, one.calls)] == [30, 20, 2, 100]
    assert one.hurt == (Hurt("api", "load-case", "PutItem", 30, 2, 100),)
    assert found["cases"].throttles == ()


def test_a_throttle_whose_resource_was_not_told_is_the_requests_own() -> None:
    throttle = ThrottleCount(0, "", None, READ, 3, 0)
    (one,) = seen(counts((cell(rate=0.5), {Count.REQUESTS: 10}), throttles=(throttle,)))["cases"].throttles
    assert (one.cause, one.reasons, one.tries.value) == ("unknown", (), 6)


REFUSED = "IndexWriteKeyRangeThroughputExceeded"


def test_an_absorbed_try_on_an_index_limit_is_that_of_the_index_which_other_refusals_name() -> None:
    named = ThrottleCount(0, REFUSED, GSI2, WRITE, 3, 1)
    absorbed = ThrottleCount(0, REFUSED, None, WRITE, 9, 0)
    found = seen(counts((cell(PUT), {Count.REQUESTS: 10}), throttles=(named, absorbed)))
    assert [one.tries.value for one in found["cases/GSI2"].throttles] == [12]
    assert found["cases"].throttles == ()


def test_it_is_that_of_the_only_index_that_the_requests_writes_reach() -> None:
    cells = ((cell(PUT), {Count.REQUESTS: 10}), (cell(PUT, GSI2, secondary=True), {Count.WRITE_HALF_UNITS: 8}))
    found = seen(counts(*cells, throttles=(ThrottleCount(0, REFUSED, None, WRITE, 9, 0),)))
    assert [one.cause for one in found["cases/GSI2"].throttles] == ["key-range"]


def test_where_the_index_cannot_be_told_the_table_is_not_blamed_for_its_limit() -> None:
    (one,) = seen(counts((cell(PUT), {Count.REQUESTS: 1}), throttles=(ThrottleCount(0, REFUSED, None, WRITE, 9, 0),)))[
        "cases"
    ].throttles
    assert (one.cause, one.reasons) == ("unknown", (REFUSED,))


def test_reasons_of_one_cause_are_one_limit() -> None:
    words = ("SomethingNew", "SomethingElse")
    throttles = tuple(ThrottleCount(0, word, None, READ, 5, 0) for word in words)
    row_of = {Count.REQUESTS: 10, Count.THROTTLED: 4}
    (one,) = seen(counts((cell(), row_of), throttles=throttles))["cases"].throttles
    assert (one.reasons, one.tries.value, one.throttled.value) == (("SomethingElse", "SomethingNew"), 10, 4)


def test_an_absorbed_try_of_an_index_read_is_that_of_the_index_it_read() -> None:
    throttle = ThrottleCount(0, "IndexReadKeyRangeThroughputExceeded", None, READ, 9, 0)
    found = seen(counts((cell(target=GSI2), {Count.REQUESTS: 1}), throttles=(throttle,)))
    assert [one.cause for one in found["cases/GSI2"].throttles] == ["key-range"]


def test_the_most_hurt_comes_first() -> None:
    throttles = tuple(ThrottleCount(n, "TableReadAccountLimitExceeded", None, READ, n + 1, 0) for n in range(2))
    evidence = counts((cell(), {Count.REQUESTS: 1}), (cell(caller="b"), {Count.REQUESTS: 1}), throttles=throttles)
    (one,) = seen(evidence)["cases"].throttles
    assert [victim.caller for victim in one.hurt] == ["b", "api"]


def test_a_refusal_is_estimated_at_the_rate_of_its_cell() -> None:
    refusal = Refusal(0, "ValidationException", "no", 3)
    (one,) = seen(counts((cell(rate=0.5), {Count.REQUESTS: 3}), refusals=(refusal,)))["cases"].refusals
    assert (one.row, one.code, one.calls.value) == (0, "ValidationException", 6)


def test_heavy_keys_give_heat_and_the_sight_of_keys() -> None:
    one = HeavyKey(KeyName(KeyLevel.PARTITION, "CASE#7"), 10, 10)
    evidence = counts((cell(), {Count.REQUESTS: 1}), keys=(HeavyKeys(CASES, READ, 10, 0, (one,), 1, ("PK",)),))
    found = seen(evidence)["cases"]
    assert [heat.key for heat in found.keys] == [{"PK": "CASE#7"}]
    assert Sight.REQUEST_KEYS in found.sights


def test_templates_alone_are_no_sight_of_keys() -> None:
    evidence = counts((cell(), {Count.REQUESTS: 1}), keys=(HeavyKeys(CASES, READ, 10, 0, (), 0, real=False),))
    assert Sight.REQUEST_KEYS not in seen(evidence)["cases"].sights


def test_counts_units_and_filters_are_seen_where_requests_told_them() -> None:
    query = {Count.REQUESTS: 1, Count.COUNTS_KNOWN: 1, Count.UNITS_KNOWN: 1}
    told = seen(counts((cell(shape("Query", "q")), query)))["cases"].sights
    untold = seen(counts((cell(shape("Query", "q", parsed=False)), {Count.REQUESTS: 1})))["cases"].sights
    both = {Sight.REQUEST_COUNTS, Sight.REQUEST_UNITS, Sight.REQUEST_FILTERS}
    assert both <= told
    assert not both & untold


def test_where_nothing_was_asked_of_a_target_nothing_was_hidden() -> None:
    secondary = cell(PUT, GSI2, secondary=True)
    sights = seen(counts((secondary, {Count.WRITE_HALF_UNITS: 2})))["cases/GSI2"].sights
    assert {Sight.REQUEST_COUNTS, Sight.REQUEST_UNITS} <= sights
    assert {Sight.REQUESTS, Sight.REQUEST_KEYS} <= seen(None, described(TABLE))["cases"].sights


def test_without_a_request_log_only_what_was_told_is_seen() -> None:
    one = seen(None, described(TABLE), sources=frozenset())["cases"]
    assert one.sights == {Sight.TABLE, Sight.CONTRACT}


def test_a_fortnight_of_history_is_a_sight() -> None:
    fortnight = 14 * 86_400_000
    evidence = counts((cell(), {Count.REQUESTS: 1}))
    assert Sight.SPAN_14D in seen(evidence, history=History({CASES: Window(0, fortnight)}))["cases"].sights
    assert Sight.SPAN_14D not in seen(evidence, history=History({CASES: Window(0, fortnight - 1)}))["cases"].sights


def test_what_is_not_seen_comes_with_how_to_see_it() -> None:
    states = {one.capability: one for one in sight_states(CASES, frozenset({Sight.REQUESTS}))}
    assert (states[Sight.REQUESTS].state, states[Sight.REQUESTS].hint) == ("seen", None)
    assert (states[Sight.TABLE].state, states[Sight.TABLE].hint) == ("not-seen", "allow dynamodb:DescribeTable")


# lines


def test_callers_of_one_pattern_are_one_line_and_shapes_of_no_pattern_stand_apart() -> None:
    scan = shape("Scan", "scan")
    one = traffic(
        rows=(
            row(requests=3, read_units=6, failed=1, throttled=2),
            row(caller=None, requests=2),
            row(scan, UNDECLARED, requests=1, read_units=50, wasted_units=4),
        )
    )
    lines = pattern_lines([one])
    assert [(line.kind.value, line.pattern, line.requests, line.units) for line in lines] == [
        ("undeclared", None, 1, 50),
        ("declared", "load-case", 5, 6),
    ]
    assert (lines[1].callers, lines[1].errors, lines[1].throttled) == ((None, "api"), 1, 2)
    assert (lines[0].fingerprint, lines[0].waste_units, lines[0].p99_ms) == ("scan", 4, None)


def test_what_a_write_costs_an_index_is_a_line_without_requests() -> None:
    (line,) = pattern_lines(
        [traffic(GSI2, rows=(row(PUT, requests=0, write_units=8, secondary=True, units_known=0.0),))]
    )
    assert (line.index, line.operation, line.requests, line.units) == ("GSI2", "PutItem", 0, 8)


def test_p99_is_the_bound_of_its_bucket_and_unknown_above_the_last() -> None:
    def p99(*buckets: tuple[int, ...]) -> float | None:
        rows = tuple(row(caller=str(n), latency=Latency(b, 1.0, sum(b))) for n, b in enumerate(buckets))
        return pattern_lines([traffic(rows=rows)])[0].p99_ms

    empty = (0,) * (len(LATENCY_BOUNDS_MS) - 1)
    assert p99((2, 0, *empty), (0, 1, *empty)) == LATENCY_BOUNDS_MS[1]
    assert p99((*empty, 0, 1)) is None


def test_units_that_nobody_told_are_unknown() -> None:
    (line,) = pattern_lines([traffic(rows=(row(units_known=0.0),))])
    assert (line.units, line.waste_units) == (None, None)


def test_lines_beyond_the_bound_are_added_up_so_that_requests_stay_whole() -> None:
    many = tuple(row(shape("Query", f"f{n}"), UNDECLARED, requests=2) for n in range(MOST_LINES + 7))
    lines = pattern_lines([traffic(rows=many)])
    assert (lines[-1].kind.value, lines[-1].requests, len(lines)) == ("other", 14, MOST_LINES + 1)
    assert sum(line.requests for line in lines) == 2 * len(many)


def test_keys_are_listed_by_heat() -> None:
    one = traffic(keys=(key((10.0,)), key((300.0,), peak_second=600.0), key((0.0,))))
    assert [(line.heat, line.peak_second) for line in key_lines([one])] == [(0.1, 0.2), (10 / 3000, None)]


def test_what_was_billed_is_unknown_without_cloudwatch() -> None:
    (line,) = coverage_lines([traffic(rows=(row(read_units=6),))])
    assert (line.direction, line.explained_units, line.billed_units, line.ratio) == (READ, 6, None, None)


# measure


def test_independent_estimates_are_added_with_their_distances_squared() -> None:
    one = exactly(10)._replace(low=7, high=14)
    assert add([one, one._replace(low=6, high=13)]) == (20, 15, 25)


def test_the_busiest_caller_has_the_most_units_and_then_the_most_requests() -> None:
    assert busiest_caller([row(caller="a", read_units=1), row(caller="b", read_units=2)]) == "b"
    assert busiest_caller([row(caller="a", requests=1), row(caller="b", requests=2)]) == "b"
    assert busiest_caller([row(caller="a", write_units=5), row(caller="b", read_units=1)], READ) == "b"
    assert busiest_caller([]) is None


def test_victims_are_those_of_the_direction_asked_for() -> None:
    one = traffic(throttles=(limit(), limit(direction=WRITE, hurt=(Hurt("w", "put", "PutItem", 1, 0, 9),))))
    assert [victim.caller for victim in victims_of(one)] == ["api", "w"]
    assert [victim.caller for victim in victims_of(one, WRITE)] == ["w"]


def test_units_of_a_direction_are_those_of_all_rows() -> None:
    one = traffic(rows=(row(read_units=6), row(write_units=3)))
    assert (direction_units(one, READ), direction_units(one, WRITE)) == (6, 3)


def test_evidence_has_bounds_only_where_it_was_estimated() -> None:
    estimated = exactly(10)._replace(low=7, high=14)
    assert evidence_of(a=exactly(1), b=estimated) == {"a": 1, "b": 10, "b_low": 7, "b_high": 14}


def test_targets_are_sorted_with_the_base_table_first() -> None:
    assert [str(one) for one in sorted((GSI2, CASES), key=Target.order)] == ["cases", "cases/GSI2"]
    assert (GSI2.base, CASES.base) == (CASES, CASES)
    assert msgspec.structs.replace(CASES, index="GSI2") == GSI2


# what CloudWatch and the control plane told


def billed(units: float, minutes: int = 1, **fields: Any) -> dict[str, Traffic]:
    evidence = counts((cell(), {Count.REQUESTS: 10, Count.READ_HALF_UNITS: 200, Count.UNITS_KNOWN: 10}))
    metrics = (series("ConsumedReadCapacityUnits", (units / minutes,) * minutes, **fields),)
    return seen(evidence, Batch(window=Window(0, 60_000), metrics=metrics, account=CASES.account, region=CASES.region))


@pytest.mark.parametrize(("units", "ratio", "is_told"), [(100, 1.0, False), (200, 0.5, True), (50, 2.0, True)])
def test_coverage_is_explained_by_billed_units_and_a_gap_where_it_misleads(
    units: float,
    ratio: float,
    is_told: bool,  # noqa: FBT001 -- a case
) -> None:
    (line,) = coverage_lines(billed(units).values())
    assert (line.explained_units, line.billed_units, line.ratio) == (100, units, ratio)
    gaps = list(coverage_gaps((line,), Window(0, 60_000)))
    assert [gap.reason for gap in gaps] == [GapReason.LOW_COVERAGE] * is_told


def test_an_index_is_named_by_its_table_in_a_coverage_gap() -> None:
    line = Coverage("cases", "GSI2", Direction.READ, 10, 100, 0.1)
    (gap,) = coverage_gaps((line,), Window(0, 60_000))
    assert "cases/GSI2 (10%)" in gap.detail


def test_without_periods_that_fill_the_window_nothing_is_known_to_be_billed() -> None:
    (line,) = coverage_lines(billed(100, start=30_000).values())
    assert (line.billed_units, line.ratio) == (None, None)


def test_a_table_knows_its_indexes_and_an_index_its_table() -> None:
    found = seen(counts((cell(), {Count.REQUESTS: 1}), (cell(target=GSI2), {Count.REQUESTS: 2})))
    assert [str(one.target) for one in found["cases"].indexes] == ["cases/GSI2"]
    base = found["cases/GSI2"].base
    assert base is not None
    assert (str(base.target), base.indexes) == ("cases", ())


def test_trouble_of_many_tables_is_told_to_each() -> None:
    other = Target(CASES.account, CASES.region, "orders")
    evidence = counts(
        (cell(), {Count.REQUESTS: 1, Count.SERVER_ERRORS: 1}),
        (cell(target=other), {Count.REQUESTS: 1, Count.TRANSPORT_FAILURES: 1}),
    )
    told = (series("SystemErrors", (3,), target=other),)
    around = seen(evidence, Batch(window=Window(0, 60_000), metrics=told, account=CASES.account, region=CASES.region))[
        "cases"
    ].around
    assert (around.asked, around.with_server_errors, around.with_transport_failures) == (2, 2, 1)


def test_trouble_of_one_region_is_told_to_its_tables_alone() -> None:
    elsewhere = Target(CASES.account, "eu-west-1", "orders")
    evidence = counts(
        (cell(), {Count.REQUESTS: 1}),
        (cell(target=elsewhere), {Count.REQUESTS: 1, Count.SERVER_ERRORS: 1}),
    )
    here, there = seen(evidence)["cases"].around, seen(evidence)["orders"].around
    assert (here.asked, here.with_server_errors) == (1, 0)
    assert (there.asked, there.with_server_errors) == (1, 1)


def test_metrics_insights_and_scaling_are_sights() -> None:
    batch = Batch(
        window=Window(0, 60_000),
        metrics=(series("ConsumedReadCapacityUnits", (1,)),),
        insights=(insight("PKC", (5,), "A"), insight("SKT", (5,), "A", "B")),
        scaling=(scaling(10),),
        covers=(Covers(SourceName.CHANGES, Window(0, 60_000)),),
        account=CASES.account,
        region=CASES.region,
    )
    found = seen(None, batch, sources=frozenset({SourceName.CHANGES}))["cases"]
    assert found.sights >= {
        Sight.METRICS,
        Sight.INSIGHTS_ACCESSED,
        Sight.INSIGHTS_THROTTLED,
        Sight.SCALING,
        Sight.CHANGES,
    }
    assert found.insights[0].key_template == {"PK": "<value>"}


@pytest.mark.parametrize(
    ("covers", "region", "is_seen"),
    [
        ((Covers(SourceName.CHANGES, Window(0, 60_000)),), CASES.region, True),
        ((Covers(SourceName.CHANGES, Window(0, 60_000)),), None, True),
        ((Covers(SourceName.CHANGES, Window(0, 60_000)),), "eu-north-1", False),
        ((Covers(SourceName.TABLE_CATALOG, Window(0, 60_000)),), CASES.region, False),
        ((), CASES.region, False),
    ],
    ids=["looked for here", "looked for somewhere", "looked for elsewhere", "another look", "denied"],
)
def test_changes_are_seen_where_they_were_looked_for(
    covers: tuple[Covers, ...], region: str | None, *, is_seen: bool
) -> None:
    table = Batch(window=Window(0, 60_000), metrics=(series("ConsumedReadCapacityUnits", (1,)),))
    table = msgspec.structs.replace(table, account=CASES.account, region=CASES.region)
    looked = Batch(window=Window(0, 60_000), covers=covers, region=region)
    found = seen(None, table, looked, sources=frozenset({SourceName.CHANGES}))["cases"]
    assert (Sight.CHANGES in found.sights) is is_seen


def test_a_fortnight_of_consumption_is_a_span_wherever_it_comes_from() -> None:
    days = series("ConsumedReadCapacityUnits", (1,) * 14, period_seconds=86_400)
    assert Sight.SPAN_14D in seen(None, Batch(window=Window(0, 1), metrics=(days,)))["cases"].sights


# prices


def priced(window: Window, *prices: Prices) -> Prices | None:
    observed = Observations(window=window, counts=counts((cell(), {Count.REQUESTS: 1})), prices=prices)
    (one,) = join(observed, lambda _: UNDECLARED, Contract(), EMPTY)
    return one.place.prices


def test_the_prices_of_a_region_belong_to_its_tables() -> None:
    now = Window(1_796_000_000_000, 1_796_000_300_000)
    own = msgspec.structs.replace(LIST_PRICES, region="us-east-1", read_million=0.2)
    elsewhere = msgspec.structs.replace(own, region="eu-west-1")
    assert priced(now, elsewhere, own) == own
    assert priced(now, elsewhere) is None


def test_list_prices_that_are_old_by_then_say_so() -> None:
    later = priced(Window(1_900_000_000_000, 1_900_000_300_000))
    assert later is not None
    assert later.doubt == "over a year old"
