from __future__ import annotations

from analyzer.contract.load import contract_from
from analyzer.contract.sampler import sampler_schema

PATTERN = {"id": "get", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}}
CASES = {"name": "cases", "partition_key": "PK", "sort_key": "SK", "ttl_attribute": "expiresAt", "patterns": [PATTERN]}
GSI1 = {"name": "GSI1", "partition_key": ["GSI1PK", "region"], "sort_key": "GSI1SK"}


def test_a_sampler_is_told_keys_words_and_ttl() -> None:
    entity = {"name": "Audit", "PK": "CASE#<id>", "SK": "AUDIT#<n>"}
    contract = contract_from({"tables": [{**CASES, "indexes": [GSI1], "entities": [entity]}]})
    assert sampler_schema(contract) == {
        "tables": [
            {
                "name": "cases",
                "partition_key": ["PK"],
                "sort_key": ["SK"],
                "indexes": {"GSI1": ["GSI1PK", "region", "GSI1SK"]},
                "literals": ["AUDIT", "CASE", "META"],
                "ttl_attribute": "expiresAt",
            }
        ]
    }


def test_what_nobody_named_is_left_for_traffic_to_tell() -> None:
    (table,) = sampler_schema(contract_from([{"id": "get", "operation": "GetItem"}]))["tables"]
    assert table == {"name": "*"}


def test_a_table_of_several_places_is_told_once() -> None:
    there = {**CASES, "where": {"regions": ["eu-west-1"]}, "ttl_attribute": "gone"}
    (table,) = sampler_schema(contract_from({"tables": [CASES, there]}))["tables"]
    assert table["ttl_attribute"] == "expiresAt"
