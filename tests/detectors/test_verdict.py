from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.verdict import SAMPLED, finding
from analyzer.model.finding import Confidence, Severity
from tests.support.evidence import GSI2, traffic


def test_a_finding_is_at_the_place_of_its_traffic_and_rests_on_the_request_log() -> None:
    one = finding("hot-key", traffic(GSI2), Severity.HIGH, "so", caller="api")
    assert (one.detector, one.severity, one.summary, one.caller) == ("hot-key", Severity.HIGH, "so", "api")
    assert (one.account, one.region, one.table, one.index) == ("111122223333", "us-east-1", "cases", "GSI2")
    assert (one.confidence, one.sources) == (Confidence.CERTAIN, ("request-log",))


def test_it_may_rest_on_something_else() -> None:
    one = finding("x", traffic(), Severity.LOW, "so", confidence=Confidence.LIKELY, sources=("cloudwatch-metrics",))
    assert (one.confidence, one.sources) == (Confidence.LIKELY, ("cloudwatch-metrics",))


@pytest.mark.parametrize(
    ("sampled", "told", "caveat"),
    [
        (False, {}, None),
        (True, {}, SAMPLED),
        (True, {"because": "it is said"}, SAMPLED),
        (True, {"caveat": "another"}, "another"),
        (True, {"caveat": None}, None),
    ],
)
def test_that_a_log_is_sampled_is_no_reason_but_what_to_bear_in_mind(
    told: dict[str, Any], caveat: str | None, *, sampled: bool
) -> None:
    one = finding("x", traffic(sampled=sampled), Severity.LOW, "so", **told)
    assert (one.because, one.caveat) == (told.get("because"), caveat)
