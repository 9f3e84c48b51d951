from __future__ import annotations

import pytest

from analyzer.contract.schemas import Schema, guess_schema

GUESS = "which attribute is which is a guess"


@pytest.mark.parametrize(
    ("keys", "schema"),
    [
        ([[("PK", "A"), ("SK", "B")]], Schema("PK", "SK")),
        ([[("item_sk", "A"), ("owner", "B")]], Schema("owner", "item_sk")),
        ([[("at", "< A"), ("owner", "B")]], Schema("owner", "at")),
        ([[("at", "A"), ("owner", "B")], [("owner", "B")]], Schema("owner", "at")),
        ([[("at", "A"), ("owner", "B")]], Schema("at", "owner", GUESS)),
        ([[("id", "A")]], Schema("id")),
        ([], Schema(unsure="no request shows its key")),
    ],
)
def test_requests_show_which_attribute_is_which(keys: list[list[tuple[str, str]]], schema: Schema) -> None:
    assert guess_schema([tuple(key) for key in keys]) == schema


def test_items_written_and_the_digest_tell_as_well() -> None:
    assert guess_schema([], written=("GSI1PK", "GSI1SK")) == Schema("GSI1PK", "GSI1SK")
    assert guess_schema([(("at", "A"), ("by", "B"))], told=("by", "at")) == Schema("by", "at", GUESS)
