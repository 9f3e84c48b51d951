from __future__ import annotations

import pytest

from analyzer.model.batch import StreamStatus
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.window import Window
from analyzer.shortfalls import Shortfalls

WINDOW = Window(0, 20_000)
QUIET = StreamStatus(files=1, missing=(), pending_bytes=0)


def details(shortfalls: Shortfalls, window: Window = WINDOW, status: StreamStatus = QUIET) -> list[str]:
    return [gap.detail for gap in shortfalls.gaps(window, status, is_behind=False)]


def test_what_was_missed_before_the_first_look_is_a_gap() -> None:
    shortfalls = Shortfalls({})
    shortfalls.note(10_000, {"bad": 5})
    assert details(shortfalls) == ["5 lines of the request log are no records"]


def test_what_a_checkpoint_knew_already_is_none() -> None:
    shortfalls = Shortfalls({"bad": 5})
    shortfalls.note(10_000, {"bad": 5, "dropped": 0})
    assert details(shortfalls) == []


def test_a_counter_that_moved_is_a_gap_until_the_window_has_passed() -> None:
    shortfalls = Shortfalls({"bad": 5})
    shortfalls.note(10_000, {"bad": 7})
    shortfalls.note(20_000, {"bad": 8, "dropped": 0})
    (gap,) = shortfalls.gaps(WINDOW, QUIET, is_behind=False)
    assert (gap.reason, gap.detail) == (GapReason.MALFORMED, "3 lines of the request log are no records")
    assert details(shortfalls, Window(15_000, 35_000)) == ["1 line of the request log is no record"]
    assert details(shortfalls, Window(30_000, 50_000)) == []


def test_a_counter_that_begins_anew_with_its_stream_is_not_missed() -> None:
    shortfalls = Shortfalls({})
    shortfalls.note(0, {"lost": 3})
    shortfalls.note(10_000, {"lost": 1})
    assert details(shortfalls) == ["4 request logs were gone before they were read to their end"]


def test_records_ahead_of_the_clock_are_a_gap_that_says_by_how_much() -> None:
    shortfalls = Shortfalls({})
    shortfalls.note(1_000, {"future": 60}, 7_200)
    shortfalls.note(10_000, {"future": 100}, 90)
    (gap,) = shortfalls.gaps(WINDOW, QUIET, is_behind=False)
    assert gap.detail == "100 records are ahead of the clock by up to 2h, and were not counted"
    assert "sender's clock" in (gap.hint or "")
    shortfalls.note(5_000, {"future": 100})
    assert details(shortfalls, Window(2_000, 22_000)) == [
        "40 records are ahead of the clock by up to 90s, and were not counted"
    ]


@pytest.mark.parametrize("name", ["future", "bad", "dropped", "squeezed", "lost", "damaged"])
def test_one_is_not_told_as_many(name: str) -> None:
    one, two = Shortfalls({}), Shortfalls({})
    one.note(0, {name: 1})
    two.note(0, {name: 2000})
    assert "2,000" in details(two)[0]
    assert details(one)[0] != details(two)[0].replace("2,000", "1")


def test_a_missing_file_and_unread_bytes_are_gaps() -> None:
    status = StreamStatus(files=1, missing=("app.jsonl",), pending_bytes=512)
    gaps = Shortfalls({}).gaps(WINDOW, status, is_behind=True)
    assert [gap.reason for gap in gaps] == [GapReason.NOT_ENABLED, GapReason.LATE]
    assert all(gap.hint for gap in gaps)


def test_files_beyond_the_bound_are_a_gap_as_long_as_they_are() -> None:
    shortfalls = Shortfalls({})
    status = StreamStatus(files=1000, missing=(), pending_bytes=0, skipped=1)
    told = ["1 request log is beyond the bound of files tailed at once"]
    assert details(shortfalls, status=status) == details(shortfalls, Window(900_000, 910_000), status) == told
    assert details(shortfalls) == []


def test_a_gap_of_a_stream_stands_until_it_ends_before_the_window() -> None:
    standing = Gap(SourceName.REQUEST_LOG, GapReason.DENIED, "ListObjectsV2: AccessDenied")
    past = Gap(SourceName.REQUEST_LOG, GapReason.LATE, "nobody listened", start=0, end=15_000)
    status = StreamStatus(files=1, missing=(), pending_bytes=0, gaps=(standing, past))
    assert details(Shortfalls({}), WINDOW, status) == ["ListObjectsV2: AccessDenied", "nobody listened"]
    assert details(Shortfalls({}), Window(15_000, 35_000), status) == ["ListObjectsV2: AccessDenied"]
