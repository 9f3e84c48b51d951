from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.cli.described import ask_tables, read_tables
from analyzer.contract.load import contract_from
from analyzer.errors import CollectError, ContractError, DeniedError
from tests.support.scripted_aws import ScriptedAws, absent

if TYPE_CHECKING:
    from analyzer.contract.model import Contract


def described(name: str = "cases") -> dict[str, Any]:
    return {"TableName": name, "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}]}


def test_tables_come_as_one_a_list_lines_or_a_recording() -> None:
    lines = [json.dumps({"Table": described("a")}), "", json.dumps({"kind": "table", "table": described("b")})]
    lines.append(json.dumps({"kind": "gap"}))
    assert [table.name for table in read_tables("\n".join(lines), "t")] == ["a", "b"]
    assert [table.name for table in read_tables(json.dumps(described("c")), "t")] == ["c"]
    both = json.dumps([described("d"), {"Table": described("e")}])
    assert [table.name for table in read_tables(both, "t")] == ["d", "e"]


@pytest.mark.parametrize(
    "text", ["no", "{}\nno", '{"Table": {}}', "[3]", '{"Table": {"KeySchema": [{}]}}', '{"TableName": "a"}']
)
def test_what_describes_no_table_is_a_fault(text: str) -> None:
    with pytest.raises(ContractError, match="give the output of `aws dynamodb describe-table`"):
        read_tables(text, "t.json")


def declared(**tables: dict[str, Any]) -> Contract:
    return contract_from({"tables": [{"name": n, "partition_key": "PK", **rest} for n, rest in tables.items()]})


def scripted(**answers: Any) -> ScriptedAws:
    return ScriptedAws(
        {
            "DescribeTable": lambda asked: {"Table": described(asked["TableName"])},
            **answers,
        }
    )


async def test_tables_with_exact_names_are_described_and_none_is_listed() -> None:
    aws = scripted()
    here, there = ({"where": {"regions": [region]}} for region in ("us-east-1", "eu-west-1"))
    contract = declared(cases=here, old=there)
    kept, tables = await ask_tables(contract, aws, "us-east-1")
    assert [table.name for table in tables] == [table.name for table in kept.tables] == ["cases"]
    assert aws.operations() == ["DescribeTable"]


async def test_a_glob_is_looked_for_among_all_tables() -> None:
    aws = scripted(ListTables={"TableNames": ["a-cases", "b-orders"]})
    _, tables = await ask_tables(declared(**{"*-cases": {}}), aws, "us-east-1")
    assert [table.name for table in tables] == ["a-cases"]


async def test_a_table_that_is_not_there_is_for_the_comparison_to_tell() -> None:
    aws = scripted(DescribeTable=absent)
    assert (await ask_tables(declared(cases={}), aws, "us-east-1"))[1] == ()


async def test_what_cannot_be_asked_is_an_error_with_its_mend() -> None:
    aws = scripted(DescribeTable=DeniedError("DescribeTable: AccessDenied", hint="grant dynamodb:DescribeTable"))
    with pytest.raises(CollectError, match="DescribeTable: AccessDenied") as refused:
        await ask_tables(declared(cases={}), aws, "us-east-1")
    assert refused.value.hint == "grant dynamodb:DescribeTable"
