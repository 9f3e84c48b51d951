from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.planning.diff import Diff, IndexChange, PatternChange, TableDiff, diff_contracts
from tests.support.planned import contract_of, observed
from tests.support.recordings import Recorded

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.contract.model import Contract
    from analyzer.planning.diff_heat import HeatChange

ORDER = {"name": "Order", "PK": "C#<c>", "SK": "O#<o>", "item_bytes": 1000}
GET: dict[str, Any] = {
    "id": "get",
    "entity": "Order",
    "operation": "GetItem",
    "key": {"PK": "C#<c>", "SK": "O#<o>"},
    "rate": {"p95": 10, "peak": 100},
}
PUT: dict[str, Any] = {
    "id": "put",
    "entity": "Order",
    "operation": "PutItem",
    "key": {"PK": "C#<c>", "SK": "O#<o>"},
    "rate": {"peak": 20},
}
OPEN: dict[str, Any] = {"id": "open", "operation": "Query", "index": "I", "key": {"S": "<s>"}, "rate": {"p95": 1}}
INDEX: dict[str, Any] = {"name": "I", "partition_key": "S", "projection": "all"}


def contract(*patterns: dict[str, Any], **fields: Any) -> Contract:
    return contract_of(*(patterns or (GET, PUT, OPEN)), **{"entities": [ORDER], "indexes": [INDEX]} | fields)


def only(diff: Diff) -> TableDiff:
    (table,) = diff.tables
    return table


def patterns(table: TableDiff) -> dict[str, PatternChange]:
    return {one.pattern: one for one in table.patterns}


def indexes(table: TableDiff) -> dict[str, IndexChange]:
    return {one.index: one for one in table.indexes}


def heat(table: TableDiff) -> dict[tuple[str | None, str], HeatChange]:
    return {(one.index, one.direction.value): one for one in table.heat}


def traffic(tmp_path: Path, before: Contract, hot: int = 0) -> dict[str, Any]:
    """A second has two gets of one unit and a put of two; `hot` writes a second go to one index key."""
    made = Recorded(minutes=2)
    for second in range(120):
        key = {"PK": f"C#{second}", "SK": f"O#{second}"}
        made.request("GetItem", second, key=key, units=1).request("GetItem", second + 0.5, key=key, units=1)
        for number in range(max(hot, 1)):
            entry = {"I": {"S": {"S": "OPEN"}}}
            made.request(
                "PutItem",
                second + number / 1000,
                key={"PK": f"C#{second}#{number}", "SK": "O#1"},
                consumed={"total": 4, "table": 2, "indexes": {"I": 2}},
                index_keys=entry,
            )
    seen, _ = observed(made, tmp_path, before)
    return {"orders": seen}


def test_the_same_contract_changes_nothing(tmp_path: Path) -> None:
    diff = diff_contracts(contract(), contract(), traffic(tmp_path, contract()))
    assert (diff.tables, diff.same, diff.breaks) == ((), ("orders",), ())


def test_a_stronger_read_costs_more_at_the_observed_rate(tmp_path: Path) -> None:
    after = contract(GET | {"consistency": "strong"}, PUT, OPEN)
    table = only(diff_contracts(contract(), after, traffic(tmp_path, contract())))
    one = patterns(table)["get"]
    assert (one.what, one.fields, one.is_observed) == ("changed", ("consistency none → strong",), True)
    assert one.rate == pytest.approx(2)
    assert (one.units_before, one.units_after) == (1, 2)
    assert table.dollars_after is not None
    assert table.dollars_before is not None
    assert table.dollars_after - table.dollars_before == pytest.approx(2 * 2.628 * 0.125, rel=0.02)


def test_without_traffic_declared_rates_stand_in() -> None:
    one = patterns(only(diff_contracts(contract(), contract(GET | {"consistency": "strong"}, PUT, OPEN))))["get"]
    assert (one.rate, one.is_observed, one.units_before, one.units_after) == (10, False, 0.5, 1)


def test_a_new_index_costs_each_write_that_reaches_it() -> None:
    before = contract(GET, PUT, indexes=[])
    table = only(diff_contracts(before, contract(), None))
    one = indexes(table)["I"]
    assert (one.what, one.units_before, one.units_after) == ("added", None, 20)
    assert one.notes == ("it is built from the whole table: its backfill impact is not declared",)
    assert patterns(table)["put"].units_after == 2
    assert patterns(table)["open"].what == "added"
    assert table.what == "changed"


def test_a_narrower_projection_costs_less_and_takes_a_new_index(tmp_path: Path) -> None:
    big = [ORDER | {"item_bytes": 2000}]
    before, after = contract(entities=big), contract(entities=big, indexes=[INDEX | {"projection": "keys_only"}])
    table = only(diff_contracts(before, after, traffic(tmp_path, before)))
    one = indexes(table)["I"]
    assert one.fields == ("projection all → keys_only",)
    assert one.units_before == pytest.approx(2)
    assert one.units_after == pytest.approx(1)
    assert one.notes == (
        "keys and projection of an index cannot be changed: a new one is built, and the old one deleted",
    )
    assert patterns(table)["put"].units_after == pytest.approx(3)


def test_an_index_that_goes_takes_its_writes_with_it_and_a_pattern_that_still_needs_it_is_lost(tmp_path: Path) -> None:
    after = contract(GET, PUT, indexes=[])
    table = only(diff := diff_contracts(contract(), after, None))
    assert indexes(table)["I"].what == "removed"
    assert patterns(table)["put"].units_after == 1
    assert diff.breaks == (
        "orders: open loses its index: I is gone with its declaration, and nobody looked whether its requests go on",
    )
    unused = diff_contracts(contract(), after, traffic(tmp_path, contract()))
    assert unused.breaks == ()


def test_a_pattern_that_a_scan_serves_now_lost_its_index() -> None:
    scan = {"id": "open", "operation": "Scan", "purpose": "export", "callers": ["x"], "schedule": "0 2 * * *"}
    diff = diff_contracts(contract(), contract(GET, PUT, scan, indexes=[]))
    assert diff.breaks == ("orders: open loses its index: I is gone, and a Scan serves it now",)
    assert only(diff).unknown == ("open",)


def test_a_pattern_that_moved_to_another_key_lost_nothing() -> None:
    moved = OPEN | {"index": "J", "key": {"T": "<t>"}}
    diff = diff_contracts(contract(), contract(GET, PUT, moved, indexes=[{"name": "J", "partition_key": "T"}]))
    assert diff.breaks == ()


def test_traffic_that_nobody_declares_any_more_is_told(tmp_path: Path) -> None:
    table = only(diff_contracts(contract(), contract(PUT, OPEN), traffic(tmp_path, contract())))
    assert table.unserved == {"get": pytest.approx(2)}
    assert (patterns(table)["get"].what, patterns(table)["get"].dollars_after) == ("removed", None)


def test_a_shard_cools_the_hottest_key_that_was_observed(tmp_path: Path) -> None:
    before = contract()
    after = contract(GET, PUT | {"rate": {"peak": 2000}}, OPEN | {"key": {"S": "<s>#<0..9>"}})
    table = only(diff_contracts(before, after, traffic(tmp_path, before, hot=20)))
    one = heat(table)["I", "write"]
    assert one.before == pytest.approx(0.04)
    assert one.after == pytest.approx(0.0049, rel=0.1)
    assert "the key was S=<s>" in one.basis


def test_a_read_of_a_sharded_key_asks_every_part() -> None:
    wide = OPEN | {"page_size": 100, "item_bytes": 1000}
    after = contract(GET, PUT, wide | {"key": {"S": "<s>#<0..9>"}})
    one = patterns(only(diff_contracts(contract(GET, PUT, wide), after)))["open"]
    assert one.units_before == one.units_after == 12.5
    assert one.fields[-1] == "each read asks 10 parts where it asked one"
    narrow = contract(GET, PUT, OPEN | {"key": {"S": "<s>#<0..9>"}})
    table = only(diff_contracts(contract(), narrow))
    assert patterns(table)["open"].units_after == 5
    assert "open: without a declared size a read is counted as one block of 4 KB" in table.assumed


def test_heat_that_crosses_one_breaks() -> None:
    before = contract(GET, PUT | {"per_key": {"write_rate": 400}}, indexes=[])
    after = contract(GET, PUT | {"per_key": {"write_rate": 400}, "item_bytes": 3000}, indexes=[])
    diff = diff_contracts(before, after)
    assert diff.breaks == (
        (
            "orders: heat of PK=C#<c> (writes of the base table) goes from 0.40 to 1.20: "
            "one partition serves no more than 1"
        ),
    )
    new = contract(GET | {"key": {"PK": "CONFIG", "SK": "A"}, "rate": {"peak": 9000}})
    assert "goes from not known to 1.50" in diff_contracts(EMPTY_CONTRACT, new).breaks[0]


def test_a_key_that_changes_altogether_has_the_heat_that_is_declared_or_none(tmp_path: Path) -> None:
    before = contract()
    moved = PUT | {"key": {"PK": "DAY#<day>", "SK": "O#<o>"}}
    table = only(diff_contracts(before, contract(GET, moved, OPEN), traffic(tmp_path, before, hot=20)))
    one = heat(table)[None, "write"]
    assert one.after is None
    assert one.basis == "put: nothing was observed, and no per_key rate or top_share is declared"
    told = contract(GET, moved | {"per_key": {"write_rate": 30}}, OPEN)
    again = heat(only(diff_contracts(before, told, traffic(tmp_path, before, hot=20))))[None, "write"]
    assert again.after == pytest.approx(0.03)
    assert again.basis == "declared; the key was PK=C#<c>"


def test_a_key_that_no_pattern_uses_any_more_is_told() -> None:
    table = only(diff_contracts(contract(), contract(GET, PUT)))
    gone = heat(table)["I", "read"]
    assert (gone.after, gone.basis) == (None, "no pattern uses it any more")


def test_a_table_that_comes_or_goes_is_added_or_removed() -> None:
    added = only(diff_contracts(EMPTY_CONTRACT, contract()))
    assert (added.what, added.dollars_before) == ("added", 0)
    removed = only(diff_contracts(contract(), EMPTY_CONTRACT))
    assert (removed.what, removed.dollars_after) == ("removed", 0)
    empty = only(diff_contracts(EMPTY_CONTRACT, contract_of(name="*")))
    assert (empty.table, empty.dollars_before) == ("the table", None)


def test_patterns_of_which_too_little_is_known_are_named_and_not_summed() -> None:
    silent = {"id": "silent", "operation": "GetItem", "key": {"PK": "X#<x>", "SK": "X"}}
    table = only(diff_contracts(contract(), contract(GET, PUT, OPEN, silent)))
    assert table.unknown == ("silent",)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"filter": {"discards_at_most": "10%"}}, "filter none → allowed yes, discards_at_most 0.1"),
        ({"returns_all": True}, "returns_all none → yes"),
        ({"callers": ["a", "b"]}, "callers none → a, b"),
        ({"surge": {"sale": "3x"}}, "surge none → sale 3"),
        ({"rate": {"p95": 10, "peak": 200}}, "rate p95 10, peak 100 → p95 10, peak 200"),
        ({"callers": [f"caller-{number}" for number in range(20)]}, "callers none → caller-0, caller-1"),
    ],
)
def test_fields_are_told_as_people_write_them(field: dict[str, Any], words: str) -> None:
    query = GET | {"operation": "Query"}
    one = patterns(only(diff_contracts(contract(query), contract(query | field))))["get"]
    assert one.fields[0].startswith(words)
    assert len(one.fields[0]) < 130
