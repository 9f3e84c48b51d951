from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.contract.details import Details, ItemDetail
from analyzer.contract.entities import Entities, unique
from analyzer.contract.schemas import Schema
from analyzer.contract.seen import Seen, key_of
from analyzer.requests.lexicon import Lexicon

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.shape import Shape

CASE = (("PK", "CASE#<id>"), ("SK", "META"))


def test_kinds_of_items_have_index_keys_and_sizes_where_items_written_show_them(shape: Callable[..., Shape]) -> None:
    one = shape("PutItem", ("PK", "=", "CASE#<id>"), ("SK", "=", "META"))
    entities = Entities(Schema("PK", "SK"), ["Case"])
    entities.take([Seen(one, (key_of(one.key),))])
    details = Details(Lexicon())
    often, seldom = (("GPK", "OPEN"),), (("GPK", "X"),)
    details._items["cases", CASE] = ItemDetail(
        [120, 130], {"G": Counter({often: 9}), "H": Counter({often: 5, seldom: 5}), "I": Counter({often: 1})}
    )
    entities.describe("cases", details, ["G", "H"])
    assert list(entities.found.values()) == [
        {"name": "Case-2", "PK": "CASE#<id>", "SK": "META", "GPK": "OPEN", "item_bytes": 120}
    ]
    assert entities.name_of(Seen(one, (key_of(one.key),))) == "Case-2"


def test_keys_of_other_attributes_and_queries_name_none(shape: Callable[..., Shape]) -> None:
    other = shape("GetItem", ("x", "=", "A#<id>"))
    query = shape("Query", ("PK", "=", "A#<id>"))
    entities = Entities(Schema("PK", None))
    entities.take([Seen(other, (key_of(other.key),)), Seen(query, (key_of(query.key),))])
    assert entities.found == {}
    assert entities.name_of(Seen(other, (key_of(other.key),))) is None


def test_a_number_makes_a_name_that_stands_already_another() -> None:
    used: Counter[str] = Counter(["a", "a-2"])
    assert [unique(name, used) for name in ("b", "a", "a")] == ["b", "a-3", "a-4"]
