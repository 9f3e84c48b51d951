from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.contract.model import TableDeclaration
from analyzer.model.finding import Direction
from analyzer.planning.partitions import declared_partitions, entry_key, hot_keys, partition_text, parts_of
from tests.support.planned import contract_of, observed
from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from pathlib import Path

GET: dict[str, Any] = {"operation": "GetItem", "key": {"PK": "C#<c>", "SK": "O#<o>"}, "item_bytes": 1000}
INDEX: dict[str, Any] = {"name": "I", "partition_key": "S", "projection": "all"}


def table(*patterns: dict[str, Any], **fields: Any) -> TableDeclaration:
    return contract_of(*patterns, **fields).tables[0]


def heat(*patterns: dict[str, Any], **fields: Any) -> dict[tuple[str | None, str, str], float | None]:
    found = declared_partitions(table(*patterns, **fields))
    return {(one.index, one.direction.value, one.template): one.heat for one in found}


def test_heat_is_the_peak_times_the_hottest_key_s_share_times_units() -> None:
    one = GET | {"rate": {"peak": 6000}, "per_key": {"top_share": "50%"}}
    assert heat(one) == {(None, "read", "PK=C#<c>"): pytest.approx(0.5)}


def test_what_a_key_is_said_to_get_counts_where_it_is_more() -> None:
    one = GET | {"rate": {"peak": 60}, "per_key": {"top_share": "50%", "read_rate": 600}}
    assert heat(one) == {(None, "read", "PK=C#<c>"): pytest.approx(0.1)}


def test_patterns_on_the_same_key_add_up_and_a_key_that_never_varies_gets_everything() -> None:
    fixed = GET | {"key": {"PK": "CONFIG", "SK": "A"}, "rate": {"p95": 600}}
    other = GET | {"key": {"PK": "CONFIG", "SK": "B"}, "rate": {"p95": 600}}
    assert heat(fixed, other) == {(None, "read", "PK=CONFIG"): pytest.approx(0.2)}


def test_what_says_too_little_is_named_and_comes_last() -> None:
    found = declared_partitions(table(GET, GET | {"key": {"PK": "X", "SK": "X"}, "rate": {"peak": 6}}))
    assert [(one.template, one.unknown) for one in found] == [("PK=X", ()), ("PK=C#<c>", ("p0",))]
    assert found[1].heat is None


def test_scans_and_keys_without_their_attributes_have_no_partition() -> None:
    scan = {"operation": "Scan", "purpose": "export", "callers": ["x"], "schedule": "0 2 * * *"}
    assert heat(scan, {"operation": "Query", "index": "I", "key": {"S": "<s>"}}, indexes=[INDEX]) == {
        ("I", "read", "S=<s>"): None
    }


def test_a_write_lands_on_the_index_key_that_its_entity_declares() -> None:
    put = {"operation": "PutItem", "entity": "Order", "key": {"PK": "C#<c>", "SK": "O#<o>"}, "rate": {"peak": 500}}
    order = {"name": "Order", "PK": "C#<c>", "SK": "O#<o>", "S": "OPEN", "item_bytes": 1000}
    assert heat(put, entities=[order], indexes=[INDEX])["I", "write", "S=OPEN"] == 0.5


def test_else_on_the_one_that_its_readers_name() -> None:
    put = {"operation": "PutItem", "key": {"PK": "C#<c>", "SK": "O#<o>"}}
    read = {"operation": "Query", "index": "I", "key": {"S": "<s>#<0..9>"}}
    declared = table(put, read, indexes=[INDEX])
    assert partition_text(declared, "I", entry_key(declared, declared.patterns[0], "I")) == "S=<s>#<0..9>"
    assert parts_of(declared, "I", entry_key(declared, declared.patterns[0], "I")) == 10
    two = table(put, read, read | {"key": {"S": "X#<s>"}}, indexes=[INDEX])
    assert entry_key(two, two.patterns[0], "I") == ()
    assert ("I", "write", "S=X#<s>") not in heat(put, read, read | {"key": {"S": "X#<s>"}}, indexes=[INDEX])


def test_a_table_without_keys_tells_no_partition() -> None:
    assert partition_text(TableDeclaration(name="t"), None, ()) is None


def test_hot_keys_are_told_by_pattern(tmp_path: Path) -> None:
    made = Recorded(minutes=1)
    for number in range(100):
        made.request("GetItem", 10 + number / 50, key={"PK": "C#1", "SK": "O#1"}, units=3)
        made.request("PutItem", 10 + number / 50, key={"PK": "C#1", "SK": "O#1"}, units=1)
    seen, _ = observed(made, tmp_path, contract_of(GET, GET | {"operation": "PutItem"}))
    found = {one.direction: one for one in hot_keys(seen.traffics)}
    assert found[Direction.WRITE].by_pattern == {"p1": pytest.approx(10)}
    assert found[Direction.READ].units == pytest.approx(30)
    assert found[Direction.READ].template == "PK=C#<n>"
    partitions = {one.direction: one for one in declared_partitions(table(GET, GET | {"operation": "PutItem"}))}
    assert partitions[Direction.WRITE].seen(hot_keys(seen.traffics)) == pytest.approx(0.01)
    assert partitions[Direction.WRITE].seen(()) is None
