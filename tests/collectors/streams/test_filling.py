from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.request_log.filling import filled

ID = {"v": 1, "time": "2025-11-30T10:53:20Z", "op": "Query", "request_id": "r"}


def fill(record: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    line = filled(json.dumps({**ID, **record}).encode() + b"\n", json.dumps({**ID, **other}).encode())
    assert line.endswith(b"\n")
    return {name: value for name, value in json.loads(line).items() if name not in ID}


def test_what_the_record_lacks_comes_from_the_other() -> None:
    span = {"table": "cases", "scanned": 9, "latency_ms": 3.5, "caller": "api"}
    event = {"table": "cases", "principal": "role/api", "error": {"code": "X"}, "scanned": 1}
    assert fill(span, event) == {**span, "principal": "role/api", "error": {"code": "X"}}


def test_null_is_not_known() -> None:
    assert fill({"scanned": None}, {"scanned": 1, "count": None}) == {"scanned": 1}


@pytest.mark.parametrize("own", ["sample_rate", "strata", "pattern"])
def test_what_belongs_to_one_record_is_not_taken(own: str) -> None:
    assert fill({}, {own: 0.5}) == {}


def test_placeholders_come_with_their_expressions() -> None:
    spoken = {"key_condition": "#a = :a", "names": {"#a": "PK"}, "values": {":a": {"S": "x"}}}
    assert fill({}, spoken) == spoken
    assert fill({"filter": "#0 = :0"}, spoken) == {"filter": "#0 = :0"}
    assert fill({"names": {"#0": "PK"}}, spoken) == {"names": {"#0": "PK"}}


def test_keys_come_with_their_policy() -> None:
    keyed = {"key": {"PK": {"S": "~k1"}}, "index_keys": {"g": {}}, "keys": "token", "salt_id": "s"}
    assert fill({}, keyed) == keyed


def test_a_policy_without_keys_gives_way_to_that_of_the_keys_that_come() -> None:
    assert fill({"keys": "token", "salt_id": "s"}, {"key": {}}) == {"key": {}}
    assert fill({"keys": "token", "salt_id": "s"}, {"keys": "reveal"}) == {"keys": "token", "salt_id": "s"}


def test_keys_of_another_salt_are_not_mixed() -> None:
    own = {"values": {":a": {"S": "~k1"}}, "keys": "token", "salt_id": "s"}
    other = {"key": {"PK": {"S": "clear"}}, "parts": [], "key_condition": "#a = :a", "values": {":a": {"S": "x"}}}
    assert fill(own, other) == own
    assert fill({"key": {}, "keys": "token"}, {"filter": "a", "names": {}, "values": {}}) == {
        "key": {},
        "keys": "token",
        "filter": "a",
        "names": {},
    }


def test_keys_of_the_same_policy_are_mixed() -> None:
    own = {"values": {":a": {"S": "x"}}}
    assert fill(own, {"key": {"PK": {"S": "x"}}, "returned": []}) == {**own, "key": {"PK": {"S": "x"}}, "returned": []}


def test_what_was_handed_back_counts_the_parts_it_came_with() -> None:
    parts = [{"op": "Get"}]
    assert fill({}, {"parts": parts, "handed_back": [0]}) == {"parts": parts, "handed_back": [0]}
    assert fill({"parts": []}, {"parts": parts, "handed_back": [0]}) == {"parts": []}


def test_a_version_belongs_to_its_caller() -> None:
    assert fill({}, {"caller": "api", "caller_version": "2"}) == {"caller": "api", "caller_version": "2"}
    assert fill({}, {"caller": "api"}) == {"caller": "api"}
    assert fill({"caller": "web"}, {"caller": "api", "caller_version": "2"}) == {"caller": "web"}


@pytest.mark.parametrize(("line", "other"), [(b"{", b"{}"), (b"{}", b"{"), (b"[]", b"{}"), (b"{}", b"1")])
def test_what_cannot_be_read_is_left_alone(line: bytes, other: bytes) -> None:
    assert filled(line, other) == line


NAMES = ["table", "scanned", "filter", "names", "values", "key", "keys", "salt_id", "parts", "handed_back", "caller"]
RECORDS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([1, "a", None]))


@given(RECORDS, RECORDS)
def test_nothing_that_a_record_says_is_changed_and_filling_twice_is_filling_once(
    record: dict[str, Any], other: dict[str, Any]
) -> None:
    once = fill(record, other)
    said = {name: value for name, value in record.items() if value is not None}
    if not {"key", "values", "parts"} & set(said):
        said = {name: value for name, value in said.items() if name not in {"keys", "salt_id"}}
    assert {**once, **said} == once
    assert fill(once, other) == once
    assert set(once) <= set(record) | set(other)
