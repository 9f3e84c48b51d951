from __future__ import annotations

import pytest

from analyzer.model.observations import Observations
from analyzer.model.sight import Sight, SourceName
from analyzer.model.traffic import PatternTraffic, Place
from analyzer.model.window import Window
from analyzer.traffic.sights import Evidence, sights_of
from tests.support.evidence import CASES, row, shape

KEYLESS = shape("Query", key=())
QUERY = shape("Query")
SCAN = shape("Scan", key=())


def seen(*rows: PatternTraffic) -> frozenset[Sight]:
    observations = Observations(window=Window(0, 60_000), sources=frozenset({SourceName.REQUEST_LOG}))
    return sights_of(Evidence(target=CASES, rows=list(rows), place=Place()), observations)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((row(KEYLESS),), False),
        ((row(KEYLESS), row(shape())), False),
        ((row(KEYLESS), row(QUERY)), True),
        ((row(QUERY),), True),
        ((row(SCAN),), True),
        ((row(shape("Query", key=(), filter="a > ?")),), True),
        ((row(shape("Query", key=(), parsed=False)),), False),
    ],
)
def test_a_log_whose_queries_show_no_key_condition_shows_no_filters_either(
    rows: tuple[PatternTraffic, ...], *, expected: bool
) -> None:
    assert (Sight.REQUEST_FILTERS in seen(*rows)) is expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((row(QUERY, counts_known=0.0), row(SCAN)), False),
        ((row(QUERY), row(SCAN)), True),
        ((row(QUERY, counts_known=0.0), row(QUERY)), True),
        ((row(SCAN),), True),
        ((row(QUERY, counts_known=0.0, failed=1000),), True),
        ((row(shape(), counts_known=0.0),), True),
    ],
)
def test_counts_of_scans_say_nothing_of_queries_and_refused_calls_have_none(
    rows: tuple[PatternTraffic, ...], *, expected: bool
) -> None:
    assert (Sight.REQUEST_COUNTS in seen(*rows)) is expected
