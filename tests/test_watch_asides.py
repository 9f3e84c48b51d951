"""What is judged beside now: what CloudWatch covers, when polls brought something, and the last hour every minute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from analyzer.checkpoint import Beside, Checkpoint
from analyzer.collected import Collected
from analyzer.conclude import Evidence, Judged, conclude
from analyzer.config import load_settings
from analyzer.model.batch import Batch, Block, MetricSeries, StreamStatus
from analyzer.model.finding import Change, Status
from analyzer.model.instant import format_instant
from analyzer.model.life import Memory, Snooze
from analyzer.model.report import VerdictState
from analyzer.model.sight import Covers, Gap, GapReason, Sight, SourceName
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.pipeline import analyze
from analyzer.setup import Setup, build_setup
from analyzer.watch import Watch
from tests.test_watch import block

if TYPE_CHECKING:
    from pathlib import Path

MINUTE = 60_000
NOW = 1_760_000_040_000
"""A whole minute."""
SETTLED = NOW - 3 * MINUTE
QUIET = StreamStatus(files=1, missing=(), pending_bytes=0)
CASES = Target(None, "us-east-1", "cases")


def setup_of(folder: Path, *, log: bool = True, **settings: object) -> Setup:
    told = {"aws": {}, "window": "20s", **({"request_log": {"files": ["log"]}} if log else {}), **settings}
    (folder / "d.yaml").write_text(json.dumps(told))
    return build_setup(load_settings(folder / "d.yaml", {}))


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return setup_of(tmp_path)


def series(metric: str = "ReadThrottleEvents", value: float = 500.0, end: int = SETTLED) -> MetricSeries:
    times = tuple(range(end - 5 * MINUTE, end, MINUTE))
    return MetricSeries(metric, {"TableName": "cases"}, "Sum", 60, times, (value,) * len(times), is_complete=True)


def brought(generation: int = 1, end: int = SETTLED, *more: MetricSeries) -> Collected:
    """What polls of a catalog and of CloudWatch bring: a table that throttles five minutes long."""
    window = Window(end - 15 * MINUTE, end)
    table = TableSnapshot(target=CASES, table=TableDescription(name="cases", billing_mode="PAY_PER_REQUEST"))
    described = Batch(window=window, tables=(table,), covers=(Covers(SourceName.TABLE_CATALOG, window, "cases"),))
    covers = (Covers(SourceName.CLOUDWATCH_METRICS, window, "cases"),)
    told = (series(end=end), series("ReadKeyRangeThroughputThrottleEvents", end=end), *more)
    metrics = Batch(window=window, metrics=told, covers=covers, region="us-east-1")
    return Collected((described, metrics), generation)


def look(watch: Watch, end: int, collected: Collected) -> Evidence:
    """Judge what ends here, and return what it rested on."""
    evidence = watch.gather(end, QUIET, collected)
    watch.take_over(conclude(evidence))
    return evidence


def test_what_cloudwatch_covers_is_judged_when_polls_bring_something_and_stands_until_then(setup: Setup) -> None:
    watch = Watch(setup, None)
    watch.take(block(3, NOW - 10_000), NOW)
    first = look(watch, NOW, brought())
    assert first.settled is not None
    assert first.settled.window == Window(SETTLED - 5 * MINUTE, SETTLED)
    assert first.settled.batches[1].metrics
    again = watch.gather(NOW + 10_000, QUIET, brought())
    assert again.settled is None
    assert again.aside.settled is not None
    assert "throttling" in {found.detector for found in conclude(again).report.findings}
    assert look(watch, NOW + 20_000, brought(2)).settled is not None


def test_now_is_judged_without_series_that_are_not_of_now(setup: Setup) -> None:
    watch = Watch(setup, None)
    watch.take(block(3, NOW - 10_000), NOW)
    now = look(watch, NOW, brought()).observations
    assert [len(batch.metrics) for batch in now.batches] == [0, 0]
    assert now.batches[0].tables


def test_a_window_longer_than_five_minutes_is_that_of_cloudwatch_too(tmp_path: Path) -> None:
    settled = look(Watch(setup_of(tmp_path, window="10m"), None), NOW, brought()).settled
    assert settled is not None
    assert settled.window == Window(SETTLED - 10 * MINUTE, SETTLED)


def test_what_was_covered_half_an_hour_ago_says_nothing_of_now(setup: Setup) -> None:
    watch = Watch(setup, None)
    look(watch, NOW, brought())
    later = NOW + 31 * MINUTE
    stale = watch.gather(later, QUIET, brought(2))
    assert (stale.settled, stale.aside.settled) == (None, None)
    assert {found.status for found in conclude(stale).report.findings} == {Status.CLOSED}


def test_a_poll_that_failed_leaves_the_last_judgement_for_a_while(setup: Setup) -> None:
    watch = Watch(setup, None)
    look(watch, NOW, brought())
    failed = look(watch, NOW + 10 * MINUTE, brought(2))
    assert failed.settled is not None  # of the same stretch, and of nothing newer
    nothing = watch.gather(NOW + 11 * MINUTE, QUIET, Collected((), 3))
    assert nothing.settled is None
    assert nothing.aside.settled is not None


def test_what_failing_polls_leave_is_let_go_when_it_says_nothing_of_now(setup: Setup) -> None:
    watch = Watch(setup, None)
    look(watch, NOW, brought())
    assert watch.gather(NOW + 20 * MINUTE, QUIET, Collected((), 2)).aside.settled is not None
    assert watch.gather(NOW + 31 * MINUTE, QUIET, Collected((), 2)).aside.settled is None


def test_what_was_judged_is_let_go_at_once_when_another_daemon_reads(setup: Setup) -> None:
    watch = Watch(setup, None)
    look(watch, NOW, brought())
    assert watch.gather(NOW + 10_000, QUIET, Collected((), 2, is_standby=True)).aside.settled is None


def test_the_last_hour_is_judged_once_a_minute(setup: Setup) -> None:
    watch = Watch(setup, None)
    spans = [look(watch, NOW + after, brought()).span for after in range(0, 130_000, 10_000)]
    assert [bool(span) for span in spans] == [n % 6 == 0 for n in range(13)]
    assert spans[0] is not None
    assert spans[0].window == Window(NOW - 3_600_000, NOW)
    assert spans[0].batches[1].metrics


def test_the_last_hour_begins_with_the_first_record(setup: Setup) -> None:
    watch = Watch(setup, None)
    watch.take(block(3, NOW - 10 * MINUTE), NOW)
    span = look(watch, NOW, brought()).span
    assert span is not None
    assert span.window == Window(NOW - 10 * MINUTE, NOW)


def test_after_a_reload_everything_is_judged_anew(setup: Setup) -> None:
    watch = Watch(setup, None)
    look(watch, NOW, brought())
    watch.adopt(setup)
    anew = watch.gather(NOW + 10_000, QUIET, brought())
    assert anew.settled is not None
    assert anew.span is not None


def test_without_a_request_log_now_is_what_cloudwatch_covers(tmp_path: Path) -> None:
    watch = Watch(setup_of(tmp_path, log=False), None)
    judged = conclude(watch.gather(NOW, QUIET, brought()))
    assert judged.report.window == Window(SETTLED - 5 * MINUTE, SETTLED)
    assert judged.report.as_of == NOW
    assert [found.detector for found in judged.report.findings if found.table == "cases"]
    assert not [gap for gap in judged.report.gaps if gap.source is SourceName.REQUEST_LOG]


def test_before_the_first_poll_it_cannot_be_told(tmp_path: Path) -> None:
    watch = Watch(setup_of(tmp_path, log=False), None)
    judged = conclude(watch.gather(NOW, QUIET, Collected((), 0)))
    assert judged.report.verdict.state is VerdictState.CANNOT_TELL


def test_what_a_source_could_not_see_is_told_beside_all_stretches(setup: Setup) -> None:
    watch = Watch(setup, None)
    gap = Gap(SourceName.CHANGES, GapReason.DENIED, "LookupEvents: denied")
    collected = brought()
    failed = Batch(window=Window(NOW, NOW), gaps=(gap,))
    judged = conclude(watch.gather(NOW, QUIET, Collected((*collected.batches, failed), 1)))
    assert judged.report.gaps.count(gap) == 1


def test_what_is_beside_the_log_stands_in_the_checkpoint(setup: Setup) -> None:
    beside = Beside((Change(time=NOW, what="deploy", detail="1.4.2"),), {"today": 3.5, "calls": {"GetMetricData": 7}})
    checkpoint = Watch(setup, None).checkpoint(NOW, [], beside)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(checkpoint), type=Checkpoint)
    assert again.beside == beside
    assert Watch(setup, None).checkpoint(NOW, []).beside == Beside()


def test_a_log_that_names_no_place_has_that_of_the_polls_also_where_they_tell_it_no_more(setup: Setup) -> None:
    watch = Watch(setup, None)
    line = {"v": 1, "op": "GetItem", "table": "cases", "key": {"PK": {"S": "CASE#1"}}, "consumed": {"total": 1.0}}
    refused = {"attempts": 2, "tries": [{"at_ms": 0, "code": "ProvisionedThroughputExceededException"}]}
    written = b"".join(
        json.dumps({**line, **refused, "time": format_instant(NOW - 1000 * second)}).encode() + b"\n"
        for second in range(600)
    )
    watch.take(Block(written), NOW)
    metrics = Batch(
        window=Window(0, NOW), metrics=brought().batches[1].metrics, account="111122223333", region="eu-west-1"
    )
    told = conclude(watch.gather(NOW, QUIET, Collected((metrics,), 1))).report
    later = conclude(watch.gather(NOW + 10_000, QUIET, Collected((), 2))).report
    for report in (told, later):
        (throttling,) = [found for found in report.findings if found.detector == "throttling"]
        assert (throttling.account, throttling.region) == ("111122223333", "eu-west-1")


def metrics_of(end: int, throttled: range = range(0), table: str = "cases", *, covered: int | None = None) -> Batch:
    """What a poll of CloudWatch brings that ends here: an hour of reads, of which these minutes were throttled."""
    start = end - 60 * MINUTE
    times = tuple(range(start, covered or end, MINUTE))
    read = MetricSeries(
        "ConsumedReadCapacityUnits", {"TableName": table}, "Sum", 60, times, (600.0,) * len(times), is_complete=True
    )
    bad = tuple(NOW + minute * MINUTE for minute in throttled if NOW + minute * MINUTE < (covered or end))
    refused = tuple(
        MetricSeries(name, {"TableName": table}, "Sum", 60, bad, (500.0,) * len(bad), is_complete=True)
        for name in ("ReadThrottleEvents", "ReadKeyRangeThroughputThrottleEvents")
    )
    covers = (Covers(SourceName.CLOUDWATCH_METRICS, Window(start, covered or end), table),)
    return Batch(window=Window(start, end), metrics=(read, *refused), covers=covers, region="us-east-1")


def together(one: Batch, other: Batch) -> Batch:
    """What one poll brings of two tables."""
    return msgspec.structs.replace(one, metrics=one.metrics + other.metrics, covers=one.covers + other.covers)


def failed(generation: int) -> Collected:
    gap = Gap(SourceName.CLOUDWATCH_METRICS, GapReason.TIMEOUT, "GetMetricData: no answer")
    return Collected((Batch(window=Window(NOW, NOW), gaps=(gap,), region="us-east-1"),), generation)


def states(judged: Judged, detector: str = "throttling") -> list[tuple[Status, int | None, int | None]]:
    found = [one for one in judged.report.findings if one.detector == detector]
    return [(one.status, one.first_seen, one.last_seen) for one in found]


def judge(watch: Watch, end: int, collected: Collected) -> Judged:
    judged = conclude(watch.gather(end, QUIET, collected))
    watch.take_over(judged)
    return judged


def after(minutes: int) -> int:
    return NOW + minutes * MINUTE


@pytest.fixture
def metrics_alone(tmp_path: Path) -> Watch:
    """A daemon that has judged all that CloudWatch told until now."""
    watch = Watch(setup_of(tmp_path, log=False, close_after="30s"), None)
    judge(watch, after(3), Collected((metrics_of(NOW),), 1))
    return watch


def test_a_fault_that_lay_wholly_in_an_outage_of_cloudwatch_is_told_as_closed_with_its_times(
    metrics_alone: Watch,
) -> None:
    for minutes in range(6, 24, 3):
        assert states(judge(metrics_alone, after(minutes), failed(minutes))) == []
    recovered = judge(metrics_alone, after(25), Collected((metrics_of(after(22), range(5, 11)),), 25))
    (told,) = states(recovered)
    assert told == (Status.CLOSED, after(4), after(13))  # to the minute or two, by windows half over one another
    assert [one.status for one in recovered.events.findings] == [Status.CLOSED] * len(recovered.events.findings)
    assert "throttling" in {one.detector for one in recovered.events.findings}
    assert recovered.report.verdict.state is not VerdictState.FAULT
    again = judge(metrics_alone, after(26), Collected((metrics_of(after(23), range(5, 11)),), 26))
    assert (states(again), again.events.findings) == ([], ())


def test_a_fault_that_began_in_an_outage_and_goes_on_is_new_with_its_own_beginning(metrics_alone: Watch) -> None:
    recovered = judge(metrics_alone, after(25), Collected((metrics_of(after(22), range(12, 60)),), 25))
    (told,) = states(recovered)
    assert told == (Status.OPEN, after(10), after(25))
    assert next(one for one in recovered.events.findings if one.detector == "throttling").first_seen == after(10)
    again = judge(metrics_alone, after(30), Collected((metrics_of(after(27), range(12, 60)),), 30))
    assert states(again) == [(Status.ONGOING, after(10), after(30))]


def test_a_fault_that_was_told_before_an_outage_and_goes_on_keeps_its_beginning(metrics_alone: Watch) -> None:
    judge(metrics_alone, after(8), Collected((metrics_of(after(5), range(1, 60)),), 2))
    recovered = judge(metrics_alone, after(25), Collected((metrics_of(after(22), range(1, 60)),), 3))
    assert states(recovered) == [(Status.ONGOING, after(8), after(25))]
    assert recovered.events.findings == ()


def test_what_was_told_meanwhile_is_not_told_again(metrics_alone: Watch) -> None:
    faulty = Collected((metrics_of(after(5), range(1, 5)),), 2)
    assert states(judge(metrics_alone, after(8), faulty)) == [(Status.OPEN, after(8), after(8))]
    over = judge(metrics_alone, after(40), failed(3))
    assert [status for status, *_ in states(over)] == [Status.CLOSED]
    recovered = judge(metrics_alone, after(41), Collected((metrics_of(after(38), range(1, 8)),), 4))
    assert states(recovered) == []  # its last minutes, though, nobody could see


def test_nobody_is_told_of_what_is_snoozed_also_when_it_comes_late(metrics_alone: Watch) -> None:
    evidence = metrics_alone.gather(after(25), QUIET, Collected((metrics_of(after(22), range(5, 11)),), 25))
    found = conclude(evidence).events.findings
    snoozes = tuple(Snooze(id=one.id, until=after(60), reason="known", at=NOW) for one in found)
    hushed = msgspec.structs.replace(evidence, memory=Memory(snoozes))
    assert found
    assert conclude(hushed).events.findings == ()
    assert states(conclude(hushed)) == []


def test_what_came_while_another_daemon_read_is_told_by_that_one(metrics_alone: Watch) -> None:
    judge(metrics_alone, after(6), Collected((), 2, is_standby=True))
    again = judge(metrics_alone, after(25), Collected((metrics_of(after(22), range(5, 11)),), 25))
    assert states(again) == []


def test_a_late_table_is_judged_as_far_as_it_reaches_and_not_over_minutes_that_it_lacks(tmp_path: Path) -> None:
    watch = Watch(setup_of(tmp_path, log=False), None)
    late = metrics_of(NOW, range(-8, -3), "orders", covered=after(-3))
    evidence = watch.gather(after(3), QUIET, Collected((together(metrics_of(NOW), late),), 1))
    assert evidence.settled is not None
    assert evidence.settled.window == Window(after(-5), NOW)
    assert [series.dimensions["TableName"] for series in evidence.settled.batches[0].metrics] == ["cases"] * 3
    (portion,) = evidence.late
    assert portion.observations.window == Window(after(-8), after(-3))
    judged = conclude(evidence)
    (throttling,) = [one for one in judged.report.findings if one.detector == "throttling"]
    assert throttling.table == "orders"
    metrics = {state.table: state.state for state in judged.report.sight if state.capability is Sight.METRICS}
    assert metrics == {"cases": "seen", "orders": "seen"}
    assert judged.report.window == Window(after(-5), NOW)


def test_a_table_that_says_nothing_of_now_is_not_seen(tmp_path: Path) -> None:
    watch = Watch(setup_of(tmp_path, log=False), None)
    known = TableSnapshot(target=Target(None, "us-east-1", "orders"), table=TableDescription(name="orders"))
    described = Batch(window=Window(NOW, NOW), tables=(known,), region="us-east-1")
    old = metrics_of(NOW, range(-50, -45), "orders", covered=after(-40))
    evidence = watch.gather(after(3), QUIET, Collected((together(metrics_of(NOW), old), described), 1))
    assert evidence.late == ()
    settled = analyze(evidence.settled, evidence.attribute, ()) if evidence.settled else None
    assert settled is not None
    metrics = {state.table: state.state for state in settled.sight if state.capability is Sight.METRICS}
    assert metrics == {"cases": "seen", "orders": "not-seen"}


def test_a_fault_is_told_once_also_where_only_the_log_names_the_account(setup: Setup) -> None:
    watch = Watch(setup, None)
    line = {
        "v": 1,
        "op": "GetItem",
        "table": "cases",
        "account": "111122223333",
        "region": "us-east-1",
        "attempts": 2,
        "consumed": {"total": 1.0},
        "tries": [{"at_ms": 0, "code": "ProvisionedThroughputExceededException"}],
    }
    times = (NOW - 1000 * second for second in range(600))
    watch.take(Block(b"".join(json.dumps({**line, "time": format_instant(at)}).encode() + b"\n" for at in times)), NOW)
    report = conclude(watch.gather(NOW, QUIET, brought())).report
    assert [one.account for one in report.findings if one.detector == "throttling"] == ["111122223333"]
    assert {state.account for state in report.sight} == {"111122223333"}
