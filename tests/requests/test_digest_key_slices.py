"""Keys slice by slice: what is in the sketches comes out of them, with bounds, refused tries and seconds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from analyzer.model.finding import Direction
from analyzer.model.key_slices import KeyUse
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from analyzer.requests.digest_key_slices import calls_over_time, is_place, key_slices
from tests.support.request_lines import LEXICON, START_MS, line, lines_of

CASES = Target(None, None, "cases")
HOUR = Window(START_MS - 10_000, START_MS + 30_000)
THROTTLED: dict[str, Any] = {
    "attempts": 2,
    "tries": [{"at_ms": 0, "code": "ProvisionedThroughputExceededException"}],
}


def read(key: str, at: float = 0.0, units: float = 1.0, **fields: Any) -> dict[str, Any]:
    given = {"key": {"PK": {"S": key}, "SK": {"S": "META"}}, "consumed": {"total": units, "table": units}}
    return line("GetItem", at=at, **given | fields)


def digest(*records: dict[str, Any]) -> Digest:
    counted = Digest(LEXICON)
    counted.update(lines_of(list(records)))
    return counted


def slices(
    counted: Digest, window: Window = HOUR, target: Target = CASES, direction: Direction = Direction.READ
) -> Any:
    return key_slices(counted.kept(), target, direction, window)


def test_a_key_has_its_units_in_the_slices_in_which_it_took_them() -> None:
    found = slices(digest(read("CASE#1"), read("CASE#1", 12.0, 2.5), read("CASE#2", 12.0)))
    told = {(column.start - START_MS, name): use.low for column in found.columns for name, use in column.keys.items()}
    assert told == {(0, "CASE#1"): 1.0, (10_000, "CASE#1"): 2.5, (10_000, "CASE#2"): 1.0}
    assert all(use.low == use.high for column in found.columns for use in column.keys.values())


def test_all_units_are_told_by_slice_and_before_the_first_record_nothing_is_known() -> None:
    found = slices(digest(read("CASE#1"), read("CASE#2", 12.0), line("GetItem", at=12.0, consumed={"total": 4.0})))
    assert math.isnan(found.units[0])
    assert found.units[1:].tolist() == [1.0, 5.0, 0.0]
    assert found.known_from == START_MS


def test_of_a_sample_everything_is_weighted() -> None:
    found = slices(digest(read("CASE#1", sample_rate=0.25), read("CASE#1", sample_rate=0.25)))
    (use,) = found.columns[0].keys.values()
    assert (use.low, use.requests, use.sampled, found.units[1]) == (8.0, 8.0, 2, 8.0)
    assert found.cells["CASE#1"].sample_rate == 0.25


def refused(key: str) -> dict[str, Any]:
    record = read(key, error={"code": "ProvisionedThroughputExceededException"}, **THROTTLED)
    return {name: value for name, value in record.items() if name != "consumed"}


def test_refused_tries_stand_at_their_key_also_where_nothing_was_served() -> None:
    found = slices(digest(read("CASE#1", **THROTTLED), refused("CASE#9")))
    told = {name: (use.low, use.tries) for name, use in found.columns[0].keys.items()}
    assert told == {"CASE#1": (1.0, 1.0), "CASE#9": (0.0, 1.0)}


def test_a_key_that_was_refused_is_told_whatever_took_more() -> None:
    found = slices(digest(*(read(f"CASE#{number}", units=9.0) for number in range(60)), refused("CASE#99")))
    assert found.columns[0].keys["CASE#99"] == KeyUse(0.0, 0.0, tries=1.0)


def test_a_hot_key_has_its_seconds() -> None:
    found = slices(digest(*(read("CASE#1", second, 1000.0) for second in (0.0, 3.0, 3.5))))
    assert found.columns[0].keys["CASE#1"].seconds == (1000.0, 0, 0, 2000.0, 0, 0, 0, 0, 0, 0)
    assert slices(digest(read("CASE#1"))).columns[0].keys["CASE#1"].seconds is None


def test_prefixes_attributes_and_shapes_come_along() -> None:
    found = slices(digest(read("TENANT#7#CASE#1"), read("TENANT#7#CASE#2")))
    assert found.columns[0].prefixes["TENANT#7#"] == (2.0, 2.0)
    assert found.attributes == ("PK", "SK")
    assert found.templates["TENANT#7#CASE#1"] == "TENANT#<n>#CASE#<n>"


def test_a_table_that_nobody_knows_has_no_names_for_its_keys() -> None:
    found = slices(digest(read("A", table="other")), target=Target(None, None, "other"))
    assert found.attributes == ()


def test_the_least_that_is_listed_bounds_every_other_key() -> None:
    records = [read(f"CASE#{number}", units=number + 1.0) for number in range(60)]
    (column,) = slices(digest(*records)).columns
    assert len(column.keys) < 60
    assert column.floor == max(number + 1.0 for number in range(60) if f"CASE#{number}" not in column.keys)


def test_a_table_that_the_log_places_now_and_then_is_one() -> None:
    placed = read("CASE#1", account="111122223333", region="us-east-1")
    hot = [read("CASE#1", units=900.0), read("CASE#1", units=900.0, account="111122223333", region="us-east-1")]
    home = Target("111122223333", "us-east-1", "cases")
    assert slices(digest(placed, read("CASE#1")), target=home).columns[0].keys["CASE#1"].low == 2.0
    assert slices(digest(*hot), target=home).columns[0].keys["CASE#1"].seconds[0] == 1800.0
    assert slices(digest(placed, read("CASE#1")), target=CASES).units[1] == 2.0


@pytest.mark.parametrize(
    ("told", "is_same"),
    [
        (Target("1", None, "cases"), True),
        (Target("1", "eu-west-1", "cases"), False),
        (Target("2", "us-east-1", "cases"), False),
        (Target(None, None, "cases", "GSI1"), False),
    ],
)
def test_a_target_is_the_one_that_is_asked_for_where_nothing_speaks_against_it(told: Target, *, is_same: bool) -> None:
    assert is_place(told, Target("1", "us-east-1", "cases")) == is_same


def test_of_slices_that_were_folded_away_nothing_is_known() -> None:
    counted = digest(read("CASE#1"), read("CASE#1", 12.0))
    counted.forget_before(START_MS + 10_000)
    found = slices(counted)
    assert [math.isnan(units) for units in found.units] == [True, True, False, False]
    assert [column.start for column in found.columns] == [START_MS + 10_000]


def test_without_records_there_is_nothing() -> None:
    found = slices(Digest(LEXICON))
    assert (found.columns, found.known_from) == ((), HOUR.end)
    assert np.isnan(found.units).all()


def test_writes_are_apart_from_reads() -> None:
    written = line("PutItem", key={"PK": {"S": "CASE#1"}}, consumed={"total": 3.0, "table": 3.0})
    found = slices(digest(read("CASE#1"), written), direction=Direction.WRITE)
    assert (found.columns[0].keys["CASE#1"].low, found.units[1]) == (3.0, 3.0)


def test_calls_are_counted_by_stretches_of_slices() -> None:
    cells, sums = calls_over_time(digest(read("CASE#1"), read("CASE#2", 11.0), read("CASE#1", 25.0)).kept(), HOUR, 2)
    assert (len(cells), sums.sum(axis=1).tolist()) == (1, [1, 2])
