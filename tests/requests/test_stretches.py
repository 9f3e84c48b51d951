from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.instant import DAY_MS, MINUTE_MS, SLICE_MS, format_instant, parse_instant
from analyzer.model.report import Outside
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon
from analyzer.requests.stretches import Run, Stretches, core_of

START = parse_instant("2026-06-01T10:00:00.000Z")
END = START + 10 * MINUTE_MS
FUTURE = parse_instant("2099-01-01T00:00:00.000Z")


def lines(*times: int) -> bytes:
    call: dict[str, Any] = {"v": 1, "op": "Scan", "table": "orders"}
    return b"\n".join(msgspec.json.encode(call | {"time": format_instant(time)}) for time in times)


def bulk(start: int = START, minutes: int = 10, every_ms: int = 300) -> range:
    return range(start, start + minutes * MINUTE_MS, every_ms)


def core(*blocks: list[int] | range, forgets: bool = True) -> tuple[Window | None, tuple[Outside, ...]]:
    """Read blocks as a walk does: what lies behind is forgotten."""
    digest, stretches, total = Digest(Lexicon()), Stretches(), 0
    for block in blocks:
        digest.update(lines(*block))
        total += len(block)
        stretches.take(digest)
        if forgets:
            digest.forget_before(START + 20 * DAY_MS)
            stretches.forget_before(START + 20 * DAY_MS)
    return stretches.core(total)


@pytest.mark.parametrize("forgets", [True, False])
def test_one_request_of_another_time_is_outside(*, forgets: bool) -> None:
    for stray in (10, FUTURE):
        at = stray // SLICE_MS * SLICE_MS
        expected = Window(START, END), (Outside(at, at + SLICE_MS, 1),)
        assert core([stray], bulk(), forgets=forgets) == expected
        assert core(bulk(), [stray], forgets=forgets) == expected


def test_strays_that_come_again_and_again_are_counted() -> None:
    rounds = [[*range(START + n * MINUTE_MS, START + (n + 1) * MINUTE_MS, 50), 10] for n in range(10)]
    assert core(*rounds) == (Window(START, END), (Outside(0, SLICE_MS, 10),))


def test_two_days_with_a_long_rest_between_are_one_whole() -> None:
    later = START + 2 * DAY_MS
    assert core(bulk(), bulk(later)) == (Window(START, later + 10 * MINUTE_MS), ())


def test_few_requests_of_the_next_day_belong_to_it() -> None:
    night = START + DAY_MS
    assert core(bulk(), [night]) == (Window(START, night + SLICE_MS), ())


def test_a_clock_without_battery_is_outside_however_much_it_sent() -> None:
    window, outside = core(bulk(), bulk(0, minutes=5))
    assert window == Window(START, END)
    assert outside == (Outside(0, 5 * MINUTE_MS, None),)


def test_nothing_is_known_of_an_empty_log_and_of_one_that_is_scattered() -> None:
    assert core() == (None, ())
    days = [n * 2 * DAY_MS for n in range(70)]
    assert core(days, [START]) == (None, ())
    digest, stretches = Digest(Lexicon()), Stretches()
    digest.update(lines(*days))
    stretches.take(digest)
    stretches.take(digest)
    assert stretches.core(70) == (None, ())


def test_stretches_that_meet_become_one() -> None:
    parts = [START], [START + 3 * DAY_MS // 2], [START + DAY_MS // 2 + MINUTE_MS], [START + DAY_MS // 2]
    window, outside = core(*parts)
    assert (window, outside) == (Window(START, START + 3 * DAY_MS // 2 + SLICE_MS), ())
    assert core([START], [START - MINUTE_MS]) == (Window(START - MINUTE_MS, START + SLICE_MS), ())


def test_what_lies_beyond_a_window_that_was_given() -> None:
    digest, stretches = Digest(Lexicon()), Stretches()
    digest.update(lines(START, START + 2 * DAY_MS))
    stretches.take(digest)
    late = START + 2 * DAY_MS
    assert stretches.beyond(Window(START, END)) == (Outside(late, late + SLICE_MS, 1),)
    assert not stretches.beyond(Window(START, late + SLICE_MS))


@given(st.dictionaries(st.integers(0, 10**5), st.integers(1, 10**4), min_size=1, max_size=12))
def test_every_run_is_in_the_core_or_outside(told: dict[int, int]) -> None:
    runs = [Run(at * DAY_MS, at * DAY_MS + SLICE_MS, 1, requests) for at, requests in told.items()]
    window, outside = core_of(runs, sum(told.values()))
    beyond = [run for run in runs if run.gap(window)]
    assert sorted((run.start, run.end, run.requests) for run in beyond) == sorted(
        (one.start, one.end, one.requests) for one in outside
    )
