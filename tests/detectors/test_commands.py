"""Commands of advice: whatever a log calls its tables and attributes stays one word of a shell."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.detectors.advice import aws, dimensions, quoted, scalable, time_to_live_on
from analyzer.detectors.writing import look_at
from analyzer.model.target import Target
from analyzer.model.traffic import Place
from tests.support.evidence import traffic

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path("analyzer/detectors")
SOURCES = sorted(ROOT.rglob("*.py"))
HOSTILE = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1) | st.sampled_from(
    ["it's", "$(reboot)", "`id`", 'a"b', "a b", "--profile", "a;b", "#x", "a\\", "name,x=y", "'"]
)


def words(command: str) -> list[str]:
    return shlex.split(command, comments=True)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_names_stay_one_word(table: str, index: str, attribute: str) -> None:
    target = Target("111122223333", "eu-west-1", table, index)
    assert words(dimensions(target)) == [
        "--dimensions",
        f"Name=TableName,Value={table}",
        f"Name=GlobalSecondaryIndexName,Value={index}",
    ]
    assert words(scalable(target)) == ["--resource-id", f"table/{table}/index/{index}"]
    assert words(scalable(target.base)) == ["--resource-id", f"table/{table}"]
    told = words(aws(target, time_to_live_on(target, attribute), changes=True))
    assert (told[4], told[7:]) == (table, ["--region", "eu-west-1"])
    if told[6].startswith("{"):
        assert json.loads(told[6]) == {"Enabled": True, "AttributeName": attribute}
    else:
        assert told[6] == f"Enabled=true,AttributeName={attribute}"


@given(HOSTILE, HOSTILE)
def test_an_item_is_looked_at_by_its_key_whatever_the_key_is_called(table: str, attribute: str) -> None:
    evidence = traffic(Target(None, "eu-west-1", table), place=Place(partition_key=(attribute,)))
    told = words(look_at({attribute: "X"}, evidence, then="Item.a b"))
    assert (told[4], json.loads(told[6])) == (table, {attribute: {"S": "{key}"}})
    assert told[-4:] == ["--query", "Item.a b", "--region", "eu-west-1"]


@given(HOSTILE)
def test_a_region_is_one_word_too(region: str) -> None:
    assert words(aws(Target(None, region, "t"), "dynamodb list-tables")) == [
        "aws", "dynamodb", "list-tables", "--region", region,
    ]  # fmt: skip


def calls_of_aws(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "aws":
            yield node


SAFE = {"quoted", "dimensions", "scalable", "statistics", "time_to_live_on"}
KNOWN = {"kind", "units", "shown", "asked", "direction", "setting", "removed", "names", "table"}
"""Words of AWS's own, and names that were `quoted` where they were made."""


def risky(part: ast.FormattedValue) -> bool:
    value = part.value
    if isinstance(value, ast.Call):
        root = value.func.value if isinstance(value.func, ast.Attribute) else value.func
        root = root.value if isinstance(root, ast.Attribute) else root
        return not (isinstance(root, ast.Name) and root.id in SAFE | KNOWN)
    return not (isinstance(value, ast.Name) and value.id in KNOWN)


@pytest.mark.parametrize("source", [path for path in SOURCES if "aws(" in path.read_text()], ids=lambda path: path.stem)
def test_no_command_takes_a_name_as_it_is(source: Path) -> None:
    tree = ast.parse(source.read_text())
    parts = [part for call in calls_of_aws(tree) for part in ast.walk(call) if isinstance(part, ast.FormattedValue)]
    assert [ast.unparse(part) for part in parts if risky(part)] == []
    raw = {f"--table-name {{{name}.table}}" for name in ("target", "traffic.target", "there")}
    assert not [text for text in raw if text in source.read_text()]


def test_quoting_leaves_plain_names_alone() -> None:
    assert quoted("orders") == "orders"
