from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.model.finding import Advice, Change, Confidence, Direction, Finding, SelfHeals, Severity, Status
from analyzer.model.report import PatternKind, PatternLine, Report, Verdict, VerdictState
from analyzer.model.sight import Gap, GapReason, Sight, SightState, SourceName
from analyzer.model.table import ScalingLimits
from analyzer.model.traffic import Capacity, MetricThrottles, Place, Traffic
from analyzer.model.window import Window
from analyzer.planning.diagnosis import Diagnosis, diagnose_report, diagnosis_of_daemon, shown
from analyzer.planning.headline import latency_words
from analyzer.planning.onset import compared_stretch, onset_of
from analyzer.planning.steps import Means
from analyzer.planning.suspects import suspects_of
from analyzer.render.diagnosis_json import diagnosis_object
from analyzer.render.diagnosis_markdown import render_diagnosis_markdown
from analyzer.render.diagnosis_text import render_diagnosis
from analyzer.requests.tokens import Salt
from tests.support.evidence import CASES, GSI2, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.render.show import Policy

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
DAY_MS = 24 * HOUR_MS
START = 30 * DAY_MS
WINDOW = Window(START, START + 30 * MINUTE_MS)
BAD = START + 20 * MINUTE_MS
SEEN = frozenset({Sight.METRICS, Sight.TABLE})


def found(detector: str = "throttling", severity: Severity = Severity.HIGH, **fields: Any) -> Finding:
    told: dict[str, Any] = {
        "summary": f"{detector} it is",
        "table": "cases",
        "id": detector,
        "direction": Direction.WRITE,
        "cause": "provisioned",
    }
    return Finding(detector=detector, severity=severity, **{"confidence": Confidence.CERTAIN} | told | fields)


def refused(*, reason: str = "ProvisionedThroughput", minutes: int = 10) -> Any:
    return series(f"Write{reason}ThrottleEvents", [60.0] * minutes, start=BAD)


def seen(*metrics: Any, mode: str = "PROVISIONED", **fields: Any) -> Traffic:
    place = Place(capacity=Capacity(billing_mode=mode, read_units=100, write_units=50), partition_key=("PK",))
    defaults: dict[str, Any] = {"metrics": metrics, "window": WINDOW, "rows": (), "sights": SEEN, "place": place}
    return traffic(**defaults | fields)


def report(
    *findings: Finding, of: tuple[Traffic, ...] = (), state: VerdictState | None = None, **fields: Any
) -> Report:
    is_fault = any(one.severity.rank > 1 for one in findings)
    verdict = Verdict(
        state or (VerdictState.FAULT if is_fault else VerdictState.CLEAN),
        findings[0].summary if findings else "clean",
        Confidence.CERTAIN,
        findings[0].id if findings else None,
    )
    known: dict[str, Any] = {"region": "us-east-1", "account": None, "verdict": verdict}
    return Report(window=WINDOW, as_of=WINDOW.end, findings=findings, traffic=of, **known | fields)


def first(told: Report, **more: Any) -> str:
    return diagnose_report(told, Means(), now=WINDOW.end, **more).report.verdict.text


def test_capacity_that_is_not_known_is_not_numbered() -> None:
    told = seen(refused(), place=Place())
    assert first(report(found(), of=(told,))) == "cases: writes over provisioned capacity since 00:20; no autoscaling"


def test_a_lesser_cause_of_the_worst_comes_before_what_else_is_as_bad_as_it() -> None:
    cause = found("unpaced-bulk", Severity.MEDIUM, cause="unpaced")
    worst = found(cause="on-demand-ramp", severity=Severity.CRITICAL, caused_by="unpaced-bulk")
    slow = found("latency-shift", Severity.MEDIUM, cause="client")
    assert first(report(slow, cause, worst)) == "throttling it is"


def test_bursts_in_minutes_that_are_half_empty_are_told_as_such() -> None:
    told = seen(refused(), series("ConsumedWriteCapacityUnits", [600.0] * 30, start=START))
    assert "cases: writes over provisioned 50 WCU since 00:20, in bursts: whole minutes use 20% of it" in first(
        report(found(), of=(told,))
    )


def test_autoscaling_that_has_room_is_told_with_its_maximum() -> None:
    bounds = ScalingLimits(target=CASES, direction=Direction.WRITE, minimum=1, maximum=900)
    told = first(report(found(), of=(seen(refused(), scaling=(bounds,)),)))
    assert told.endswith("; autoscaling may go up to 900")


def test_autoscaling_that_may_not_be_read_is_not_denied_to_be_there() -> None:
    gap = Gap(SourceName.TABLE_CATALOG, GapReason.DENIED, "DescribeScalableTargets: AccessDenied")
    assert "autoscaling" not in first(report(found(), of=(seen(refused()),), gaps=(gap,)))


def test_a_fault_of_one_place_that_carries_no_traffic_says_what_its_finding_says() -> None:
    assert first(report(found(cause="key-range"))) == (
        "one key or range of cases is over its partition limit; which key is not visible:"
        " Contributor Insights is off, no request log"
    )
    assert first(report(found())) == "cases: writes over provisioned capacity"


@pytest.mark.parametrize(
    ("sights", "reason", "words"),
    [
        (SEEN | {Sight.INSIGHTS_THROTTLED}, None, "Contributor Insights shows none, no request log"),
        (SEEN, GapReason.DENIED, "Contributor Insights may not be read, no request log"),
        (SEEN | {Sight.REQUEST_KEYS}, None, "Contributor Insights is off, no key of the request log stands out"),
    ],
)
def test_why_no_key_is_seen_is_told(sights: frozenset[Sight], reason: GapReason | None, words: str) -> None:
    gaps = () if reason is None else (Gap(SourceName.CONTRIBUTOR_INSIGHTS, reason, "ListContributorInsights"),)
    told = seen(refused(reason="KeyRangeThroughput"), sights=sights)
    assert first(report(found(cause="key-range"), of=(told,), gaps=gaps)).endswith(f"not visible: {words}")


def test_an_index_over_its_key_range_gets_the_command_for_its_own_keys() -> None:
    index = seen(refused(reason="KeyRangeThroughput"), target=GSI2)
    lead = found("gsi-back-pressure", index=GSI2.index, cause="key-range", evidence={"throttle_events": 9.0})
    told = shown(
        diagnose_report(report(lead, of=(index,)), Means(region="eu-west-1", profile="ops"), now=None), "reveal", None
    )
    assert told.report.verdict.text == (
        f"writes to cases fail because of index {GSI2.index} since 00:20: the limit of one of its key ranges"
    )
    command = told.steps[0].command or ""
    assert f"--index-name {GSI2.index} " in command
    assert command.endswith("--region eu-west-1 --profile ops  # changes production")
    assert "how many of the account's 100 rules are left could not be counted" in told.steps[0].text


def test_an_index_alone_can_be_asked_for() -> None:
    other = found("unused-index", Severity.MEDIUM, index="GSI9", id="b")
    lead = found("gsi-back-pressure", index="GSI2", id="a", evidence={"throttle_events": 9.0})
    assert diagnose_report(report(lead, other), Means(), now=None, index="GSI2").lead == lead
    assert diagnose_report(report(lead, other), Means(), now=None, index="GSI9").lead is None


def test_lesser_findings_are_counted_where_it_is_clean() -> None:
    low = [found(f"write-cost-{number}", Severity.LOW, id=str(number)) for number in range(2)]
    assert first(report(*low, of=(seen(),))) == (
        "clean at table level 00:00–00:30: cases, 2 lesser findings; keys, callers and patterns were not visible"
    )
    assert ", 1 lesser finding;" in first(report(low[0], of=(seen(sights=SEEN | {Sight.INSIGHTS_ACCESSED}),)))


def test_lesser_findings_are_named_beside_a_clean_verdict_with_keys_as_they_may_be_shown() -> None:
    low = [
        found("write-cost", Severity.LOW, id=str(number), key={"PK": f"A#{number}"}, key_template={"PK": "A#<id>"})
        for number in range(3)
    ]
    told = shown(diagnose_report(report(*low, of=(seen(),)), Means(), now=None), "template", None)
    assert told.facts[0].startswith("low write-cost of cases: ")
    assert told.facts[2] == "and 1 more: --format json lists them"
    assert len(told.facts) == 3
    assert diagnosis_of_daemon(report(low[0]), WINDOW.end).facts == (f"low write-cost of cases: {low[0].summary}",)


@pytest.mark.parametrize(("region", "told"), [("eu-west-1", "eu-west-1"), (None, "the regions that were asked")])
def test_an_empty_region_is_told_with_how_to_ask_another(region: str | None, told: str) -> None:
    nothing = Verdict(VerdictState.CANNOT_TELL, "cannot tell: no request was seen", Confidence.CERTAIN)
    text = first(report(of=(), region=region, verdict=nothing))
    assert text == (
        f"cannot tell: CloudWatch knows no table of {told}: none was called there for two weeks; name a TABLE, --region"
        " another region, --profile another account"
    )


def test_a_request_log_has_its_own_words_for_clean() -> None:
    row = PatternLine(
        kind=PatternKind.OTHER,
        requests=1,
        requests_low=1,
        requests_high=1,
        units=None,
        waste_units=None,
        p99_ms=None,
    )
    assert first(report(of=(seen(),), patterns=(row,))) == "clean"


def test_who_is_not_known_is_told_by_what_was_there() -> None:
    logged = seen(refused(), sights=SEEN | {Sight.REQUESTS})
    told = diagnose_report(report(found(), of=(logged,)), Means(), now=None)
    assert told.who == "not known: the request log names no caller"
    assert diagnose_report(report(found(caller="importer")), Means(), now=None).who == "importer"


def test_latency_of_the_busiest_operation_is_told_against_yesterday() -> None:
    def slow(now: float, before: float) -> str | None:
        counted = series("SuccessfulRequestLatency", [900.0] * 30, stat="SampleCount", start=START, Operation="Query")
        times = [
            series("SuccessfulRequestLatency", [value] * 30, stat="p99", start=start, Operation="Query")
            for value, start in ((before, START - DAY_MS), (now, START))
        ]
        joined = msgspec.structs.replace(
            times[1], timestamps=times[0].timestamps + times[1].timestamps, values=times[0].values + times[1].values
        )
        return latency_words(seen(counted, joined))

    assert (slow(6, 5) or "").startswith("DynamoDB's own latency is flat (p99 of Query is 6 ms, 5 yesterday)")
    assert slow(60, 5) == "DynamoDB's own latency has risen: p99 of Query is 60 ms, 5 yesterday"
    assert latency_words(seen()) is None


def test_refusals_that_pause_for_minutes_are_one_fault_and_an_earlier_one_is_another() -> None:
    events = series("WriteThrottleEvents", [1.0, 0.0, 0.0, 1.0], start=BAD)
    early = series("WriteAccountLimitThrottleEvents", [1.0], start=BAD - 30 * MINUTE_MS)
    onset = onset_of(found(), seen(events, early))
    assert onset is not None
    assert (onset.window, onset.is_cut) == (Window(BAD, BAD + 4 * MINUTE_MS), False)
    assert onset_of(found(), seen()) is None
    assert onset_of(found("latency-shift"), seen(events)) is None


def test_a_fault_that_is_older_than_what_was_read_began_before() -> None:
    old = series("WriteThrottleEvents", [1.0] * 90, start=START - HOUR_MS)
    told = first(report(found(), of=(seen(old),)))
    assert "since before 23:00" in told


def test_a_fault_that_is_over_says_from_when_to_when() -> None:
    over = series("WriteProvisionedThroughputThrottleEvents", [1.0] * 5, start=START + 5 * MINUTE_MS)
    assert first(report(found(), of=(seen(over),))).startswith(
        "cases: writes over provisioned 50 WCU from 00:05 to 00:10"
    )


def test_the_newest_quarter_of_an_hour_of_a_fault_is_compared() -> None:
    long = onset_of(found(), seen(series("WriteThrottleEvents", [1.0] * 30, start=START)))
    assert compared_stretch(long, WINDOW) == Window(START + 15 * MINUTE_MS, WINDOW.end)
    assert compared_stretch(None, Window(0, 0)).seconds == 60


def test_each_table_is_suspected_once_for_the_worst_that_is_against_it() -> None:
    one = MetricThrottles(
        direction=Direction.WRITE, cause="provisioned", events=9, minutes=(), period_seconds=60, is_reason_told=True
    )
    index = seen(target=GSI2, metric_throttles=(one,))
    worse = found("gsi-back-pressure", index=GSI2.index, region=None, severity=Severity.CRITICAL)
    suspects = suspects_of([report(found(), worse, of=(seen(), index))])
    assert [(one.target, one.why) for one in suspects] == [(CASES, "gsi-back-pressure: gsi-back-pressure it is")]
    assert suspects_of([report(found("x", Severity.LOW), of=(seen(),))]) == ()


def whole() -> Diagnosis:
    """A diagnosis with a bit of everything, text that would steer a terminal or a chat among it."""
    lead = found(
        "hot-key",
        summary="{key} is hot @here `x` \x1b[2J",
        key={"PK": "A"},
        self_heals=SelfHeals("no", "one item cannot be split"),
        advice=(Advice(action="cache-item", text="Cache {key}", command="aws x --key {key}  # read-only"),),
    )
    change = Change(time=BAD - MINUTE_MS, what="deploy", table=None, detail="1.4.2")
    told = report(lead, of=(seen(refused()),), changes=(change,))
    return shown(diagnose_report(told, Means(region="us-east-1"), now=WINDOW.end + 150_000), "reveal", None)


def test_every_form_tells_the_same_and_nothing_steers_who_reads_it() -> None:
    told = whole()
    text, markdown, document = render_diagnosis(told), render_diagnosis_markdown(told), diagnosis_object(told)
    assert text.splitlines()[0].startswith("FAULT  A is hot @here `x` \\x1b[2J")
    assert "as of 00:30:00, 2 min behind" in text
    assert "  before   00:19 deploy: 1.4.2" in text
    assert "  heals    no: one item cannot be split" in text
    assert "$ aws x --key A --region us-east-1  # read-only" in text
    assert "@\u200bhere" in markdown
    assert "\x1b" not in text + markdown
    assert document["diagnosis"]["steps"][0]["command"].startswith("aws x --key A")
    assert document["diagnosis"]["change"]["what"] == "deploy"
    assert render_diagnosis(told, color=True).startswith("\x1b[1;31mFAULT\x1b[0m  A is hot")


def test_a_daemon_s_findings_of_another_table_are_left_out() -> None:
    both = report(found(), found("write-cost", Severity.MEDIUM, table="users"))
    told = diagnosis_of_daemon(both, 0, "users")
    assert (told.report.verdict.state, told.lead) == (VerdictState.CLEAN, None)
    blind = diagnosis_of_daemon(report(state=VerdictState.CANNOT_TELL), 0, "users")
    assert blind.report.verdict.state is VerdictState.CANNOT_TELL
    assert diagnosis_of_daemon(report(found()), 0, "cases").report.verdict.text == "throttling it is"
    lesser = diagnosis_of_daemon(report(found("latency-shift", Severity.MEDIUM)), 0)
    assert (lesser.report.verdict.text, lesser.kind) == ("latency-shift it is", "latency-shift")


@pytest.mark.parametrize(
    ("table", "index", "told"),
    [
        ("user", None, "user; did you mean users?"),
        ("nosuch", None, "nosuch"),
        ("users", "by-dy", "users/by-dy; did you mean users/by-day?"),
    ],
)
def test_of_what_a_daemon_saw_nothing_of_it_cannot_tell(table: str, index: str | None, told: str) -> None:
    watched = SightState("users", "by-day", Sight.METRICS, "seen")
    diagnosis = diagnosis_of_daemon(report(found(), sight=(watched,)), 0, table, index)
    assert diagnosis.report.verdict.state is VerdictState.CANNOT_TELL
    assert diagnosis.report.verdict.text == f"cannot tell: the daemon saw nothing of {told}"
    assert diagnosis.report.findings == ()
    clean = diagnosis_of_daemon(report(found(), sight=(watched,)), 0, "users", index and "by-day")
    assert clean.report.verdict.state is VerdictState.CLEAN


def test_what_is_snoozed_is_not_begun_with_and_named_as_such() -> None:
    asleep = found("hot-key", Severity.CRITICAL, status=Status.SNOOZED)
    clean = Verdict(VerdictState.CLEAN, "clean, 1 snoozed", Confidence.CERTAIN)
    told = diagnosis_of_daemon(report(asleep, verdict=clean), 0)
    assert (told.lead, told.report.verdict.text) == (None, "clean, 1 snoozed")
    assert told.facts == ("snoozed, critical hot-key of cases: hot-key it is",)


@pytest.mark.parametrize(
    ("key", "policy", "told"),
    [
        ("CASE#4711", "template", "the key is shown as a template: --reveal-keys shows it"),
        ("CASE#~kabcdefgh", "template", "a token is known, which cannot be reversed, --keys token shows it; a suspect"),
        ("CASE#~kabcdefgh", "token", "only a token is known, which cannot be reversed; a suspect is checked with"),
        ("CASE#~kabcdefgh", "reveal", "dynascope key --is VALUE --salt-file FILE TOKEN"),
        ("CASE#4711", "reveal", ""),
    ],
)
def test_how_the_key_is_seen_is_told_honestly(key: str, policy: Policy, told: str) -> None:
    lead = found("hot-key", key={"PK": key}, key_template={"PK": "CASE#<n>"})
    facts = " ".join(shown(diagnose_report(report(lead), Means(), now=None), policy, Salt(b"s")).facts)
    assert told in facts
    assert bool(told) == ("key" in facts)


REFUSED: dict[str, Any] = {"confidence": Confidence.POSSIBLE, "cause": "key-range", "direction": Direction.READ}
PRESSED: dict[str, Any] = {"id": "index", "index": "GSI2", "cause": "key-range"}


def test_what_is_certain_leads_before_what_is_possible_and_the_verdict_is_of_that_finding() -> None:
    told = diagnose_report(report(found(**REFUSED), found("gsi-back-pressure", **PRESSED)), Means(), now=WINDOW.end)
    assert told.lead is not None
    assert (told.lead.id, told.report.verdict.finding, told.report.verdict.confidence) == ("index", "index", "certain")
    assert told.report.verdict.text == "gsi-back-pressure it is"


def test_the_verdict_is_as_sure_as_the_finding_that_its_first_line_is_of() -> None:
    told = report(found(**REFUSED, severity=Severity.CRITICAL), found("gsi-back-pressure", **PRESSED))
    told = msgspec.structs.replace(told, verdict=Verdict(VerdictState.FAULT, "-", Confidence.CERTAIN, "index"))
    document = diagnosis_object(diagnose_report(told, Means(), now=WINDOW.end))
    verdict = document["verdict"]
    assert verdict["finding"] == document["diagnosis"]["finding"] == "throttling"
    assert verdict["confidence"] == "possible"
    assert verdict["text"].startswith("one key or range of cases is over its partition limit")


def test_what_is_high_is_always_on_the_screen() -> None:
    others = [found("gsi-back-pressure", summary=f"index {n} pushes back", id=f"index-{n}") for n in range(5)]
    quiet = found("gsi-back-pressure", summary="somebody knows", id="quiet", status=Status.SNOOZED)
    diagnosis = diagnose_report(
        report(found(**REFUSED, severity=Severity.CRITICAL), *others, quiet), Means(), now=WINDOW.end
    )
    for said in (render_diagnosis(diagnosis), render_diagnosis_markdown(diagnosis)):
        assert "HIGH gsi-back-pressure of cases: index 0 pushes back" in said.replace("\\", "")
        assert "and 2 more that are high or critical" in said
        assert "somebody knows" not in said


def test_what_is_high_and_not_certain_stands_beside_it_and_says_how_sure() -> None:
    other = found("hot-key", summary="one key takes it", id="key", confidence=Confidence.LIKELY)
    less = found("full-scan", Severity.MEDIUM, summary="it reads all", id="scan", confidence=Confidence.LIKELY)
    diagnosis = diagnose_report(report(found(), other, less), Means(), now=WINDOW.end)
    for said in (render_diagnosis(diagnosis), render_diagnosis_markdown(diagnosis)):
        assert "HIGH hot-key of cases, likely: one key takes it" in said.replace("\\", "")
        assert "it reads all" not in said


def test_a_fault_of_the_table_is_none_of_the_index_that_was_asked_for() -> None:
    told = diagnose_report(report(found(), of=(seen(),)), Means(), now=WINDOW.end, index="GSI2")
    assert told.report.verdict.state is VerdictState.CLEAN
    assert told.report.verdict.finding is None
    assert told.report.verdict.text.startswith("clean at table level 00:00–00:30: cases/GSI2")
    assert "also     HIGH throttling of cases: throttling it is" in render_diagnosis(told)


def test_a_low_cause_of_a_high_effect_is_not_begun_with() -> None:
    low = found("low-cardinality-key", Severity.LOW)
    told = diagnose_report(report(low, found(caused_by=low.id)), Means(), now=WINDOW.end)
    assert told.report.verdict.finding == "throttling"
    assert told.report.verdict.state is VerdictState.FAULT


def test_a_stretch_without_a_data_point_is_not_clean_whatever_there_was_before() -> None:
    before = series("ConsumedWriteCapacityUnits", [60.0] * 5, start=START - DAY_MS)
    told = diagnose_report(report(of=(seen(before),)), Means(), now=WINDOW.end)
    assert (told.kind, told.report.verdict.state) == ("cannot-tell", VerdictState.CANNOT_TELL)
    assert told.report.verdict.text.startswith("cannot tell: CloudWatch has no data point of cases 00:00–00:30: either")
    again = series("ConsumedWriteCapacityUnits", [60.0] * 5, start=BAD)
    assert diagnose_report(report(of=(seen(before, again),)), Means(), now=WINDOW.end).kind == "clean"


def test_an_index_refuses_writes_alone_and_the_next_look_is_at_it() -> None:
    hurt = [series("ThrottledRequests", [9.0], start=BAD, Operation=name) for name in ("GetItem", "PutItem", "Query")]
    pressed = found("gsi-back-pressure", index="GSI2", cause="key-range", evidence={"throttle_events": 9.0})
    index = seen(refused(), target=GSI2, base=seen(*hurt))
    assert first(report(pressed, of=(seen(*hurt), index))).endswith("one of its key ranges; PutItem is refused")
    told = diagnose_report(report(found(index="GSI2", cause="key-range"), of=(index,)), Means(), now=None)
    again = next(step for step in told.steps if step.action == "collect-longer")
    assert again.command is not None
    assert again.command.startswith("dynascope diagnose cases --index GSI2 --wait 5m")
