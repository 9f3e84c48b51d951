from __future__ import annotations

import subprocess
from copy import deepcopy
from typing import TYPE_CHECKING

import msgspec
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from analyzer.exporters.assemble import (
    RECORD_COUNTERS,
    Health,
    HistoryHealth,
    Kept,
    Ledger,
    SourceHealth,
    Spent,
    assemble,
    count_dropped,
)
from analyzer.exporters.exemplars import Exemplars
from analyzer.exporters.from_counts import Carried, count_cells
from analyzer.exporters.lags import LAG
from analyzer.exporters.metrics import BY_NAME, METRICS
from analyzer.exporters.prometheus import render
from analyzer.exporters.series import SeriesTable
from analyzer.model.batch import MetricSeries
from analyzer.model.counts import Count, Counts, ThrottleCount
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Change, Direction, Severity, Status
from analyzer.model.report import Coverage
from analyzer.model.sight import Sight, Skipped, SkipReason
from analyzer.model.target import Target
from analyzer.model.traffic import Capacity, Place
from tests.exporters.conftest import CASES, cell, counts, finding, report
from tests.support import evidence
from tests.support.tools import need

if TYPE_CHECKING:
    from analyzer.model.report import Report

TARGET = {"account_id": "111122223333", "aws_region": "us-east-1", "table": "cases", "index": ""}
HEALTH = Health(
    is_config_valid=True,
    is_source_up=True,
    last_read_seconds=1_700_000_000.0,
    delay_seconds=2.0,
    checkpoint_seconds=1_700_000_001.0,
    analysis_seconds=0.25,
    records={"read": 13, "bad": 2},
    polled=(SourceHealth("cloudwatch-metrics", is_up=True, last_success_seconds=1.0, delay_seconds=200.0),),
    spent=Spent({"GetMetricData": 1}, {"GetMetricData": 500}, {"GetMetricData": 0.005}),
    holds_lease=True,
    dropped={"printed-findings": 1},
)


def table(of: Counts | None = None, about: Report | None = None, kept: Ledger | None = None) -> SeriesTable:
    series = assemble(HEALTH, of, about, kept or Ledger(), lambda _: "load-case")
    count_dropped(series, (kept or Ledger()).kept, is_analysis=True)
    return series


def text(of: Counts | None = None, about: Report | None = None) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in parse_text(render(table(of, about)).text.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def labels(**others: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({**TARGET, **others}.items()))


def test_a_counter_is_an_estimate_of_all_requests(busy: Counts) -> None:
    requests = text(busy)["dynascope_requests_total"]
    assert requests[labels(operation="Query", pattern="load-case")] == 20
    assert requests[labels(operation="PutItem", pattern="load-case")] == 3


def test_units_of_an_index_stand_at_the_index_and_count_no_request(busy: Counts) -> None:
    found = text(busy)
    assert found["dynascope_write_units_total"][labels(pattern="load-case", index="GSI1")] == 2
    assert found["dynascope_write_units_total"][labels(pattern="load-case")] == 3
    assert sum(found["dynascope_requests_total"].values()) == 23


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("dynascope_read_units_total", 30),
        ("dynascope_wasted_read_units_total", 18),
        ("dynascope_items_scanned_total", 200),
        ("dynascope_items_returned_total", 80),
    ],
)
def test_units_and_items_are_weighed(busy: Counts, metric: str, value: float) -> None:
    assert text(busy)[metric] == {labels(pattern="load-case"): value}


def test_a_throttle_counts_at_the_resource_whose_limit_it_was(busy: Counts) -> None:
    assert text(busy)["dynascope_throttles_total"] == {
        labels(index="GSI1", direction="write", cause="provisioned", source="request-log"): 7,
        labels(direction="read", cause="unknown", source="request-log"): 4,
    }


def test_a_throttle_that_a_retry_absorbed_counts_at_the_index_that_others_name() -> None:
    reason = "IndexWriteProvisionedThroughputExceeded"
    absorbed = counts(
        (cell("PutItem"), {Count.REQUESTS: 3}),
        throttles=(
            ThrottleCount(0, reason, CASES.at("GSI1"), Direction.WRITE, 7, 1),
            ThrottleCount(0, reason, None, Direction.WRITE, 2, 0),
        ),
    )
    assert text(absorbed)["dynascope_throttles_total"] == {
        labels(index="GSI1", direction="write", cause="provisioned", source="request-log"): 9
    }


def test_a_throttle_of_an_index_that_nobody_names_is_not_blamed_on_the_table() -> None:
    reason = "IndexWriteProvisionedThroughputExceeded"
    unnamed = counts(
        (cell("PutItem"), {Count.REQUESTS: 3}), throttles=(ThrottleCount(0, reason, None, Direction.WRITE, 2, 0),)
    )
    assert text(unnamed)["dynascope_throttles_total"] == {
        labels(direction="write", cause="unknown", source="request-log"): 2
    }


def test_an_error_code_that_is_no_name_is_other(busy: Counts) -> None:
    assert text(busy)["dynascope_request_errors_total"] == {
        labels(operation="PutItem", pattern="load-case", code="ConditionalCheckFailedException"): 2,
        labels(operation="PutItem", pattern="load-case", code="other"): 1,
    }


def test_a_table_name_that_is_no_name_is_other() -> None:
    odd = counts((cell(target=Target("1", "us-east-1", "canary\n4711 \ud800")), {Count.REQUESTS: 1}))
    assert [dict(where)["table"] for where in text(odd)["dynascope_requests_total"]] == ["other"]


def test_durations_fall_into_the_coarse_bucket_that_holds_them(busy: Counts) -> None:
    found = text(busy)
    bucket = found["dynascope_request_duration_seconds_bucket"]
    assert bucket[labels(operation="Query", le="0.002")] == 0
    assert bucket[labels(operation="Query", le="0.004")] == 20  # 2.8 to 4 ms is the digest's bucket 5
    assert found["dynascope_request_duration_seconds_count"][labels(operation="Query")] == 20
    assert found["dynascope_request_duration_seconds_sum"][labels(operation="Query")] == pytest.approx(0.06)


def test_an_exemplar_names_the_trace_in_openmetrics_alone(busy: Counts) -> None:
    exemplars = Exemplars()
    exemplars.look(
        b'{"v":1,"time":"2026-06-01T10:00:00.000Z","op":"Query","table":"cases","region":"us-east-1",'
        b'"account":"111122223333","latency_ms":3.5,"trace_id":"0af7651916cd43dd8448eb211c80319c"}\n'
    )
    exposition = render(table(busy, kept=Ledger(exemplars=exemplars.known())))
    assert b"trace_id" not in exposition.text
    shown = [
        (sample.labels["le"], sample.exemplar.labels["trace_id"], sample.exemplar.value)
        for family in parse_openmetrics(exposition.openmetrics.decode())  # type: ignore[no-untyped-call] # as it ships
        for sample in family.samples
        if sample.exemplar is not None
    ]
    assert shown == [("0.004", "0af7651916cd43dd8448eb211c80319c", 0.0035)]


@pytest.mark.parametrize(
    "line",
    [
        b"junk\n",
        b"",
        b'{"time":"now","op":"Query","table":"cases","latency_ms":1,"trace_id":"0af7651916cd43dd8448eb211c80319c"}\n',
        b'{"time":"2026-06-01T10:00:00Z","op":"Query","table":"cases","latency_ms":1,"trace_id":"CASE#canary"}\n',
        b'{"time":"2026-06-01T10:00:00Z","op":"Query","table":"cases"}\n',
    ],
)
def test_a_record_without_a_real_trace_gives_no_exemplar(line: bytes) -> None:
    exemplars = Exemplars()
    exemplars.look(line)
    assert exemplars.known() == {}


def test_an_open_finding_is_active_and_a_closed_one_is_not() -> None:
    about = report(
        finding(),
        finding(
            detector="throttling", status=Status.CLOSED, severity=Severity.MEDIUM, pattern="load-case", index="GSI1"
        ),
    )
    assert text(None, about)["dynascope_finding_active"] == {
        labels(detector="hot-key", severity="high", pattern="", cause="single-item"): 1,
        labels(index="GSI1", detector="throttling", severity="medium", pattern="load-case", cause="single-item"): 0,
    }


def test_a_key_with_headroom_is_no_metric() -> None:
    assert "dynascope_finding_active" not in text(None, report(finding(severity=Severity.LOW)))


def test_two_findings_of_one_label_set_are_one_series() -> None:
    about = report(finding(status=Status.CLOSED), finding(id="def"))
    assert list(text(None, about)["dynascope_finding_active"].values()) == [1]


def test_the_ten_hottest_keys_have_a_rank_and_no_name() -> None:
    keys = tuple(evidence.key(heat=Estimate(n / 10, n / 20, n / 5), values=(f"CASE#canary-{n}",)) for n in range(1, 13))
    found = text(None, report(traffic=(evidence.traffic(keys=keys),)))
    heat = found["dynascope_key_heat_ratio"]
    assert len(heat) == 10
    assert heat[labels(rank="1", direction="read")] == 1.2
    assert found["dynascope_key_heat_ratio_low"][labels(rank="1", direction="read")] == 0.6
    assert found["dynascope_key_heat_ratio_high"][labels(rank="1", direction="read")] == 2.4


def test_capacity_and_owner_are_told_where_they_are_known() -> None:
    place = Place(declared=True, owner="case-platform", capacity=Capacity("PROVISIONED", 100.0, None, "STANDARD"))
    traffic = evidence.traffic(rows=(evidence.row(read_units=15_000),), place=place)
    found = text(None, report(traffic=(traffic,)))
    assert found["dynascope_capacity_consumed_ratio"] == {labels(direction="read"): 0.5}
    billing = labels(**{"billing_mode": "PROVISIONED", "class": "STANDARD", "owner": "case-platform"})
    assert found["dynascope_table_info"] == {billing: 1}


def test_capacity_that_cloudwatch_told_the_use_of_needs_no_log() -> None:
    place = Place(declared=True, capacity=Capacity("PROVISIONED", 100.0, 50.0, None))
    series = MetricSeries(
        "ConsumedReadCapacityUnits",
        {"TableName": "cases"},
        "Sum",
        60,
        (evidence.WINDOW.start,),
        (1500.0,),
        is_complete=True,
    )
    seen = evidence.traffic(sights=frozenset({Sight.METRICS}), rows=(), place=place, metrics=(series,))
    found = text(None, report(traffic=(seen,)))
    assert found["dynascope_capacity_consumed_ratio"] == {labels(direction="read"): 0.25}


def test_capacity_whose_use_nobody_tells_is_not_said_to_be_idle() -> None:
    place = Place(declared=True, capacity=Capacity("PROVISIONED", 100.0, 50.0, None))
    seen = evidence.traffic(sights=frozenset({Sight.REQUESTS}), rows=(evidence.row(),), place=place)
    assert "dynascope_capacity_consumed_ratio" not in text(None, report(traffic=(seen,)))


def test_the_last_change_of_a_kind_says_when_it_was_and_of_which_table() -> None:
    about = report(
        changes=(
            Change(time=5_000, what="deploy"),
            Change(time=9_000, what="deploy", table="cases", detail="canary-4711", who="canary"),
            Change(time=7_000, what="deploy", table="cases"),
            Change(time=8_000, what="capacity", table="cases", index="GSI1"),
        )
    )
    assert text(None, about)["dynascope_change_timestamp_seconds"] == {
        labels(table="", what="deploy"): 5,
        labels(what="deploy"): 9,
        labels(index="GSI1", what="capacity"): 8,
    }


def test_coverage_and_skipped_detectors_are_told() -> None:
    about = report(
        coverage=(
            Coverage("cases", None, Direction.READ, 80, 100, 0.8),
            Coverage("cases", None, Direction.WRITE, 1, None, None),
        ),
        skipped=(Skipped("hot-key", "cases", None, SkipReason.MISSING_SIGHT),) * 2,
    )
    found = text(None, about)
    assert found["dynascope_coverage_ratio"] == {labels(direction="read"): 0.8}
    assert found["dynascope_skipped_detectors"] == {(("detector", "hot-key"),): 2}


def test_every_record_counter_is_there_from_the_start() -> None:
    found = text()
    source = (("source", "request-log"),)
    assert {name: found[f"dynascope_records_{name}_total"][source] for name in RECORD_COUNTERS} == {
        "read": 13,
        "bad": 2,
        "dropped": 0,
        "late": 0,
        "future": 0,
        "duplicate": 0,
        "squeezed": 0,
    }


def test_what_logs_had_alike_and_what_made_room_is_counted() -> None:
    health = msgspec.structs.replace(HEALTH, joined=7, set_aside=5, marks_dropped=3, history=HistoryHealth(1, 2, 4))
    series = assemble(health, None, None, Ledger(), lambda _: "")
    assert series.values("dynascope_records_joined_total") == {("request-log",): 7}
    assert series.values("dynascope_records_set_aside_total") == {("request-log",): 5}
    assert series.values("dynascope_marks_dropped_total") == {(): 3}
    lost = [series.values(f"dynascope_history_{name}_total") for name in HistoryHealth.__struct_fields__]
    assert lost == [{(): 1}, {(): 2}, {(): 4}]


def test_series_beyond_the_bound_are_folded_and_counted() -> None:
    many = [cell(f"Op{n}", target=Target("1", "us-east-1", f"t{n % 3}")) for n in range(2500)]
    series = table(counts(*((one, {Count.REQUESTS: 1}) for one in many)))
    requests = series.values("dynascope_requests_total")
    assert len(requests) == BY_NAME["dynascope_requests_total"].most_series + 3
    assert sum(requests.values()) == 2500
    assert series.values("dynascope_series_dropped_total") == {("dynascope_requests_total",): 500}


def test_series_beyond_the_bound_count_once_an_analysis_however_often_it_is_rendered() -> None:
    series = SeriesTable()
    for n in range(2001):
        series.raise_to("dynascope_skipped_detectors", (f"d{n}",), 1)
    first = count_dropped(series, {}, is_analysis=True)
    assert count_dropped(SeriesTable(), first, is_analysis=False) == first
    assert first == {"dynascope_series_dropped_total": {("dynascope_skipped_detectors",): 1}}


def test_a_rendering_changes_nothing_of_what_is_kept() -> None:
    ledger = Ledger(kept={"dynascope_gaps_total": {("request-log", "late"): 1}})
    before = deepcopy(ledger)
    table(counts(*((cell(f"Op{n}"), {Count.REQUESTS: 1}) for n in range(2500))), kept=ledger)
    assert ledger == before


def test_even_tables_without_end_are_bounded() -> None:
    many = [cell(target=Target("1", "us-east-1", f"t{n}")) for n in range(6000)]
    requests = table(counts(*((one, {Count.REQUESTS: 1}) for one in many))).values("dynascope_requests_total")
    assert len(requests) <= 4001
    assert sum(requests.values()) == 6000


def test_a_gauge_beyond_the_bound_is_left_out() -> None:
    series = SeriesTable()
    for n in range(2001):
        series.raise_to("dynascope_skipped_detectors", (f"d{n}",), 1)
    assert len(series.values("dynascope_skipped_detectors")) == 2000
    assert series.dropped == {"dynascope_skipped_detectors": 1}


def test_a_wrong_number_of_labels_is_a_bug() -> None:
    with pytest.raises(ValueError, match="has the labels"):
        SeriesTable().add("dynascope_requests_total", ("cases",), 1)


def test_a_new_contract_moves_no_counter(busy: Counts) -> None:
    def total(name_of: str, carried: Carried) -> SeriesTable:
        series = SeriesTable()
        count_cells(series, busy, lambda _: name_of)
        carried.apply(series)
        return series

    before = total("undeclared", Carried())
    carried = Carried.between(before, total("load-case", Carried()))
    after = total("load-case", carried)
    name = "dynascope_requests_total"
    assert sum(after.values(name).values()) == sum(before.values(name).values())
    assert after.values(name)[("111122223333", "us-east-1", "cases", "", "Query", "undeclared")] == 20
    assert after.values(name)[("111122223333", "us-east-1", "cases", "", "Query", "load-case")] == 0


def everything(busy: Counts) -> SeriesTable:
    keys = (evidence.key(values=("CASE#canary-4711",)),)
    place = Place(declared=True, owner="case-platform", capacity=Capacity("PROVISIONED", 100.0, 100.0, "STANDARD"))
    about = report(
        finding(),
        traffic=(evidence.traffic(keys=keys, place=place),),
        coverage=(Coverage("cases", None, Direction.READ, 80, 100, 0.8),),
        skipped=(Skipped("hot-key", "cases", None, SkipReason.MISSING_SIGHT),),
        changes=(Change(time=5_000, what="deploy"),),
    )
    kept: Kept = {
        "dynascope_gaps_total": {("request-log", "late"): 1},
        "dynascope_series_dropped_total": {("dynascope_requests_total",): 1},
        LAG: {("111122223333", "us-east-1", "cases", "GSI1", "lower", "3"): 1},
    }
    return table(busy, about, Ledger(kept=kept))


def test_every_metric_is_filled(busy: Counts) -> None:
    series = everything(busy)
    assert {m.name for m in METRICS if not series.values(m.name) and not series.distributions(m.name)} == set()


def test_no_label_holds_a_key_or_a_fingerprint(busy: Counts) -> None:
    values = set(everything(busy).label_values())
    assert not any("canary" in value or value.startswith("f-") for value in values)


def test_promtool_finds_nothing_to_mend(busy: Counts) -> None:
    promtool = need("promtool", mend="install Debian's package prometheus")
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=render(everything(busy)).text, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout.decode() + checked.stderr.decode()) == (0, "")


def test_a_line_nested_without_end_is_no_exemplar() -> None:
    exemplars = Exemplars()
    exemplars.look(b"[" * 5000 + b"\n")
    exemplars.look(b'{"time":' + b"[" * 5000 + b"\n")
    assert exemplars.known() == {}
