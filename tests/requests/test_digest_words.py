"""A reader that knows words reads what one that knows none does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.requests.digest_block import Line, ReadCounters, read_lines
from analyzer.requests.digest_words import LineReader

USUAL = {"v": 1, "time": "2026-11-30T10:00:00.000Z", "op": "GetItem", "table": "cases", "caller": "intake"}


def block(*records: dict[str, Any] | bytes) -> bytes:
    return b"".join((r if isinstance(r, bytes) else msgspec.json.encode(r)) + b"\n" for r in records)


def told(lines: list[Line]) -> list[tuple[Any, ...]]:
    return [msgspec.structs.astuple(line) for line in lines]


@pytest.fixture
def reader() -> LineReader:
    """One that has learnt the words of USUAL."""
    reader = LineReader()
    reader.read(block(*[USUAL] * 256), ReadCounters())
    return reader


def test_a_word_that_is_known_is_handed_out_again(reader: LineReader) -> None:
    one, other = reader.read(block(USUAL, USUAL), ReadCounters())
    assert one.table == "cases"
    assert one.table is other.table


def test_words_are_learnt_once_there_are_lines_enough() -> None:
    reader = LineReader()
    for _ in range(255):
        one, other = reader.read(block(USUAL, USUAL), ReadCounters())[:2]
        if one.table is other.table:
            break
    assert one.table is other.table


def test_an_escaped_word_is_the_word(reader: LineReader) -> None:
    text = block(USUAL).replace(b"cases", b"c\\u0061ses")
    assert [line.table for line in reader.read(text, ReadCounters())] == ["cases"]


@pytest.mark.parametrize(
    "line",
    [
        USUAL | {"table": "audits"},
        USUAL | {"table": ""},
        USUAL | {"table": None},
        USUAL | {"op": "Scan", "index": "GSI1"},
        USUAL | {"filter": "a" * 2000},
        {"v": 1, "op": "PutItem"},
    ],
)
def test_a_line_with_another_word_is_read_as_without_any(reader: LineReader, line: dict[str, Any]) -> None:
    text = block(USUAL, line, USUAL)
    assert told(reader.read(text, ReadCounters())) == told(read_lines(text, ReadCounters()))


@pytest.mark.parametrize("bad", [b"{", b"\xff", b'{"v":2}', b'{"v":1,"op":7}', b"x" * 2_000_000])
def test_a_bad_line_is_counted_once(reader: LineReader, bad: bytes) -> None:
    counters, wanted = ReadCounters(), ReadCounters()
    text = block(USUAL, bad, USUAL)
    assert told(reader.read(text, counters)) == told(read_lines(text, wanted))
    assert counters == wanted
    assert counters.bad == 1


def test_words_that_never_come_back_are_given_up_while_others_are_kept(reader: LineReader) -> None:
    for number in range(0, 4000, 500):
        reader.read(block(*(USUAL | {"filter": f"f{n} = :v"} for n in range(number, number + 500))), ReadCounters())
    one, other = reader.read(block(*[USUAL | {"filter": "new = :v"}] * 2), ReadCounters())
    assert one.filter is not other.filter
    assert one.table is other.table


def test_words_that_trickle_in_are_given_up_after_some_lessons(reader: LineReader) -> None:
    for number in range(40):
        reader.read(block(*[USUAL | {"filter": f"f{number} = :v"}] * 256), ReadCounters())
    one, other = reader.read(block(*[USUAL | {"filter": "new = :v"}] * 2), ReadCounters())
    assert one.filter is not other.filter
    assert one.table is other.table


WORDS = st.sampled_from(["", "a", "b", "é", 'quo"te', "line\nfeed", "\U0001f600", "x" * 1100]) | st.text(max_size=5)
LINES = st.fixed_dictionaries(
    {"v": st.just(1), "op": WORDS},
    optional={name: WORDS | st.none() for name in ("table", "index", "caller", "pattern", "filter", "statement")},
)


@given(st.lists(LINES, max_size=12), st.lists(LINES, max_size=6))
def test_every_block_reads_the_same_whatever_was_learnt(
    before: list[dict[str, Any]], lines: list[dict[str, Any]]
) -> None:
    reader = LineReader()
    reader.read(block(*(before * 256)[:256]), ReadCounters())
    counters, wanted = ReadCounters(), ReadCounters()
    assert told(reader.read(block(*lines), counters)) == told(read_lines(block(*lines), wanted))
    assert counters == wanted
