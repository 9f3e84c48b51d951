from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.calls import CallBook
from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.history import History, PatternPast
from analyzer.model.traffic import Declared
from analyzer.model.window import Window
from analyzer.statistics.rates import Standing
from analyzer.traffic.drift import Facet, Tolerance
from analyzer.traffic.drift_rate import key_rate_facet, past_facet, rate_facet
from tests.support.calls import book, call
from tests.support.evidence import CASES, GSI2, key, row, shape, traffic

TOLERANCE = Tolerance(margin=1.5, other_share=0.05, least=20)
IN, OUT, UNKNOWN = Standing.IN, Standing.OUT, Standing.UNKNOWN
HOUR = Window(0, 3_600_000)
WEEK = (1000.0, 1100.0, 900.0, 1050.0, 950.0, 600.0, 400.0)
GET = shape("GetItem", "getitem")


def rate(requests: float, window: Window = HOUR, calls: CallBook | None = None, **fields: Any) -> Facet | None:
    asked = row(GET, requests=requests)
    evidence = traffic(rows=(asked,), window=window, calls=calls)
    return rate_facet(Declared(id="load-case", **fields), [asked], evidence, TOLERANCE)


def standing(requests: float, window: Window = HOUR, calls: CallBook | None = None, **fields: Any) -> Standing | None:
    one = rate(requests, window, calls, **fields)
    return None if one is None else one.standing


@pytest.mark.parametrize(
    ("a_second", "fields", "said"),
    [
        (1.0, {"p95_rate": 1.0}, IN),
        (2.0, {"p95_rate": 1.0}, OUT),
        (1.5, {"p95_rate": 1.0}, UNKNOWN),
        (2.0, {"peak_rate": 1.0}, OUT),
        (2.0, {"p95_rate": 1.0, "peak_rate": 50.0}, IN),
        (6.0, {"p95_rate": 1.0, "peak_rate": 50.0}, OUT),
        (6.0, {"p95_rate": 1.0, "surge": {"incident": 10.0}}, IN),
        (99.0, {}, None),
    ],
)
def test_a_mean_stands_to_what_p95_and_peak_allow(
    a_second: float, fields: dict[str, Any], said: Standing | None
) -> None:
    assert standing(a_second * 3600, **fields) is said


def test_a_few_minutes_decide_nothing_and_no_time_is_none() -> None:
    assert standing(99_000, Window(0, 300_000), p95_rate=1.0) is UNKNOWN
    assert standing(99, Window(5, 5), p95_rate=1.0) is None


def each_minute(*counts: int) -> CallBook:
    return book(
        *[call("GetItem", 60 * minute + second, GET) for minute, many in enumerate(counts) for second in range(many)]
    )


def minutes(*counts: int, requests: float | None = None, **fields: Any) -> Facet | None:
    window = Window(0, len(counts) * 60_000)
    return rate(sum(counts) if requests is None else requests, window, each_minute(*counts), **fields)


def test_more_than_a_twentieth_of_the_minutes_over_p95_breaks_it() -> None:
    one = minutes(*[1] * 10, *[12] * 10, p95_rate=0.05, peak_rate=1.0)
    assert one is not None
    assert (one.standing, one.seen.value, one.text, one.declared) == (
        OUT,
        0.2,
        "requests a second in 10 of 20 minutes",
        "p95 0.05, peak 1",
    )


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((*[1] * 16, *[12] * 4), UNKNOWN),
        ((*[1] * 100, *[12] * 5), UNKNOWN),
        ((3,) * 60, IN),
    ],
    ids=["four minutes", "five of a hundred", "none"],
)
def test_fewer_minutes_may_be_the_twentieth(counts: tuple[int, ...], said: Standing) -> None:
    one = minutes(*counts, p95_rate=0.05, peak_rate=1.0)
    assert one is not None
    assert one.standing is said


def test_minutes_are_looked_at_where_every_call_is_there() -> None:
    counts = (*[1] * 10, *[12] * 10)
    partly = rate(130, Window(0, 1_200_000), each_minute(*counts[1:]), p95_rate=0.05, peak_rate=1.0)
    assert partly is not None
    assert partly.text == "requests a second on average"
    lacks: tuple[dict[str, Any], ...] = ({"share": 0.5}, {"dropped": 3})
    for lacking in lacks:
        thin = CallBook(each_minute(*counts).calls, **lacking)
        assert standing(130, Window(0, 1_200_000), thin, p95_rate=0.05, peak_rate=1.0) is not OUT


def test_seconds_of_a_minute_that_is_not_whole_are_left_out() -> None:
    counts = (*[1] * 10, *[12] * 10)
    one = rate(131, Window(0, 1_230_000), book(*each_minute(*counts).calls, call("GetItem", 1229, GET)), p95_rate=0.05,
               peak_rate=1.0)  # fmt: skip
    assert one is not None
    assert one.text.endswith("10 of 20 minutes")


def past(history: History, pattern: str = "load-case") -> Standing | None:
    one = past_facet(pattern, CASES, history, TOLERANCE, 0.05)
    return None if one is None else one.standing


def doubled(factor: float, **more: Any) -> History:
    others = {f"p{n}": PatternPast(before=WEEK, now=WEEK) for n in range(5)}
    own = PatternPast(before=WEEK, now=tuple(factor * count for count in WEEK), **more)
    return History(patterns={CASES: {"load-case": own}, GSI2: others})


def test_three_times_its_own_past_is_a_change_and_as_before_is_none() -> None:
    assert past(doubled(3.0)) is OUT
    assert past(doubled(0.3)) is OUT
    assert past(doubled(1.0)) is IN
    assert past(doubled(1.5)) is UNKNOWN


def test_a_ratio_outside_its_margin_may_be_chance_among_many() -> None:
    noisy = {f"p{n}": PatternPast(before=(50.0, 60.0, 40.0), now=(50.0, 60.0, 40.0)) for n in range(400)}
    own = PatternPast(before=(50.0, 60.0, 40.0), now=(130.0, 150.0, 110.0))
    assert past(History(patterns={CASES: {"load-case": own} | noisy})) is UNKNOWN


def test_growth_that_all_patterns_share_is_none_of_its_own() -> None:
    grown = PatternPast(before=WEEK, now=tuple(3 * count for count in WEEK))
    assert past(History(patterns={CASES: dict.fromkeys(("load-case", "a", "b", "c", "d"), grown)})) is IN
    assert past(History(patterns={CASES: {"load-case": grown}})) is OUT


def test_without_a_past_or_with_too_little_of_it_nothing_is_judged() -> None:
    assert past(History()) is None
    assert past(doubled(3.0), "other") is None
    short = PatternPast(before=(5.0,), now=(9.0,))
    assert past(History(patterns={CASES: {"load-case": short}})) is None


def of_key(units: float, window: Window = HOUR, of: str = "GetItem", kept: float = 1.0, **declared: Any) -> Any:
    """Standing of a key with these units of a pattern of 36,000 requests, a unit each."""
    writes = of == "PutItem"
    asked = row(shape(of, of), requests=36_000, read_units=36_000, write_units=36_000)
    other = row(GET, requests=9, read_units=9)
    direction = Direction.WRITE if writes else Direction.READ
    keys = (
        key(direction=direction, rows=((0, units), (1, 9.0)), kept=kept),
        key(direction=direction, values=("CASE#8",), rows=((1, 9.0),)),
        key(direction=direction, level=KeyLevel.PREFIX, values=("CASE#",), rows=((0, 36_000.0),)),
    )
    evidence = traffic(rows=(asked, other), window=window, keys=keys)
    facet = key_rate_facet(Declared(id="load-case", **declared), [asked], evidence, TOLERANCE)
    return None if facet is None else facet.standing


@pytest.mark.parametrize(
    ("units", "fields", "said"),
    [
        (18_000, {"read_rate_a_key": 2.0}, OUT),
        (18_000, {"read_rate_a_key": 4.0}, IN),
        (18_000, {"read_rate_a_key": 2.0, "surge": {"sale": 3.0}}, IN),
        (11_000, {"read_rate_a_key": 2.0}, UNKNOWN),
        (18_000, {"write_rate_a_key": 2.0}, None),
        (18_000, {"write_rate_a_key": 2.0, "of": "PutItem"}, OUT),
        (18_000, {"read_rate_a_key": 2.0, "kept": 0.0001}, UNKNOWN),
        (18_000, {"read_rate_a_key": 2.0, "window": Window(0, 300_000)}, UNKNOWN),
        (18_000, {"read_rate_a_key": 2.0, "window": Window(0, 0)}, None),
        (0, {"read_rate_a_key": 2.0}, None),
    ],
)
def test_the_hottest_key_has_the_declared_rate(units: float, fields: dict[str, Any], said: Standing | None) -> None:
    assert of_key(units, **fields) is said


def test_where_no_key_is_seen_nothing_is_said_of_its_rate() -> None:
    asked = row(GET)
    declared = Declared(id="load-case", read_rate_a_key=2.0)
    assert key_rate_facet(declared, [asked], traffic(rows=(asked,), window=HOUR), TOLERANCE) is None
