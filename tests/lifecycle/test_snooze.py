from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.lifecycle.advance import State, advance
from analyzer.lifecycle.snooze import hush, snooze_of, unknown, until_of, until_words, with_effects
from analyzer.model.finding import Confidence, Finding, Severity, Status
from analyzer.model.instant import parse_instant
from analyzer.model.life import Snooze
from analyzer.model.report import Report, Verdict, VerdictState
from analyzer.model.window import Window
from tests.lifecycle.test_lifecycle import finding, report

NOW = parse_instant("2026-11-30T12:00:00Z")
DAY = 86_400_000
HOT = finding(because="its partition refuses it")


def snooze(one: Finding = HOT, until: int = NOW + DAY, who: str | None = "ada") -> Snooze:
    return Snooze(id=one.id, until=until, reason="sharding ships in Q1", who=who, at=NOW)


def over(*findings: Finding) -> Report:
    """Return a report of a window of one second."""
    return msgspec.structs.replace(report(*findings), window=Window(0, 1000))


def explained(by: Finding, detector: str = "throttling", severity: Severity = Severity.HIGH) -> Finding:
    return msgspec.structs.replace(finding(detector, severity), caused_by=by.id)


def test_a_snoozed_finding_says_until_when_by_whom_and_why() -> None:
    (one,) = hush((HOT,), [snooze()], NOW)
    assert one.status is Status.SNOOZED
    assert one.because == "snoozed until 2026-12-01T12:00:00.000Z by ada: sharding ships in Q1"
    (other,) = hush((HOT,), [snooze(who=None)], NOW)
    assert other.because == "snoozed until 2026-12-01T12:00:00.000Z: sharding ships in Q1"


@pytest.mark.parametrize("snoozes", [[], [snooze(finding("throttling"))], [snooze(until=NOW)]])
def test_without_a_snooze_that_stands_a_finding_speaks(snoozes: list[Snooze]) -> None:
    assert hush((HOT,), snoozes, NOW) == (HOT,)


def test_with_a_cause_what_it_explains_is_snoozed_and_what_that_explains() -> None:
    throttling = explained(HOT)
    storm = explained(throttling, "retry-storm", Severity.MEDIUM)
    quiet = hush((HOT, throttling, storm), [snooze()], NOW)
    assert [one.status for one in quiet] == [Status.SNOOZED] * 3
    assert quiet[2].because == f"snoozed with {HOT.id}, which explains it"


def test_what_is_worse_than_its_snoozed_cause_speaks_with_all_that_it_explains() -> None:
    throttling = explained(HOT, severity=Severity.CRITICAL)
    storm = explained(throttling, "retry-storm", Severity.MEDIUM)
    quiet = hush((HOT, throttling, storm), [snooze()], NOW)
    assert [one.status for one in quiet] == [Status.SNOOZED, Status.OPEN, Status.OPEN]


def test_a_snooze_of_an_effect_leaves_its_cause_alone() -> None:
    throttling = explained(HOT)
    assert [one.status for one in hush((HOT, throttling), [snooze(throttling)], NOW)] == [Status.OPEN, Status.SNOOZED]


def test_findings_that_explain_one_another_are_no_snoozed_ones() -> None:
    one, two = finding("a"), finding("b")
    ring = (explained(two, "a"), explained(one, "b"))
    assert with_effects(ring) == ring


@given(st.lists(st.sampled_from(Severity), min_size=1, max_size=6), st.integers(0, 5))
def test_nothing_worse_than_what_was_snoozed_is_ever_silent(severities: list[Severity], place: int) -> None:
    chain: list[Finding] = []
    for number, severity in enumerate(severities):
        one = finding(f"d{number}", severity)
        chain.append(msgspec.structs.replace(one, caused_by=chain[-1].id if chain else None))
    asked = chain[min(place, len(chain) - 1)]
    for one in hush(tuple(chain), [snooze(asked)], NOW):
        if one.status is Status.SNOOZED:
            assert one.severity.rank <= asked.severity.rank


# through its life


def test_a_finding_that_is_snoozed_while_it_is_open_is_no_fault_and_goes_without_a_word() -> None:
    state, _, events = advance(State(), report(HOT), NOW, 500)
    assert len(events) == 1
    state, shown, events = advance(state, report(HOT), NOW + 10, 500, [snooze()])
    assert (shown.findings[0].status, shown.verdict.state, events) == (Status.SNOOZED, VerdictState.CLEAN, ())
    assert advance(state, report(), NOW + 1000, 500, [snooze()])[2] == ()


def test_at_its_end_a_snoozed_finding_speaks_up_again() -> None:
    state, _, _ = advance(State(), report(HOT), NOW, 500, [snooze()])
    state, shown, events = advance(state, report(HOT), NOW + DAY, 500, [snooze()])
    assert (shown.findings[0].status, shown.verdict.state) == (Status.OPEN, VerdictState.FAULT)
    assert ([event.status for event in events], shown.findings[0].because) == ([Status.OPEN], HOT.because)
    assert shown.findings[0].first_seen == NOW


def test_a_finding_that_is_about_to_close_can_be_snoozed_too() -> None:
    state, _, _ = advance(State(), report(HOT), NOW, 500)
    state, shown, events = advance(state, report(), NOW + 10, 500, [snooze()])
    assert (shown.findings[0].status, events) == (Status.SNOOZED, ())
    assert advance(state, report(), NOW + 600, 500, [snooze()])[1:][1] == ()


def test_the_verdict_of_a_window_is_no_fault_where_all_that_is_one_is_snoozed() -> None:
    fault = Verdict(VerdictState.FAULT, HOT.summary, Confidence.CERTAIN, HOT.id)
    judged = msgspec.structs.replace(report(HOT), verdict=fault)
    verdict = advance(State(), judged, NOW, 500, [snooze()])[1].verdict
    assert (verdict.state, verdict.finding) == (VerdictState.CLEAN, None)
    assert verdict.text.endswith("nothing high or critical, 1 snoozed")
    assert advance(State(), judged, NOW, 500)[1].verdict == fault


def test_what_a_snoozed_finding_explained_stays_with_it_until_the_window_shows_no_more_of_it() -> None:
    alone = finding("throttling", Severity.MEDIUM)
    state, _, _ = advance(State(), over(HOT, explained(HOT, severity=Severity.MEDIUM)), NOW, 500, [snooze()])
    seen = []
    for later in (400, 600, 900, 1100):
        state, shown, events = advance(state, over(alone), NOW + later, 500, [snooze()])
        throttling = next(one for one in shown.findings if one.detector == "throttling")
        seen.append((later, throttling.status, throttling.caused_by, len(events)))
    assert seen == [
        (400, Status.SNOOZED, HOT.id, 0),
        (600, Status.SNOOZED, HOT.id, 0),
        (900, Status.SNOOZED, HOT.id, 0),
        (1100, Status.OPEN, None, 1),
    ]
    assert state.left == {}
    assert advance(state, over(alone), NOW + 1200, 500, [snooze()])[1].findings[0].status is Status.ONGOING


@pytest.mark.parametrize(
    ("severity", "until"), [(Severity.CRITICAL, NOW + DAY), (Severity.MEDIUM, NOW + 700)], ids=["worse", "at its end"]
)
def test_what_a_snoozed_finding_explained_speaks_when_it_is_worse_or_the_snooze_ends(
    severity: Severity, until: int
) -> None:
    asked = [snooze(until=until)]
    first = over(HOT, explained(HOT, severity=Severity.MEDIUM))
    state, _, _ = advance(State(), first, NOW, 500, asked)
    state, _, _ = advance(state, over(finding("throttling", Severity.MEDIUM)), NOW + 600, 500, asked)
    _, shown, _ = advance(state, over(finding("throttling", severity)), NOW + 800, 500, asked)
    assert [one.status for one in shown.findings] == [Status.OPEN]


# what people say


def test_a_day_counts_whole_and_a_time_is_a_time() -> None:
    assert until_of("2026-12-01", NOW) == parse_instant("2026-12-02T00:00:00Z")
    assert until_of("2026-11-30", NOW) == parse_instant("2026-12-01T00:00:00Z")
    assert until_of("2026-11-30T14:00:00+01:00", NOW) == parse_instant("2026-11-30T13:00:00Z")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2026-11-29", "has passed"),
        ("2026-11-30T12:00:00Z", "has passed"),
        ("2027-12-02", "more than 366 days ahead"),
        ("9999-12-31", "more than 366 days ahead"),
        ("forever", "is a day such as"),
        ("53w", "more than 366 days ahead"),
        ("0d", "has passed"),
        ("1y", "how long, such as 4h or 1d: '1y'"),
        ("", "is a day such as"),
    ],
)
def test_what_is_no_end_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        until_of(text, NOW)


@pytest.mark.parametrize(("text", "later"), [("30m", DAY // 48), ("4h", DAY // 6), ("1d", DAY), ("2w", 14 * DAY)])
def test_how_long_counts_from_now(text: str, later: int) -> None:
    assert until_of(text, NOW) == NOW + later


def test_the_end_of_a_day_is_told_by_its_day() -> None:
    assert until_words(until_of("2026-12-01", NOW)) == "the end of 2026-12-01 UTC"
    assert until_words(until_of("1d", NOW)) == "2026-12-01T12:00:00.000Z"


def test_a_snooze_holds_who_said_why_and_when() -> None:
    made = snooze_of(("abc", "2026-12-01", "known", "ada"), {"abc"}, NOW)
    assert made == Snooze(id="abc", until=until_of("2026-12-01", NOW), reason="known", who="ada", at=NOW)


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        (("abc", "2026-12-01", " ", None), "reason is a line of 1 to 200 characters"),
        (("abc", "2026-12-01", "x" * 201, None), "reason is a line"),
        (("abc", "2026-12-01", "x", "a\nb"), "who is a line"),
        (("abd", "2026-12-01", "x", None), "no finding has the id 'abd'; did you mean abc?"),
        (("abc", "2025-12-01", "x", None), "has passed"),
    ],
)
def test_what_is_no_snooze_is_refused_in_words(told: tuple[str, str, str, str | None], fault: str) -> None:
    with pytest.raises(ValueError, match=fault.replace("?", r"\?")):
        snooze_of(told, {"abc"}, NOW)


@pytest.mark.parametrize(
    ("identity", "known", "told"),
    [
        ("0123", ("0123456789ab", "ffffffffffff"), "; did you mean 0123456789ab?"),
        ("0123456789aa", ("0123456789ab", "ffffffffffff"), "; did you mean 0123456789ab?"),
        ("", ("a", "b"), "; there are a, b"),
        ("zzz", ("a", "b", "c", "d"), "; there are a, b, c and 1 more"),
        ("zzz", (), ": none is known"),
    ],
)
def test_of_an_unknown_id_the_nearest_is_named(identity: str, known: tuple[str, ...], told: str) -> None:
    assert unknown(identity, known) == f"no finding has the id {identity!r}{told}"
