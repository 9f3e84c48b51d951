"""The whole street in memory: the demo's log and contract in, verdicts out."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from msgspec import Struct

from analyzer.contract.load import load_contract
from analyzer.contract.model import EMPTY_CONTRACT, Contract
from analyzer.detectors import DETECTORS
from analyzer.model.batch import Batch
from analyzer.model.counts import Count
from analyzer.model.finding import Severity, Status
from analyzer.model.observations import Observations
from analyzer.model.report import PatternKind, VerdictState
from analyzer.model.sight import Gap, GapReason, Horizon, Sight, Skipped, SkipReason, SourceName
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.pipeline import Walk, analyze, of_horizon
from analyzer.requests.digest import Digest
from tests.support.counting import cell, counts
from tests.support.evidence import CASES, shape
from tests.support.told import MINUTE_MS, insight, series

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.interfaces import Detector
    from analyzer.model.finding import Finding
    from analyzer.model.report import Report
    from analyzer.model.traffic import Traffic

ROOT = Path(__file__).parents[1]
LOG = gzip.decompress((ROOT / "tests/data/demo.jsonl.gz").read_bytes())
WINDOW_MS = 20_000
OF_THE_WHOLE_LOG = {one.name for one in DETECTORS if one.horizon is Horizon.SPAN}
"""Detectors that look at all there is: what they find lasts to its end."""
ALL: tuple[Detector, ...] = tuple(detector() for detector in DETECTORS)


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load_contract([ROOT / "deploy/demo/contract.yaml"])


def walked(contract: Contract, *, step: int | None = None, detectors: tuple[Detector, ...] = ALL) -> Report:
    """Feed the log whole, or line block by line block with a look after each, and conclude."""
    digest = Digest(contract.lexicon())
    walk = Walk(contract, detectors, window_ms=WINDOW_MS)
    lines = LOG.splitlines(keepends=True)
    for start in range(0, len(lines), step or len(lines)):
        digest.update(b"".join(lines[start : start + (step or len(lines))]))
        span = digest.span()
        if step is not None and span is not None:
            walk.advance(digest, span.end - 60_000)
    return walk.finish(digest)


@pytest.fixture(scope="module")
def report(contract: Contract) -> Report:
    return walked(contract)


def test_each_planted_fault_is_found_with_its_place_and_caller(report: Report) -> None:
    causes = [f for f in report.findings if f.caused_by is None and f.severity is not Severity.LOW]
    found = {(f.detector, f.index, f.caller) for f in causes}
    assert found == {
        ("hot-key", None, "case-dashboard-api"),
        ("hot-key", "GSI2", "case-worker"),
        ("unexpected-scan", None, "report-job"),
        ("filter-heavy-query", "GSI2", "notifier"),
        ("undeclared-pattern", None, "case-dashboard-api"),
    }


def test_what_another_finding_explains_is_folded_under_it(report: Report) -> None:
    explained = {(f.detector, f.index) for f in report.findings if f.caused_by is not None}
    assert explained == {
        ("throttling", None),
        ("throttling", "GSI2"),
        ("gsi-back-pressure", "GSI2"),
        ("pattern-drift", "GSI2"),
    }


def test_faults_that_ended_are_closed_and_have_their_span(report: Report) -> None:
    for finding in report.findings:
        if finding.detector in OF_THE_WHOLE_LOG:
            continue
        assert finding.status is Status.CLOSED
        assert finding.first_seen is not None
        assert finding.last_seen is not None
        assert report.window.start <= finding.first_seen < finding.last_seen <= report.window.end


def test_the_verdict_rests_on_the_worst_finding(report: Report) -> None:
    assert report.verdict.state is VerdictState.FAULT
    (worst,) = [f for f in report.findings if f.id == report.verdict.finding]
    assert worst.severity is Severity.CRITICAL


def test_attributed_undeclared_and_ambiguous_requests_add_up_to_all(report: Report) -> None:
    assert sum(line.requests for line in report.patterns) == LOG.count(b'"op"') - LOG.count(b'{"op"')
    assert {line.kind for line in report.patterns} == {PatternKind.DECLARED, PatternKind.UNDECLARED}


def test_where_all_requests_went_to_one_region_and_account_the_report_is_of_these(report: Report) -> None:
    assert (report.region, report.account) == ("us-east-1", "123456789012")


def test_where_regions_differ_the_report_is_of_none() -> None:
    europe = Target(CASES.account, "eu-west-1", "cases")
    evidence = counts((cell(), {Count.REQUESTS: 1}), (cell(target=europe), {Count.REQUESTS: 1}))
    report = analyze(Observations(window=Window(0, 60_000), counts=evidence), EMPTY_CONTRACT, ())
    assert (report.region, report.account) == (None, "111122223333")


def test_a_log_read_in_steps_gives_the_same_findings_as_one_read_at_once(contract: Contract, report: Report) -> None:
    def told(findings: Iterable[Finding]) -> list[tuple[object, ...]]:
        return [(f.id, f.severity, f.first_seen, f.last_seen, f.summary) for f in findings]

    assert told(walked(contract, step=500).findings) == told(report.findings)


def test_without_a_contract_only_what_needs_none_is_judged() -> None:
    report = walked(EMPTY_CONTRACT)
    assert {f.detector for f in report.findings} >= {"unexpected-scan", "throttling"}
    missing = [skip for skip in report.skipped if skip.reason is SkipReason.MISSING_SIGHT]
    assert {skip.detector for skip in missing if skip.needs == ("CONTRACT",)} >= {"undeclared-pattern", "declared-scan"}


def test_an_empty_log_tells_nothing() -> None:
    digest = Digest(EMPTY_CONTRACT.lexicon())
    report = Walk(EMPTY_CONTRACT, ALL, window_ms=WINDOW_MS).finish(digest, window=Window(0, 60_000))
    assert (report.verdict.state, report.findings) == (VerdictState.CANNOT_TELL, ())


# analyze


class Timid(Struct, frozen=True):
    """A detector that dares nothing."""

    name: ClassVar[str] = "timid"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.METRICS, Sight.TABLE}),
        frozenset({Sight.REQUESTS}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset()

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        yield Skipped(self.name, traffic.target.table, traffic.target.index, SkipReason.TOO_LITTLE)


class Torn(Timid, frozen=True):
    """A detector with two ways to look that lack one sight each, the second partly met."""

    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.METRICS}),
        frozenset({Sight.REQUESTS, Sight.TABLE}),
    )


def once(*, sources: frozenset[SourceName], detector: Detector | None = None, **fields: object) -> Report:
    evidence = counts((cell(shape("Query", "q")), {Count.REQUESTS: 5}))
    observations = Observations(window=Window(0, 60_000), counts=evidence, sources=sources, **fields)  # type: ignore[arg-type]
    return analyze(observations, EMPTY_CONTRACT, (detector or Timid(),))


def test_a_detector_may_skip_a_target_itself() -> None:
    (skipped,) = once(sources=frozenset({SourceName.REQUEST_LOG})).skipped
    assert (skipped.detector, skipped.table, skipped.reason) == ("timid", "cases", SkipReason.TOO_LITTLE)


def test_a_detector_whose_needs_are_not_met_is_skipped_with_what_it_lacks_least() -> None:
    (skipped,) = once(sources=frozenset()).skipped
    assert (skipped.reason, skipped.needs) == (SkipReason.MISSING_SIGHT, ("REQUESTS",))


def test_of_alternatives_that_lack_as_much_the_one_that_is_partly_met_is_named() -> None:
    (skipped,) = once(sources=frozenset({SourceName.REQUEST_LOG}), detector=Torn()).skipped
    assert skipped.needs == ("TABLE",)


def test_gaps_of_every_source_are_in_the_report() -> None:
    gap = Gap(SourceName.CHANGES, GapReason.DENIED, "LookupEvents")
    other = Gap(SourceName.REQUEST_LOG, GapReason.MALFORMED, "half of the lines are broken")
    batch = Batch(window=Window(0, 1), gaps=(gap,))
    report = once(sources=frozenset({SourceName.REQUEST_LOG}), gaps=(other,), batches=(batch,))
    assert report.gaps == (other, gap)
    assert report.verdict.state is VerdictState.CANNOT_TELL


# what was collected beside a log


class Noting(Struct, frozen=True):
    """A detector that notes which windows it was shown."""

    windows: list[Window]
    looks: Horizon = Horizon.WINDOW

    name: ClassVar[str] = "noting"
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset(),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset()

    @property
    def horizon(self) -> Horizon:
        return self.looks

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        self.windows.append(traffic.window)
        return ()


def replayed(*detectors: Detector, **collected: object) -> Report:
    stretch = Window(0, 3 * MINUTE_MS)
    batch = Batch(window=stretch, **collected)  # type: ignore[arg-type]
    beside = Observations(
        window=stretch,
        batches=(batch,),
        account=CASES.account,
        region=CASES.region,
        sources=frozenset({SourceName.CLOUDWATCH_METRICS}),
    )
    walk = Walk(EMPTY_CONTRACT, detectors, window_ms=2 * MINUTE_MS, beside=beside)
    return walk.finish(Digest(EMPTY_CONTRACT.lexicon()), window=stretch)


def test_without_a_request_windows_end_where_metrics_say_something() -> None:
    near, far = Noting([]), Noting([], Horizon.SPAN)
    replayed(near, far, metrics=(series("ConsumedReadCapacityUnits", (1, 1, 1)),))  # type: ignore[arg-type]
    assert [window.end for window in near.windows] == [MINUTE_MS, 2 * MINUTE_MS, 3 * MINUTE_MS]
    assert near.windows[-1] == Window(MINUTE_MS, 3 * MINUTE_MS)
    assert far.windows == [Window(0, 3 * MINUTE_MS)]


def test_detectors_are_told_apart_by_how_far_they_look() -> None:
    assert {detector.name for detector in of_horizon(ALL, Horizon.WINDOW)} >= {"hot-key", "throttling"}
    assert of_horizon((Timid(),), Horizon.SPAN) == ()


def test_a_hot_key_is_found_from_insights_alone_with_its_shape() -> None:
    report = replayed(*ALL, insights=(insight("PKC", (20_000, 175_000, 176_000), "CASE#0042"),))
    (hot,) = [finding for finding in report.findings if finding.detector == "hot-key"]
    assert (hot.severity, hot.key, hot.sources) == (
        Severity.HIGH,
        {"partition key": "CASE#0042"},
        ("contributor-insights",),
    )
    assert (hot.status, hot.last_seen) == (Status.OPEN, 3 * MINUTE_MS)


def test_quiet_metrics_of_all_kinds_are_clean_at_table_level() -> None:
    kinds = ("ConsumedReadCapacityUnits", "ReadThrottleEvents", "SuccessfulRequestLatency", "SystemErrors")
    report = replayed(*ALL, metrics=tuple(series(name, (1,) if name.startswith("C") else ()) for name in kinds))
    assert report.verdict.state is VerdictState.CLEAN
    assert report.verdict.text.startswith("clean at table level: 1 table, nothing high or critical")


def test_metrics_that_lack_a_kind_cannot_tell() -> None:
    report = replayed(*ALL, metrics=(series("ConsumedReadCapacityUnits", (1,)),))
    assert report.verdict.state is VerdictState.CANNOT_TELL
    assert report.verdict.text == "cannot tell: no metric tells of throttles of cases"
