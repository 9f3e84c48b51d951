from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.instant import parse_instant
from analyzer.model.traffic import Declared, Place
from analyzer.model.window import Window
from analyzer.traffic.unplanned import Unplanned, has_ended, unplanned_scans
from tests.support.evidence import traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

TWO = parse_instant("2026-03-02T02:00:00Z")
HALF_HOUR = 1_800_000


def seen(after_ms: int, *patterns: Declared, calls: tuple[float, ...] = (7, 0)) -> Traffic:
    start = TWO + after_ms
    scans = series("SuccessfulRequestLatency", calls, start=start, stat="SampleCount", Operation="Scan")
    place = Place(declared=True, patterns={one.id: one for one in patterns})
    return traffic(window=Window(start, start + 120_000), metrics=(scans,), place=place)


def scan(schedule: str | None = "0 2 * * *", **fields: Any) -> Declared:
    return Declared(id="nightly", operations=("Scan",), schedule=schedule, **fields)


def found(evidence: Traffic) -> Unplanned | None:
    return unplanned_scans(evidence, HALF_HOUR)


def test_scans_that_nobody_declared_are_counted() -> None:
    assert found(seen(0)) == Unplanned(7, ())


def test_no_scan_is_none_and_neither_is_a_series_that_nobody_asked_for() -> None:
    assert found(seen(0, calls=(0, 0))) is None
    assert found(traffic()) is None


def test_a_declared_scan_explains_what_stands_near_its_schedule_alone() -> None:
    assert found(seen(29 * 60_000, scan())) is None
    assert found(seen(31 * 60_000, scan())) == Unplanned(7, ("nightly",))


def test_a_declared_scan_without_a_schedule_explains_everything() -> None:
    assert found(seen(7_200_000, scan(None))) is None
    assert found(seen(7_200_000, scan("every night"))) is None


def test_a_declared_scan_of_an_index_explains_none_of_the_table() -> None:
    assert found(seen(0, scan(index="GSI2"))) == Unplanned(7, ())


def test_a_one_off_explains_nothing_after_its_last_day() -> None:
    assert found(seen(0, scan(None, ends="2026-03-02"))) is None
    assert found(seen(0, scan(None, ends="2026-03-01"))) == Unplanned(7, ())
    assert not has_ended(None, traffic())
