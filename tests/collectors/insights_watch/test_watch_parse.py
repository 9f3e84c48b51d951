from __future__ import annotations

import msgspec
import pytest

from analyzer.errors import MalformedError
from analyzer.knowledge.prices import WatcherPrices
from analyzer.model.target import Target
from collectors.insights_watch.parse import (
    Cost,
    Intent,
    Plan,
    cost_of,
    describe_plan,
    read_intent,
    told_intent,
)
from collectors.notes import encode_note

CASES = Target("111122223333", "us-east-1", "cases")
PRICES = WatcherPrices("2026-11-30", "us-east-1", 0.01, 0.01, 0.0004, 0.005, 5.0, 0.5, 0.73, 0.03, 0.1, 0.5)
INTENT = Intent(
    account="111122223333",
    region="us-east-1",
    table="cases",
    index="GSI1",
    called_as=None,
    was_on=True,
    was_mode="THROTTLED_KEYS",
    began=0,
    until=60_000,
)


def plan(**changes: object) -> Plan:
    whole = Plan(
        target=CASES,
        called_as=None,
        was_on=False,
        was_mode="ACCESSED_AND_THROTTLED_KEYS",
        is_ranking=False,
        for_ms=1_800_000,
        rules_added=4,
        rules_used=90,
        requests_a_second=1000.0,
        cost=Cost(0.0014, 0.108),
    )
    return msgspec.structs.replace(whole, **changes)


def test_an_intent_is_read_as_it_was_written() -> None:
    assert read_intent(encode_note(INTENT), "f") == INTENT
    assert INTENT.target == CASES.at("GSI1")


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]"])
def test_what_is_no_intent_is_refused_with_care(content: bytes) -> None:
    with pytest.raises(MalformedError, match="f is no intent of a watch") as refused:
        read_intent(content, "f")
    assert "may still be switched over" in refused.value.hint


def test_an_intent_of_a_newer_version_is_refused() -> None:
    newer = encode_note(msgspec.structs.replace(INTENT, v=2))
    with pytest.raises(MalformedError, match="an intent of version 2, this reads 1"):
        read_intent(newer, "f")


def test_rules_cost_by_the_hour_and_requests_by_the_million() -> None:
    hour = 3_600_000
    assert cost_of(4, hour, None, has_sort_key=True, prices=PRICES) == Cost(0.004, None)
    assert cost_of(2, hour, 1000.0, has_sort_key=False, prices=PRICES).events_usd == pytest.approx(0.108)
    assert cost_of(2, hour, 1000.0, has_sort_key=True, prices=PRICES).events_usd == pytest.approx(0.216)


def test_a_plan_says_how_it_stands_what_it_adds_and_what_it_costs() -> None:
    assert describe_plan(plan(), PRICES) == (
        "cases in us-east-1: Contributor Insights is off",
        "it would rank the most accessed keys for 30 minutes, and then be off again",
        "it adds 4 rules; the account has 90 of 100 (the default quota), so 10 are left",
        (
            "it costs about 0.1094 dollars at 1,000.0 requests a second, the last hour's mean "
            "(list prices of us-east-1, 2026-11-30)"
        ),
    )


def test_a_plan_says_what_is_not_known_or_not_enough() -> None:
    told = describe_plan(
        plan(was_on=True, was_mode="THROTTLED_KEYS", for_ms=60_000, rules_used=98, requests_a_second=None), PRICES
    )
    assert told[0].endswith("is on, mode THROTTLED_KEYS")
    assert "for 1 minute, and then be on, mode THROTTLED_KEYS again" in told[1]
    assert told[2].endswith("so 2 are left: not enough, unless your quota was raised")
    assert told[3].startswith("it costs 0.0014 dollars for the rules, and 0.03 a million items read or written")
    assert "could not be counted" in describe_plan(plan(rules_used=None), PRICES)[2]
    assert "there is nothing to do" in describe_plan(plan(is_ranking=True))[0]


def test_an_intent_is_told_in_words() -> None:
    assert told_intent(INTENT) == (
        "cases/GSI1 in us-east-1: back to mode THROTTLED_KEYS, watched since 1970-01-01T00:00:00.000Z"
    )
    assert "back to off" in told_intent(msgspec.structs.replace(INTENT, was_on=False))
