"""What is asked of a map: read from a query, with its fault in a line; its stretch in whole slices, an hour at most."""

from __future__ import annotations

import pytest

from analyzer.exporters.asked import MapQuestion, read_question, stretch_of
from analyzer.model.finding import Direction

END = 1_780_308_000_000


def test_an_empty_query_leaves_everything_to_what_is_known() -> None:
    assert read_question({}) == MapQuestion()
    assert read_question({}).mode == "ceiling"


def test_everything_may_be_said() -> None:
    query = {
        "table": "orders",
        "index": "GSI1",
        "account": "1",
        "region": "r",
        "direction": "write",
        "since": "2026-06-01T09:00:00Z",
        "until": "2026-06-01T10:00:00+00:00",
        "step": "1s",
        "mode": "relative",
    }
    asked = read_question(query)
    assert (asked.direction, asked.step_ms, asked.mode) == (Direction.WRITE, 1000, "relative")
    assert (asked.since, asked.until) == (END - 3_600_000, END)
    assert read_question({"until": "2026-06-01T10:00:00 00:00"}).until == END


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"tabel": "x"}, "no such parameter; known: table, index"),
        ({"step": "1m"}, "step is one of: 10s, 1s"),
        ({"mode": "x"}, "mode is one of: ceiling, relative"),
        ({"direction": "both"}, "direction is one of: read, write"),
        ({"since": "yesterday"}, "since is no time: write RFC 3339, such as since=2026-06-01T10:00:00Z"),
        ({"until": "2026-06-01T25:00:00Z"}, "until is no time: write RFC 3339"),
        ({"until": "0001-01-01T00:00:00Z"}, "until is no time: write RFC 3339"),
        ({"since": "2999-01-01T00:00:00Z"}, "since is no time: write RFC 3339, such as since=2026-06-01T10:00:00Z"),
        ({"since": "2026-06-01T10:00:00Z", "until": "2026-06-01T11:00:01Z"}, "by an hour at most"),
        ({"since": "2026-06-01T10:00:00Z", "until": "2026-06-01T10:00:00Z"}, "since comes before until"),
        ({"index": "GSI1"}, "an index needs its table"),
        ({"table": "x" * 256}, "table is a name of at most 255 characters"),
        ({"table": "a\nb"}, "table is a name"),
    ],
)
def test_what_is_wrong_is_told_without_what_was_sent(query: dict[str, str], told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        read_question(query)
    assert "yesterday" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        (MapQuestion(), END - 3_600_000, END),
        (MapQuestion(step_ms=1000), END - 600_000, END),
        (MapQuestion(since=END - 15_000), END - 20_000, END),
        (MapQuestion(until=END - 15_000), END - 3_610_000, END - 10_000),
        (MapQuestion(since=END - 90_000_000), END - 3_600_000, END),
        (MapQuestion(until=END + 90_000), END - 3_600_000, END),
        (MapQuestion(since=END + 50_000), END + 50_000, END + 60_000),
    ],
)
def test_a_stretch_is_whole_slices_an_hour_at_most_and_never_empty(asked: MapQuestion, start: int, end: int) -> None:
    assert stretch_of(asked, END) == (start, end)
