from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.detectors.scan_advice import advice_on_scan
from analyzer.model.finding import Risk
from analyzer.model.traffic import Place
from tests.support.evidence import traffic

if TYPE_CHECKING:
    from analyzer.model.finding import Advice

INDEXES = Place(index_keys={"by-day": ("day", "id"), "by-status": ("PK", "status")})


def told(
    *filtered: str, place: Place = INDEXES, caller: str | None = "api", sweeps: bool = False, caches: bool = False
) -> dict[str, Advice]:
    advice = advice_on_scan(traffic(place=place), caller, filtered, sweeps=sweeps, caches=caches)
    return {one.action: one for one in advice}


@pytest.mark.parametrize(
    ("advice", "actions"),
    [
        (told(), ["fix-caller", "use-export", "declare-pattern"]),
        (told("status"), ["fix-caller", "query-instead-of-scan", "declare-pattern"]),
        (told("size"), ["fix-caller", "add-index", "declare-pattern"]),
        (told("size", sweeps=True), ["fix-caller", "enable-ttl", "add-index", "declare-pattern"]),
        (told(caches=True), ["fix-caller", "use-export", "cache-item", "declare-pattern"]),
    ],
    ids=["everything", "an index serves it", "no index does", "a sweep", "asked for more often"],
)
def test_what_helps_follows_from_what_is_asked_for(advice: dict[str, Advice], actions: list[str]) -> None:
    assert list(advice) == actions


def test_what_is_risked_and_what_can_be_taken_back_is_said() -> None:
    every = told("status", sweeps=True, caches=True) | told("size") | told()
    assert {action: (one.risk, one.reversible) for action, one in every.items()} == {
        "fix-caller": (Risk.NONE, None),
        "enable-ttl": (Risk.HIGH, False),
        "query-instead-of-scan": (Risk.LOW, True),
        "add-index": (Risk.LOW, True),
        "use-export": (Risk.NONE, True),
        "cache-item": (Risk.LOW, True),
        "declare-pattern": (Risk.NONE, None),
    }


def test_time_to_live_deletes_items_and_its_command_says_so() -> None:
    one = told("expires_at", sweeps=True)["enable-ttl"]
    assert one.command == (
        "aws dynamodb update-time-to-live --table-name cases --time-to-live-specification"
        " Enabled=true,AttributeName=expires_at --region us-east-1  # changes production"
    )
    assert one.text.endswith("all items of a past time go, and none comes back")


def test_the_index_that_is_keyed_by_the_filter_is_asked() -> None:
    one = told("size", "status")["query-instead-of-scan"]
    assert one.text == "Query index by-status: it is keyed by PK, status"
    assert one.snippet == 'table.query(IndexName="by-status", KeyConditionExpression=Key("status").eq(value))'


@pytest.mark.parametrize(
    ("caller", "asked", "declared"),
    [("report", "report", "  callers: [report]"), (None, "a caller not recorded", "  callers: [who-calls]")],
)
def test_it_may_be_declared_by_whoever_sends_it(caller: str | None, asked: str, declared: str) -> None:
    advice = told(caller=caller)
    assert advice["fix-caller"].text.startswith(f"Ask the owner of {asked} whether")
    assert (advice["declare-pattern"].snippet or "").split("\n")[1:4:2] == ["  operation: Scan", declared]
