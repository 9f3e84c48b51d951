from __future__ import annotations

import pytest

from analyzer.contract.templates_masks import cut, segment_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("17", "number"),
        ("1700000000", "epoch"),
        ("1700000000123", "epoch"),
        ("01HZXABCDEFGHJKMNPQRSTVWX1", "ulid"),
        ("2abcdefghijklmnopqrstuvwxyZ", "ksuid"),
        ("deadbeef00deadbeef", "hex"),
        ("v3", "counted"),
        ("META", "word"),
        ("a b", "id"),
        ("९", "id"),
    ],
)
def test_a_piece_has_a_kind_by_its_form(text: str, kind: str) -> None:
    assert segment_of(text).kind == kind


def test_a_word_with_one_of_the_lesser_delimiters_is_a_prefix() -> None:
    assert segment_of("cus_9s6XKz").prefix == "cus_"
    assert (segment_of("ORD-0012").prefix, segment_of("ORD-0012").stem) == ("ORD-", "ORD-")
    assert segment_of("cus_").prefix == ""


def test_timestamps_addresses_and_tokens_are_never_cut() -> None:
    segments, form = cut("A#2026-06-01T10:00:00Z|a/b@example.com/~kabcdefgh#<n>")
    assert form == "#|//#"
    assert [segment.kind for segment in segments] == ["word", "timestamp", "word", "email", "id", "number"]


def test_a_known_kind_inside_of_a_piece_does_not_hide_the_rest() -> None:
    (segment,), form = cut("log.2026-06-01")
    assert (segment.text, segment.kind, form) == ("log.2026-06-01", "id", "")


def test_without_delimiters_a_value_is_one_piece() -> None:
    assert [segment.text for segment in cut("a#b", "")[0]] == ["a#b"]
