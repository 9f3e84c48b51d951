from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.contract.pattern_drift import PatternDrift
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Declared, PatternTraffic, Place
from analyzer.model.window import Window
from tests.support.evidence import GSI2, UNDECLARED, row, shape, traffic

STRONG = shape("GetItem", "g", consistent=True)
EVENTUAL = shape("GetItem", "g", consistent=False)
PUT = shape("PutItem", "p")


def outcomes(*rows: PatternTraffic, declared: dict[str, Any] | None = None, **fields: Any) -> list[Finding | Skipped]:
    patterns = {"load-case": Declared(id="load-case", **(declared or {}))}
    given: dict[str, Any] = {"place": Place(declared=True, patterns=patterns), "rows": rows} | fields
    return list(PatternDrift().detect(traffic(**given)))


def found(*rows: PatternTraffic, declared: dict[str, Any] | None = None, **fields: Any) -> list[Finding]:
    return [one for one in outcomes(*rows, declared=declared, **fields) if isinstance(one, Finding)]


def test_reads_that_must_be_strong_and_are_not_are_harm() -> None:
    (one,) = found(row(EVENTUAL), declared={"consistency": "strong", "is_filtered": False})
    assert (one.severity, one.confidence, one.cause) == (Severity.MEDIUM, Confidence.CERTAIN, "consistency")
    assert (one.pattern, one.direction) == ("load-case", Direction.READ)
    assert (one.evidence["consistency_standing"], one.evidence["filter_standing"]) == ("OUT", "IN")
    assert one.evidence["consistency_declared"] == "strong"
    assert [advice.action for advice in one.advice] == ["check-client", "fix-caller", "update-declaration"]


@pytest.mark.parametrize(("units", "severity"), [(4000, Severity.LOW), (5000, Severity.MEDIUM)])
def test_drift_that_only_costs_is_judged_by_its_dollars(units: float, severity: Severity) -> None:
    one = found(row(STRONG, read_units=units), declared={"consistency": "eventual"})[0]
    assert one.severity is severity
    assert one.advice[1].snippet == "id: load-case\nconsistency: eventual"


def test_where_no_units_are_known_it_is_low() -> None:
    (one,) = found(row(STRONG, units_known=0.0), declared={"consistency": "eventual"})
    assert (one.severity, one.cost_per_month_usd) == (Severity.LOW, None)


def test_a_rate_is_likely_until_a_day_was_looked_at() -> None:
    declared = {"p95_rate": 1.0}
    (hour,) = found(row(requests=9000), declared=declared, window=Window(0, 3_600_000))
    (day,) = found(row(requests=216_000), declared=declared, window=Window(0, 86_400_000))
    assert (hour.confidence, day.confidence) == (Confidence.LIKELY, Confidence.CERTAIN)
    assert hour.cause == "rate"
    assert "ConsumedReadCapacityUnits" in (hour.advice[0].command or "")


def test_at_an_index_the_command_names_it_and_segments_are_told() -> None:
    scan = shape("Scan", "s", segmented=True)
    place = Place(declared=True, patterns={"load-case": Declared(id="load-case", index="GSI2", p95_rate=1.0)})
    (one,) = found(
        row(scan, requests=9000), row(shape("Scan", "t"), requests=0), target=GSI2, place=place,
        window=Window(0, 3_600_000),
    )  # fmt: skip
    assert "Name=GlobalSecondaryIndexName,Value=GSI2" in (one.advice[0].command or "")
    assert one.evidence["segmented_share"] == 1.0


def test_a_pattern_that_is_as_declared_is_silent() -> None:
    assert outcomes(row(STRONG), declared={"consistency": "strong"}) == []
    assert outcomes(row(STRONG)) == []


def test_where_nothing_can_be_decided_it_says_so() -> None:
    (one,) = outcomes(row(EVENTUAL, requests=19), declared={"consistency": "strong"})
    assert isinstance(one, Skipped)
    assert one.reason is SkipReason.TOO_LITTLE


def test_a_write_that_grew_is_a_write() -> None:
    (one,) = found(row(PUT, write_units=5000), declared={"item_bytes": 1000})
    assert (one.direction, one.cause) == (Direction.WRITE, "item-bytes")
    assert "bytes an item" in one.summary


def test_undeclared_traffic_and_costs_of_an_index_are_not_its_own() -> None:
    other = Attribution(AttributionKind.DECLARED, "gone")
    rows = (row(STRONG, UNDECLARED), row(STRONG, other), row(STRONG, secondary=True))
    assert outcomes(*rows, declared={"consistency": "eventual"}) == []


def projection(*rows: PatternTraffic, writers: tuple[str, ...] = ("builder",), **fields: Any) -> list[Finding]:
    patterns = {
        "build": Declared(id="build", operations=("PutItem",), callers=writers),
        "read": Declared(id="read", operations=("Query",), callers=("api",)),
    }
    known = frozenset({"builder", "api"})
    given: dict[str, Any] = {"source_of_truth": False, "known_callers": known} | fields
    return found(*rows, place=Place(declared=True, patterns=patterns, **given))


def test_a_stranger_that_writes_to_a_projection_is_told() -> None:
    (one,) = projection(row(PUT, UNDECLARED, "api", requests=3), row(PUT, UNDECLARED, "builder"))
    assert (one.severity, one.cause, one.caller, one.pattern) == (Severity.MEDIUM, "foreign-write", "api", None)
    assert (one.evidence["foreign_writes"], one.evidence["declared_writers"]) == (3, "builder")


@pytest.mark.parametrize(
    ("caller", "fields", "count"),
    [
        ("x-17", {}, 0),
        ("x-17", {"mapped_callers": frozenset({"builder"})}, 1),
        (None, {}, 0),
        ("api", {"source_of_truth": True}, 0),
        ("api", {"source_of_truth": None}, 0),
        ("api", {"writers": ()}, 0),
        ("builder", {}, 0),
    ],
    ids=["perhaps its name", "surely none", "not told", "the truth", "not said", "no writer declared", "the builder"],
)
def test_who_is_a_stranger_follows_from_what_the_contract_knows(
    caller: str | None, fields: dict[str, Any], count: int
) -> None:
    assert len(projection(row(PUT, UNDECLARED, caller), **fields)) == count


def test_reads_and_indexes_of_a_projection_are_free() -> None:
    assert projection(row(STRONG, UNDECLARED, "api")) == []
    place = Place(source_of_truth=False)
    assert found(row(PUT, UNDECLARED, "api"), place=place, target=GSI2) == []
