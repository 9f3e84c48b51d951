from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.cli import stretch
from analyzer.cli.stretch import cut, end_time, first_time, in_time_order, last_time, refuse_ages
from analyzer.errors import UsageError
from analyzer.model.instant import DAY_MS, format_instant
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def line(second: int, note: str = "") -> bytes:
    return f'{{"v":1,"time":"{format_instant(second * 1000)}","op":"{note}"}}\n'.encode()


def feed(*blocks: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter(blocks)


def test_the_first_and_the_newest_time_of_a_block() -> None:
    block = b"junk\n" + line(3) + line(9) + line(5)
    assert (first_time(block), last_time(block)) == (3000, 9000)
    assert (first_time(b"junk"), last_time(b'{"time":"soon"}')) == (None, None)


def test_a_time_inside_a_value_is_not_the_line_s() -> None:
    text = b'{"names":{"#t":"time"},"key":{"time":{"S":"x"}},"filter":"\\"time\\":\\"1970-01-01T00:00:01Z\\"",'
    assert first_time(text + line(7)[1:]) == 7000


def test_a_stretch_is_cut_out_and_lines_without_a_time_stay() -> None:
    block = line(1) + b"junk\n" + line(2) + line(3)
    assert cut(block, None, None) is block
    assert cut(block, 2000, 3000) == b"junk\n" + line(2)
    assert cut(block, None, 2000) == line(1) + b"junk\n"


@pytest.mark.parametrize("kept_open", [0, 1, 32])
def test_several_logs_are_one_in_time(monkeypatch: pytest.MonkeyPatch, kept_open: int) -> None:
    monkeypatch.setattr(stretch, "_KEPT_OPEN", kept_open)
    feeds = [feed(line(1), line(5), line(9)), feed(), feed(line(4), line(6)), feed(line(20))]
    order = list(in_time_order(feeds))
    assert [number for number, _, _ in order] == [0, 2, 0, 2, 0, 3]
    assert [follows for _, _, follows in order] == [4000, 5000, 6000, 9000, 20_000, None]
    assert b"".join(block for _, block, _ in order) == b"".join(map(line, (1, 4, 5, 6, 9, 20)))


def test_a_block_without_any_time_is_read_at_once() -> None:
    assert [number for number, _, _ in in_time_order([feed(line(1), b"junk\n", line(2)), feed(line(1))])] == [
        0,
        0,
        1,
        0,
    ]


def test_requests_that_lie_years_apart_are_refused_with_both_days() -> None:
    day = 86_400_000
    refuse_ages(None, "mend")
    refuse_ages(Window(0, 3 * 366 * day), "mend")
    with pytest.raises(
        UsageError, match="requests lie from 1970-01-01 to 1973-01-03: the clock of one was wrong; mend"
    ):
        refuse_ages(Window(0, 3 * 366 * day + 1), "mend")


def test_the_end_of_a_log_is_not_that_of_one_clock_that_was_wrong() -> None:
    def lines(*times: int) -> bytes:
        return b"\n".join(f'{{"time":"{format_instant(time)}"}}'.encode() for time in times)

    bulk = [DAY_MS + n for n in range(2000)]
    future = 3 * DAY_MS
    assert end_time(lines(*bulk)) == bulk[-1]
    assert end_time(lines(future, *bulk, future)) == bulk[-1]
    assert end_time(lines(*bulk, *[future] * 5)) == future
    assert end_time(lines(*bulk[:10], future)) == future
    assert end_time(b"") is None
