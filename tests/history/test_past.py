from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pytest

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.history.columns import SCHEMAS, Kind
from analyzer.history.daily import finding_rows, table_rows
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history.past import load_past, past_of
from analyzer.history.together import Together, pair_rows, together_in, together_of
from analyzer.model.calls import CallBook
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.history import EMPTY, History
from analyzer.model.shape import KeyPredicate
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.reports.frame import frame_of, load_weeks
from analyzer.statistics.rates import Standing, rate_ratio
from analyzer.traffic.drift import Tolerance
from analyzer.traffic.drift_rate import past_facet
from tests.support.calls import call
from tests.support.evidence import CASES, shape
from tests.support.history_days import write_days
from tests.support.history_weeks import START, WEEK, Weeks, eight_weeks, write_weeks

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400_000
ORDERS = Target("111122223333", "us-east-1", "orders")
CASES_KNOWN = Target("111122223333", "us-east-1", "cases")


@pytest.fixture(scope="module")
def weeks() -> Weeks:
    return eight_weeks()


def test_detectors_are_told_days_of_this_week_and_the_one_before(weeks: Weeks) -> None:
    past = past_of(weeks.rows[Kind.HOURS], (Window(START, WEEK.end),), WEEK.end)
    one = past.patterns[ORDERS]["list-orders"]
    ratio = rate_ratio(one.before, one.now, wobble=one.wobble)
    assert (len(one.before), len(one.now)) == (7, 7)
    assert ratio is not None
    assert ratio.value == pytest.approx(2.6, rel=0.15)
    assert 0 < one.wobble < 0.5
    assert past.patterns[ORDERS]["load-order"].wobble < 0.02
    assert past.spans[ORDERS].seconds == 14 * 86_400


@pytest.mark.parametrize("hours", [0, 1, 7 * 24, 14 * 24])
def test_a_holiday_hides_no_drift_and_makes_none(weeks: Weeks, hours: int) -> None:
    end = WEEK.end - hours * 3_600_000
    past = past_of(weeks.rows[Kind.HOURS], (Window(START, WEEK.end),), end)
    tolerance = Tolerance(1.5, 0.05, 20)
    facets = {
        name: past_facet(name, target, past, tolerance, 0.05)
        for target, known in past.patterns.items()
        for name in known
    }
    standings = {name: facet.standing for name, facet in facets.items() if facet is not None}
    drifted = {"list-orders"} if hours < 24 else set()
    assert {name for name, standing in standings.items() if standing is Standing.OUT} == drifted
    assert sum(standing is Standing.IN for standing in standings.values()) >= len(standings) - 4


def test_what_runs_by_the_clock_has_no_holiday(weeks: Weeks) -> None:
    past = past_of(weeks.rows[Kind.HOURS], (Window(START, WEEK.end),), WEEK.end)
    thursday = 3
    load, export = past.patterns[ORDERS]["load-order"], past.patterns[ORDERS]["export-orders"]
    assert load.before[thursday] < load.before[thursday - 1] / 2
    assert export.before[thursday] == pytest.approx(export.before[thursday - 1], rel=0.5)


def test_of_few_patterns_no_day_is_everybodys(tmp_path: Path) -> None:
    counts = [1000.0] * 14
    counts[10] = 100.0
    dataset = write_days(tmp_path, WEEK.end, {"load-case": counts})
    past = asyncio.run(load_past(dataset, WEEK.end)).patterns[CASES_KNOWN]["load-case"]
    assert past.before == (1000.0,) * 7
    assert past.now[3] == 100.0


def test_nobody_asked_anything_in_two_weeks_that_were_looked_at(tmp_path: Path) -> None:
    dataset = write_days(tmp_path, WEEK.end, {"load-case": [0.0] * 14})
    assert asyncio.run(load_past(dataset, WEEK.end)) == EMPTY
    assert past_of(SCHEMAS[Kind.HOURS].empty_table(), (Window(START, WEEK.end),), WEEK.end) == EMPTY


def test_a_fortnight_with_a_hole_tells_nothing(weeks: Weeks) -> None:
    covered = (Window(START, WEEK.start - DAY), Window(WEEK.start, WEEK.end))
    assert past_of(weeks.rows[Kind.HOURS], covered, WEEK.end) == EMPTY
    assert past_of(weeks.rows[Kind.HOURS], (), WEEK.end) == EMPTY


def test_a_wobble_is_learned_from_enough_weeks_alone(weeks: Weeks) -> None:
    covered = (Window(WEEK.start - 14 * DAY, WEEK.end),)
    past = past_of(weeks.rows[Kind.HOURS], covered, WEEK.end)
    assert {one.wobble for known in past.patterns.values() for one in known.values()} == {0.0}


def test_weeks_are_read_as_they_were_written(weeks: Weeks, tmp_path: Path) -> None:
    kept = {kind: rows.filter(_since(rows, WEEK.start - 7 * DAY)) for kind, rows in weeks.rows.items()}
    dataset = asyncio.run(write_weeks(tmp_path, Weeks(kept, EMPTY_CONTRACT)))
    week, past = asyncio.run(load_weeks(dataset, WEEK, past=1))
    made = weeks.frame(7)
    assert len(past) == 1
    assert (week.is_by_day, past[0].is_by_day) == (False, True)
    assert (week.covered, week.torn, len(week.tables), len(week.shapes)) == ((WEEK,), 0, 5, 22)
    assert week.hours["requests"].sum() == made.hours["requests"].sum()
    assert (week.latency.sum(axis=0) == made.latency.sum(axis=0)).all()
    assert asyncio.run(load_past(dataset, WEEK.end)).patterns[ORDERS]["list-orders"].now[0] > 0


def test_the_past_is_worked_out_beside_the_loop_from_the_columns_that_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[bool, int]] = []

    def remembered(rows: pa.Table, covered: tuple[Window, ...], end: int) -> History:
        made.append((threading.current_thread() is threading.main_thread(), rows.num_columns))
        return past_of(rows, covered, end)

    monkeypatch.setattr("analyzer.history.past.past_of", remembered)
    dataset = write_days(tmp_path, WEEK.end, {"load-case": [1000.0] * 14})
    assert asyncio.run(load_past(dataset, WEEK.end)).patterns[CASES_KNOWN]["load-case"].before == (1000.0,) * 7
    assert made == [(False, 8)]


def _since(rows: pa.Table, start: int) -> pa.Array:
    return pa.array(rows["start"].cast(pa.int64()).to_numpy() >= start)


def test_a_frame_of_nothing_is_empty() -> None:
    frame = frame_of(WEEK, {Kind.HOURS: SCHEMAS[Kind.HOURS].empty_table()}, ())
    assert (len(frame.hours), frame.latency.shape[0], frame.covered_seconds, frame.tables) == (0, 0, 0, ())


def test_findings_and_tables_are_kept_whole_and_the_newest_stands(tmp_path: Path) -> None:
    finding = Finding(
        detector="hot-key", severity=Severity.HIGH, confidence=Confidence.CERTAIN, table="cases", id="f1", summary="hot"
    )
    newer = msgspec.structs.replace(finding, severity=Severity.CRITICAL)
    snapshot = TableSnapshot(target=CASES, table=TableDescription(name="cases", size_bytes=7))
    rows = {
        Kind.HOURS: SCHEMAS[Kind.HOURS].empty_table(),
        Kind.FINDINGS: pa.concat_tables([finding_rows(WEEK.start + DAY, [newer]), finding_rows(WEEK.start, [finding])]),
        Kind.TABLES: table_rows(WEEK.start, [snapshot]),
    }
    frame = frame_of(WEEK, rows, ())
    assert frame.findings == (newer,)
    assert frame.tables == (snapshot,)
    assert asyncio.run(Dataset(FolderBlobs(tmp_path)).names(Kind.FINDINGS, WEEK)) == []


def test_entities_that_one_trace_reads_are_counted_together() -> None:
    user = shape("GetItem", "u", key=(KeyPredicate("PK", "=", "USER#<id>", ("USER#<userId>",)),))
    order = shape("Query", "o", key=(KeyPredicate("PK", "=", "ORDER#<id>"),))
    calls = [
        call(of=one, trace=trace, at=WEEK.start / 1000 + n)
        for n, (one, trace) in enumerate(
            [(user, "t1"), (order, "t1"), (user, "t2"), (shape("PutItem"), "t2"), (shape("Scan", key=()), "t3")]
        )
    ]
    found = together_in(CallBook(calls), WEEK)
    assert found.alone[("cases", "USER#<userId>")] == 2
    assert dict(found.pairs) == {(("cases", "ORDER#<id>"), ("cases", "USER#<userId>")): 1}
    rows = pair_rows(WEEK.start, found)
    assert rows.to_pylist()[0]["one_traces"] == 1
    again = together_of(rows)
    again.add(found)
    assert again.pairs[("cases", "ORDER#<id>"), ("cases", "USER#<userId>")] == 2
    assert len(pair_rows(WEEK.start, together_in(CallBook(calls), Window(0, 1)))) == 0


def test_the_summary_of_a_row_names_a_key_by_its_template() -> None:
    one = Finding(
        detector="hot-key",
        severity=Severity.HIGH,
        confidence=Confidence.CERTAIN,
        table="cases",
        summary="{key} takes 41%",
        key={"PK": "CASE#~k9f3aa"},
        key_template={"PK": "CASE#<number>"},
    )
    assert finding_rows(WEEK.start, [one])["summary"].to_pylist() == ["CASE#<number> takes 41%"]


def test_what_is_counted_together_has_a_bound_and_what_made_room_is_counted() -> None:
    often = (("cases", "OFTEN"), ("users", "OFTEN"))
    found = Together()
    for stretch in range(10):
        rare = [("cases", f"R{stretch}-{number:04d}") for number in range(1000)]
        found.count([*often, *rare], [often, *zip(rare[::2], rare[1::2], strict=True)])
        found.count([], [often])
    assert len(found.alone) <= 4000
    assert len(found.pairs) <= 4000
    assert found.pairs[often] == 20
    assert found.dropped > 0
    for number in range(4001):
        found.count([], [(("a", str(number)), ("b", str(number)))])
    assert len(found.pairs) <= 4000
    assert found.pairs[often] == 20
