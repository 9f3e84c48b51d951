from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import ConfigError, Fault
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Severity
from analyzer.model.instant import Moment, format_instant, parse_instant, slice_of, to_instant, to_moment
from analyzer.model.shape import Attribution, AttributionKind, KeyPredicate, Shape
from analyzer.model.target import Target
from analyzer.model.window import Window

MOMENT = 1_796_046_080_123


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T13:41:20.123Z",
        "2026-11-30T13:41:20.123",
        "2026-11-30T14:41:20.123+01:00",
        "2026-11-30T13:41:20.123456Z",
    ],
)
def test_a_time_is_read_in_whatever_offset_and_as_utc_without_one(text: str) -> None:
    assert parse_instant(text) == MOMENT


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid isoformat"):
        parse_instant("yesterday")


@given(st.integers(0, 4_102_444_800_000))
def test_a_time_that_was_written_reads_back(instant: int) -> None:
    assert parse_instant(format_instant(instant)) == instant


@pytest.mark.parametrize(
    "moment", [to_moment(MOMENT), to_moment(MOMENT).replace(tzinfo=None), MOMENT / 1000], ids=["utc", "bare", "seconds"]
)
def test_a_moment_is_the_same_instant_however_aws_tells_it(moment: Moment) -> None:
    assert to_instant(moment) == MOMENT


def test_an_instant_lies_in_its_slice() -> None:
    assert slice_of(MOMENT) == 1_796_046_080_000


def test_a_window_takes_its_start_in_and_leaves_its_end_out() -> None:
    window = Window(5_000, 25_000)
    assert [window.holds(at) for at in (4_999, 5_000, 24_999, 25_000)] == [False, True, True, False]
    assert (window.seconds, list(window.slices())) == (20.0, [0, 10_000, 20_000])


def test_a_window_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="before it starts"):
        Window(2, 1)


def shape(**fields: object) -> Shape:
    return Shape(fingerprint="f", operation="Query", table="cases", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Query cases"),
        (
            {"index": "GSI1", "key": (KeyPredicate("PK", "=", "CASE#<id>"), KeyPredicate("SK", ">"))},
            "Query cases/GSI1 where PK = CASE#<id> and SK > ?",
        ),
        ({"filter": "a = ?"}, "Query cases filter a = ?"),
        ({"statement": "SELECT * FROM cases"}, "Query cases SELECT * FROM cases"),
        ({"parsed": False}, "Query cases (not parsed)"),
    ],
)
def test_a_shape_is_written_as_one_readable_line(fields: dict[str, object], text: str) -> None:
    assert shape(**fields).text() == text


def test_an_attribution_is_labelled_by_its_pattern_or_by_its_kind() -> None:
    assert Attribution(AttributionKind.DECLARED, "load-case").label == "load-case"
    assert Attribution(AttributionKind.AMBIGUOUS).label == "ambiguous"


def test_severities_are_ranked() -> None:
    assert sorted(Severity, key=lambda severity: severity.rank) == ["low", "medium", "high", "critical"]


def test_an_estimate_is_divided_with_its_bounds() -> None:
    assert Estimate(10, 8, 12) / 2 == (5, 4, 6)
    assert [Estimate.exact(1).is_exact, Estimate(1, 0, 2).is_exact] == [True, False]


def test_faults_are_written_with_place_field_and_mend() -> None:
    faults = (Fault("a.yaml", 3, "window", "is no duration", "write 5m"), Fault("b", None, "", "is gone", "make it"))
    assert str(ConfigError(faults)) == "a.yaml:3: window: is no duration; write 5m\nb: is gone; make it"


@pytest.mark.parametrize(("length_ms", "seconds"), [(0, 1.0), (400, 1.0), (1_000, 1.0), (1_500, 1.5)])
def test_a_rate_of_less_than_a_second_is_taken_as_a_seconds(length_ms: int, seconds: float) -> None:
    assert Window(5_000, 5_000 + length_ms).rate_seconds == seconds


@pytest.mark.parametrize(
    ("target", "may_be"),
    [
        (Target(None, None, "cases"), True),
        (Target("111122223333", None, "cases"), True),
        (Target(None, "eu-west-1", "cases"), False),
        (Target("444455556666", None, "cases"), False),
        (Target(None, None, "orders"), False),
    ],
)
def test_a_target_may_be_one_of_which_more_is_known(target: Target, *, may_be: bool) -> None:
    assert target.may_be(Target("111122223333", "us-east-1", "cases")) is may_be
