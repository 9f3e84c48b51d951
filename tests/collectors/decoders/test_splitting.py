from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.request_log.decoders import splitting
from collectors.request_log.decoders.seam import Broken, Piece
from collectors.request_log.decoders.splitting import Splitter

ENVELOPES = {"Records", "resourceSpans", "resource_spans", "Traces", "events"}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text().filter(lambda name: name not in ENVELOPES)
# a first list under one of the known names is an envelope, whose members are told instead
OBJECTS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(st.dictionaries(NAMES, PLAIN, max_size=4), max_size=6)


def split(text: str | bytes, size: int = 7, longest: int = 1 << 20) -> list[Piece | Broken]:
    content = text if isinstance(text, bytes) else text.encode()
    splitter = Splitter(longest)
    found: list[Piece | Broken] = []
    for start in range(0, len(content), size):
        found += splitter.feed(content[start : start + size])
    return [*found, *splitter.finish()]


def values(text: str | bytes, size: int = 7) -> list[Any]:
    found = split(text, size)
    assert all(isinstance(one, Piece) for one in found), found
    return [one.value for one in found if isinstance(one, Piece)]


@given(objects=OBJECTS, separator=st.sampled_from(["\n", "", " ", ",\n", "\r\n"]), indent=st.sampled_from([None, 1, 4]),
       escaped=st.booleans(), size=st.integers(1, 60))  # fmt: skip
def test_objects_are_found_however_they_are_laid_out_and_cut(
    objects: list[dict[str, Any]], separator: str, indent: int | None, *, escaped: bool, size: int
) -> None:
    text = separator.join(json.dumps(one, indent=indent, ensure_ascii=escaped) for one in objects)
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return  # lone surrogates, unescaped, are no text of a file
    assert values(content, size) == objects


@given(
    objects=OBJECTS, indent=st.sampled_from([None, 2]), size=st.integers(1, 60), name=st.sampled_from(sorted(ENVELOPES))
)
def test_those_in_the_list_of_an_envelope_or_in_a_bare_list_are_told_one_by_one(
    objects: list[dict[str, Any]], indent: int | None, size: int, name: str
) -> None:
    assert values(json.dumps({name: objects}, indent=indent), size) == objects
    assert values(json.dumps(objects, indent=indent), size) == objects


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_what_stands_before_an_object_on_its_line_comes_with_it(size: int) -> None:
    text = '2026-11-30T10:00:00Z\tR\tINFO\t{"a": 1}\nplain text\naws:query - {\n  "b": {"c": 2}\n} trailing\n{"d": 3}'
    assert split(text, size) == [
        Piece({"a": 1}, "2026-11-30T10:00:00Z\tR\tINFO"),
        Piece({"b": {"c": 2}}, "aws:query -"),
        Piece({"d": 3}),
    ]


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1,\n{"b": 2}\n{"c": 3}\n', [{"b": 2}, {"c": 3}]),
        ('{"a": "cut\n{"b": 2}\n', [{"b": 2}]),
        ("{ clientName: 'D',\n  input: { a: [Object] }\n}\n{\"b\": 2}\n", [{"b": 2}]),
        ('{"a": NaN}\n{"b": 2}\n', [{"b": 2}]),
        ('{"b": 2}\n{"a": "never ends', [{"b": 2}]),
        ('{"b": 2}\n{"a": 1\n', [{"b": 2}]),
        (f'{{"a": {"[" * 200_000}\n{{"b": 2}}\n', [{"b": 2}]),
    ],
)
def test_a_broken_object_costs_itself_and_its_indented_lines_and_no_other(
    size: int, text: str, left: list[dict[str, Any]]
) -> None:
    if len(text) > 1000:
        size = 50_000
    found = split(text, size)
    assert [one.value for one in found if isinstance(one, Piece)] == left
    assert sum(isinstance(one, Broken) for one in found) == 1


@pytest.mark.parametrize("size", [7, 100_000])
@pytest.mark.parametrize("number", ["NaN", "9" * 5000])
def test_what_holds_a_number_that_is_none_is_told_as_broken_whole(size: int, number: str) -> None:
    first, second = split(f'{{"a": {number}, "TableName": "t"}}\n{{"b": 2}}\n', size)
    assert isinstance(first, Broken)
    assert "TableName" in first.text
    assert second == Piece({"b": 2})


@pytest.mark.parametrize("rest", [", bad}", "[" * 200_000])
def test_what_is_broken_beside_such_a_number_costs_itself_alone(rest: str) -> None:
    first, second = split(f'{{"a": NaN{rest}\n{{"b": 2}}\n', 1 << 20)
    assert (isinstance(first, Broken), second) == (True, Piece({"b": 2}))


def test_what_is_told_of_a_broken_object_ends_where_the_next_entry_begins() -> None:
    assert split("{ a: 1,\n  b: 2\n}\nTableName\n", 1000) == [Broken("{ a: 1,\n  b: 2\n}")]


def test_an_object_beyond_the_bound_is_passed_over_and_memory_stays_bounded() -> None:
    splitter = Splitter(longest=10_000)
    found = [*splitter.feed(b'{"a": "')]
    for _ in range(100):
        found += splitter.feed(b"x" * 1000)
        assert len(splitter._text) < 40_000
    found += splitter.feed(b'"}\n{"b": 2}\n')
    found += splitter.finish()
    assert [type(one) for one in found] == [Broken, Piece]


def test_text_without_objects_is_not_held() -> None:
    splitter = Splitter()
    for _ in range(100):
        assert not [*splitter.feed(b"no object here, and no end of the line either, " * 100)]
    assert len(splitter._text) < 10_000


def test_bytes_that_are_no_utf8_and_a_byte_order_mark_harm_nothing() -> None:
    assert values(b'\xef\xbb\xbf{"a": "\xff"}\n{"b": 2}') == [{"a": "\N{REPLACEMENT CHARACTER}"}, {"b": 2}]


def test_of_a_broken_log_no_line_is_looked_at_with_all_that_was_read_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts: list[int] = []
    real = splitting._DECODER

    class Watched:
        def raw_decode(self, text: str, start: int) -> Any:
            starts.append(start)
            return real.raw_decode(text, start)

    monkeypatch.setattr(splitting, "_DECODER", Watched())
    splitter = Splitter()
    found = [*splitter.feed(b'{"x": "broken \n' * 10_000 + b'{"whole": 1}\n'), *splitter.finish()]
    assert len(found) == 10_001
    assert found[-1] == Piece({"whole": 1})
    assert max(starts) < 10_000
