from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.contract.model import Allowance, Contract, PatternDeclaration, TableDeclaration
from analyzer.lifecycle.advance import State, advance
from analyzer.lifecycle.allow import accept
from analyzer.lifecycle.causes import fold
from analyzer.lifecycle.identity import identify
from analyzer.lifecycle.unite import unite
from analyzer.lifecycle.verdict import verdict_of
from analyzer.lifecycle.weight import by_weight
from analyzer.model.batch import MetricSeries
from analyzer.model.finding import Change, Confidence, Direction, Finding, Severity, Status
from analyzer.model.report import PatternKind, PatternLine, Report, Verdict, VerdictState
from analyzer.model.sight import Gap, GapReason, Sight, Skipped, SkipReason, SourceName
from analyzer.model.table import TableDescription
from analyzer.model.target import Target
from analyzer.model.traffic import Place, Traffic
from analyzer.model.window import Window

CLEAN = Verdict(VerdictState.CLEAN, "clean", Confidence.CERTAIN)


def finding(detector: str = "hot-key", severity: Severity = Severity.HIGH, **fields: Any) -> Finding:
    defaults: dict[str, Any] = {"table": "cases", "direction": Direction.READ, "summary": detector}
    fields = {"cause": "key-range"} | defaults | fields
    return identify(Finding(detector=detector, severity=severity, confidence=Confidence.CERTAIN, **fields))


def report(*findings: Finding) -> Report:
    seen = (line(),)
    return Report(
        window=Window(0, 10), as_of=10, region=None, account=None, verdict=CLEAN, findings=findings, patterns=seen
    )


def line(requests: float = 10, table: str = "cases") -> PatternLine:
    return PatternLine(
        kind=PatternKind.DECLARED,
        table=table,
        requests=requests,
        requests_low=requests,
        requests_high=requests,
        units=None,
        waste_units=None,
        p99_ms=None,
    )


# identity


def test_cause_caller_and_severity_do_not_change_an_id() -> None:
    first = finding(subject="k")
    later = finding(severity=Severity.CRITICAL, cause="provisioned", caller="api", subject="k")
    assert first.id == later.id


@pytest.mark.parametrize("other", [{"subject": "other"}, {"index": "GSI1"}, {"table": "t"}, {"region": "eu-west-1"}])
def test_place_and_subject_make_the_id(other: dict[str, str]) -> None:
    fields: dict[str, Any] = {"subject": "k"} | other
    assert finding(subject="k").id != finding(**fields).id


def test_another_secret_gives_another_id() -> None:
    one = finding(subject="k")
    assert identify(one, b"secret").id != one.id


def test_a_finding_links_to_the_page_of_its_detector() -> None:
    assert finding().runbook == "/docs/detectors/hot-key"


# causes


def test_a_pattern_of_an_index_that_nobody_reads_is_told_with_the_index() -> None:
    index, pattern = finding("unused-index", index="by-day"), finding("unused-pattern", index="by-day")
    assert fold((pattern, index))[0].caused_by == index.id
    assert fold((finding("unused-pattern"), index))[0].caused_by is None


def test_a_hot_key_explains_the_throttling_of_its_key_range() -> None:
    cause, effect = finding("hot-key"), finding("throttling")
    assert fold((effect, cause))[0].caused_by == cause.id


def test_a_hot_key_explains_refusals_for_which_no_limit_was_named() -> None:
    key, unknown = finding(), finding("throttling", cause="unknown", subject="read")
    assert fold((key, unknown))[1].caused_by == key.id
    assert fold((key, finding("throttling", cause="provisioned")))[1].caused_by is None


def test_a_hot_index_key_explains_back_pressure_which_explains_throttling() -> None:
    place: dict[str, Any] = {"index": "GSI2", "direction": Direction.WRITE}
    hot, pressure, throttling = (finding(name, **place) for name in ("hot-key", "gsi-back-pressure", "throttling"))
    folded = fold((throttling, pressure, hot))
    assert [one.caused_by for one in folded] == [pressure.id, hot.id, None]


def test_a_fault_of_the_service_explains_the_retries_that_it_causes() -> None:
    storm = finding("retry-storm", cause=None)
    fault = finding("service-fault", cause="service")
    assert fold((storm, fault))[0].caused_by == fault.id
    assert fold((storm, finding("service-fault", Severity.MEDIUM, cause="service")))[0].caused_by is None


def test_a_hot_key_of_the_base_table_does_not_explain_an_indexs_back_pressure() -> None:
    pressure = finding("gsi-back-pressure", index="GSI2", direction=Direction.WRITE)
    assert fold((pressure, finding("hot-key", direction=Direction.WRITE)))[0].caused_by is None


@pytest.mark.parametrize("name", ["unexpected-scan", "polling-read", "unpaced-scan"])
def test_a_scan_or_poll_explains_the_throttling_of_the_capacity_it_takes(name: str) -> None:
    scan, throttling = finding(name, cause=None), finding("throttling", cause="provisioned")
    assert fold((throttling, scan))[0].caused_by == scan.id
    assert fold((throttling, finding(name, Severity.MEDIUM, cause=None)))[0].caused_by is None


@pytest.mark.parametrize(
    "cause",
    [
        finding("hot-key", Severity.LOW),
        finding("hot-key", direction=Direction.WRITE),
        finding("hot-key", table="other"),
        finding("hot-key", index="GSI1"),
        finding("unexpected-scan"),
    ],
)
def test_what_does_not_fit_explains_nothing(cause: Finding) -> None:
    assert fold((finding("throttling"), cause))[0].caused_by is None


def test_an_index_that_is_pushed_back_explains_refusals_that_its_table_counts_without_a_limit() -> None:
    pressure = finding("gsi-back-pressure", index="GSI2", direction=Direction.WRITE)
    unnamed = finding("throttling", direction=Direction.WRITE, cause="unknown")
    named = finding("throttling", direction=Direction.WRITE, cause="provisioned")
    assert [one.caused_by for one in fold((unnamed, named, pressure))] == [pressure.id, None, None]


@pytest.mark.parametrize(
    ("cause", "effect"),
    [
        ("index-building", "missing-index"),
        ("index-building", "gsi-lag"),
        ("index-building", "write-amplification"),
        ("gsi-back-pressure", "gsi-lag"),
        ("gsi-lag", "gsi-stale-read"),
    ],
)
def test_what_an_index_does_explains_findings_of_the_same_index_alone(cause: str, effect: str) -> None:
    why, here, there = finding(cause, index="GSI2"), finding(effect, index="GSI2"), finding(effect, index="GSI1")
    assert [one.caused_by for one in fold((here, there, why))] == [why.id, None, None]


def test_stale_reads_explain_contention_where_conditions_failed_after_them() -> None:
    contention = finding("conditional-contention")
    lost, harmless = (finding("gsi-stale-read", index="GSI2", evidence={"failed_conditions": n}) for n in (3, 0))
    assert fold((contention, lost))[0].caused_by == lost.id
    assert fold((contention, harmless))[0].caused_by is None


def test_a_stuck_lock_explains_contention_of_its_key_alone() -> None:
    stuck = finding("stuck-lock", key={"LockID": "a"})
    here, there, unknown = (
        finding("conditional-contention", key=key) for key in ({"LockID": "a"}, {"LockID": "b"}, None)
    )
    assert [one.caused_by for one in fold((here, there, unknown, stuck))] == [stuck.id, None, None, None]


# advance


@pytest.mark.parametrize("name", ["index-building", "missing-index", "gsi-consistent-read"])
def test_an_index_explains_calls_that_are_not_valid_because_of_it(name: str) -> None:
    why = finding(name, index="GSI1")
    here, there = (finding("request-errors", cause="validation", index=index) for index in ("GSI1", "GSI2"))
    denied = finding("request-errors", cause="access", index="GSI1")
    assert [one.caused_by for one in fold((here, there, denied, why))] == [why.id, None, None, None]


@pytest.mark.parametrize("name", ["polling-read", "count-by-reading", "filter-heavy-query"])
def test_a_scan_that_is_as_bad_explains_what_else_is_said_of_its_requests(name: str) -> None:
    scan = finding("unexpected-scan", Severity.MEDIUM, fingerprint="f1", caller="a")
    same = finding(name, Severity.MEDIUM, fingerprint="f1", caller="a")
    worse = finding(name, Severity.HIGH, fingerprint="f1", caller="a", index="GSI1")
    other = finding(name, Severity.LOW, fingerprint="f2", caller="a", index="GSI2")
    assert [one.caused_by for one in fold((same, worse, other, scan))] == [scan.id, None, None, None]


def test_a_hot_key_explains_the_clock_that_reads_it() -> None:
    hot = finding("hot-key", key={"PK": "A"})
    clocks = [finding("polling-read", Severity.MEDIUM, key={"PK": key}, subject=key) for key in ("A", "B")]
    assert [one.caused_by for one in fold((*clocks, hot))] == [hot.id, None, None]


def test_few_values_explain_a_skew_that_does_no_harm() -> None:
    few = finding("low-cardinality-key", Severity.LOW, key={"PK": "A"})
    skewed, harmful = (finding("hot-key", one, key={"PK": "A"}) for one in (Severity.LOW, Severity.HIGH))
    assert fold((skewed, few))[0].caused_by == few.id
    assert fold((harmful, few))[0].caused_by is None


def test_writes_that_all_indexes_multiply_explain_those_of_one() -> None:
    whole, one = (finding("write-amplification", index=index) for index in (None, "GSI1"))
    assert [each.caused_by for each in fold((whole, one))] == [None, whole.id]


def test_a_filter_explains_that_its_pattern_is_not_as_declared() -> None:
    heavy = finding("filter-heavy-query", pattern="p")
    drifts = [
        finding("pattern-drift", cause=cause, pattern=of)
        for cause, of in (("filter", "p"), ("rate", "p"), ("filter", "q"))
    ]
    assert [one.caused_by for one in fold((*drifts, heavy))] == [heavy.id, None, None, None]


def test_a_finding_opens_once_goes_on_and_closes_after_its_condition_failed_long_enough() -> None:
    one = finding()
    state, shown, events = advance(State(), report(one), 1000, 500)
    assert (shown.findings[0].status, [e.status for e in events]) == (Status.OPEN, [Status.OPEN])
    state, shown, events = advance(state, report(one), 2000, 500)
    assert (shown.findings[0].status, events) == (Status.ONGOING, ())
    state, shown, events = advance(state, report(), 2499, 500)
    assert (len(shown.findings), events) == (1, ())
    state, shown, events = advance(state, report(), 2500, 500)
    assert (shown.findings[0].status, [e.status for e in events]) == (Status.CLOSED, [Status.CLOSED])
    assert advance(state, report(), 3000, 500)[1].findings == ()


def test_a_finding_that_comes_back_before_it_closed_is_the_same_one() -> None:
    one = finding()
    state, _, _ = advance(State(), report(one), 1000, 500)
    state, _, _ = advance(state, report(), 1200, 500)
    _, shown, events = advance(state, report(one), 1400, 500)
    assert (shown.findings[0].first_seen, shown.findings[0].last_seen, events) == (1000, 1400, ())


def test_a_change_before_a_finding_is_named_as_soon_as_it_is_known_and_stays() -> None:
    deploy = Change(time=900, what="deploy")
    state, shown, _ = advance(State(), report(finding()), 1000, 30)
    assert shown.findings[0].since_change is None
    late = msgspec.structs.replace(report(finding()), changes=(deploy,))
    state, shown, _ = advance(state, late, 1010, 30)
    assert shown.findings[0].since_change == deploy
    state, shown, _ = advance(state, report(finding()), 1020, 30)
    assert (shown.findings[0].since_change, shown.findings[0].first_seen) == (deploy, 1000)
    after = msgspec.structs.replace(report(finding()), changes=(Change(time=1001, what="deploy"),))
    assert advance(State(), after, 1000, 30)[1].findings[0].since_change is None


def test_what_was_there_before_a_change_and_comes_back_does_not_name_it() -> None:
    one, minute = finding(), 60_000
    deploy = Change(time=2 * minute, what="deploy")
    state, _, _ = advance(State(), report(one), minute, 500)
    state, _, _ = advance(state, report(), 2 * minute, 500)
    assert state.before[one.id] == Window(minute, minute)
    after = msgspec.structs.replace(report(one), changes=(deploy,))
    state, shown, _ = advance(state, after, 3 * minute, 500)
    assert shown.findings[0].since_change is None
    _, shown, _ = advance(state, after, 4 * minute, 500)
    assert shown.findings[0].since_change is None
    assert advance(State(), after, 3 * minute, 500)[1].findings[0].since_change == deploy


def test_the_verdict_speaks_of_what_is_alive() -> None:
    state, shown, _ = advance(State(), report(finding()), 1000, 500)
    assert shown.verdict.state is VerdictState.FAULT
    state, shown, _ = advance(state, report(), 1200, 500)
    assert shown.verdict.state is VerdictState.FAULT
    _, shown, _ = advance(state, report(), 1500, 500)
    assert (shown.verdict.state, len(shown.findings)) == (VerdictState.CLEAN, 1)


def snoozed(one: Finding) -> Finding:
    return msgspec.structs.replace(one, status=Status.SNOOZED)


def test_a_snoozed_finding_comes_and_goes_without_a_word() -> None:
    state, shown, events = advance(State(), report(snoozed(finding())), 1000, 500)
    assert (shown.findings[0].status, shown.verdict.state, events) == (Status.SNOOZED, VerdictState.CLEAN, ())
    assert advance(state, report(), 2000, 500)[2] == ()


def test_a_finding_opens_when_it_is_snoozed_no_more() -> None:
    state, _, _ = advance(State(), report(snoozed(finding())), 1000, 500)
    _, shown, events = advance(state, report(finding()), 2000, 500)
    assert [event.status for event in events] == [Status.OPEN]
    assert shown.findings[0].first_seen == 1000


# allow

ALLOWING = Contract(
    tables=(
        TableDeclaration(
            name="cases",
            patterns=(
                PatternDeclaration(
                    id="load-case",
                    operations=("GetItem",),
                    allow=(Allowance("hot-key", "2026-12-31", "sharding ships in January"),),
                ),
            ),
        ),
    )
)
NOON_OF_THE_LAST_DAY = 1_798_718_400_000


def test_a_finding_that_its_pattern_allows_is_snoozed_with_the_reason() -> None:
    (one,) = accept((finding(pattern="load-case"),), ALLOWING, NOON_OF_THE_LAST_DAY)
    assert (one.status, one.because) == (Status.SNOOZED, "accepted until 2026-12-31: sharding ships in January")


@pytest.mark.parametrize(
    ("other", "at"),
    [
        (finding("throttling", pattern="load-case"), NOON_OF_THE_LAST_DAY),
        (finding(pattern="unknown"), NOON_OF_THE_LAST_DAY),
        (finding(), NOON_OF_THE_LAST_DAY),
    ],
)
def test_another_detector_or_pattern_is_not_allowed(other: Finding, at: int) -> None:
    assert accept((other,), ALLOWING, at) == (other,)


@pytest.mark.parametrize(
    ("because", "told"),
    [
        (None, "the allowance of hot-key on load-case ended on 2026-12-31"),
        ("it is refused", "it is refused; the allowance of hot-key on load-case ended on 2026-12-31"),
    ],
)
def test_an_allowance_that_ended_speaks_up(because: str | None, told: str) -> None:
    hot = finding(pattern="load-case", because=because)
    (one,) = accept((hot,), ALLOWING, NOON_OF_THE_LAST_DAY + 86_400_000)
    assert (one.status, one.because) == (Status.OPEN, told)


def test_of_two_allowances_the_later_one_counts() -> None:
    (table,) = ALLOWING.tables
    (pattern,) = table.patterns
    renewed = msgspec.structs.replace(
        pattern, allow=(Allowance("hot-key", "2027-03-31", "one quarter more"), *pattern.allow)
    )
    contract = Contract(tables=(msgspec.structs.replace(table, patterns=(renewed,)),))
    (one,) = accept((finding(pattern="load-case"),), contract, NOON_OF_THE_LAST_DAY + 86_400_000)
    assert (one.status, one.because) == (Status.SNOOZED, "accepted until 2027-03-31: one quarter more")


# unite


def at(one: Finding, first: int, last: int, **fields: Any) -> Finding:
    return msgspec.structs.replace(one, first_seen=first, last_seen=last, **fields)


def test_the_worse_of_two_speaks_and_the_span_covers_both() -> None:
    one = finding(subject="k")
    (both,) = unite((at(one, 0, 10),), (at(one, 10, 20, severity=Severity.CRITICAL, status=Status.ONGOING),))
    assert (both.severity, both.first_seen, both.last_seen) == (Severity.CRITICAL, 0, 20)


def test_of_equal_severity_the_one_with_more_evidence_speaks() -> None:
    one = finding(subject="k")
    (both,) = unite((at(one, 0, 10, evidence={"heat": 0.9}),), (at(one, 10, 20, evidence={"heat": 0.5}),))
    assert both.evidence == {"heat": 0.9}


def test_without_numbers_the_first_speaks_and_keeps_its_cause() -> None:
    one = finding(subject="k")
    (both,) = unite((at(one, 0, 10, caused_by="x"),), (at(one, 10, 20, evidence={"heat": "much"}),))
    assert (both.evidence, both.caused_by) == ({}, "x")


def test_times_that_nobody_knows_stay_unknown() -> None:
    one = finding(subject="k")
    (both,) = unite((one,), (one,))
    assert (both.first_seen, both.last_seen) == (None, None)


def test_different_findings_stand_side_by_side() -> None:
    assert len(unite((finding(subject="a"),), (finding(subject="b"),))) == 2


@pytest.mark.parametrize(
    ("detector", "ahead", "span"),
    [
        ("gsi-back-pressure", Severity.LOW, (10, 20)),
        ("hot-key", Severity.LOW, (10, 20)),
        ("hot-key", Severity.MEDIUM, (0, 30)),
        ("throttling", Severity.LOW, (0, 30)),
    ],
)
def test_a_fault_began_where_the_room_that_was_left_is_used_up(
    detector: str, ahead: Severity, span: tuple[int, int]
) -> None:
    before, after = (at(finding(detector, severity=ahead), start, start + 10) for start in (0, 20))
    known = unite((), (before,))
    known = unite(known, (at(finding(detector, severity=Severity.HIGH), 10, 20),))
    (one,) = unite(known, (after,))
    assert (one.severity, one.first_seen, one.last_seen) == (Severity.HIGH, *span)


def test_room_that_is_left_is_a_finding_of_its_own_span() -> None:
    early, late = (at(finding("hot-key", severity=Severity.LOW), start, start + 10) for start in (0, 20))
    (one,) = unite(unite((), (early,)), (late,))
    assert (one.first_seen, one.last_seen) == (0, 30)


# verdict


def test_causes_come_before_what_they_explain() -> None:
    effect = msgspec.structs.replace(finding("throttling", Severity.CRITICAL), caused_by="x")
    assert [one.detector for one in by_weight((effect, finding("hot-key")))] == ["hot-key", "throttling"]


def test_a_high_finding_is_a_fault() -> None:
    one = finding()
    verdict = verdict_of((one,), (), (line(),), ())
    assert (verdict.state, verdict.text, verdict.finding) == (VerdictState.FAULT, "hot-key", one.id)


def test_a_snoozed_finding_is_no_fault() -> None:
    snoozed = msgspec.structs.replace(finding(), status=Status.SNOOZED)
    assert verdict_of((snoozed,), (), (line(),), ()).state is VerdictState.CLEAN


def test_a_hole_in_what_was_asked_for_cannot_be_called_clean() -> None:
    gap = Gap(SourceName.CLOUDWATCH_METRICS, GapReason.DENIED, "GetMetricData")
    verdict = verdict_of((), (gap,), (line(),), ())
    assert (verdict.state, verdict.text) == (VerdictState.CANNOT_TELL, "cannot tell: GetMetricData")


@pytest.mark.parametrize("reason", [GapReason.NOT_ENABLED, GapReason.UNSUPPORTED])
def test_what_nobody_switched_on_hides_nothing_that_was_asked_for(reason: GapReason) -> None:
    gap = Gap(SourceName.CONTRIBUTOR_INSIGHTS, reason, "PKC")
    assert verdict_of((), (gap,), (line(),), ()).state is VerdictState.CLEAN


def test_a_hole_in_history_hides_no_fault_of_now() -> None:
    gap = Gap(SourceName.HISTORY, GapReason.LOW_COVERAGE, "two days")
    assert verdict_of((), (gap,), (line(),), ()).state is VerdictState.CLEAN
    assert verdict_of((), (gap,), (), ()).text == "cannot tell: no request was seen"


def test_a_log_of_another_time_hides_no_fault_of_now() -> None:
    gap = Gap(SourceName.REQUEST_LOG, GapReason.MISUSED, "the log covers yesterday")
    assert verdict_of((), (gap,), (line(),), ()).state is VerdictState.CLEAN
    assert verdict_of((), (gap,), (), ()).text == "cannot tell: no request was seen; the log covers yesterday"


def test_a_clean_verdict_counts_what_is_snoozed_apart_from_lesser_findings() -> None:
    known = snoozed(finding(severity=Severity.CRITICAL))
    told = verdict_of((known, finding("n-plus-one", Severity.LOW)), (), (line(),), ())
    few = "1 lesser finding (n-plus-one of cases, low), 1 snoozed"
    assert told.text == f"clean: 10 requests to 1 table, nothing high or critical, {few}"
    assert verdict_of((known,), (), (line(),), ()).text.endswith("nothing high or critical, 1 snoozed")


def test_without_a_request_nothing_can_be_told() -> None:
    assert verdict_of((), (), (), ()).text == "cannot tell: no request was seen"
    gap = Gap(SourceName.REQUEST_LOG, GapReason.NOT_ENABLED, "requests.jsonl is not there")
    assert verdict_of((), (gap,), (), ()).text == "cannot tell: no request was seen; requests.jsonl is not there"


def test_clean_says_what_was_not_judged() -> None:
    skipped = (Skipped("undeclared-pattern", "cases", None, SkipReason.MISSING_SIGHT, ("CONTRACT",)),)
    assert verdict_of((), (), (line(),), skipped).text.endswith("; not judged everywhere: undeclared-pattern")


@pytest.mark.parametrize(
    ("names", "told"), [("abcd", "a, b, c, d"), ("abcde", "a, b, c and 2 more detectors"), ("aabbcc", "a, b, c")]
)
def test_clean_names_few_of_what_was_not_judged_and_counts_the_others(names: str, told: str) -> None:
    skipped = tuple(Skipped(name, "cases", None, SkipReason.TOO_LITTLE) for name in names)
    assert verdict_of((), (), (line(),), skipped).text.endswith(f"; not judged everywhere: {told}")


@pytest.mark.parametrize(
    ("findings", "lines", "text"),
    [
        ((), (line(1200),), "clean: 1,200 requests to 1 table, nothing high or critical"),
        (
            (finding(severity=Severity.LOW),),
            (line(1), line(2, "other")),
            "clean: 3 requests to 2 tables, nothing high or critical, 1 lesser finding (hot-key of cases, low)",
        ),
        (
            (finding(severity=Severity.LOW), finding(severity=Severity.LOW, subject="x")),
            (line(1),),
            "clean: 1 request to 1 table, nothing high or critical, 2 lesser findings (worst: hot-key of cases, low)",
        ),
    ],
)
def test_clean_says_how_much_was_seen(findings: tuple[Finding, ...], lines: tuple[PatternLine, ...], text: str) -> None:
    assert verdict_of(findings, (), lines, ()).text == text


def undescribed(table: str = "cases") -> Traffic:
    """The silent metrics of a table that only a sweep saw: when it was made is not known."""
    return msgspec.structs.replace(measured(), target=Target(None, None, table), place=Place())


def measured() -> Traffic:
    names = ("ConsumedReadCapacityUnits", "ReadThrottleEvents", "SuccessfulRequestLatency", "SystemErrors")
    metrics = tuple(MetricSeries(name, {"TableName": "cases"}, "Sum", 60, (), (), is_complete=True) for name in names)
    return Traffic(
        target=Target(None, None, "cases"),
        window=Window(0, 60_000),
        sights=frozenset({Sight.METRICS}),
        place=Place(table=TableDescription(name="cases", created=-1)),
        metrics=metrics,
    )


def test_of_a_table_that_is_younger_than_its_first_data_point_nothing_can_be_told() -> None:
    young = Place(table=TableDescription(name="cases", created=30_000))
    one = msgspec.structs.replace(measured(), place=young)
    told = verdict_of((), (), (), (), (one,))
    assert told.state is VerdictState.CANNOT_TELL
    assert told.text == "cannot tell: cases was created at 00:00:30: CloudWatch has no data point of it yet"
    assert verdict_of((), (), (line(),), (), (one,)).state is VerdictState.CLEAN
    seen = msgspec.structs.replace(one.metrics[0], timestamps=(30_000,), values=(1.0,))
    other = msgspec.structs.replace(measured(), metrics=(seen, *measured().metrics[1:]))
    assert verdict_of((), (), (), (), (one, other)).state is VerdictState.CLEAN
    busy = msgspec.structs.replace(one, metrics=(seen, *one.metrics[1:]))
    old = msgspec.structs.replace(one, window=Window(30_000, 90_000))
    assert {verdict_of((), (), (), (), (each,)).state for each in (busy, old)} == {VerdictState.CLEAN}


def test_what_cannot_be_told_names_what_was_seen_all_the_same() -> None:
    lacking = msgspec.structs.replace(measured(), metrics=measured().metrics[:3])

    def told(*findings: Finding) -> str:
        return verdict_of(findings, (), (line(),), (), (lacking,)).text

    alone = "cannot tell: no metric tells of system errors of cases"
    shift = finding("latency-shift", severity=Severity.MEDIUM)
    snoozed = msgspec.structs.replace(shift, status=Status.SNOOZED)
    folded = msgspec.structs.replace(shift, caused_by="another")
    assert told(snoozed, folded, shift) == f"{alone}; what is seen: latency-shift of cases"
    assert told(finding("gsi-lag", severity=Severity.MEDIUM, index="GSI2")).endswith("gsi-lag of cases/GSI2")
    assert told(snoozed, folded, finding(severity=Severity.LOW)) == alone


def test_metrics_without_one_data_point_of_tables_that_nobody_describes_are_not_clean() -> None:
    alone = verdict_of((), (), (), (), (undescribed(),))
    both = verdict_of((), (), (), (), (undescribed(), undescribed("orders")))
    assert alone.state is both.state is VerdictState.CANNOT_TELL
    assert alone.text.startswith("cannot tell: CloudWatch has no data point of cases: either nobody calls there")
    assert both.text.startswith("cannot tell: CloudWatch has no data point of any of 2 tables: either nobody calls")
    assert verdict_of((), (), (), (), (undescribed(), measured())).state is VerdictState.CLEAN


def test_the_permission_that_is_named_is_that_of_the_metrics() -> None:
    scaling = Gap(SourceName.TABLE_CATALOG, GapReason.DENIED, "DescribeScalableTargets")
    log = Gap(SourceName.REQUEST_LOG, GapReason.DENIED, "GetObject")
    metrics = Gap(SourceName.CLOUDWATCH_METRICS, GapReason.DENIED, "GetMetricData")
    assert verdict_of((), (scaling, log, metrics), (), ()).text == "cannot tell: GetMetricData"
    assert verdict_of((), (scaling, log), (), ()).text == "cannot tell: GetObject"


@pytest.mark.parametrize(
    ("source", "reason", "state"),
    [
        (SourceName.TABLE_CATALOG, GapReason.DENIED, VerdictState.CLEAN),
        (SourceName.CHANGES, GapReason.TIMEOUT, VerdictState.CLEAN),
        (SourceName.TABLE_CATALOG, GapReason.TIMEOUT, VerdictState.CANNOT_TELL),
        (SourceName.CLOUDWATCH_METRICS, GapReason.LATE, VerdictState.CANNOT_TELL),
    ],
)
def test_where_metrics_are_whole_only_what_hides_a_fault_blinds(
    source: SourceName, reason: GapReason, state: VerdictState
) -> None:
    assert verdict_of((), (Gap(source, reason, "it"),), (), (), (measured(),)).state is state


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (((1000, 108, 4672),), "about 1,000 [108–4,672] requests to 1 table"),
        (((1000, 990, 1010), (5, 5, 5)), "about 1,005 requests to 1 table"),
        (((300, 297, 304), (400, 396, 403)), "about 700 requests to 1 table"),
        (((100, 70, 140), (100, 60, 130)), "about 200 [150–250] requests to 1 table"),
    ],
)
def test_clean_says_that_a_sample_tells_about_how_much(bounds: tuple[tuple[float, ...], ...], told: str) -> None:
    """Within which bounds only where they are wide; errors of several patterns add up by their squares."""
    lines = tuple(
        msgspec.structs.replace(line(value), requests_low=low, requests_high=high) for value, low, high in bounds
    )
    assert verdict_of((), (), lines, ()).text == f"clean: {told}, nothing high or critical"
