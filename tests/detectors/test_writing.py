from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.detectors.writing import key_named, look_at, row_of, time_words
from analyzer.model.shape import KeyPredicate, PartShape
from analyzer.model.table import TableDescription
from analyzer.model.traffic import Place
from tests.support.calls import item
from tests.support.evidence import row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.counts import KeyName
    from analyzer.model.shape import Shape

ORDERED = Place(partition_key=("PK",), sort_key=("SK",))
HOUR, DAY = 3600, 86_400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1.26, "1.3 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (2 * HOUR - 60, "119 minutes"),
        (2 * HOUR, "2 hours"),
        (47.75 * HOUR, "47.8 hours"),
        (2 * DAY, "2 days"),
        (729 * DAY, "729 days"),
        (730 * DAY, "2 years"),
        (912.5 * DAY, "2.5 years"),
    ],
)
def test_a_length_of_time_is_told_in_the_greatest_unit_that_it_holds_twice(seconds: float, words: str) -> None:
    assert time_words(seconds) == words


BY_ID = (KeyPredicate("id", "="), KeyPredicate("at", "begins_with"))


@pytest.mark.parametrize(
    ("place", "of", "name", "key"),
    [
        (ORDERED, shape(), item("CASE#7", "META"), {"PK": "CASE#7", "SK": "META"}),
        (ORDERED, shape(), item("CASE#7"), {"PK": "CASE#7"}),
        (Place(partition_key=("PK",)), shape(), item("CASE#7", "META"), {"PK": "CASE#7"}),
        (Place(), shape(key=BY_ID), item("7", "x"), {"id": "7"}),
        (Place(partition_key=("a", "b")), shape(key=BY_ID), item("7"), {"id": "7"}),
        (Place(), shape(key=(), parts=(PartShape("Put"), PartShape("Put", BY_ID))), item("7"), {"id": "7"}),
        (Place(), shape(key=()), item("7"), None),
    ],
    ids=["both", "partition alone", "one item a key", "as asked", "many attributes", "as a part asks", "nothing"],
)
def test_a_key_is_named_as_the_table_or_else_the_request_names_it(
    place: Place, of: Shape, name: KeyName, key: dict[str, str] | None
) -> None:
    assert key_named(name, of, traffic(place=place)) == key


def test_the_row_of_a_caller_and_a_shape_is_both_of_them() -> None:
    rows = [row(shape(fingerprint=name), caller=caller) for name, caller in (("a", "job"), ("b", "api"), ("a", "api"))]
    assert row_of(shape(fingerprint="a"), "api", rows) is rows[2]
    assert row_of(shape(fingerprint="c"), "api", rows) is None
    assert row_of(shape(fingerprint="a"), None, rows) is None


NUMBERED = TableDescription(name="cases", billing_mode="PROVISIONED", attribute_types={"größe": "N", "id": "B"})


@pytest.mark.parametrize(
    ("key", "place", "asked"),
    [
        ({"id": "7"}, Place(), """'{"id":{"S":"{key}"}}'"""),
        ({"größe": 7}, Place(table=NUMBERED), """'{"größe":{"N":"{key}"}}'"""),
        ({"other": "7"}, Place(table=NUMBERED), """'{"other":{"S":"{key}"}}'"""),
        ({"id": "7"}, ORDERED, "file://key.json"),
        ({"PK": "7", "SK": "8"}, Place(), "file://key.json"),
        ({}, Place(), "file://key.json"),
        (None, Place(), "file://key.json"),
    ],
    ids=["text", "by its type", "no type known", "half a key", "two attributes", "none", "not known"],
)
def test_an_item_is_looked_at_by_a_key_of_one_attribute(
    key: dict[str, str | int | float] | None, place: Place, asked: str
) -> None:
    command = f"aws dynamodb get-item --table-name cases --key {asked} --consistent-read"
    assert look_at(key, traffic(place=place)) == f"{command} --region us-east-1  # read-only"
    assert look_at(key, traffic(place=place), "Item.at") == f"{command} --query Item.at --region us-east-1  # read-only"
