from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.model.table import Replica
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from analyzer.traffic.regions import TwoWriters, two_writers
from tests.support.calls import book, call, item
from tests.support.evidence import CASES, shape, traffic
from tests.support.told import table

EAST, WEST = CASES, msgspec.structs.replace(CASES, region="us-west-2")
CASE = item("CASE#7", "META")
GLOBAL = Place(table=table(replicas=(Replica("us-west-2"),)))


def put(at: float, target: Any = EAST, **fields: Any) -> Any:
    return call("PutItem", at, shape("PutItem", "put"), target=target, **({"key": CASE} | fields))


def meeting(*calls: Any, target: Any = EAST, place: Place = GLOBAL, window: Window | None = None) -> TwoWriters | None:
    window = window or Window(0, 300_000)
    return two_writers(traffic(target, calls=book(*calls), place=place, window=window), 60_000)


def test_writes_of_two_regions_that_meet_are_counted() -> None:
    found = meeting(put(0), put(2, WEST), put(5), put(200, WEST))
    assert found == TwoWriters("us-east-1", "us-west-2", 1, 2, 2000, "api")


def test_the_contract_may_say_that_it_is_a_global_table() -> None:
    assert meeting(put(0), put(2, WEST), place=Place(write_regions=("us-east-1", "us-west-2"))) is not None


def test_the_second_of_two_regions_leaves_it_to_the_first() -> None:
    assert meeting(put(0), put(2, WEST), target=WEST) is None


@pytest.mark.parametrize(
    "calls",
    [
        (put(0), put(1), put(62, WEST)),
        (put(0), put(2)),
        (put(0), put(2, WEST, key=item("CASE#8", "META"))),
        (put(0), put(2, WEST, error="ThrottlingException")),
        (put(0), call("GetItem", 2, target=WEST, key=CASE)),
        (put(0), put(2, msgspec.structs.replace(WEST, account="999988887777"))),
        (put(0), put(2, msgspec.structs.replace(WEST, region=None))),
    ],
    ids=["far apart", "one region", "another item", "refused", "a read", "another account", "no region"],
)
def test_writes_that_do_not_meet_are_none(calls: tuple[Any, ...]) -> None:
    assert meeting(*calls) is None


def test_tables_of_one_name_are_not_one_table() -> None:
    assert meeting(put(0), put(2, WEST), place=Place(table=table())) is None
    assert meeting(put(0), put(2, WEST), place=Place()) is None


def test_what_met_in_another_window_is_told_there() -> None:
    assert meeting(put(0), put(2, WEST), window=Window(60_000, 120_000)) is None
    assert meeting(put(200), put(202, WEST), window=Window(60_000, 120_000)) is None


def test_without_calls_or_a_region_nothing_is_known() -> None:
    assert two_writers(traffic(place=GLOBAL), 60_000) is None
    nowhere = msgspec.structs.replace(EAST, region=None)
    assert meeting(put(0, nowhere), put(2, WEST), target=nowhere) is None
