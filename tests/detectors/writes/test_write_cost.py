from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.money import cost_of
from analyzer.detectors.writes.write_cost import WriteCost
from analyzer.knowledge.prices import SECONDS_A_MONTH
from analyzer.model.calls import CallPart
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Skipped, SkipReason
from analyzer.model.traffic import Capacity, Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, row, shape, traffic

PUT = shape("PutItem", "put")
UPDATE = shape("UpdateItem", "set", update="SET seen = ?")
APPEND = shape("UpdateItem", "append", update="SET ts = list_append(ts, ?)")
ON_DEMAND = Place(partition_key=("PK",), sort_key=("SK",), capacity=Capacity("PAY_PER_REQUEST"))


def judged(*calls: Any, rows: tuple[Any, ...], place: Place = ON_DEMAND, **fields: Any) -> list[Finding | Skipped]:
    return list(WriteCost().detect(traffic(rows=rows, calls=book(*calls), place=place, **fields)))


def found(*calls: Any, rows: tuple[Any, ...], **fields: Any) -> list[Finding]:
    return [one for one in judged(*calls, rows=rows, **fields) if isinstance(one, Finding)]


def small(groups: int = 20, each: int = 7, size: int | None = 155, **fields: Any) -> list[Any]:
    """So many groups of puts, four milliseconds apart each."""
    return [
        call(at=n + part / 250, of=PUT, key=item(f"A{n}", f"C{part}"), item_bytes=size, write_units=1.0, **fields)
        for n in range(groups)
        for part in range(each)
    ]


MANY = row(PUT, requests=1400, write_units=1400)


def large(of: Any = APPEND, requests: int = 200, units: float = 4600, **fields: Any) -> Any:
    return row(of, requests=requests, write_units=units, **fields)


def test_small_items_put_together_would_cost_less_as_one() -> None:
    (one,) = found(*small(), rows=(MANY,))
    assert (one.severity, one.cause, one.confidence) == (Severity.MEDIUM, "small-items", Confidence.CERTAIN)
    assert (one.evidence["saving_percent"], one.evidence["items_at_a_time"]) == (71, 7.0)
    assert one.cost_per_month_usd == 5.47
    assert (one.evidence["item_bytes"], one.evidence["groups_seen"]) == (155, 20)
    assert [(advice.action, advice.reversible) for advice in one.advice] == [
        ("fix-caller", None),
        ("batch-small-items", True),
    ]
    assert len(judged(*small(), rows=(MANY,))) == 1


def pairs(many: int, apart: float = 0.004) -> list[Any]:
    """Two small items under each of so many keys, so many seconds apart."""
    return [
        call(at=5 * n + part * apart, of=PUT, key=item(f"P{n}", f"C{part}"), item_bytes=155)
        for n in range(many)
        for part in range(2)
    ]


def lonely(many: int, size: int = 155) -> list[Any]:
    return [call(at=n, of=PUT, key=item(f"L{n}", "C"), item_bytes=size) for n in range(many)]


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        (small(size=512), 1),
        (small(size=513), 0),
        (pairs(50, apart=1.0), 1),
        (pairs(50, apart=1.001), 0),
        (pairs(50), 1),
        (pairs(49) + lonely(1), 0),
        (small(10) + lonely(70), 1),
        (small(10) + lonely(71), 0),
        (pairs(60) + lonely(40, 2000), 1),
        (pairs(60) + lonely(41, 2000), 0),
    ],
    ids=[
        "half a kilobyte",
        "more",
        "within a second",
        "later",
        "a hundred puts",
        "fewer",
        "half of them together",
        "less than half",
        "three tenths less",
        "not as much less",
    ],
)
def test_what_could_be_one_item_is_told_up_to_its_bounds(calls: list[Any], count: int) -> None:
    assert len(judged(*calls, rows=(MANY,))) == count


@pytest.mark.parametrize(("units", "count"), [(1000, 1), (999, 0)])
def test_a_million_a_month_are_told(units: float, count: int) -> None:
    """The window is a thousandth of a month."""
    rows = (row(PUT, requests=units, write_units=units),)
    assert len(found(*small(), rows=rows, window=Window(0, SECONDS_A_MONTH))) == count


def test_a_writer_without_a_row_hides_no_other() -> None:
    (one,) = found(*small(caller="ghost"), *small(), rows=(MANY,))
    assert one.caller == "api"


def test_a_trace_ties_puts_of_several_writers_apart() -> None:
    tied = [one for n in range(20) for one in small(1, trace=f"t{n}")]
    (one,) = found(*tied, rows=(MANY,))
    assert one.evidence["groups_seen"] == 20


def test_items_of_a_batch_are_put_together() -> None:
    batch = shape("BatchWriteItem", "batch", writes=True)
    calls = [
        call(
            at=n,
            of=batch,
            key=None,
            write_units=8.0,
            parts=tuple(
                CallPart(position=p, operation="Put", table="cases", key=item(f"A{n}", f"C{p}"), item_bytes=100)
                for p in range(8)
            ),
        )
        for n in range(20)
    ]
    (one,) = found(*calls, rows=(row(batch, requests=400, units_known=0.0),))
    assert (one.evidence["write_units"], one.evidence["saving_percent"]) == (3200, 88)


def test_little_money_is_low() -> None:
    (one,) = found(*small(), rows=(row(PUT, requests=700, write_units=700),))
    assert one.severity is Severity.LOW


def test_a_tenth_of_the_provisioned_writes_is_medium() -> None:
    place = Place(capacity=Capacity("PROVISIONED", write_units=20))
    (one,) = found(*small(), rows=(row(PUT, requests=900, write_units=900),), place=place)
    assert one.severity is Severity.MEDIUM


def test_provisioned_writes_that_are_not_known_are_no_tenth() -> None:
    place = Place(capacity=Capacity("PROVISIONED"))
    (one,) = found(*small(), rows=(row(PUT, requests=700, write_units=700),), place=place)
    assert one.severity is Severity.LOW


@pytest.mark.parametrize(
    "calls",
    [
        small(200, 1),
        small(20, 7, 600),
        small(2, 7),
        [one for one in small() if not one.key_whole],
        small(20, 7, error="X"),
        [call(at=n / 250, of=PUT, key=item(f"A{n // 7}"), item_bytes=155) for n in range(140)],
        [call(at=n * 2.0, of=PUT, key=item("A", f"C{n}"), item_bytes=155) for n in range(140)],
        small(20, 7, 300) + [call(at=n, of=PUT, key=item(f"L{n}", "M"), write_units=50.0) for n in range(130)],
    ],
    ids=[
        "alone",
        "no small items",
        "few",
        "none",
        "refused",
        "one item a key",
        "apart",
        "among large ones",
    ],
)
def test_what_cannot_be_joined_is_silent(calls: list[Any]) -> None:
    assert found(*calls, rows=(MANY,)) == []


def test_an_item_put_twice_in_a_moment_is_one_item() -> None:
    twice = [call(at=n + p / 250, of=PUT, key=item(f"A{n}", "C"), item_bytes=155) for n in range(70) for p in range(2)]
    assert found(*twice, rows=(MANY,)) == []


def test_fewer_than_a_million_a_month_are_silent() -> None:
    assert found(*small(), rows=(row(PUT, requests=110, write_units=110),)) == []


def test_puts_whose_row_is_not_there_are_silent() -> None:
    assert found(*small(), rows=(row(PUT, caller="other", requests=1400),)) == []


def test_without_sizes_nothing_can_be_said_of_small_items() -> None:
    (skipped,) = judged(*small(size=None), rows=(MANY,))
    assert isinstance(skipped, Skipped)
    assert (skipped.reason, skipped.needs) == (SkipReason.TOO_LITTLE, ("item_bytes of puts",))


def test_updates_that_append_to_large_items_are_likely_for_little() -> None:
    (one,) = found(rows=(large(),))
    assert (one.severity, one.cause, one.confidence) == (Severity.MEDIUM, "large-items", Confidence.LIKELY)
    assert (one.evidence["units_a_write"], one.evidence["saving_percent_high"]) == (23.0, 95.7)
    assert one.cost_per_month_usd == 24.09
    assert "ts of the item" in one.advice[1].text
    assert [advice.reversible for advice in one.advice] == [None, True, True]


@pytest.mark.parametrize(
    ("one", "count"),
    [
        (large(units=1600), 1),
        (large(units=1599), 0),
        (large(requests=100, units=2300), 1),
        (large(requests=200, units=2300, failed=100), 1),
        (large(requests=200, units=2300, failed=101), 0),
    ],
)
def test_a_hundred_writes_of_eight_units_are_large(one: Any, count: int) -> None:
    told = found(rows=(one,))
    assert len(told) == count
    assert all(each.evidence["units_a_write"] in {8.0, 23.0} for each in told)


@pytest.mark.parametrize(("units", "severity"), [(3200, Severity.MEDIUM), (3199, Severity.LOW)])
def test_a_tenth_of_the_provisioned_writes_in_vain_is_medium(units: float, severity: Severity) -> None:
    place = Place(capacity=Capacity("PROVISIONED", write_units=100))
    (one,) = found(rows=(large(units=units),), place=place)
    assert one.severity is severity


def test_money_at_its_threshold_counts() -> None:
    evidence = traffic(rows=(large(),), calls=book(), place=ON_DEMAND)
    dollars = cost_of(4400, evidence, Direction.WRITE).dollars
    (one,) = WriteCost(medium_dollars=dollars).detect(evidence)
    assert isinstance(one, Finding)
    assert one.severity is Severity.MEDIUM


def test_an_update_of_whole_attributes_is_only_possible() -> None:
    (one,) = found(rows=(large(UPDATE, 12_000, 276_000),), window=Window(0, 3_600_000))
    assert (one.severity, one.confidence, one.cost_per_month_usd) == (Severity.MEDIUM, Confidence.POSSIBLE, None)
    (one,) = found(rows=(large(UPDATE, 1200, 27_600),), window=Window(0, 3_600_000))
    assert one.severity is Severity.LOW
    (one,) = found(rows=(large(UPDATE, 2500, 57_300),), window=Window(0, 3_600_000))
    assert (one.severity, one.evidence["saving_per_month_usd_high"]) == (Severity.MEDIUM, 25.0)


def test_what_is_only_possible_is_no_money_when_minutes_were_seen() -> None:
    (one,) = found(rows=(large(UPDATE),))
    assert one.severity is Severity.LOW


def test_whole_puts_of_the_same_keys_are_rewrites() -> None:
    again = [call(at=n, of=PUT, key=item(f"D{n % 5}", "M")) for n in range(20)]
    (one,) = found(*again, rows=(large(PUT),))
    assert "puts whole items" in one.summary
    half = [call(at=n, of=PUT, key=item(f"D{n % 10}", "M")) for n in range(20)]
    assert len(found(*half, rows=(large(PUT),))) == 1
    less = [call(at=n, of=PUT, key=item(f"D{n % 11}", "M")) for n in range(20)]
    assert found(*less, rows=(large(PUT),)) == []
    once = [call(at=n, of=PUT, key=item(f"D{n}", "M")) for n in range(20)]
    assert found(*once, rows=(large(PUT),)) == []
    assert found(rows=(large(PUT),)) == []


@pytest.mark.parametrize(
    "row_",
    [
        large(units=1590),
        large(requests=99),
        large(requests=200, failed=101),
        large(units_known=0.0),
        large(secondary=True),
        large(shape("DeleteItem", "delete")),
    ],
    ids=["small items", "few", "mostly refused", "units not known", "an index's cost", "deletes"],
)
def test_other_writes_are_silent(row_: Any) -> None:
    assert found(rows=(row_,)) == []


def test_an_index_and_a_target_without_calls_are_silent() -> None:
    assert found(*small(), rows=(MANY,), target=GSI2) == []
    assert list(WriteCost().detect(traffic(rows=(MANY,)))) == []
