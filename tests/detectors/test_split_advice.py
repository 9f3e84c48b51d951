from __future__ import annotations

import pytest

from analyzer.detectors.split_advice import split_item, store_in_s3
from analyzer.model.finding import Risk
from analyzer.model.traffic import Place
from tests.support.evidence import traffic

BESIDE = "as an item of its own under the same partition key"
ALONE = "under a key of its own, numbered after that of the item"


@pytest.mark.parametrize(
    ("place", "where", "item"),
    [
        (Place(partition_key=("id",)), ALONE, '{"id": f"{id}#{number}", "log": entry}'),
        (Place(partition_key=("id",), sort_key=("at",)), BESIDE, '{**partition, "at": f"ENTRY#{time}", "log": entry}'),
        (Place(sort_key=("at",)), BESIDE, '{**partition, "at": f"ENTRY#{time}", "log": entry}'),
        (Place(), BESIDE, '{**partition, "SK": f"ENTRY#{time}", "log": entry}'),
    ],
    ids=["one item a key", "a sort key", "a sort key alone is known", "no key is known"],
)
def test_an_entry_is_an_item_where_the_keys_of_the_table_allow_it(place: Place, where: str, item: str) -> None:
    one = split_item(traffic(place=place), "the log", "log")
    assert one.text == f"Write each entry of the log {where}, or one item a day where entries are many"
    assert one.snippet == f"table.put_item(Item={item})"
    assert (one.action, one.risk, one.reversible) == ("split-item", Risk.LOW, True)


def test_an_attribute_that_nobody_knows_is_the_body() -> None:
    assert '"body": entry' in (split_item(traffic(), "the item", None).snippet or "")


def test_what_stays_whole_can_be_brought_back_from_s3() -> None:
    one = store_in_s3()
    assert (one.action, one.risk, one.reversible) == ("store-in-s3", Risk.LOW, True)
