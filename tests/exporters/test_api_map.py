"""A map as JSON: bytes of heat, labels that the show policy allows, all of it in words."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from analyzer.exporters.api_map import columns_object, map_object, row_labels, rows_id
from analyzer.model.finding import Direction
from analyzer.requests.tokens import Salt
from tests.support.page_map import made_map, unseen_map
from tests.support.page_report import AS_OF, ORDERS

if TYPE_CHECKING:
    from analyzer.render.show import Policy

MAP = made_map(ORDERS, Direction.READ, AS_OF)
HOT = 19
SALT = Salt(b"made up")


def matrix(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=np.uint8).reshape(len(MAP.rows), -1)


def test_heat_is_hundredths_of_the_ceiling_at_most_250_and_255_where_it_is_not_known() -> None:
    heat = MAP.heat.copy()
    heat[0, :4] = 0.703, 9.0, np.nan, 0.0
    told = matrix(map_object(replace(MAP, heat=heat), AS_OF, "template")["heat"])
    assert told[0, :4].tolist() == [70, 250, 255, 0]
    assert told.shape == (len(MAP.rows), 360)


def test_relative_to_itself_the_greatest_cell_is_a_hundred() -> None:
    told = map_object(MAP, AS_OF, "template", is_relative=True)
    assert (told["mode"], matrix(told["heat"]).max()) == ("relative", 100)
    assert told["low"] == told["high"] == told["heat"]
    cold = map_object(replace(MAP, units=MAP.units * 0), AS_OF, "template", is_relative=True)
    assert matrix(cold["heat"]).max() == 0


def test_a_template_shows_no_key_and_every_row_is_called_otherwise() -> None:
    told = map_object(MAP, AS_OF, "template")
    labels = [row["label"] for row in told["rows"]]
    assert len(set(labels)) == len(labels)
    assert "~k" not in json.dumps(told)
    assert (labels[HOT], told["rows"][HOT]["token"]) == ("ORDER#<id> · 1", None)
    assert labels[-1] == "all other keys"
    assert "USER#* (others)" in labels


def test_a_token_can_be_looked_up() -> None:
    row = map_object(MAP, AS_OF, "token", SALT)["rows"][HOT]
    assert (row["label"], row["token"]) == ("ORDER#~kaaaaaaac", "ORDER#~kaaaaaaac")


def test_a_clear_key_is_shown_where_the_policy_says_so_alone() -> None:
    row = replace(MAP.rows[HOT], key={"PK": "ORDER#4711"})
    clear = replace(MAP, rows=(*MAP.rows[:HOT], row, *MAP.rows[HOT + 1 :]))
    assert row_labels(clear, "reveal")[HOT] == "ORDER#4711"
    for policy in ("token", "template"):
        assert "4711" not in json.dumps(map_object(clear, AS_OF, policy, SALT))


@pytest.mark.parametrize(
    ("key", "policy", "said"),
    [
        ("ORDER#~kaaaaaaac", "template", "`keys: token` in the daemon's configuration shows it; `dynascope key TOKEN`"),
        (
            "ORDER#~kaaaaaaac",
            "token",
            "Of a key the log tells a token alone: `dynascope key TOKEN` looks up whose it is.",
        ),
        (
            "ORDER#4711",
            "template",
            "Keys are shown as templates: `keys: reveal` in the daemon's configuration shows them.",
        ),
        ("ORDER#4711", "reveal", None),
    ],
)
def test_it_says_how_keys_are_seen_in_clear(key: str, policy: Policy, said: str | None) -> None:
    one = replace(MAP, rows=tuple(replace(row, key={"PK": key}) for row in MAP.rows))
    told = map_object(one, AS_OF, policy, SALT)["how_to_see"]
    assert (told is None) if said is None else (said in told)


def test_a_map_without_rows_has_no_keys_to_see() -> None:
    assert map_object(unseen_map(ORDERS, Direction.READ, AS_OF), AS_OF, "template")["how_to_see"] is None


def test_marks_and_limits_come_with_their_times() -> None:
    told = map_object(MAP, AS_OF, "template")
    assert told["marks"][:2] == [
        {"at": "2026-06-01T13:34:20.000Z", "what": "capacity read units 6,000 → 8,000", "kind": "change"},
        {"at": "2026-06-01T13:41:00.000Z", "what": "unexpected-scan began (3% of read units)", "kind": "finding"},
    ]
    assert told["top"]["limits"] == [
        {"at": "2026-06-01T13:06:00.000Z", "units": 6000.0},
        {"at": "2026-06-01T13:34:20.000Z", "units": 8000.0},
    ]


def test_a_row_in_words_says_how_much_how_hot_when_refused_and_by_whom() -> None:
    words = map_object(MAP, AS_OF, "template")["text"][HOT]
    assert words.startswith("ORDER#<id> · 1: ")
    for part in ("of reads (", "of the ceiling at 14:0", "throttled tries, get-order by checkout-api"):
        assert part in words


def test_a_row_of_which_nothing_is_known_is_shown_without_heat() -> None:
    told = map_object(replace(MAP, heat=np.full_like(MAP.heat, np.nan)), AS_OF, "template")
    assert (told["rows"][0]["heat_max"], told["rows"][0]["heat_max_at"]) == (None, None)
    assert "ceiling" not in told["text"][0]


def test_rows_are_named_by_what_they_are_and_nothing_of_it_is_told() -> None:
    assert rows_id(MAP) == rows_id(made_map(ORDERS, Direction.READ, AS_OF + 10_000))
    assert rows_id(MAP) != rows_id(replace(MAP, rows=MAP.rows[::-1]))


def test_columns_come_alone() -> None:
    told = columns_object(MAP, 358)
    assert (told["first"], told["columns"], matrix(told["heat"]).shape[1], len(told["top"])) == (358, 2, 2, 2)
    assert matrix(told["heat"]).tolist() == matrix(map_object(MAP, AS_OF, "template")["heat"])[:, 358:].tolist()
