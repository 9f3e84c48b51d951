from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.counts import Cell, Count
from analyzer.model.estimate import Estimate
from analyzer.traffic.rows import rows_of
from tests.support.counting import Row, cell, counts
from tests.support.evidence import CASES, DECLARED, GSI2, shape

if TYPE_CHECKING:
    from analyzer.model.shape import Attribution
    from analyzer.model.traffic import PatternTraffic


def attribute(_: Cell) -> Attribution:
    return DECLARED


def itself(caller: str | None) -> str | None:
    return caller


def rows(*cells: tuple[Cell, Row]) -> list[PatternTraffic]:
    return [row for at_target in rows_of(counts(*cells), attribute, itself)[0].values() for row in at_target]


def test_a_cell_kept_whole_becomes_a_row_of_counted_numbers() -> None:
    (row,) = rows(
        (cell(), {Count.REQUESTS: 10, Count.READ_HALF_UNITS: 9, Count.UNITS_KNOWN: 5, Count.UNITS_SQUARED: 9})
    )
    assert (row.requests, row.read_units) == (Estimate.exact(10), Estimate.exact(4.5))
    assert (row.units_known, row.observed, row.caller) == (0.5, 10, "api")


def test_a_cell_without_anything_in_the_window_is_no_row() -> None:
    assert rows((cell(), {})) == []


def test_sample_rates_of_one_shape_and_caller_are_joined() -> None:
    whole, tenth = cell(), cell(rate=0.1)
    (row,) = rows((whole, {Count.REQUESTS: 10}), (tenth, {Count.REQUESTS: 10}))
    assert row.requests.value == 110
    assert row.requests.low < 110 < row.requests.high


def test_callers_shapes_and_targets_are_kept_apart() -> None:
    one = {Count.REQUESTS: 1}
    cells = (cell(), cell(caller=None), cell(shape("Query", "other")), cell(target=GSI2), cell(secondary=True))
    assert len(rows(*((each, one) for each in cells))) == 5


def test_a_caller_has_the_name_that_the_contract_gives_it() -> None:
    grouped, _ = rows_of(counts((cell(caller="dash"), {Count.REQUESTS: 1})), attribute, lambda _: "dashboard")
    assert grouped[CASES][0].caller == "dashboard"


def test_places_say_which_row_a_cell_went_to() -> None:
    _, places = rows_of(counts((cell(), {Count.REQUESTS: 1}), (cell(rate=0.5), {Count.REQUESTS: 1})), attribute, itself)
    assert places == {0: (CASES, 0), 1: (CASES, 0)}


def test_units_of_a_sample_have_bounds_from_their_squares() -> None:
    (row,) = rows(
        (cell(rate=0.5), {Count.REQUESTS: 4, Count.READ_HALF_UNITS: 8, Count.UNITS_KNOWN: 4, Count.UNITS_SQUARED: 16})
    )
    assert row.read_units.value == 8
    assert 4 <= row.read_units.low < 8 < row.read_units.high


def test_a_weight_without_units_scatters_as_requests_do() -> None:
    (row,) = rows((cell(rate=0.5), {Count.REQUESTS: 4, Count.SCANNED: 8}))
    assert row.scanned.value == 16
    assert row.scanned.low < 16 < row.scanned.high


def test_attempts_are_told_where_they_are_known() -> None:
    (row,) = rows((cell(), {Count.REQUESTS: 4, Count.ATTEMPTS: 6, Count.ATTEMPTS_KNOWN: 4}))
    assert row.attempts_a_request == 1.5
    assert rows((cell(), {Count.REQUESTS: 4}))[0].attempts_a_request is None


def test_what_a_write_costs_an_index_has_no_requests() -> None:
    (row,) = rows((cell(secondary=True), {Count.WRITE_HALF_UNITS: 4, Count.UNITS_SQUARED: 16}))
    assert (row.requests.value, row.units_known, row.write_units.value) == (0, 0.0, 2)


def test_latencies_of_all_sample_rates_are_added() -> None:
    one = {Count.REQUESTS: 2, Count.LATENCY_US: 3000, Count.LATENCY_KNOWN: 2}
    evidence = counts((cell(), one), (cell(rate=0.5), one), latency_buckets={0: {1: 2}, 1: {3: 2}})
    latency = rows_of(evidence, attribute, itself)[0][CASES][0].latency
    assert (latency.calls, latency.sum_ms, latency.buckets[:4]) == (4, 6.0, (0, 2, 0, 2))
