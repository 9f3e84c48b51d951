from __future__ import annotations

from typing import Any

import pytest

from analyzer.contract.catalog import compare
from analyzer.contract.load import contract_from
from collectors.table_catalog.parse import parse_table


def keys(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": n, "KeyType": t} for n, t in zip(names, ("HASH", "RANGE"), strict=False)]


def described(name: str = "cases", **rest: object) -> dict[str, Any]:
    gsi = {"IndexName": "GSI1", "KeySchema": keys("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "KEYS_ONLY"}}
    return {"TableName": name, "KeySchema": keys("PK", "SK"), "GlobalSecondaryIndexes": [gsi]} | rest


DECLARED: dict[str, Any] = {
    "name": "cases",
    "partition_key": "PK",
    "sort_key": "SK",
    "indexes": [{"name": "GSI1", "partition_key": "GSI1PK", "sort_key": "GSI1SK", "projection": "keys_only"}],
}
INDEX: dict[str, Any] = DECLARED["indexes"][0]


def told(declared: dict[str, object], *tables: dict[str, Any]) -> list[str]:
    remarks = compare(contract_from({"tables": [declared]}), [parse_table(table) for table in tables])
    return [f"{r.severity} {r.field}: {r.message}; {r.mend}" for r in remarks]


def test_a_table_that_is_as_declared_has_no_remarks() -> None:
    assert told(DECLARED, described()) == []
    included = {"IndexName": "GSI1", "KeySchema": keys("GSI1PK", "GSI1SK")} | {
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]}
    }
    declared = DECLARED | {"indexes": [INDEX | {"projection": ["a", "b"]}]}
    assert told(declared, described(GlobalSecondaryIndexes=[included])) == []


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        (
            {"sort_key": "sk"},
            "fail cases: it is declared with key PK, sk, and has PK, SK; correct partition_key and sort_key",
        ),
        (
            {"indexes": []},
            "warn GSI1: cases has an index GSI1 that nobody declared; declare it",
        ),
        ({"indexes": [INDEX, INDEX | {"name": "GSI2"}]}, "fail GSI2: cases has no index GSI2; did you mean GSI1?"),
        (
            {"indexes": [INDEX | {"sort_key": ["a", "b"]}]},
            "fail GSI1: it is declared with key GSI1PK, a+b, and has GSI1PK, GSI1SK; correct its ",
        ),
        ({"indexes": [INDEX | {"kind": "lsi"}]}, "fail GSI1: it is declared as LSI, and is a GSI; write kind: gsi"),
        (
            {"indexes": [INDEX | {"projection": ["b", "a"]}]},
            "fail GSI1: it is declared to project a+b, and projects keys_only; correct the declaration",
        ),
        ({"name": "case"}, "warn case: there is no such table; did you mean cases?"),
        ({"name": "dev-*"}, "warn dev-*: no table fits it; one of cases"),
    ],
)
def test_a_difference_is_told_with_its_mend(change: dict[str, object], remark: str) -> None:
    (found,) = told(DECLARED | change, described())
    assert found.startswith(remark)


def test_an_index_of_a_table_without_any_is_to_be_created() -> None:
    assert told(DECLARED, described(GlobalSecondaryIndexes=None))[0].endswith("create it, or remove the declaration")


def test_local_indexes_are_compared_too() -> None:
    lsi = {"IndexName": "L", "KeySchema": keys("PK", "at"), "Projection": {"ProjectionType": "ALL"}}
    declared = DECLARED | {"indexes": [INDEX, {"name": "L", "kind": "lsi", "partition_key": "PK", "sort_key": "at"}]}
    assert told(declared, described(LocalSecondaryIndexes=[lsi])) == []


def test_a_glob_is_compared_with_every_table_that_it_fits() -> None:
    assert len(told(DECLARED | {"name": "*-cases", "sort_key": []}, described("a-cases"), described("b-cases"))) == 2


def test_the_unnamed_table_is_compared_with_one_table_alone() -> None:
    contract = contract_from([{"id": "a", "index": "GSI9", "pk": "x", "query_type": "query"}])
    one = (parse_table(described()),)
    assert [r.message for r in compare(contract, one)] == [
        "cases has no index GSI9",
        "cases has an index GSI1 that nobody declared",
    ]
    assert compare(contract, [*one, *one]) == ()
    assert compare(contract_from([{"id": "a", "index": "GSI1", "pk": "x", "query_type": "query"}]), one) == ()


def test_a_projection_that_was_not_told_is_not_compared() -> None:
    index = {"IndexName": "GSI1", "KeySchema": keys("GSI1PK", "GSI1SK")}
    assert told(DECLARED, described(GlobalSecondaryIndexes=[index])) == []
