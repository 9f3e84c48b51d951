from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema  # type: ignore[import-untyped]
import pytest
from ruamel.yaml import YAML

from analyzer.contract.fields import operation_named
from analyzer.contract.form import json_schema
from analyzer.knowledge.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "contract.schema.json"
DOCUMENT = """\
version: 1
callers: {web: {services: dash}}
tables:
  - name: cases
    partition_key: PK
    sort_key: [SK]
    where: {accounts: 1111}
    entities: [{name: Case, PK: "CASE#<id>", SK: META, item_bytes: 2KB}]
    indexes: [{name: GSI1, partition_key: GSI1PK, projection: keys_only}]
    patterns:
      - {id: a, operation: Query, key: {PK: CASE#<id>}, filter: none, rate: 5, freshness: 5s}
      - {id: b, operation: [BatchGetItem], key: [{PK: CASE#<id>}], filter: {discards_at_most: 10%}, rate: {p95: 5}}
"""


def test_the_published_schema_is_current() -> None:
    assert json.loads(PUBLISHED.read_text()) == json_schema(), (
        "run: dynascope check --schema > docs/reference/contract.schema.json"
    )


def test_the_schema_takes_what_the_loader_takes_and_no_typo() -> None:
    document = YAML(typ="safe").load(DOCUMENT)
    jsonschema.validate(document, json_schema())
    document["tables"][0]["patterns"][0]["ordr"] = "ascending"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json_schema())


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_known_however_it_is_written(name: str) -> None:
    short = name.removesuffix("Items").removesuffix("Item")
    assert [operation_named(text) for text in (name, name.lower(), short, f" {short} item")] == [name] * 4
    assert operation_named("ListTables") is None


def test_a_pattern_without_an_operation_is_a_fault_whatever_its_form(faults: Callable[..., list[str]]) -> None:
    (told,) = faults("tables: [{name: t, partition_key: PK, patterns: [{id: a, operation: []}]}]")
    assert "it is empty; say what serves it, such as Query" in told
