from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from analyzer.lifecycle.causes import fold
from analyzer.lifecycle.identity import identify
from analyzer.lifecycle.weight import by_weight, grouped, weight_of
from analyzer.model.finding import Confidence, Finding, Severity, Status

SALTS = [b"a", b"b", b"c", b"d", b"e", b"f"]


def key(secret: bytes, subject: str, **fields: Any) -> Finding:
    """A hot key as one of the ways to see it tells it; its id is made with a salt."""
    told: dict[str, Any] = {"severity": Severity.CRITICAL, "confidence": Confidence.LIKELY, "table": "cases"}
    return identify(Finding(**told | {"detector": "hot-key", "subject": subject, "summary": subject} | fields), secret)


LOG = {"subject": "takes 1,500 of 1,000", "confidence": Confidence.CERTAIN, "caller": "svc"}
RANKED = {"subject": "takes 51% to 101%"}
WITH_SORT = {"subject": "takes 40% to 101%"}


@pytest.mark.parametrize("secret", SALTS)
def test_what_is_certain_and_names_a_caller_comes_first_whatever_the_salt(secret: bytes) -> None:
    seen = [key(secret, **one) for one in (WITH_SORT, RANKED, LOG)]
    orders = {tuple(one.summary for one in by_weight(order)) for order in permutations(seen)}
    assert orders == {("takes 1,500 of 1,000", "takes 40% to 101%", "takes 51% to 101%")}
    assert {grouped(order)[0][0].summary for order in permutations(seen)} == {"takes 1,500 of 1,000"}


@pytest.mark.parametrize("secret", SALTS)
def test_refusals_are_explained_by_the_weightiest_key_whatever_the_salt(secret: bytes) -> None:
    seen = [key(secret, **one) for one in (WITH_SORT, LOG)]
    refused = key(secret, "refused", detector="throttling", cause="key-range")
    assert all(fold((refused, *order))[0].caused_by == seen[1].id for order in permutations(seen))


@pytest.mark.parametrize(
    "first",
    [
        {"severity": Severity.CRITICAL, "confidence": Confidence.POSSIBLE},
        {"confidence": Confidence.CERTAIN},
        {"caller": "api"},
        {"evidence": {"heat": 1.5}},
        {"evidence": {"heat": None, "throttle_events": 12}},
    ],
)
def test_severity_then_confidence_then_a_caller_then_the_amount_decide(first: dict[str, Any]) -> None:
    common: dict[str, Any] = {"severity": Severity.HIGH, "evidence": {"heat": 1.2}}
    less: dict[str, Any] = {"evidence": {}} if first.get("evidence", {}).get("heat", 0) is None else {}
    one, other = key(b"a", "z", **common | first), key(b"a", "a", **common | less)
    assert sorted((other, one), key=weight_of) == [one, other]


def test_a_group_is_as_bad_as_its_worst_and_then_stands_where_its_cause_does() -> None:
    possible = key(b"a", "refused", detector="throttling", severity=Severity.HIGH, confidence=Confidence.POSSIBLE)
    index = key(b"a", "index", detector="zz", severity=Severity.HIGH, confidence=Confidence.CERTAIN)
    mild = key(b"a", "mild", severity=Severity.MEDIUM, confidence=Confidence.CERTAIN)
    effect = key(b"a", "effect", detector="throttling", caused_by=mild.id)
    asleep = key(b"a", "asleep", status=Status.SNOOZED)
    told = [cause.summary for cause, _ in grouped((asleep, possible, effect, index, mild))]
    assert told == ["mild", "asleep", "index", "refused"]
    ordered = [one.summary for one in by_weight((asleep, possible, effect, index, mild))]
    assert ordered == ["mild", "asleep", "index", "refused", "effect"]
