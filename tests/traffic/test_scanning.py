from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.table import IndexDescription, TableDescription, TimeToLive
from analyzer.model.traffic import Place
from analyzer.model.window import Window
from analyzer.traffic.scanning import (
    Driver,
    driver_in_calls,
    driver_in_metrics,
    filtered_by,
    index_share,
    is_scan,
    sweeps_expired,
)
from tests.support.calls import book, call
from tests.support.evidence import GSI2, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

KEYED = traffic(place=Place(partition_key=("PK",), sort_key=("SK",)))


def statement(text: str) -> Any:
    return row(shape("ExecuteStatement", "s", key=(), statement=text))


@pytest.mark.parametrize(
    ("text", "filtered"),
    [
        ('SELECT * FROM "cases" WHERE SK = ?', ("SK",)),
        ('SELECT * FROM "cases"', ()),
        ('SELECT * FROM "cases" WHERE PK = ? OR status = ?', ("PK", "status")),
    ],
)
def test_a_statement_that_pins_no_partition_key_is_a_scan(text: str, filtered: tuple[str, ...]) -> None:
    assert is_scan(statement(text), KEYED)
    assert filtered_by(statement(text), KEYED) == filtered


@pytest.mark.parametrize(
    "text",
    [
        'SELECT * FROM "cases" WHERE PK = ? AND SK > ?',
        'SELECT * FROM "cases" WHERE PK IN [?]',
        'DELETE FROM "cases" WHERE PK = ? AND SK = ?',
        "no statement",
    ],
)
def test_others_are_none(text: str) -> None:
    assert not is_scan(statement(text), KEYED)
    assert filtered_by(statement(text), KEYED) == ()


def test_without_the_tables_keys_nobody_knows() -> None:
    assert not is_scan(statement('SELECT * FROM "cases" WHERE SK = ?'), traffic())
    assert is_scan(row(shape("Scan", "scan", key=())), traffic())


def indexed(items: int | None, **fields: Any) -> Traffic:
    index = IndexDescription(name="GSI2", kind="gsi", items=items)
    place = Place(table=TableDescription(name="cases", indexes=(index,)))
    return traffic(GSI2, place=place, **fields)


def reading(scanned: float, requests: float = 12, resumed: float = 2, **fields: Any) -> Any:
    return row(shape("Query", "q", index="GSI2"), requests=requests, resumed=resumed, scanned=scanned, **fields)


def test_a_query_reads_its_pages_together() -> None:
    assert index_share([reading(8000)], indexed(1600)) == (0.5, 1600)


def test_how_much_of_an_index_a_query_reads_may_not_be_known() -> None:
    assert index_share([reading(8000)], indexed(None)) is None
    assert index_share([reading(8000)], indexed(600)) is None
    assert index_share([reading(8000)], traffic(GSI2)) is None
    assert index_share([reading(8000, requests=2)], indexed(1600)) is None
    assert index_share([reading(8000, counts_known=0.0)], indexed(1600)) is None
    assert index_share([row(shape("Scan", "s", index="GSI2"))], indexed(1600)) is None


@pytest.mark.parametrize(
    ("ratios", "name"),
    [
        ((8.0, 1.0), "calls"),
        ((1.0, 3.0), "size"),
        ((2.0, 2.0), "both"),
        ((1.2, 1.1), "neither"),
        ((2.0, None), "calls"),
    ],
)
def test_a_rise_is_driven_by_calls_or_by_size(ratios: tuple[float, float | None], name: str) -> None:
    assert Driver(*ratios).name == name


def scans(start: float, every: float, count: int, units: float | None = 9.5) -> list[Call]:
    of = shape("Scan", "scan", key=())
    return [call("Scan", start + every * number, of=of, key=None, read_units=units) for number in range(count)]


LATER: dict[str, Any] = {"window": Window(600_000, 900_000)}
SHAPES = frozenset({"scan"})


def test_more_calls_of_the_same_size_are_driven_by_calls() -> None:
    told = traffic(calls=book(*scans(0, 10, 60), *scans(600, 2.5, 120), call("GetItem", 3)), **LATER)
    assert driver_in_calls(told, SHAPES) == Driver(4.0, 1.0)


def test_as_many_calls_that_read_more_are_driven_by_size() -> None:
    told = traffic(calls=book(*scans(0, 10, 60), *scans(600, 10, 30, 38)), **LATER)
    assert driver_in_calls(told, SHAPES) == Driver(1.0, 4.0)


def test_units_that_nobody_told_have_no_size() -> None:
    told = traffic(calls=book(*scans(0, 10, 60, None), *scans(600, 2.5, 120, None)), **LATER)
    assert driver_in_calls(told, SHAPES) == Driver(4.0, None)


def test_with_too_little_before_or_now_nothing_is_said() -> None:
    assert driver_in_calls(traffic(), SHAPES) is None
    for calls in (
        [],
        scans(550, 2, 60),
        [*scans(0, 200, 3), *scans(600, 1, 60)],
        [*scans(0, 10, 60), *scans(600, 1, 2)],
    ):
        assert driver_in_calls(traffic(calls=book(*calls), **LATER), SHAPES) is None


def counted(values: Sequence[float], returned: Sequence[float] | None = None) -> Traffic:
    metrics = [series("SuccessfulRequestLatency", values, stat="SampleCount", Operation="Scan")]
    if returned is not None:
        metrics.append(series("ReturnedItemCount", returned, Operation="Scan"))
    return traffic(metrics=tuple(metrics), **LATER)


def test_metrics_compare_calls_and_what_one_returns() -> None:
    assert driver_in_metrics(counted([10] * 10 + [80] * 5, [3100] * 10 + [24_800] * 5)) == Driver(8.0, 1.0)


def test_metrics_without_returned_items_compare_calls_alone() -> None:
    assert driver_in_metrics(counted([10] * 10 + [80] * 5)) == Driver(8.0, None)


def test_metrics_that_begin_with_the_window_compare_nothing() -> None:
    assert driver_in_metrics(traffic()) is None
    assert driver_in_metrics(counted([])) is None
    assert driver_in_metrics(counted([0] * 10 + [80] * 5)) is None


@pytest.mark.parametrize("name", ["expiresAt", "expiry_time", "ttl", "itemTTL", "delete_after", "validUntil"])
def test_a_filter_on_what_expired_is_a_sweep(name: str) -> None:
    swept = row(shape("Scan", "s", key=(), filter=f"{name} < :0", filter_attributes=(name,)))
    assert sweeps_expired(swept, (name,), traffic())


def test_the_ttl_attribute_is_swept_whatever_its_name() -> None:
    swept = row(shape("Scan", "s", key=(), filter="gone < :0", filter_attributes=("gone",)))
    assert not sweeps_expired(swept, ("gone",), traffic())
    assert sweeps_expired(swept, ("gone",), traffic(place=Place(ttl_attribute="gone")))
    assert sweeps_expired(swept, ("gone",), traffic(place=Place(time_to_live=TimeToLive("ENABLED", "gone"))))


def test_to_ask_for_what_is_still_valid_is_no_sweep() -> None:
    valid = row(shape("Scan", "s", key=(), filter="expiresAt > :0", filter_attributes=("expiresAt",)))
    assert not sweeps_expired(valid, ("expiresAt",), traffic())
    assert not sweeps_expired(row(shape("Scan", "s", key=())), (), traffic())
