"""Judgements of several stretches of one time, told as one report."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.combine import Judgement, combine
from analyzer.model.finding import Change, Confidence, Direction, Finding, Severity
from analyzer.model.report import Coverage, KeyLine, PatternKind, PatternLine, Report, Verdict, VerdictState
from analyzer.model.sight import Gap, GapReason, Sight, SightState, Skipped, SkipReason, SourceName
from analyzer.model.window import Window
from tests.support import evidence

NOW = Window(600_000, 900_000)
SETTLED = Window(300_000, 600_000)
NOTHING = Verdict(VerdictState.CANNOT_TELL, "cannot tell", Confidence.CERTAIN)
"""What a report said before it was told with others: it is made anew."""


def report(window: Window = NOW, **fields: Any) -> Report:
    told: dict[str, Any] = {"region": None, "account": None, "verdict": NOTHING, "findings": (), **fields}
    return Report(window=window, as_of=window.end, **told)


def judged(told: Report, *detectors: str) -> Judgement:
    return Judgement(told, frozenset(detectors))


def finding(severity: Severity = Severity.HIGH, name: str = "a", **fields: Any) -> Finding:
    told: dict[str, Any] = {"detector": "hot-key", "confidence": Confidence.LIKELY, "table": "cases", **fields}
    return Finding(severity=severity, summary=severity.value, id=name, **told)


def sight(state: str, table: str = "cases", capability: Sight = Sight.METRICS) -> SightState:
    return SightState(table, None, capability, state)


def skip(detector: str, table: str = "cases") -> Skipped:
    return Skipped(detector, table, None, SkipReason.MISSING_SIGHT)


def line() -> PatternLine:
    return PatternLine(
        kind=PatternKind.DECLARED,
        pattern="load-case",
        table="cases",
        requests=7,
        requests_low=7,
        requests_high=7,
        units=None,
        waste_units=None,
        p99_ms=None,
    )


def test_one_judgement_is_told_as_it_stands_but_for_its_verdict() -> None:
    one = report(findings=(finding(),), region="us-east-1")
    told = combine([judged(one, "hot-key")])
    assert told.findings == one.findings
    assert (told.window, told.region) == (NOW, "us-east-1")
    assert told.verdict.state is VerdictState.FAULT


def test_the_worst_that_was_found_speaks_and_is_told_once() -> None:
    first = report(findings=(finding(Severity.MEDIUM, first_seen=700_000, last_seen=800_000),))
    second = report(
        SETTLED, findings=(finding(Severity.HIGH, first_seen=300_000, last_seen=600_000), finding(name="b"))
    )
    told = combine([judged(first), judged(second)])
    assert [(one.id, one.severity) for one in told.findings] == [("a", Severity.HIGH), ("b", Severity.HIGH)]
    assert (told.findings[0].first_seen, told.findings[0].last_seen) == (300_000, 800_000)


def test_a_finding_of_one_stretch_explains_that_of_another() -> None:
    hot = finding(name="hot", direction=Direction.READ)
    throttled = finding(name="slow", detector="throttling", cause="key-range", direction=Direction.READ)
    told = combine([judged(report(findings=(throttled,))), judged(report(SETTLED, findings=(hot,)))])
    assert {one.id: one.caused_by for one in told.findings} == {"hot": None, "slow": "hot"}


def test_what_a_change_of_another_stretch_preceded_says_so() -> None:
    change = Change(time=690_000, what="deploy")
    first = report(findings=(finding(first_seen=700_000),))
    told = combine([judged(first), judged(report(SETTLED, changes=(change, change)))])
    assert told.changes == (change,)
    assert told.findings[0].since_change == change


def test_a_detector_is_skipped_where_no_stretch_judged_it() -> None:
    now = report(skipped=(skip("hot-key"), skip("throttling")), sight=(sight("missing"),))
    then = report(SETTLED, skipped=(skip("hot-key"),), sight=(sight("seen"),))
    told = combine([judged(now, "hot-key", "throttling"), judged(then, "hot-key", "throttling")])
    assert told.skipped == (skip("hot-key"),)


def test_a_detector_that_a_stretch_does_not_run_is_not_judged_by_it() -> None:
    now = report(skipped=(skip("throttling"),), sight=(sight("missing"),))
    hour = report(SETTLED, sight=(sight("seen"),))
    assert combine([judged(now, "throttling"), judged(hour, "unused-index")]).skipped == (skip("throttling"),)


def test_a_place_that_another_stretch_does_not_know_is_not_judged_by_it() -> None:
    now = report(skipped=(skip("throttling"),), sight=(sight("missing"),))
    then = report(SETTLED, sight=(sight("seen", table="orders"),))
    assert combine([judged(now, "throttling"), judged(then, "throttling")]).skipped == (skip("throttling"),)


def test_what_one_stretch_sees_is_seen() -> None:
    now = report(sight=(sight("missing"), sight("missing", capability=Sight.TABLE)))
    then = report(SETTLED, sight=(sight("seen"), sight("missing", "orders")))
    told = combine([judged(now), judged(then)])
    assert [(one.table, one.capability.value, one.state) for one in told.sight] == [
        ("cases", "METRICS", "seen"),
        ("cases", "TABLE", "missing"),
        ("orders", "METRICS", "missing"),
    ]
    again = combine([judged(then), judged(now)])
    assert again.sight[0].state == "seen"


def at(entry: Any, region: str) -> Any:
    return msgspec.structs.replace(entry, account="111122223333", region=region)


def test_one_name_is_seen_in_one_region_and_blind_in_another() -> None:
    here, there = "us-east-1", "eu-west-1"
    now = report(
        skipped=(at(skip("throttling"), here), at(skip("throttling"), there)),
        sight=(at(sight("not-seen"), here), at(sight("not-seen"), there)),
    )
    then = report(
        SETTLED,
        skipped=(at(skip("throttling"), there),),
        sight=(at(sight("seen"), here), at(sight("not-seen"), there)),
    )
    told = combine([judged(now, "throttling"), judged(then, "throttling")])
    assert [(one.region, one.state) for one in told.sight] == [(here, "seen"), (there, "not-seen")]
    assert [one.region for one in told.skipped] == [there]


def test_a_gap_of_both_is_told_once_and_hides_what_it_hides() -> None:
    gap = Gap(SourceName.CLOUDWATCH_METRICS, GapReason.DENIED, "GetMetricData: denied")
    told = combine([judged(report(gaps=(gap,))), judged(report(SETTLED, gaps=(gap,)))])
    assert told.gaps == (gap,)
    assert told.verdict.text == "cannot tell: GetMetricData: denied"


def test_lines_are_those_of_the_first_that_has_some() -> None:
    key = KeyLine(
        table="cases",
        index=None,
        direction=Direction.READ,
        key={},
        key_template={},
        units=1,
        units_low=1,
        units_high=1,
        heat=0.1,
        peak_second=None,
    )
    traffic = evidence.traffic()
    then = report(SETTLED, patterns=(line(),), keys=(key,), traffic=(traffic,), region="r", account="a")
    told = combine([judged(report()), judged(then)])
    assert (told.patterns, told.keys, told.traffic) == ((line(),), (key,), (traffic,))
    assert (told.region, told.account) == ("r", "a")
    first = report(patterns=(line(), line()), keys=(key, key), traffic=(traffic, traffic))
    told = combine([judged(first), judged(then)])
    assert (len(told.patterns), len(told.keys), len(told.traffic)) == (2, 2, 2)


def test_coverage_is_told_where_it_is_known() -> None:
    unknown = Coverage("cases", None, Direction.READ, 7, None, None)
    known = Coverage("cases", None, Direction.READ, 80, 100, 0.8)
    now, then = report(coverage=(unknown,)), report(SETTLED, coverage=(known,))
    assert combine([judged(now), judged(then)]).coverage == (known,)
    assert combine([judged(now), judged(report(SETTLED))]).coverage == (unknown,)
    assert combine([judged(then), judged(now)]).coverage == (known,)


def test_coverage_of_one_name_in_two_regions_is_two_lines() -> None:
    line = Coverage("cases", None, Direction.READ, 80, 100, 0.8)
    both = (at(line, "us-east-1"), at(line, "eu-west-1"))
    assert combine([judged(report(coverage=both)), judged(report(SETTLED, coverage=both))]).coverage == both
