from __future__ import annotations

import math
from typing import Any

import pytest

from analyzer.model.history import History, PatternPast
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight, SourceName
from analyzer.model.traffic import Declared
from analyzer.model.window import Window
from analyzer.traffic.absence import Covered, absence_of, covered_of, is_seen
from tests.support.evidence import CASES, GSI2, row, shape, traffic
from tests.support.told import series

DAY_MS = 86_400_000
DAYS = Window(0, 15 * DAY_MS)
LOG = Covered(14 * 86_400, 1.0, SourceName.REQUEST_LOG)
BLIND = frozenset({Sight.CONTRACT})


def pattern(**fields: Any) -> Declared:
    return Declared(**{"id": "of-day", "operations": ("Query",), "index": "GSI2"} | fields)


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        (Attribution(AttributionKind.DECLARED, "of-day"), True),
        (Attribution(AttributionKind.AMBIGUOUS, candidates=("load-case", "of-day")), True),
        (Attribution(AttributionKind.UNPARSED), True),
        (Attribution(AttributionKind.DECLARED, "load-case"), False),
        (Attribution(AttributionKind.UNDECLARED), False),
    ],
)
def test_what_is_or_may_be_the_pattern_counts_as_seen(said: Attribution, is_one: bool) -> None:  # noqa: FBT001
    assert is_seen(pattern(), [traffic(rows=()), traffic(GSI2, rows=(row(shape("Query"), said),))]) is is_one


def test_what_could_not_be_parsed_and_is_another_operation_is_not_the_pattern() -> None:
    said = Attribution(AttributionKind.UNPARSED)
    assert not is_seen(pattern(), [traffic(rows=(row(shape("PutItem"), said),))])


def hourly(metric: str, days: int, value: float = 1.0, **fields: Any) -> Any:
    return series(metric, [value] * (24 * days), period_seconds=3600, **fields)


def test_the_log_speaks_for_its_own_stretch_and_its_thinnest_sample() -> None:
    rows = (row(requests=1000, observed=1000), row(requests=1000, observed=100))
    assert covered_of(pattern(), traffic(rows=rows, window=DAYS), 14) == Covered(
        15 * 86_400, 0.1, SourceName.REQUEST_LOG
    )


def test_without_a_log_and_metrics_nothing_is_covered() -> None:
    assert covered_of(pattern(), traffic(rows=(), sights=BLIND, window=DAYS), 14) == Covered(
        0.0, 1.0, SourceName.REQUEST_LOG
    )


def test_history_speaks_for_its_span_where_it_knows_patterns() -> None:
    spans = {CASES: Window(0, 20 * DAY_MS)}
    knows = History(spans, {CASES: {"load-case": PatternPast(before=(9.0,), now=(9.0,))}})
    covered = covered_of(pattern(), traffic(rows=(), history=knows), 14)
    assert covered is not None
    assert covered.seconds == 20 * 86_400
    short = covered_of(pattern(), traffic(rows=(), history=History(spans)), 14)
    assert short is not None
    assert short.seconds == 300


@pytest.mark.parametrize(("before", "is_absent"), [((0.0, 0.0), True), ((0.0, 1.0), False)])
def test_what_history_has_seen_is_not_absent(before: tuple[float, ...], is_absent: bool) -> None:  # noqa: FBT001
    knows = History({CASES: DAYS}, {CASES: {"of-day": PatternPast(before=before, now=(0.0,))}})
    assert (covered_of(pattern(), traffic(rows=(), history=knows), 14) is not None) is is_absent


def test_what_history_has_seen_at_an_index_is_not_absent_at_its_table() -> None:
    seen = PatternPast(before=(3.0,), now=(2.0,))
    knows = History({CASES: DAYS}, {GSI2: {"of-day": seen}})
    assert covered_of(pattern(index="GSI2"), traffic(rows=(), history=knows), 14) is None
    assert (
        covered_of(pattern(), traffic(rows=(), history=History({CASES: DAYS}, {CASES: {}, GSI2: {}})), 14) is not None
    )


def of_index(value: float) -> Any:
    metrics = (
        hourly("ConsumedReadCapacityUnits", 15, value, target=GSI2),
        hourly("ConsumedWriteCapacityUnits", 15, target=GSI2),
    )
    return traffic(GSI2, rows=(), metrics=metrics, window=DAYS, sights=frozenset({Sight.METRICS}))


@pytest.mark.parametrize(("value", "source"), [(0.0, "cloudwatch-metrics"), (3.0, "request-log")])
def test_an_index_that_is_not_read_has_no_patterns(value: float, source: str) -> None:
    evidence = traffic(rows=(), sights=BLIND, window=DAYS, indexes=(of_index(value),))
    covered = covered_of(pattern(), evidence, 14)
    assert covered is not None
    assert (covered.source, covered.seconds > 14 * 86_400) == (source, source == "cloudwatch-metrics")


@pytest.mark.parametrize(
    ("calls", "seconds"),
    [
        (hourly("SuccessfulRequestLatency", 15, 0.0, stat="SampleCount", Operation="Scan"), 15 * 86_400),
        (series("SuccessfulRequestLatency", stat="SampleCount", Operation="Scan"), 15 * 86_400),
        (hourly("SuccessfulRequestLatency", 15, 1.0, stat="SampleCount", Operation="Scan"), 0),
        (series("SuccessfulRequestLatency", stat="SampleCount", Operation="Scan", is_complete=False), 0),
        (hourly("SuccessfulRequestLatency", 15, 0.0, stat="SampleCount", Operation="Query"), 0),
    ],
    ids=["none", "no point", "some", "not complete", "another operation"],
)
def test_an_operation_that_nobody_calls_has_no_patterns(calls: Any, seconds: float) -> None:
    metrics = (hourly("ConsumedReadCapacityUnits", 15), calls)
    evidence = traffic(rows=(), sights=BLIND, window=DAYS, metrics=metrics)
    covered = covered_of(pattern(operations=("Scan",), index=None), evidence, 14)
    assert covered is not None
    assert covered.seconds == seconds


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"p95_rate": 1.0}, 0.05 * 14 * 86_400),
        ({"frequency": "high"}, 14 * 1440),
        ({"frequency": "medium"}, 14 * 24),
        ({"schedule": "0 2 * * *"}, 14),
    ],
)
def test_a_declaration_says_how_many_should_have_come(fields: dict[str, Any], expected: float) -> None:
    absence = absence_of(pattern(**fields), LOG, DAYS)
    assert absence is not None
    assert absence.expected == pytest.approx(expected)


@pytest.mark.parametrize("fields", [{}, {"frequency": "low"}, {"peak_rate": 9.0}, {"schedule": "nightly"}])
def test_where_it_does_not_say_absence_means_nothing(fields: dict[str, Any]) -> None:
    assert absence_of(pattern(**fields), LOG, DAYS) is None


def test_requests_come_in_crowds_and_a_sample_sees_some_of_them() -> None:
    half = Covered(14 * 86_400, 0.5, SourceName.REQUEST_LOG)
    absence = absence_of(pattern(p95_rate=0.001), half, DAYS)
    assert absence is not None
    assert absence.chance == pytest.approx(math.exp(-absence.expected * 0.5 / 10))
