from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.contract.lint import lint
from analyzer.contract.load import load_contract, read_contract
from analyzer.errors import ContractError

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "tables: [{name: t, partition_key: PK, sort_key: SK, %s}]"
GET = "patterns: [{id: get, operation: get, key: {PK: a, SK: b}}]"
PUT = "owner: me, patterns: [{id: put, operation: put, key: {PK: a, SK: b}}]"


def write(folder: Path, *texts: str) -> Path:
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_text(text)
    return folder


def test_one_table_may_be_declared_in_parts(tmp_path: Path) -> None:
    entity = "entities: [{name: E, PK: a}], indexes: [{name: G, partition_key: k}]"
    contract = load_contract(write(tmp_path, TABLE % f"{GET}, {entity}", TABLE % f"{PUT}, {entity}"))
    (table,) = contract.tables
    assert ([p.id for p in table.patterns], table.owner) == (["get", "put"], "me")
    assert (len(table.entities), len(table.indexes)) == (1, 1)


def test_a_remark_names_the_file_that_its_pattern_stands_in(tmp_path: Path) -> None:
    write(tmp_path, TABLE % GET, TABLE % "patterns: [{id: all, operation: Scan}]")
    remarks = lint(load_contract(tmp_path))
    assert [remark.file for remark in remarks if remark.rule == "scan-pattern"] == [str(tmp_path / "1.yaml")]


def test_rows_without_a_table_go_together_whatever_file_they_stand_in(tmp_path: Path) -> None:
    row = "- {id: %s, index: G, pk: x, query_type: query}"
    contract = load_contract(write(tmp_path, row % "a", row % "b", "patterns: [{id: c, key: {userId: <u>}, op: get}]"))
    (table,) = contract.tables
    assert [p.id for p in table.patterns] == ["a", "b", "c"]
    assert (table.partition_key, table.keys_assumed) == (("userId",), False)


def test_keys_that_somebody_named_win_over_assumed_ones(tmp_path: Path) -> None:
    named = "table: {name: '*', pk: PK}\nindexes: [{name: G, pk: K}]\npatterns: [{id: b, pk: x, query_type: get}]"
    contract = load_contract(write(tmp_path, "- {id: a, index: G, query_type: query}", named))
    (table,) = contract.tables
    assert (table.partition_key, table.indexes[0].partition_key) == (("PK",), ("K",))


@pytest.mark.parametrize(
    ("one", "two", "fault"),
    [
        (GET, GET, "'get' is declared already, at "),
        (
            "indexes: [{name: G, partition_key: a}]",
            "indexes: [{name: G, partition_key: b}]",
            "'G' is declared already with",
        ),
    ],
)
def test_parts_that_contradict_each_other_are_a_fault(tmp_path: Path, one: str, two: str, fault: str) -> None:
    reading = read_contract(write(tmp_path, TABLE % one, TABLE % two))
    assert len(reading.faults) == 1
    assert reading.faults[0].message.startswith(fault)


def test_two_keys_of_one_table_are_a_fault_unless_where_tells_them_apart(tmp_path: Path) -> None:
    other = "tables: [{name: t, partition_key: id%s}]"
    write(tmp_path, TABLE % GET, other % "", other % ", where: {regions: eu-west-1}")
    with pytest.raises(ContractError, match="table 't' is declared already with another key, at ") as error:
        load_contract(tmp_path)
    assert len(error.value.faults) == 1
