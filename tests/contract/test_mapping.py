from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.load import Reading


def entry(number: int, operation: str, *parameters: str, **rest: object) -> dict[str, object]:
    return {
        "pattern_id": number,
        "description": f"pattern {number}",
        "entity": "Deal",
        "operation": operation,
        "index_name": None,
        "range_condition": None,
        "parameters": [{"name": name, "type": "string"} for name in parameters],
        "repository": "DealRepository",
        "method_name": "x",
        "return_type": "Deal | None",
    } | rest


def mapping(*entries: object) -> str:
    listed = {str(n): e for n, e in enumerate(entries)}
    return json.dumps({"access_pattern_mapping": listed, "metadata": {"total_patterns": len(entries)}}, indent=2)


def keys(reading: Reading) -> list[dict[str, str]]:
    assert reading.faults == ()
    (table,) = reading.contract.tables
    return [{k.attribute: k.template.text for key in p.keys for k in key} for p in table.patterns]


def test_a_mapping_becomes_one_unnamed_table_whose_keys_are_assumed(read: Callable[..., Reading]) -> None:
    text = mapping(entry(1, "GetItem", "deal_id"), entry(2, "Query", "brand", index_name="DealsByBrand"))
    reading = read(text, "access_pattern_mapping.json")
    (table,) = reading.contract.tables
    assert (table.name, table.keys_assumed, table.indexes[0].name, table.indexes[0].keys_assumed) == (
        "*",
        True,
        "DealsByBrand",
        True,
    )
    assert [(p.id, p.title, p.entity, p.operations) for p in table.patterns] == [
        ("1", "pattern 1", "Deal", ("GetItem",)),
        ("2", "pattern 2", "Deal", ("Query",)),
    ]
    assert table.patterns[1].line == 20


def test_parameters_become_key_templates(read: Callable[..., Reading]) -> None:
    text = mapping(
        entry(1, "GetItem", "user", "post"),
        entry(2, "Query", "brand", "since", range_condition=">=", index_name="G"),
        entry(3, "Query", "brand", "a", "b", range_condition="between", index_name="G"),
        entry(4, "Query", "user", "status", filter_expression={"conditions": []}, consistent_read=True),
        entry(5, "UpdateItem", "tournament", "ranking"),
        entry(6, "PutItem", "entry"),
        entry(7, "Scan"),
        entry(8, "Query", "brand", range_condition="between"),
        entry(9, "Scan", "status"),
    )
    reading = read(text, "m.json")
    assert keys(reading) == [
        {"PK": "<user>", "SK": "<post>"},
        {"GPK": "<brand>", "GSK": ">= <since>"},
        {"GPK": "<brand>", "GSK": "between <a> and <b>"},
        {"PK": "<user>"},
        {"PK": "<tournament>"},
        {"PK": "<entry>"},
        {},
        {"PK": "<brand>"},
        {},
    ]
    filtered = reading.contract.tables[0].patterns[3]
    assert filtered.filter is not None
    assert (filtered.filter.allowed, filtered.consistency) == (True, "strong")


def test_a_list_is_read_like_a_mapping_and_short_names_of_transactions_too(read: Callable[..., Reading]) -> None:
    listed = [entry(1, "TransactWrite", "user")]
    reading = read(json.dumps({"access_pattern_mapping": listed}), "m.json")
    assert reading.contract.tables[0].patterns[0].operations == ("TransactWriteItems",)


def test_what_is_no_pattern_is_a_fault(faults: Callable[..., list[str]]) -> None:
    assert "write a mapping here" in faults(mapping(3), "m.json")[0]
    assert "'operation' is missing" in faults(mapping({"pattern_id": 1, "parameters": 3}), "m.json")[0]
    assert faults('{"access_pattern_mapping": 3}', "m.json") == []


@pytest.mark.parametrize("word", ["N/A", "none", "-", "TBD"])
def test_a_word_for_no_index_is_none(read: Callable[..., Reading], word: str) -> None:
    row = {"pattern_id": "a", "operation": "Query", "index_name": word, "parameters": [{"name": "id"}]}
    reading = read(json.dumps({"access_pattern_mapping": {"1": row}}), "a.json")
    assert [pattern.index for table in reading.contract.tables for pattern in table.patterns] == [None]
