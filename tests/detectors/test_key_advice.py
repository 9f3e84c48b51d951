"""What to do about a hot key: what each action risks, whether it can be taken back, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.key_advice import advice_for
from analyzer.detectors.key_facts import KeyFacts
from analyzer.knowledge.shards import Shards
from analyzer.model.finding import Advice, Direction, Risk

READ, WRITE = Direction.READ, Direction.WRITE
SHAPES = ("single-item", "counter", "time-bucket", "tenant", "queue", "constant", "sequential", "backfill", "dashboard")


def told(shape: str, direction: Direction | None = WRITE, *, may_split: bool = False, **fields: Any) -> list[Advice]:
    facts = KeyFacts(**{"attribute": "PK", "caller": "api"} | fields, shape=shape, direction=direction)
    return list(advice_for(facts, may_split=may_split))


@pytest.mark.parametrize("is_index", [False, True])
def test_each_action_says_what_it_risks_and_whether_it_can_be_taken_back(*, is_index: bool) -> None:
    every = {
        (one.action, shape if one.action == "change-key" else ""): (one.risk, one.reversible)
        for shape in SHAPES
        for one in told(shape, None, may_split=True, is_strong=True, is_index=is_index)
    }
    assert every == {
        ("fix-caller", ""): (Risk.NONE, None),
        ("read-eventually", ""): (Risk.LOW, True),
        ("cache-item", ""): (Risk.LOW, True),
        ("keep-a-counter", ""): (Risk.LOW, True),
        ("aggregate-writes", ""): (Risk.LOW, True),
        ("use-queue", ""): (Risk.LOW, True),
        ("pace-writes", ""): (Risk.LOW, True),
        ("spread-tenant", ""): (Risk.HIGH, False),
        ("shard-key", ""): (Risk.HIGH, False),
        ("change-key", "time-bucket"): (Risk.HIGH, False),
        ("change-key", "sequential"): (Risk.HIGH, False),
        ("change-key", "constant"): (Risk.HIGH, is_index),
        ("wait-for-split", ""): (Risk.NONE, None),
    }


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("direction", [READ, WRITE, None])
def test_the_first_action_changes_nothing_and_none_raises_capacity(shape: str, direction: Direction | None) -> None:
    first, *others = told(shape, direction, may_split=True, is_strong=True)
    assert (first.action, first.risk, first.command) == ("fix-caller", Risk.NONE, None)
    assert not [one.action for one in others if one.action.startswith(("raise", "prewarm", "switch"))]


@pytest.mark.parametrize(
    ("caller", "text"),
    [
        ("api", "Ask the owner of api why it concentrates on {key}; stop or slow it there"),
        (None, "Find who asks for {key}: a request log of the sampler names callers"),
    ],
)
def test_the_caller_is_asked_where_it_is_known(caller: str | None, text: str) -> None:
    assert told("tenant", caller=caller)[0].text == text


@pytest.mark.parametrize(
    ("shards", "reads", "many", "effect"),
    [
        (None, None, "N", "each suffix is a partition key of its own, with 1,000 write units a second"),
        (Shards(1, 1.0, 300.0), 9.0, "N", "each suffix is a partition key of its own, with 1,000 write units a second"),
        (Shards(2, 1.1, 655.0), None, "2", "the fullest of 2 takes 655 write units a second"),
        (Shards(2, 1.1, 655.0), 0.0, "2", "the fullest of 2 takes 655 write units a second"),
        (
            Shards(8, 1.1, 655.0),
            50.0,
            "8",
            (
                "the fullest of 8 takes 655 write units a second; each of 50 reads a second becomes 8:"
                " 175 read units a second more"
            ),
        ),
    ],
    ids=["not known", "one is enough", "no reads known", "no reads", "reads"],
)
def test_a_suffix_is_told_with_its_price_on_both_sides(
    shards: Shards | None, reads: float | None, many: str, effect: str
) -> None:
    added = None if reads is None else 175.0 if reads else 0.0
    advice = told("tenant", shards=shards, reads_a_second=reads, added_read_units=added)
    (shard,) = [one for one in advice if one.action == "shard-key"]
    assert shard.text == f"Add a suffix to PK and write to one of {many}; read all {many} and merge"
    assert (shard.effect, shard.snippet) == (effect, f'PK = f"{{value}}#{{random.randrange({many})}}"')


def test_what_is_waited_for_comes_last() -> None:
    assert [one.action for one in told("tenant", may_split=True)][-2:] == ["shard-key", "wait-for-split"]
    assert "wait-for-split" not in [one.action for one in told("tenant")]


def test_strong_reads_are_first_of_what_helps_readers() -> None:
    assert [one.action for one in told("tenant", READ, is_strong=True)][1:3] == ["read-eventually", "cache-item"]
    assert "read-eventually" not in [one.action for one in told("tenant", WRITE, is_strong=True)]


def test_reads_of_a_prefix_are_spread_and_not_cached() -> None:
    assert [one.action for one in told("tenant", READ, is_prefix=True)] == ["fix-caller", "spread-tenant"]
