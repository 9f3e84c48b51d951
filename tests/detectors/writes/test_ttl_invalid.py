from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.writes.ttl_invalid import TtlInvalid
from analyzer.model.calls import TtlValue
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.table import TimeToLive
from analyzer.model.traffic import Place
from tests.support.calls import book, call
from tests.support.evidence import GSI2, row, shape, traffic

NOW = 1_796_000_000
PUT = shape("PutItem", "put")
ON = TimeToLive("ENABLED", "expires")


def put(number: float | None, kind: str | None = "N", attribute: str | None = "expires", **fields: Any) -> Any:
    told = TtlValue(attribute=attribute, type=kind, number=number)
    return call("PutItem", NOW, PUT, ttl=told, **fields)


def outcomes(*calls: Any, place: Place | None = None, **fields: Any) -> list[Finding | Skipped]:
    place = place or Place(declared=True)
    return list(TtlInvalid().detect(traffic(place=place, calls=book(*calls), **fields)))


def found(*calls: Any, **fields: Any) -> list[Finding]:
    return [one for one in outcomes(*calls, **fields) if isinstance(one, Finding)]


def test_milliseconds_never_expire() -> None:
    (one,) = found(*[put(NOW * 1000)] * 5, put(NOW + 60), rows=(row(PUT),))
    assert (one.severity, one.confidence, one.cause) == (Severity.MEDIUM, Confidence.CERTAIN, "milliseconds")
    assert (one.evidence["writes_wrong"], one.evidence["writes_with_ttl"], one.pattern) == (5, 6, "load-case")
    assert (one.evidence["type"], one.evidence["example_value"]) == ("N", NOW * 1000)
    assert (one.evidence["wrong_share"], one.subject) == (0.8333, "values\x1fexpires")
    assert one.summary.endswith("those that api wrote among them: expires is in milliseconds, not seconds")
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("fix-caller", None),
        ("fix-ttl-units", True),
    ]
    assert (one.advice[-1].snippet or "").startswith('item["expires"] = ')


def test_one_write_alone_is_likely() -> None:
    (one,) = found(put(None, "S", attribute=None), rows=())
    assert (one.cause, one.confidence, one.pattern) == ("not-a-number", Confidence.LIKELY, None)


def test_an_attribute_that_nobody_names_is_the_time_to_live() -> None:
    (one,) = found(put(None, "S", attribute=None))
    assert one.summary.endswith("its time to live is no Number")
    assert (one.subject, one.evidence["type"], one.evidence["example_value"]) == ("values\x1f", "S", None)
    assert (one.advice[-1].snippet or "").startswith('item["expires"] = ')


def test_one_item_among_thousands_is_somebodys_test() -> None:
    assert found(put(60), *[put(NOW + 60)] * 100) == []
    assert len(found(put(60), *[put(NOW + 60)] * 99)) == 1


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        (TimeToLive("DISABLED"), "not-enabled"),
        (TimeToLive("DISABLING", "expires"), "not-enabled"),
        (TimeToLive("ENABLED", "until"), "attribute-differs"),
    ],
)
def test_a_setting_that_does_not_look_at_the_declared_attribute_is_told(told: TimeToLive, cause: str) -> None:
    (one,) = found(place=Place(declared=True, ttl_attribute="expires", time_to_live=told))
    assert (one.cause, one.confidence, one.severity) == (cause, Confidence.CERTAIN, Severity.MEDIUM)
    assert [(advice.risk.value, advice.reversible) for advice in one.advice] == [("none", None), ("high", False)]
    commands = [(advice.command or "").rsplit("  # ", 1)[1] for advice in one.advice]
    assert commands == ["read-only", "changes production"]


def test_without_a_contract_the_attribute_is_that_of_the_items() -> None:
    (one,) = found(put(NOW + 60), place=Place(time_to_live=TimeToLive("ENABLED", "until")))
    assert (one.cause, one.confidence) == ("attribute-differs", Confidence.LIKELY)


@pytest.mark.parametrize("told", [ON, TimeToLive("ENABLING", "expires"), TimeToLive("ENABLED"), TimeToLive()])
def test_a_setting_that_fits_or_is_not_told_is_silent(told: TimeToLive) -> None:
    assert outcomes(place=Place(declared=True, ttl_attribute="expires", time_to_live=told)) == []


def test_a_declared_attribute_of_which_nothing_is_seen_is_not_judged() -> None:
    (one,) = outcomes(place=Place(declared=True, ttl_attribute="expires"))
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.TOO_LITTLE


def test_healthy_items_no_items_and_an_index_are_silent() -> None:
    assert outcomes(put(NOW + 60), place=Place(declared=True, ttl_attribute="expires")) == []
    assert outcomes() == []
    assert list(TtlInvalid().detect(traffic())) == []
    assert list(TtlInvalid().detect(traffic(GSI2, calls=book(put(60))))) == []
