from __future__ import annotations

import math
from typing import Any

import pytest

from analyzer.detectors.contract.unused_pattern import UnusedPattern
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.history import History, PatternPast
from analyzer.model.sight import Sight, Skipped, SkipReason
from analyzer.model.traffic import Declared, Place, Traffic
from analyzer.model.window import Window
from tests.support.evidence import CASES, GSI2, row, traffic
from tests.support.told import series

DAY_MS = 86_400_000


def pattern(name: str = "of-day", **fields: Any) -> Declared:
    given: dict[str, Any] = {"id": name, "operations": ("Query",), "p95_rate": 1.0, "callers": ("report",)} | fields
    return Declared(**given)


def evidence(*patterns: Declared, days: int = 15, target: Any = CASES, **fields: Any) -> Traffic:
    place = Place(declared=True, patterns={one.id: one for one in patterns})
    given: dict[str, Any] = {"place": place, "window": Window(0, days * DAY_MS)} | fields
    return traffic(target, **given)


def outcomes(*patterns: Declared, **fields: Any) -> list[Finding | Skipped]:
    return list(UnusedPattern().detect(evidence(*patterns, **fields)))


def test_a_pattern_that_should_have_come_and_did_not_is_told_at_its_index() -> None:
    (one,) = outcomes(pattern(index="GSI2"), Declared(id="load-case", p95_rate=1.0))
    assert isinstance(one, Finding)
    assert (one.severity, one.confidence, one.index, one.pattern) == (
        Severity.LOW,
        Confidence.LIKELY,
        "GSI2",
        "of-day",
    )
    assert (one.evidence["covered_days"], one.evidence["declared_callers"]) == (15, "report")
    assert [advice.action for advice in one.advice] == ["check-client", "remove-declaration"]


def test_patterns_that_come_hide_no_other() -> None:
    knows = History({CASES: Window(0, 15 * DAY_MS)}, {CASES: {"seen": PatternPast(before=(3.0,), now=(0.0,))}})
    patterns = (Declared(id="load-case", p95_rate=1.0), pattern("seen"), pattern())
    told = outcomes(*patterns, history=knows)
    assert [one.pattern for one in told if isinstance(one, Finding)] == ["of-day"]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"callers": ("report", "board"), "owner": "team"}, "Ask report, board whether"),
        ({"callers": (), "owner": "team"}, "Ask team whether"),
        ({"callers": ()}, "Ask its owner whether"),
    ],
)
def test_who_is_asked_is_whom_the_contract_names(fields: dict[str, Any], asked: str) -> None:
    (one,) = outcomes(pattern(**fields))
    assert isinstance(one, Finding)
    assert one.advice[0].text.startswith(asked)


def test_just_fourteen_days_are_enough() -> None:
    (one,) = outcomes(pattern(), days=14)
    assert isinstance(one, Finding)


def test_a_chance_of_just_the_threshold_is_still_one() -> None:
    nightly = evidence(pattern(p95_rate=None, schedule="0 2 * * *"))
    assert list(UnusedPattern(chance=math.exp(-15)).detect(nightly)) == []
    assert len(list(UnusedPattern(chance=math.exp(-14.9)).detect(nightly))) == 1


def test_cloudwatch_is_certain() -> None:
    calls = series("SuccessfulRequestLatency", stat="SampleCount", Operation="Query")
    consumed = series("ConsumedReadCapacityUnits", [1.0] * 360, period_seconds=3600)
    sights = frozenset({Sight.CONTRACT, Sight.SPAN_14D, Sight.METRICS})
    (one,) = outcomes(pattern(), metrics=(calls, consumed), rows=(), sights=sights)
    assert isinstance(one, Finding)
    assert one.confidence is Confidence.CERTAIN


@pytest.mark.parametrize(("rate", "count"), [(0.00116, 1), (0.0009, 0)])
def test_a_rare_pattern_may_be_absent_by_chance(rate: float, count: int) -> None:
    assert len(outcomes(pattern(p95_rate=rate), days=15)) == count


@pytest.mark.parametrize("ends", ["1970-01-10", "1970-01-10T10:00:00Z"])
def test_a_one_off_that_is_over_is_not_missed(ends: str) -> None:
    assert outcomes(pattern(ends=ends)) == []
    assert len(outcomes(pattern(ends="1970-01-16"))) == 1


def test_a_shorter_look_is_told_once_with_what_it_covers() -> None:
    (one,) = outcomes(pattern(), pattern("other", schedule="0 2 * * *"), days=13)
    assert isinstance(one, Skipped)
    assert (one.reason, one.needs) == (SkipReason.NOT_COVERED, ("14 days of requests: 13 days are covered",))


def test_the_longest_look_is_the_one_that_is_told() -> None:
    calls = series("SuccessfulRequestLatency", stat="SampleCount", Operation="Scan")
    consumed = series("ConsumedReadCapacityUnits", [1.0] * 240, period_seconds=3600)
    (one,) = outcomes(pattern(), pattern("scan", operations=("Scan",)), days=3, metrics=(calls, consumed))
    assert isinstance(one, Skipped)
    assert one.needs == ("14 days of requests: 10 days are covered",)


def test_what_was_seen_in_the_past_is_not_absent() -> None:
    knows = History({CASES: Window(0, 15 * DAY_MS)}, {CASES: {"of-day": PatternPast(before=(3.0,), now=(0.0,))}})
    assert outcomes(pattern(), history=knows) == []


def test_an_index_leaves_it_to_its_table_and_speaks_for_its_own_where_there_is_none() -> None:
    mine, other = pattern(index="GSI2"), pattern("other")
    assert outcomes(mine, target=GSI2, base=traffic()) == []
    (one,) = outcomes(mine, other, target=GSI2)
    assert isinstance(one, Finding)
    assert one.pattern == "of-day"


def test_patterns_that_come_or_say_no_rate_are_silent() -> None:
    assert outcomes(Declared(id="load-case", p95_rate=1.0), rows=(row(),)) == []
    assert outcomes(Declared(id="of-day")) == []
    assert outcomes() == []
