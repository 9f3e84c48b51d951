from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.verdict import finding
from analyzer.model.finding import Confidence, Severity
from tests.support.evidence import GSI2, traffic

ESTIMATED = "the request log is sampled: numbers are estimates within their bounds"


def test_a_finding_is_at_the_place_of_its_traffic_and_rests_on_the_request_log() -> None:
    one = finding("hot-key", traffic(GSI2), Severity.HIGH, "so", caller="api")
    assert (one.detector, one.severity, one.summary, one.caller) == ("hot-key", Severity.HIGH, "so", "api")
    assert (one.account, one.region, one.table, one.index) == ("111122223333", "us-east-1", "cases", "GSI2")
    assert (one.confidence, one.sources) == (Confidence.CERTAIN, ("request-log",))


def test_it_may_rest_on_something_else() -> None:
    one = finding("x", traffic(), Severity.LOW, "so", confidence=Confidence.LIKELY, sources=("cloudwatch-metrics",))
    assert (one.confidence, one.sources) == (Confidence.LIKELY, ("cloudwatch-metrics",))


@pytest.mark.parametrize(
    ("sampled", "told", "because"),
    [
        (False, {}, None),
        (True, {}, ESTIMATED),
        (False, {"because": "it is said"}, "it is said"),
        (True, {"because": "it is said"}, "it is said"),
        (True, {"because": None}, None),
    ],
)
def test_of_a_sample_it_says_so_unless_it_says_why_already(
    told: dict[str, Any], because: str | None, *, sampled: bool
) -> None:
    assert finding("x", traffic(sampled=sampled), Severity.LOW, "so", **told).because == because
