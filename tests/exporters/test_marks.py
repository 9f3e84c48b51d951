from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.exporters.marks import Marks, read_mark
from analyzer.model.finding import Change
from analyzer.model.instant import format_instant, parse_instant
from analyzer.model.window import Window

NOW = parse_instant("2026-06-01T10:00:00Z")
DAY = 86_400_000


def mark(time: int = NOW, detail: str = "1.4.2") -> Change:
    return Change(time=time, what="deploy", detail=detail, source="mark")


def read(**told: Any) -> Change:
    return read_mark(json.dumps(told).encode(), NOW)


def test_a_mark_is_a_deploy_of_everything_now_unless_it_says_otherwise() -> None:
    assert read(detail="1.4.2") == mark()
    told = {"detail": "more shards", "what": "capacity", "table": "cases", "index": "GSI1", "who": "ada"}
    earlier = NOW - 60_000
    assert read(time=format_instant(earlier), **told) == Change(time=earlier, source="mark", **told)


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ({}, "missing required field `detail`"),
        ({"detail": 3}, "Expected `str`"),
        ({"detail": "x", "colour": "red"}, "unknown field `colour`"),
        ({"detail": "  "}, "detail is a line of 1 to 200 characters"),
        ({"detail": "x" * 201}, "detail is a line of 1 to 200 characters"),
        ({"detail": "x", "who": "a\nb"}, "who is a line"),
        ({"detail": "x", "index": "GSI1"}, "an index needs its table"),
        ({"detail": "x", "what": "banana"}, "what is one of deploy, billing-mode, capacity"),
        ({"detail": "x", "what": "deploi"}, "did you mean deploy"),
        ({"detail": "x", "time": "noon"}, "time is RFC 3339"),
        ({"detail": "x", "time": format_instant(NOW - 2 * DAY)}, "time lies within the last day"),
        ({"detail": "x", "time": format_instant(NOW + 120_000)}, "time lies within the last day"),
    ],
)
def test_what_is_no_mark_is_refused_in_words(told: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault.replace("`", ".")):
        read(**told)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="it is no mark"):
        read_mark(b"deploy 1.4.2", NOW)


def test_marks_are_known_for_a_day_in_the_order_of_time() -> None:
    marks = Marks([mark(NOW - 1000)])
    marks.add(mark(NOW - 2000))
    marks.add(mark(NOW - 2000))
    assert [one.time for one in marks.known()] == [NOW - 2000, NOW - 1000]
    window = Window(NOW - 300_000, NOW - 1500)
    assert [one.time for one in marks.batch(window).changes] == [NOW - 2000]
    assert marks.batch(Window(NOW + DAY, NOW + DAY)).changes == ()
    assert marks.known() == ()


def test_the_oldest_mark_makes_room_and_is_counted() -> None:
    marks = Marks()
    for number in range(1002):
        marks.add(mark(NOW + number))
    assert (len(marks.known()), marks.known()[0].time, marks.dropped) == (1000, NOW + 2, 2)
