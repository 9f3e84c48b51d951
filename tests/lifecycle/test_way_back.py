from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.advice import advise, ask_owner
from analyzer.lifecycle.since_change import change_before
from analyzer.lifecycle.way_back import with_way_back
from analyzer.model.finding import Advice, Change, Confidence, Finding, Severity
from analyzer.model.instant import parse_instant

BEGAN = parse_instant("2026-06-01T14:02:00Z")
ASK = ask_owner("checkout-api", "why it concentrates on {key}; stop or slow it there", "the heat ends")
CACHE = advise("cache-item", "Cache what is read")


def deploy(seconds_before: int = 20, detail: str | None = "checkout-api 4.12.0", **fields: Any) -> Change:
    return Change(**{"time": BEGAN - seconds_before * 1000, "what": "deploy", "detail": detail, "who": "ci", **fields})


def finding(since: Change | None, *advice: Advice, caller: str | None = "checkout-api") -> Finding:
    return Finding(
        detector="hot-key",
        severity=Severity.CRITICAL,
        confidence=Confidence.CERTAIN,
        table="orders",
        summary="it is hot",
        caller=caller,
        advice=advice or (ASK, CACHE),
        first_seen=BEGAN,
        since_change=since,
    )


def first_words(one: Finding) -> str:
    return one.advice[0].text


def test_a_deploy_of_the_caller_shortly_before_is_what_to_roll_back_first() -> None:
    told = with_way_back(finding(deploy()))
    assert first_words(told) == (
        "Ask its owner to roll back the deploy of checkout-api at 14:01:40 (4.12.0); else why it concentrates on {key};"
        " stop or slow it there"
    )
    assert told.advice[1] is CACHE
    assert with_way_back(told) == told


def test_advice_that_asks_nobody_is_told_behind_the_way_back() -> None:
    slow = advise("fix-caller", "Slow the writers that fill GSI1")
    assert first_words(with_way_back(finding(deploy(200), slow))) == (
        "Ask its owner to roll back the deploy of checkout-api at 13:58:40 (4.12.0); else do this: Slow the writers"
        " that fill GSI1"
    )


def test_a_deploy_that_says_no_version_is_named_by_its_time() -> None:
    by_name = deploy(detail=None, who="checkout-api")
    assert "checkout-api at 14:01:40; else why" in first_words(with_way_back(finding(by_name)))


@pytest.mark.parametrize(
    "since",
    [
        None,
        deploy(15 * 60 + 1),
        deploy(-1),
        deploy(detail="checkout-api-canary 4.12.0"),
        deploy(detail="web-checkout-api 4.12.0"),
        deploy(detail=None),
        deploy(what="capacity"),
    ],
    ids=["none", "long before", "after", "a longer name", "a name that ends so", "nobody's", "no deploy"],
)
def test_any_other_change_changes_no_advice(since: Change | None) -> None:
    assert with_way_back(finding(since)) == finding(since)


def test_without_a_caller_nobody_is_asked() -> None:
    assert first_words(with_way_back(finding(deploy(), caller=None))) == ASK.text


def test_what_is_known_better_than_by_the_finding_counts() -> None:
    assert "roll back" in first_words(with_way_back(finding(None), deploy()))
    assert "roll back" in first_words(with_way_back(finding(deploy(3600)), None, BEGAN - 3_599_000))
    assert "roll back" not in first_words(with_way_back(finding(deploy()), None, BEGAN + 3_600_000))


def test_of_two_changes_the_deploy_of_the_caller_is_named_though_another_came_later() -> None:
    later = Change(time=BEGAN - 1, what="capacity", table="orders")
    assert change_before(finding(None), [deploy(), later]) == deploy()
    assert change_before(finding(None), [deploy(detail="search 2.0"), later]) == later
