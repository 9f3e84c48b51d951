from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.contract.pattern_drift import PatternDrift
from analyzer.detectors.money import dollars_of
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.history import History, PatternPast
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Declared, PatternTraffic, Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, GSI2, UNDECLARED, key, row, shape, traffic

STRONG = shape("GetItem", "g", consistent=True)
EVENTUAL = shape("GetItem", "g", consistent=False)
PUT = shape("PutItem", "p")


PROMISES_EVENTUAL = Place(declared=True, patterns={"load-case": Declared(id="load-case", consistency="eventual")})
HOUR = Window(0, 3_600_000)
MANY = (50.0, 60.0, 40.0)
"""Requests of three days."""


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
    assert "100% read eventually (declared: strong)" in one.summary
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("check-client", None),
        ("fix-caller", True),
        ("update-declaration", None),
    ]
    assert "segmented_share" not in one.evidence


def test_it_began_with_the_first_request_that_breaks_what_is_told_first() -> None:
    strongly = [call(at=at, of=STRONG, key=item(f"CASE#{at}")) for at in range(900, 1800)]
    rows, half = (row(EVENTUAL, requests=900), row(STRONG, requests=900)), Window(0, 1_800_000)
    (one,) = found(*rows, declared={"consistency": "eventual"}, window=half, calls=book(*strongly))
    assert (one.cause, one.first_seen) == ("consistency", 900_000)
    strangers: dict[str, Any] = {
        "known_callers": frozenset({"job"}),
        "patterns": {"load-case": Declared(id="load-case", callers=("web",))},
    }
    calls = book(*(call(at=at, caller="job", key=item(f"CASE#{at}")) for at in range(900, 1800)))
    by_job = row(shape(fingerprint="getitem"), caller="job", requests=900)
    (other,) = found(by_job, place=Place(declared=True, **strangers), window=half, calls=calls)
    assert (other.cause, other.first_seen) == ("caller", 900_000)


def test_harm_comes_first_of_all_that_has_drifted() -> None:
    (one,) = found(row(EVENTUAL), declared={"index": "LSI1", "consistency": "strong"})
    assert (one.severity, one.cause) == (Severity.MEDIUM, "consistency")
    assert [advice.action for advice in one.advice] == ["check-client", "fix-caller", "update-declaration"]


def test_what_is_asked_most_is_the_shape_of_the_finding() -> None:
    rows = (row(shape("GetItem", "rare", consistent=False), requests=20), row(EVENTUAL), row(STRONG, requests=30))
    (one,) = found(*rows, declared={"consistency": "strong"})
    assert one.fingerprint == "g"


@pytest.mark.parametrize(("units", "severity"), [(4000, Severity.LOW), (5000, Severity.MEDIUM)])
def test_drift_that_only_costs_is_judged_by_its_dollars(units: float, severity: Severity) -> None:
    one = found(row(STRONG, read_units=units), declared={"consistency": "eventual"})[0]
    assert one.severity is severity
    assert one.advice[1].snippet == "id: load-case\nconsistency: eventual"


def test_drift_at_the_dollars_that_count_is_medium() -> None:
    asked = row(STRONG, read_units=5000)
    evidence = traffic(rows=(asked,), place=PROMISES_EVENTUAL)
    dollars = dollars_of([asked], evidence) or 0.0
    (one,) = PatternDrift(low_dollars=dollars).detect(evidence)
    assert isinstance(one, Finding)
    assert one.severity is Severity.MEDIUM


def test_where_no_units_are_known_it_is_low() -> None:
    (one,) = found(row(STRONG, units_known=0.0), declared={"consistency": "eventual"})
    assert (one.severity, one.cost_per_month_usd) == (Severity.LOW, None)


def test_a_rate_is_likely_until_a_day_was_looked_at() -> None:
    declared = {"p95_rate": 1.0}
    (hour,) = found(row(requests=9000), declared=declared, window=Window(0, 3_600_000))
    (day,) = found(row(requests=216_000), declared=declared, window=Window(0, 86_400_000))
    assert (hour.confidence, day.confidence) == (Confidence.LIKELY, Confidence.CERTAIN)
    assert hour.cause == "rate"
    assert (hour.because, day.because) == (
        "less than a day was looked at: a p95 may be passed for an hour of it",
        None,
    )
    assert "ConsumedReadCapacityUnits" in (hour.advice[0].command or "")
    (writes,) = found(row(PUT, requests=9000), declared=declared, window=HOUR)
    assert "ConsumedWriteCapacityUnits" in (writes.advice[0].command or "")


def test_a_rate_beside_another_facet_is_certain() -> None:
    (one,) = found(row(STRONG, requests=9000), declared={"p95_rate": 1.0, "consistency": "eventual"}, window=HOUR)
    assert (one.confidence, one.cause) == (Confidence.CERTAIN, "consistency")
    assert "2.5 [" in one.summary
    assert "requests a second on average (declared: p95 1)" in one.summary


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
    (enough,) = outcomes(row(EVENTUAL, requests=20), declared={"consistency": "strong"})
    assert isinstance(enough, Finding)


def test_where_something_was_decided_what_was_not_is_no_matter() -> None:
    assert outcomes(row(STRONG), declared={"consistency": "strong", "p95_rate": 1.0}) == []


@pytest.mark.parametrize(("breaking", "count"), [(100, 1), (60, 0)])
def test_a_twentieth_may_be_an_experiment(breaking: float, count: int) -> None:
    rows = (row(EVENTUAL, requests=breaking), row(STRONG, requests=1000 - breaking))
    assert len(found(*rows, declared={"consistency": "strong"})) == count


@pytest.mark.parametrize(("item_bytes", "count"), [(2500, 1), (2600, 0)])
def test_a_declared_number_has_a_margin(item_bytes: int, count: int) -> None:
    """Five units a write are over 3,850 bytes, chance left aside."""
    assert len(found(row(PUT, write_units=5000), declared={"item_bytes": item_bytes})) == count


@pytest.mark.parametrize(("factor", "count"), [(2.1, 1), (1.8, 0)])
def test_of_twenty_changes_against_the_past_one_may_be_chance(factor: float, count: int) -> None:
    """The chances of the two are 4 % and 11 %."""
    own = PatternPast(before=MANY, now=tuple(factor * many for many in MANY))
    history = History(patterns={CASES: {"load-case": own}})
    assert len(found(row(STRONG), history=history)) == count


FILTERED = shape("Query", "f", filter="a = :0", filter_attributes=("a",))
QUERY = shape("Query", "q", forward=True, limit_bucket=64)
ONE_KEY = (key(rows=((0, 900.0),)),)


@pytest.mark.parametrize(
    ("asked", "declared", "fields", "lines"),
    [
        (row(QUERY), {"index": "GSI2"}, {}, ["index: NAME"]),
        (row(caller="batch"), {"callers": ("api",)}, {}, ["callers: [NAME]"]),
        (row(FILTERED), {"is_filtered": False}, {}, ["filter: {discards_at_most: 10%}"]),
        (row(FILTERED, scanned=1000, returned=700), {"discards_at_most": 0.1}, {}, ["filter: {discards_at_most: N%}"]),
        (row(QUERY), {"order": "descending"}, {}, ["order: descending"]),
        (row(QUERY), {"page_size": 25}, {}, ["page_size: N"]),
        (row(QUERY, scanned=40_000), {"items_per_key": 20}, {}, ["items_per_key: N"]),
        (row(PUT, write_units=5000), {"item_bytes": 1000}, {}, ["item_bytes: N"]),
        (row(requests=9000), {"p95_rate": 1.0}, {}, ["rate: {p95: N, peak: N}"]),
        (row(read_units=1000), {"top_share": 0.1}, {"keys": ONE_KEY}, ["per_key: {top_share: N%}"]),
        (
            row(read_units=1000),
            {"read_rate_a_key": 0.1},
            {"keys": ONE_KEY},
            ["per_key: {read_rate: N, write_rate: N}"],
        ),
        (
            row(read_units=1000, requests=9000),
            {"read_rate_a_key": 0.1, "top_share": 0.1, "p95_rate": 1.0},
            {"keys": ONE_KEY},
            ["rate: {p95: N, peak: N}", "per_key: {top_share: N%, read_rate: N, write_rate: N}"],
        ),
        (
            row(requests=9000),
            {"p95_rate": 1.0},
            {"history": History(patterns={CASES: {"load-case": PatternPast(before=MANY, now=(500.0, 600.0, 400.0))}})},
            ["rate: {p95: N, peak: N}"],
        ),
    ],
)
def test_each_facet_has_its_line_in_the_declaration(
    asked: PatternTraffic, declared: dict[str, Any], fields: dict[str, Any], lines: list[str]
) -> None:
    pattern = Declared(id="load-case", **declared)
    place = Place(declared=True, patterns={"load-case": pattern}, known_callers=frozenset({"api", "batch"}))
    (one,) = found(asked, place=place, window=HOUR, **fields)
    assert (one.advice[-1].snippet or "").split("\n") == ["id: load-case", *lines]


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
    assert one.evidence["strangers"] == "api"
    assert one.summary.startswith("api wrote 3 times to cases")


def test_one_write_of_a_stranger_is_enough() -> None:
    assert len(projection(row(PUT, UNDECLARED, "api", requests=1))) == 1


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
