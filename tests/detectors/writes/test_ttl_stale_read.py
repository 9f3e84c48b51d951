from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.ttl_stale_read import TtlStaleRead
from analyzer.model.calls import TtlValue
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.table import TimeToLive
from analyzer.model.traffic import Place
from tests.support.calls import book, call
from tests.support.evidence import row, shape, traffic


def read(operation: str = "GetItem", items: int = 1, attribute: str | None = "expires", **fields: Any) -> Any:
    told = TtlValue(attribute=attribute, expired_returned=items)
    return call(operation, 0, shape(operation, operation, **fields), ttl=told)


def found(*calls: Any, place: Place | None = None, **fields: Any) -> list[Finding]:
    evidence = traffic(place=place or Place(declared=True), calls=book(*calls), **fields)
    return [one for one in TtlStaleRead().detect(evidence) if isinstance(one, Finding)]


def changes(one: Finding) -> list[str]:
    """What is advised to change, which code can show."""
    return [advice.action for advice in one.advice if advice.snippet is not None]


@pytest.mark.parametrize(
    ("purpose", "severity"), [("session", Severity.HIGH), ("cleanup", Severity.MEDIUM), (None, Severity.MEDIUM)]
)
def test_an_expired_session_is_worse_than_an_expired_leftover(purpose: str | None, severity: Severity) -> None:
    place = Place(declared=True, ttl_attribute="expires", ttl_purpose=purpose, time_to_live=TimeToLive("ENABLED"))
    (one,) = found(read(), place=place, rows=(row(shape("GetItem", "GetItem")),))
    assert (one.severity, one.confidence, one.pattern) == (severity, Confidence.LIKELY, "load-case")
    assert (one.evidence["attribute"], one.evidence["expired_returned"]) == ("expires", 1)
    assert one.summary.startswith("1 expired item was served")


@pytest.mark.parametrize(
    ("told", "declared", "named", "shown", "subject"),
    [
        ("until", "expires", "until", "until", "until"),
        (None, "until", "until", "until", ""),
        (None, None, "their time to live", "expires", ""),
    ],
)
def test_the_attribute_is_that_of_the_items_else_the_declared_one(
    told: str | None, declared: str | None, named: str, shown: str, subject: str
) -> None:
    (one,) = found(read(attribute=told), place=Place(ttl_attribute=declared))
    assert one.summary.endswith(f"with no filter on {named}")
    assert one.subject == subject
    assert f'["{shown}"]' in (one.advice[1].snippet or "")


def test_a_get_is_compared_and_a_query_filtered() -> None:
    (one,) = found(read(), read("Query", 3), read("Query"), rows=())
    assert one.summary.startswith("5 expired items were served")
    assert [advice.reversible for advice in one.advice] == [None, True, True, True]
    assert changes(one) == [
        "filter-expired",
        "filter-expired",
        "use-conditional-write",
    ]
    (alone,) = found(read(attribute=None))
    assert changes(alone) == [
        "filter-expired",
        "use-conditional-write",
    ]
    (queried,) = found(read("Query", 2))
    assert queried.summary.startswith("2 expired items were served")
    assert any("FilterExpression" in (advice.snippet or "") for advice in queried.advice)


def test_a_filter_on_the_enabled_attribute_acquits() -> None:
    place = Place(time_to_live=TimeToLive("ENABLED", "until"))
    assert found(read("Query", filter_attributes=("until",), attribute=None), place=place) == []


def test_nothing_expired_and_no_calls_are_nothing() -> None:
    assert found(read(items=0)) == []
    assert list(TtlStaleRead().detect(traffic())) == []


def test_a_threshold_on_items_holds() -> None:
    assert list(TtlStaleRead(least_items=2).detect(traffic(calls=book(read())))) == []
