from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.traffic.growth import SizeRun, appended_to, growth_of
from analyzer.traffic.sequences import SeenSize
from tests.support.calls import call, item
from tests.support.evidence import shape


def run(*sizes: int) -> SizeRun:
    return SizeRun(item(), tuple(SeenSize(1000 * n, size, size, call(at=n)) for n, size in enumerate(sizes)))


@given(st.lists(st.integers(1000, 9000), min_size=5, max_size=30))
def test_what_gains_at_each_step_grows_within_its_bounds(steps: list[int]) -> None:
    grown = growth_of(run(*accumulate(steps)), least_bytes=4000, still=0.0)
    assert grown is not None
    pace, left = grown.bytes_a_second, grown.seconds_left
    assert pace.low <= pace.value <= pace.high
    assert left.low <= left.value <= left.high


@given(st.lists(st.integers(1, 400_000), min_size=5, max_size=30))
def test_what_was_ever_smaller_than_before_does_not_only_grow(sizes: list[int]) -> None:
    shrank = any(later < earlier for earlier, later in zip(accumulate(sizes, max), sizes[1:], strict=False))
    assert not shrank or growth_of(run(*sizes), least_bytes=1, still=0.0) is None


@pytest.mark.parametrize(
    ("update", "attribute"),
    [
        ("SET messages = list_append(messages, ?)", "messages"),
        ("SET seen = ?, ts = list_append(if_not_exists(ts, ?), ?)", "ts"),
        ("SET seen = ? ADD tags ?", "tags"),
        ("SET checkins.* = ?", "checkins"),
        ("SET seen = ?", None),
        (None, None),
    ],
)
def test_an_update_tells_what_it_adds_to(update: str | None, attribute: str | None) -> None:
    of = shape("UpdateItem", update=update)
    assert appended_to(of) == attribute
