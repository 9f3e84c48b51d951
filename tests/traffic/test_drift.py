from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.counts import KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.shape import KeyPredicate, PartShape
from analyzer.model.traffic import Declared, PatternTraffic, Place
from analyzer.statistics.rates import Standing
from analyzer.traffic.drift import Facet, Tolerance, facets_of
from tests.support.calls import book, call
from tests.support.evidence import GSI2, key, row, shape, traffic

TOLERANCE = Tolerance(margin=1.5, other_share=0.05, least=20)
QUERY = shape("Query", "q")
IN, OUT, UNKNOWN = Standing.IN, Standing.OUT, Standing.UNKNOWN


def facet(name: str, *rows: PatternTraffic, declared: dict[str, Any] | None = None, **fields: Any) -> Facet | None:
    promise = Declared(id="load-case", **(declared or {}))
    target = fields.pop("target", traffic().target)
    found = facets_of(promise, list(rows), traffic(target, rows=rows, **fields), TOLERANCE)
    return next((one for one in found if one.name == name), None)


def stands(name: str, *rows: PatternTraffic, declared: dict[str, Any] | None = None, **fields: Any) -> Standing | None:
    one = facet(name, *rows, declared=declared, **fields)
    return None if one is None else one.standing


def test_what_nobody_declared_is_no_facet() -> None:
    assert facets_of(Declared(id="load-case"), [row()], traffic(), TOLERANCE) == []


def test_what_a_write_costs_an_index_is_no_request() -> None:
    assert stands("filter", row(secondary=True), declared={"is_filtered": False}) is None


@pytest.mark.parametrize(
    ("breaking", "all_calls", "said"), [(20, 20, OUT), (8, 100, UNKNOWN), (0, 1000, IN), (19, 19, UNKNOWN)]
)
def test_a_share_of_requests_breaks_it_decides_or_does_not(breaking: int, all_calls: int, said: Standing) -> None:
    filtered = row(shape("Query", "f", filter="a = :0", filter_attributes=("a",)), requests=breaking)
    plain = row(QUERY, requests=all_calls - breaking)
    assert stands("filter", filtered, plain, declared={"is_filtered": False}) is said


def test_a_filter_is_of_reads_and_named_by_its_attributes() -> None:
    filtered = shape("Query", "f", filter="a = :0", filter_attributes=("a",))
    one = facet("filter", row(filtered), declared={"is_filtered": False})
    assert one is not None
    assert (one.text, one.declared, one.seen.value) == ("filtered by a", "none", 1.0)
    assert stands("filter", row(shape("PutItem")), declared={"is_filtered": False}) is None
    assert stands("filter", row(filtered), declared={"is_filtered": True}) is None


def test_tagged_requests_at_another_index_are_elsewhere() -> None:
    assert stands("index", row(QUERY), declared={"index": None}, target=GSI2) is OUT
    assert stands("index", row(QUERY), declared={"index": "GSI2"}, target=GSI2) is None
    batch = shape("BatchGetItem", "b", parts=(PartShape("Get"),))
    assert stands("index", row(batch), declared={"index": "GSI2"}) is None


def test_what_reads_a_local_index_counts_at_its_table_and_is_at_its_index() -> None:
    local = row(shape("Query", "l", index="by-day"), requests=40)
    assert stands("index", local, declared={"index": "by-day"}) is None
    one = facet("index", local, declared={"index": None})
    assert one is not None
    assert (one.standing, one.text, one.declared) == (OUT, "at by-day", "the base table")
    beside = facet("index", local, row(QUERY, requests=40), declared={"index": "by-day"})
    assert beside is not None
    assert (beside.text, len(beside.breaking)) == ("at the base table", 1)


@pytest.mark.parametrize(
    ("declared", "consistent", "said"),
    [("strong", False, OUT), ("strong", True, IN), ("eventual", True, OUT), ("eventual", False, IN)],
)
def test_reads_are_as_consistent_as_declared(declared: str, consistent: bool, said: Standing) -> None:  # noqa: FBT001
    one = facet("consistency", row(shape(consistent=consistent)), declared={"consistency": declared})
    assert one is not None
    assert (one.standing, one.is_harm) == (said, declared == "strong")


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (row(read_units=500), OUT),
        (row(read_units=1000), None),
        (row(QUERY, read_units=500), None),
        (row(read_units=0, units_known=0.0), None),
        (row(failed=1000), None),
        (row(shape("PutItem", consistent=False)), None),
        (row(shape("TransactGetItems", consistent=False)), None),
    ],
    ids=["cheaper than strong", "as dear", "a query", "units not told", "all failed", "a write", "a transaction"],
)
def test_a_read_that_says_nothing_is_eventual_where_it_costs_too_little(
    one: PatternTraffic, said: Standing | None
) -> None:
    assert stands("consistency", one, declared={"consistency": "strong"}) is said


def test_an_index_knows_eventual_reads_alone() -> None:
    asked = row(shape(consistent=False))
    assert stands("consistency", asked, declared={"consistency": "strong", "index": "GSI2"}, target=GSI2) is None


@pytest.mark.parametrize(
    ("caller", "place", "said"),
    [
        ("api", Place(), IN),
        ("batch", Place(known_callers=frozenset({"api", "batch"})), OUT),
        ("x-17", Place(known_callers=frozenset({"api"})), UNKNOWN),
        ("x-17", Place(known_callers=frozenset({"api"}), mapped_callers=frozenset({"api"})), OUT),
        (None, Place(known_callers=frozenset({"api"})), None),
    ],
    ids=["declared", "known as another", "perhaps another name of it", "surely none of it", "not told"],
)
def test_a_caller_is_a_stranger_where_the_contract_knows(
    caller: str | None, place: Place, said: Standing | None
) -> None:
    assert stands("caller", row(caller=caller, requests=20), declared={"callers": ("api",)}, place=place) is said


def test_a_few_requests_of_a_stranger_decide_nothing_and_many_are_named() -> None:
    place = Place(known_callers=frozenset({"api", "batch"}))
    few = facet("caller", row(caller="batch", requests=19), declared={"callers": ("api",)}, place=place)
    many = facet("caller", row(caller="batch"), row(), declared={"callers": ("api",)}, place=place)
    assert few is not None
    assert many is not None
    assert (few.standing, many.standing, many.text, many.seen.value) == (UNKNOWN, OUT, "of batch", 0.5)


def test_what_a_filter_throws_away_has_a_declared_limit() -> None:
    declared = {"discards_at_most": 0.1}
    assert stands("discards", row(QUERY, scanned=1000, returned=700), declared=declared) is OUT
    assert stands("discards", row(QUERY, scanned=1000, returned=950), declared=declared) is IN
    assert stands("discards", row(QUERY), declared=declared) is None


@pytest.mark.parametrize(
    ("forward", "key_known", "declared", "said"),
    [
        (False, True, "ascending", OUT),
        (False, True, "descending", IN),
        (True, True, "descending", OUT),
        (None, True, "descending", OUT),
        (None, True, "ascending", IN),
        (None, False, "descending", None),
    ],
)
def test_a_query_is_in_the_declared_order(
    forward: bool | None,  # noqa: FBT001
    key_known: bool,  # noqa: FBT001
    declared: str,
    said: Standing | None,
) -> None:
    bound = (KeyPredicate("PK", "=", "CASE#<id>"),) if key_known else ()
    asked = row(shape("Query", "q", forward=forward, key=bound))
    assert stands("order", asked, declared={"order": declared}) is said


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (row(shape("Query", "q", limit_bucket=64)), OUT),
        (row(shape("Query", "q", limit_bucket=32)), IN),
        (row(QUERY, scanned=50_000), OUT),
        (row(QUERY, scanned=30_000), IN),
        (row(QUERY, counts_known=0.0), None),
        (row(), None),
    ],
    ids=["a larger limit", "perhaps as large", "more items", "within the margin", "nothing told", "a get"],
)
def test_pages_are_as_large_as_declared(one: PatternTraffic, said: Standing | None) -> None:
    assert stands("page_size", one, declared={"page_size": 25}) is said


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (row(QUERY, scanned=40_000), OUT),
        (row(QUERY, scanned=20_000), IN),
        (row(QUERY, scanned=30_000), UNKNOWN),
        (row(QUERY, scanned=30_000, resumed=500), OUT),
        (row(QUERY, scanned=900, requests=19), UNKNOWN),
        (row(QUERY, scanned=40_000, failed=1000), None),
        (row(shape("Query", "q", key=(KeyPredicate("PK", "="), KeyPredicate("SK", "begins_with")))), None),
        (row(shape("Query", "q", key=())), None),
    ],
    ids=["more", "as many", "about the margin", "in pages", "too few", "all failed", "a part of it", "not told"],
)
def test_items_under_a_key_are_those_of_whole_partitions(one: PatternTraffic, said: Standing | None) -> None:
    assert stands("items_per_key", one, declared={"items_per_key": 20}) is said


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (row(shape("PutItem", "p"), write_units=5000), OUT),
        (row(shape("PutItem", "p"), write_units=1000), IN),
        (row(shape("UpdateItem", "u"), write_units=2000), UNKNOWN),
        (row(shape("GetItem", "g", consistent=True), read_units=3000), OUT),
        (row(shape("GetItem", "g", consistent=False), read_units=1500), OUT),
        (row(shape("GetItem", "g"), read_units=1500), None),
        (row(QUERY, read_units=9000), None),
        (row(shape("PutItem", "p"), write_units=5000, failed=1000), None),
        (row(shape("PutItem", "p"), units_known=0.0), None),
    ],
)
def test_units_bound_the_size_of_an_item(one: PatternTraffic, said: Standing | None) -> None:
    assert stands("item_bytes", one, declared={"item_bytes": 1000}) is said


@pytest.mark.parametrize(("size", "many", "said"), [(2500, 30, OUT), (900, 30, IN), (2500, 19, IN)])
def test_sizes_that_calls_tell_are_better(size: int, many: int, said: Standing) -> None:
    put = shape("PutItem", "p")
    calls = book(*[call("PutItem", number, put, item_bytes=size) for number in range(many)])
    assert stands("item_bytes", row(put, write_units=1000), declared={"item_bytes": 1000}, calls=calls) is said


@pytest.mark.parametrize(("units", "said"), [(500, OUT), (100, IN), (150, UNKNOWN)])
def test_the_hottest_key_has_the_declared_share(units: float, said: Standing) -> None:
    hot = key(rows=((0, units),))
    assert stands("top_share", row(read_units=1000), declared={"top_share": 0.1}, keys=(hot,)) is said


def test_a_key_of_other_rows_or_of_nothing_says_nothing() -> None:
    declared = {"top_share": 0.1}
    prefix = key(level=KeyLevel.PREFIX, rows=((0, 900.0),))
    write = key(direction=Direction.WRITE, rows=((0, 900.0),))
    other = key(rows=((7, 900.0),))
    assert stands("top_share", row(read_units=1000), declared=declared, keys=(prefix, write, other)) is None
    few = row(read_units=10, requests=19)
    assert stands("top_share", few, declared=declared, keys=(key(rows=((0, 9.0),)),)) is UNKNOWN
