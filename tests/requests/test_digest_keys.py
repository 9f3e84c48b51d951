from __future__ import annotations

import pytest

from analyzer.requests.digest_keys import FormTable, KeySpace, canonical, canonical_all, prefix_of
from tests.support.request_lines import LEXICON


def space_of(index: str | None = None) -> KeySpace:
    return KeySpace(FormTable(), LEXICON, "cases", index, None)


def test_signatures_are_forgotten_when_there_are_too_many() -> None:
    space = space_of()
    for number in range(8200):
        word = "".join(chr(97 + number // 26**place % 26) for place in range(4))
        raw = f'{{"PK":{{"S":"CASE#{word}"}}}}'.encode()
        space.learn(raw, raw)
    assert len(space.seen) < 100
    assert space.seen[b""] == 0


def test_how_index_keys_are_written_is_learnt_some_times_only() -> None:
    space = space_of("GSI1")
    for number in range(200):
        space.entry(f'{{"GSI{number}":{{"a":{{"S":"x"}}}}}}'.encode(), f"GSI{number}")
    assert len(space._usual) < 100
    assert space.entry(b'{"GSI1":{"GSI1PK":{"S":"x"}}}', "GSI1") == (b"x", b"")


ITEMS = [
    ('{"GSI1":{"GSI1PK":{"S":"%s"},"GSI1SK":{"S":"%s"}}}', True),
    ('{"GSI1":{"GSI1SK":{"S":"%s"},"GSI1PK":{"S":"%s"}}}', True),
    ('{"GSI2":{"GSI2PK":{"S":"o"}},"GSI1":{"GSI1PK":{"S":"%s"},"GSI1SK":{"N":"%s"}}}', True),
    ('{"GSI1":{"GSI1PK":{"S":"%s"},"GSI1SK":{"S":"%s"}},"GSI2":{"GSI2PK":{"S":"o"}}}', True),
    ('{"GSI1":{"GSI1PK":{"S":"\\u0041%s"},"GSI1SK":{"S":"%s"}}}', True),
    ('{"GSI2":{"GSI1PK":{"S":"%s"},"GSI1SK":{"S":"%s"}}}', False),
    ('{"GSI1":{"GSI1PK":{"BOOL":true},"a":{"S":"%s"},"b":{"S":"%s"}}}', False),
    ('{"GSI1":{"GSI1PK":{"S":"%s"},"GSI1SK":{"S":"%s"}', False),
]


@pytest.mark.parametrize("first", [written for written, _ in ITEMS])
@pytest.mark.parametrize(("then", "is_entry"), ITEMS)
def test_an_entry_is_the_same_whatever_item_was_seen_before(first: str, then: str, *, is_entry: bool) -> None:
    seen, fresh = space_of("GSI1"), space_of("GSI1")
    for _ in range(2):
        seen.entry((first % (1, 2)).encode(), "GSI1")
    found = seen.entry((then % (3, 4)).encode(), "GSI1")
    assert found == fresh.entry((then % (3, 4)).encode(), "GSI1")
    assert (found is not None) == is_entry


def test_a_value_longer_than_a_key_is_no_entry_however_it_is_written() -> None:
    space = space_of("GSI1")
    assert space.entry(b'{"GSI1":{"GSI1PK":{"S":"x"}}}', "GSI1") == (b"x", b"")
    assert space.entry(b'{"GSI1":{"GSI1PK":{"S":"%s"}}}' % (b"x" * 2049), "GSI1") is None


def test_a_prefix_ends_with_its_delimiter() -> None:
    assert prefix_of(b"TENANT#7#CASE#1", 2) == b"TENANT#7#"


def test_what_cannot_be_read_stays_as_it_is() -> None:
    assert canonical(b'{"PK"') == b'{"PK"'
    assert canonical(b'{ "PK" : {"S":"\\u0023"} }') == b'{"PK":{"S":"#"}}'


def test_of_many_keys_those_with_escapes_are_written_anew() -> None:
    keys = [b'{"PK":{"S":"\\u0023"}}', b'{ "PK":{"S":"a"}}', b"", b'{"PK" :{"S":"\\u00e4"}}']
    written = b'{"PK":{"S":"#"}}|{ "PK":{"S":"a"}}||{"PK":{"S":"\xc3\xa4"}}'
    assert canonical_all(b"|".join(keys), b"|") == written
    assert canonical_all(b"|".join([*keys, b'{"\\u002']), b"|") == written + b'|{"\\u002'


def test_escapes_that_nothing_asks_for_are_taken_out_where_no_backslash_is_meant() -> None:
    assert canonical_all(b'{"PK": {"S":"A\\u0023\\u002f\\u002F1"}}', b"|") == b'{"PK": {"S":"A#//1"}}'
    assert canonical_all(b'{"PK": {"S":"\\u0022\\u005c"}}', b"|") == b'{"PK":{"S":"\\"\\\\"}}'
    assert canonical_all(b'{"PK": {"S":"\\\\u0023"}}', b"|") == b'{"PK":{"S":"\\\\u0023"}}'
