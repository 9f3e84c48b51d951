from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.contract.load import contract_from
from analyzer.planning.expected import Expected, expected_of, holders_of, is_reached

if TYPE_CHECKING:
    from analyzer.contract.model import TableDeclaration

ENTITIES: list[dict[str, Any]] = [
    {"name": "Order", "PK": "C#<c>", "SK": "O#<o>", "item_bytes": 1800},
    {"name": "Line", "PK": "C#<c>", "SK": "L#<l>"},
]


def table(*patterns: dict[str, Any], **fields: Any) -> TableDeclaration:
    listed = [{"id": f"p{number}", **pattern} for number, pattern in enumerate(patterns)]
    told = {"name": "t", "partition_key": "PK", "sort_key": "SK", "entities": ENTITIES, "patterns": listed}
    return contract_from({"version": 1, "tables": [told | fields]}).tables[0]


def index(name: str = "I", **fields: Any) -> dict[str, Any]:
    return {"name": name, "partition_key": "IPK", "sort_key": "SK", **fields}


def expected(pattern: dict[str, Any], **fields: Any) -> Expected:
    declared = table({"entity": "Order", "key": {"PK": "C#<c>", "SK": "O#<o>"}} | pattern, **fields)
    return expected_of(declared, declared.patterns[0])


@pytest.mark.parametrize(
    ("pattern", "units"),
    [
        ({"operation": "GetItem"}, 0.5),
        ({"operation": "GetItem", "consistency": "strong"}, 1),
        ({"operation": "GetItem", "item_bytes": 9000}, 1.5),
        ({"operation": "TransactGetItems"}, 2),
        ({"operation": "TransactGetItems", "transaction": {"items": 3, "because": "x"}}, 6),
        ({"operation": "PutItem"}, 2),
        ({"operation": "PutItem", "item_bytes": 200}, 1),
        ({"operation": "TransactWriteItems", "transaction": {"items": 3, "because": "x"}}, 8),
        ({"operation": "Query", "key": {"PK": "C#<c>"}, "page_size": 20}, 4.5),
        ({"operation": "Query", "key": {"PK": "C#<c>"}, "page_size": 20, "items_per_key": 4}, 1),
        ({"operation": "Query", "key": {"PK": "C#<c>"}, "page_size": 20, "returns_all": True, "items_per_key": 40}, 9),
        ({"operation": "Query", "key": {"PK": "C#<c>"}, "items_per_key": 1_000_000}, 128),
    ],
)
def test_a_request_costs_size_times_consistency_times_transaction(pattern: dict[str, Any], units: float) -> None:
    assert expected(pattern).total == units


def test_what_is_not_declared_is_counted_at_its_least_and_named() -> None:
    put = expected({"operation": "PutItem", "entity": "Line", "key": {"PK": "C#<c>", "SK": "L#<l>"}})
    assert (put.total, put.assumed) == (1, ("an item without a declared size is counted as 1 KB",))
    get = expected({"operation": "GetItem", "entity": "Line"})
    assert (get.total, len(get.assumed)) == (0.5, 1)
    query = expected({"operation": "Query", "key": {"PK": "C#<c>"}})
    assert query.assumed == ("without page_size or items_per_key a query is counted as one item",)
    batch = expected({"operation": "BatchGetItem"})
    assert batch.assumed == ("a batch is counted as one item",)
    assert "a batch is counted as one item" in expected({"operation": "BatchWriteItem"}).assumed


def test_a_scan_reads_what_there_is() -> None:
    scan = expected({"operation": "Scan", "key": {}, "purpose": "export"})
    assert (scan.units, scan.total) == (None, None)


def test_items_of_a_transaction_are_told_by_their_keys() -> None:
    keys = [{"PK": "C#<c>", "SK": "O#<o>"}, {"PK": "C#<c>", "SK": "L#<l>"}]
    done = expected({"operation": "TransactWriteItems", "entity": None, "key": keys})
    assert (done.total, done.words) == (6, "(⌈1,800 B ÷ 1 KB⌉ + 1 KB) × 2 in a transaction")


def test_a_write_costs_each_index_that_it_reaches() -> None:
    all_of_it = expected({"operation": "PutItem"}, indexes=[index(projection="all")])
    assert (all_of_it.units, all_of_it.index_units, all_of_it.total) == (2, {"I": 2}, 4)
    assert all_of_it.words.endswith("+ I 2")
    keys = expected({"operation": "PutItem"}, indexes=[index(projection="keys_only")])
    assert (keys.index_units, keys.assumed) == ({"I": 1}, ())
    some = expected({"operation": "PutItem"}, indexes=[index(projection=["status"])])
    assert (some.index_units, some.assumed) == ({"I": 1}, ("an entry of I is counted as 1 KB",))
    declared = expected({"operation": "PutItem"}, indexes=[index(expected_write_amplification=1.5)])
    assert declared.index_units == {"I": 3}


def test_an_index_takes_the_entities_that_declare_its_key() -> None:
    entities = [{**ENTITIES[0], "IPK": "<status>"}, ENTITIES[1]]
    order = {"operation": "PutItem", "entity": "Order", "key": {"PK": "C#<c>", "SK": "O#<o>"}}
    line = {"operation": "PutItem", "entity": "Line", "key": {"PK": "C#<c>", "SK": "L#<l>"}}
    other = {"operation": "PutItem", "key": {"PK": "X#<x>", "SK": "X"}}
    get = {"operation": "GetItem", "key": {"PK": "C#<c>", "SK": "O#<o>"}}
    declared = table(order, line, other, get, indexes=[index()], entities=entities)
    reached = [is_reached(declared, one, declared.indexes[0]) for one in declared.patterns]
    assert reached == [True, False, None, False]
    assert [one.name for one in holders_of(declared, declared.indexes[0]) or ()] == ["Order"]


def test_of_a_sparse_index_nobody_knows_which_writes_reach_it_unless_an_entity_says_so() -> None:
    done = expected({"operation": "PutItem"}, indexes=[index(sparse=True)])
    assert (done.index_units, done.assumed) == ({}, ("which writes reach I is not declared: none is counted",))
    bare = table({"operation": "PutItem", "key": {"PK": "X", "SK": "Y"}}, indexes=[index()], entities=[])
    assert is_reached(bare, bare.patterns[0], bare.indexes[0]) is True


def test_a_read_of_an_index_is_as_large_as_its_projection() -> None:
    query = {"operation": "Query", "index": "I", "key": {"IPK": "<x>"}, "page_size": 20}
    assert expected(query, indexes=[index(projection="all")]).total == 4.5
    assert expected(query, indexes=[index(projection="keys_only")]).assumed == (
        "without a declared size a read is counted as one block of 4 KB",
    )
    assert expected(query | {"item_bytes": 400}, indexes=[index(projection="keys_only")]).total == 1
