"""The bounds of a full collection just reached and just missed, which of several speaks, and the numbers told."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.indexes.item_collection_limit import ItemCollectionLimit
from analyzer.knowledge.limits import COLLECTION_BYTES
from analyzer.model.finding import Finding, Risk, Severity
from analyzer.model.traffic import Declared, Place, Traffic
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import refused, row, shape, traffic

LOCAL = Place(has_lsi=True, partition_key=("PK",), sort_key=("SK",))
DAY = Window(0, 86_400_000)
FULL = "ItemCollectionSizeLimitExceededException"
CANCELED = ("ItemCollectionSizeLimitExceeded",)
EIGHT_GIGABYTES = 8 << 20
"""In items of a kilobyte."""


def found(evidence: Traffic, **thresholds: Any) -> list[Finding]:
    return [one for one in ItemCollectionLimit(**thresholds).detect(evidence) if isinstance(one, Finding)]


def declaring(*patterns: dict[str, Any], **thresholds: Any) -> list[Finding]:
    """Judge patterns of items of a kilobyte each."""
    sized: list[dict[str, Any]] = [{"item_bytes": 1024} | fields for fields in patterns]
    told = {f"p{n}": Declared(id=f"p{n}", **fields) for n, fields in enumerate(sized)}
    return found(traffic(place=Place(has_lsi=True, patterns=told)), **thresholds)


def growing(items: int, size: int, **thresholds: Any) -> list[Finding]:
    puts = [call("PutItem", n, key=item("CASE#7", f"S{n}"), item_bytes=size) for n in range(items)]
    return found(traffic(rows=(), calls=book(*puts), place=LOCAL, window=DAY), **thresholds)


# refusals


def test_the_caller_of_the_most_refused_writes_is_named() -> None:
    rows = tuple(row(shape("PutItem", of), caller=caller) for of, caller in (("f1", "a"), ("f2", "b"), ("f3", "c")))
    refusals = tuple(refused("", calls, of_row=place, code=FULL) for place, calls in enumerate((3, 9, 5)))
    (one,) = found(traffic(rows=rows, refusals=refusals))
    assert (one.caller, one.fingerprint, one.pattern) == ("b", "f2", "load-case")
    assert one.evidence == {"refused_calls": 17, "transactions": 0, "limit_gigabytes": 10}
    assert one.summary.startswith("17 writes of b to cases were refused: a collection of items stands at")


def test_the_collection_is_told_by_its_key() -> None:
    lost = call("PutItem", key=item("CASE#7", "S1"), error=FULL)
    (one,) = found(traffic(refusals=(refused("", 1, code=FULL),), calls=book(lost), place=LOCAL))
    assert "refused: the collection of {key} stands at" in one.summary


@pytest.mark.parametrize(
    ("canceled", "put", "summary", "transactions"),
    [(1, 0, "1 write of api", 1), (2, 0, "2 writes of api", 2), (0, 1, "1 write of api", 0), (1, 1, "2 writes", 1)],
)
def test_what_only_the_call_book_shows_is_counted_there(
    canceled: int, put: int, summary: str, transactions: int
) -> None:
    lost = [call("TransactWriteItems", n, key=None, cancellation=CANCELED, error="X") for n in range(canceled)]
    lost += [call("PutItem", 9, error=FULL) for _ in range(put)]
    (one,) = found(traffic(rows=(), calls=book(*lost)))
    assert one.summary.startswith(summary)
    assert (one.evidence["refused_calls"], one.evidence["transactions"]) == (0, transactions)


# sizes and growth


def test_of_a_collection_that_was_read_size_and_limit_are_told() -> None:
    read = call("Query", 0, shape("Query", consistent=True), key=item("CASE#7"), read_units=2.0**21 + 1)
    (one,) = found(traffic(calls=book(read), place=LOCAL))
    assert one.evidence == {"size_gigabytes_low": 8.0, "limit_gigabytes": 10}


@pytest.mark.parametrize(("size", "many"), [(98_087, 1), (97_926, 0)])
def test_a_year_is_the_time_that_growth_has(size: int, many: int) -> None:
    """Three hundred items a day: 364.9 days, or 365.5."""
    assert len(growing(300, size)) == many


@pytest.mark.parametrize(("within_days", "many"), [(256, 1), (255, 0)])
def test_growth_that_takes_just_so_many_days_is_told(within_days: int, many: int) -> None:
    assert len(growing(128, COLLECTION_BYTES // 256 // 128, within_days=within_days)) == many


def test_of_growth_the_numbers_are_told() -> None:
    (one,) = growing(128, COLLECTION_BYTES // 256 // 128)
    assert one.evidence == {
        "new_items": 128,
        "new_bytes_low": COLLECTION_BYTES // 256,
        "new_bytes_high": COLLECTION_BYTES // 256,
        "days_to_limit_high": 256.0,
        "limit_gigabytes": 10,
    }


# what patterns declare


@pytest.mark.parametrize(
    ("pattern", "thresholds", "severity"),
    [
        ({"growth_per_day": 40_960}, {"within_days": 256}, Severity.MEDIUM),
        ({"growth_per_day": 40_960}, {"within_days": 255}, None),
        ({"items_per_key": EIGHT_GIGABYTES}, {}, Severity.HIGH),
        ({"items_per_key": EIGHT_GIGABYTES - 1}, {}, None),
        ({"items_per_key": EIGHT_GIGABYTES, "item_bytes": None}, {}, None),
        ({"growth_per_day": 40_960, "item_bytes": None}, {}, None),
    ],
    ids=["a year", "longer", "eight gigabytes", "less", "size not said", "size of growth not said"],
)
def test_what_is_declared_is_judged_by_the_same_bounds(
    pattern: dict[str, Any], thresholds: dict[str, Any], severity: Severity | None
) -> None:
    assert [one.severity for one in declaring(pattern, **thresholds)] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("items", "growth", "days", "text"),
    [
        (EIGHT_GIGABYTES * 9 // 8, None, None, "hold 9 GB"),
        (10 << 20, None, 0.0, "reach 10 GB in 0 days"),
        (12 << 20, 1024, 0.0, "reach 10 GB in 0 days"),
        ((10 << 20) - 1, None, None, "hold 10 GB"),
        (EIGHT_GIGABYTES, 1 << 20, 2.0, "reach 10 GB in 2 days"),
    ],
)
def test_until_a_declared_collection_is_full_it_takes_what_is_left(
    items: int, growth: int | None, days: float | None, text: str
) -> None:
    (one,) = declaring({"items_per_key": items, "growth_per_day": growth})
    assert one.summary == f"p0 declares collections of cases that {text}"
    assert one.evidence == {
        "declared_gigabytes": round(items / (1 << 20), 2),
        "growth_items_a_day": growth,
        "days_to_limit": days,
        "limit_gigabytes": 10,
    }


def test_a_collection_that_lacks_one_byte_is_not_full() -> None:
    (one,) = declaring({"items_per_key": COLLECTION_BYTES - 1, "item_bytes": 1})
    assert one.evidence["days_to_limit"] is None


FAST, SLOW = {"growth_per_day": 1 << 20}, {"growth_per_day": 1 << 19}
LARGE, LARGER = {"items_per_key": EIGHT_GIGABYTES}, {"items_per_key": EIGHT_GIGABYTES + 1024}


@pytest.mark.parametrize(
    ("patterns", "worst"),
    [
        ((FAST, SLOW), "p0"),
        ((SLOW, FAST), "p1"),
        ((FAST, LARGE), "p1"),
        ((LARGE, LARGER), "p1"),
        ((LARGER, LARGE), "p0"),
    ],
)
def test_of_several_patterns_the_worst_speaks(patterns: Any, worst: str) -> None:
    """One that is large already is worse than one that grows, then what is full sooner, then what is larger."""
    (one,) = declaring(*patterns)
    assert one.pattern == worst


def test_keys_and_tables_can_be_changed_back() -> None:
    (one,) = found(traffic(refusals=(refused("", code=FULL),)))
    assert [(advice.risk, advice.reversible) for advice in one.advice] == [
        (Risk.NONE, None),
        (Risk.LOW, True),
        (Risk.HIGH, True),
    ]
