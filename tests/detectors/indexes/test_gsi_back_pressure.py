from __future__ import annotations

import pytest

from analyzer.detectors.indexes.gsi_back_pressure import GsiBackPressure
from analyzer.model.finding import Direction, Finding, Severity
from analyzer.model.traffic import Hurt, Traffic
from tests.support.evidence import GSI2, limit, traffic

WRITE = Direction.WRITE


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in GsiBackPressure().detect(evidence) if isinstance(one, Finding)]


def test_a_write_limit_of_an_index_is_high_and_names_the_tables_writers() -> None:
    hurt = (Hurt("writer", "put-case", "PutItem", 80, 0, 500), Hurt(None, "put-action", "PutItem", 20, 0, 500))
    (one,) = found(traffic(GSI2, throttles=(limit(direction=WRITE, hurt=hurt),)))
    assert (one.severity, one.index, one.cause, one.caller) == (Severity.HIGH, "GSI2", "key-range", "writer")
    assert "writes to cases are refused because of index GSI2" in one.summary
    assert "writer, an unknown caller" in one.summary


def test_five_percent_of_a_callers_writes_failing_is_critical() -> None:
    hurt = (Hurt("writer", "put-case", "PutItem", 80, 25, 500),)
    (one,) = found(traffic(GSI2, throttles=(limit(direction=WRITE, failed=25.0, hurt=hurt),)))
    assert one.severity is Severity.CRITICAL


def test_just_below_five_percent_stays_high() -> None:
    hurt = (Hurt("writer", "put-case", "PutItem", 80, 24, 500),)
    (one,) = found(traffic(GSI2, throttles=(limit(direction=WRITE, failed=24.0, hurt=hurt),)))
    assert one.severity is Severity.HIGH


def test_a_read_limit_of_an_index_pushes_nothing_back() -> None:
    assert found(traffic(GSI2, throttles=(limit(),))) == []


def test_a_write_limit_of_the_table_is_no_back_pressure() -> None:
    assert found(traffic(throttles=(limit(direction=WRITE),))) == []


def test_no_throttle_no_finding() -> None:
    assert found(traffic(GSI2)) == []


@pytest.mark.parametrize(
    ("cause", "actions"),
    [
        ("key-range", ["fix-caller", "change-key", "narrow-projection"]),
        ("provisioned", ["fix-caller", "raise-index-capacity"]),
        ("unknown", ["fix-caller"]),
    ],
)
def test_the_advice_is_for_the_index_and_never_for_the_table(cause: str, actions: list[str]) -> None:
    (one,) = found(traffic(GSI2, throttles=(limit(cause, WRITE, hurt=(), calls=0.0),)))
    assert [advice.action for advice in one.advice] == actions
