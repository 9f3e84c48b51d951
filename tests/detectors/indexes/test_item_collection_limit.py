from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.indexes.item_collection_limit import ItemCollectionLimit
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.shape import KeyPredicate
from analyzer.model.table import TimeToLive
from analyzer.model.traffic import Declared, Place, Traffic
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import GSI2, refused, row, shape, traffic

LOCAL = Place(has_lsi=True, partition_key=("PK",), sort_key=("SK",))
SAID = refused("Collection size exceeded.", 7, code="ItemCollectionSizeLimitExceededException")
DAY = Window(0, 86_400_000)


def found(evidence: Traffic) -> list[Finding]:
    return [one for one in ItemCollectionLimit().detect(evidence) if isinstance(one, Finding)]


def puts(number: int, size: int | None = 100_000, **fields: Any) -> list[Any]:
    return [call("PutItem", n, key=item("CASE#7", f"S{n}"), item_bytes=size, **fields) for n in range(number)]


def growing(*calls: Any, place: Place = LOCAL, window: Window = DAY) -> list[Finding]:
    return found(traffic(rows=(), calls=book(*calls), place=place, window=window))


def test_the_size_error_is_critical_and_names_the_key() -> None:
    lost = call("PutItem", key=item("CASE#7", "S1"), error="ItemCollectionSizeLimitExceededException")
    rows = (row(shape("PutItem"), caller="importer"),)
    (one,) = found(traffic(rows=rows, refusals=(SAID,), calls=book(lost), place=LOCAL))
    assert (one.severity, one.caller, one.key) == (Severity.CRITICAL, "importer", {"PK": "CASE#7"})
    assert one.evidence["refused_calls"] == 7
    assert [advice.action for advice in one.advice] == ["fix-caller", "change-key", "add-index"]


def test_the_error_is_proof_without_a_description() -> None:
    (one,) = found(traffic(refusals=(SAID,)))
    assert (one.severity, one.key) == (Severity.CRITICAL, None)


def test_a_transaction_that_it_canceled_counts_too() -> None:
    lost = call("TransactWriteItems", key=None, cancellation=(None, "ItemCollectionSizeLimitExceeded"), error="X")
    (one,) = found(traffic(rows=(), calls=book(lost)))
    assert (one.severity, one.evidence["transactions"]) == (Severity.CRITICAL, 1)


def read(number: int, pages: int, units: float | None = 131_072.0, **fields: Any) -> Any:
    more = {"more": number < pages - 1, "resumed": number > 0}
    return call("Query", number, key=item("CASE#7"), trace="t", read_units=units, **more | fields)


def test_a_collection_of_which_eight_gigabytes_were_read_is_high() -> None:
    (one,) = found(traffic(calls=book(*(read(n, 9) for n in range(9))), place=LOCAL))
    assert (one.severity, one.key) == (Severity.HIGH, {"PK": "CASE#7"})
    assert one.evidence["size_gigabytes_low"] == 9.0


@pytest.mark.parametrize("units", [131_072.0, None])
def test_less_than_eight_gigabytes_are_not_near(units: float | None) -> None:
    seen = book(*(read(n, 7, units, returned_bytes=900_000) for n in range(7)), read(20, 1, error="X"))
    assert found(traffic(calls=seen, place=LOCAL)) == []


def test_a_strong_read_pays_twice_for_the_same_bytes() -> None:
    strong = call("Query", 0, shape("Query", consistent=True), key=item("CASE#7"), read_units=2.0**21 + 1)
    (one,) = found(traffic(calls=book(strong), place=LOCAL))
    assert one.evidence["size_gigabytes_low"] == 8.0


def test_growth_that_reaches_the_limit_within_a_year_is_medium() -> None:
    (one,) = growing(*puts(300))
    assert (one.severity, one.confidence) == (Severity.MEDIUM, Confidence.LIKELY)
    assert (one.evidence["new_items"], one.evidence["days_to_limit_high"]) == (300, 357.9)


def test_growth_seen_for_minutes_is_possible() -> None:
    (one,) = growing(*puts(100), window=Window(0, 300_000))
    assert one.confidence is Confidence.POSSIBLE


def test_units_bound_the_size_of_an_item() -> None:
    (one,) = growing(*puts(400, None, write_units=100.0))
    assert (one.evidence["new_bytes_low"], one.evidence["new_bytes_high"]) == (400 * 101_377, 400 * 102_400)


@pytest.mark.parametrize(
    "calls",
    [
        puts(250),
        puts(99, 10_000_000),
        puts(300, None),
        [*puts(300), *(call("DeleteItem", 900 + n, key=item("CASE#7", f"S{n}")) for n in range(300))],
        [call("PutItem", n, key=item("CASE#7", "S1"), item_bytes=100_000) for n in range(300)],
        puts(300, error="X"),
        puts(300, key_whole=False),
        [call("UpdateItem", n, key=item("CASE#7", f"S{n}"), item_bytes=100_000) for n in range(300)],
    ],
    ids=["slow", "few", "size unknown", "deleted again", "one item", "refused", "not all seen", "no puts"],
)
def test_what_does_not_grow_so_far_is_no_growth(calls: list[Any]) -> None:
    assert growing(*calls) == []


@pytest.mark.parametrize(
    "place",
    [
        Place(has_lsi=True, ttl_attribute="expiresAt"),
        Place(has_lsi=True, time_to_live=TimeToLive("ENABLED", "ttl")),
        Place(has_lsi=False),
        Place(),
    ],
    ids=["declared to expire", "expires", "no local index", "not known"],
)
def test_items_that_expire_and_tables_without_a_local_index_do_not_fill(place: Place) -> None:
    assert growing(*puts(300), place=place) == []


@pytest.mark.parametrize(
    ("pattern", "severity", "days"),
    [
        ({"items_per_key": 9_000_000, "item_bytes": 1000}, Severity.HIGH, None),
        ({"items_per_key": 11_000_000, "item_bytes": 1000}, Severity.HIGH, 0.0),
        ({"growth_per_day": 40_000, "item_bytes": 1000}, Severity.MEDIUM, 268.4),
        ({"growth_per_day": 40_000, "item_bytes": 1000, "index": "LSI1"}, Severity.MEDIUM, 268.4),
    ],
)
def test_what_a_pattern_declares_is_judged(pattern: dict[str, Any], severity: Severity, days: float | None) -> None:
    patterns = {"log": Declared(id="log", **pattern)}
    place = Place(has_lsi=True, partition_key=("PK",), index_keys={"LSI1": ("PK",)}, patterns=patterns)
    (one,) = found(traffic(place=place))
    assert (one.severity, one.pattern, one.evidence["days_to_limit"]) == (severity, "log", days)


@pytest.mark.parametrize(
    "pattern",
    [
        {"growth_per_day": 20_000, "item_bytes": 1000},
        {"growth_per_day": 40_000, "item_bytes": 1000, "index": "GSI2"},
        {"growth_per_day": 40_000},
        {},
    ],
)
def test_a_pattern_that_fills_nothing_is_fine(pattern: dict[str, Any]) -> None:
    patterns = {"log": Declared(id="log", **pattern)}
    place = Place(has_lsi=True, partition_key=("PK",), index_keys={"GSI2": ("status",)}, patterns=patterns)
    assert found(traffic(place=place)) == []


def test_an_index_has_no_collection_of_its_own() -> None:
    assert found(traffic(GSI2, refusals=(SAID,))) == []


FULL = "ItemCollectionSizeLimitExceededException"


@pytest.mark.parametrize(("partitions", "key"), [(("A", "A"), {"PK": "A"}), (("A", "B"), None)])
def test_the_collection_is_named_where_all_refusals_are_of_one(partitions: Any, key: Any) -> None:
    calls = [call("PutItem", n, key=item(one, f"S{n}"), error=FULL) for n, one in enumerate(partitions)]
    (one,) = found(traffic(refusals=(SAID,), calls=book(*calls), place=LOCAL))
    assert (one.key, one.key_template) == (key, key and {"PK": "CASE#<id>"})


def test_a_key_of_several_templates_has_none() -> None:
    keyed = [shape("PutItem", key=(KeyPredicate("PK", "=", text),)) for text in ("<id>", "CASE#<id>")]
    calls = [call("PutItem", n, of, key=item("A", "B"), error=FULL) for n, of in enumerate(keyed)]
    (one,) = found(traffic(refusals=(SAID,), calls=book(*calls), place=LOCAL))
    assert (one.key, one.key_template) == ({"PK": "A"}, None)
