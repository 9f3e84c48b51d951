"""What is judged beside now: what CloudWatch covers, when polls brought something, and the last hour every minute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from analyzer.checkpoint import Beside, Checkpoint
from analyzer.collected import Collected
from analyzer.config import load_settings
from analyzer.model.batch import Batch, Block, MetricSeries, StreamStatus
from analyzer.model.finding import Change, Status
from analyzer.model.instant import format_instant
from analyzer.model.report import VerdictState
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.table import TableDescription, TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.setup import Setup, build_setup
from analyzer.watch import Evidence, Watch, conclude
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
