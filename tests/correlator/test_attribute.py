from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.contract.load import contract_from
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.model.shape import AttributionKind

if TYPE_CHECKING:
    from tests.correlator.conftest import Ask

CASE = {"id": "get-case", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}}
AUDIT = {"id": "list-audit", "operation": "Query", "key": {"PK": "CASE#<id>", "SK": "begins_with AUDIT#"}}
COLLECTION = {"id": "load-case", "operation": "Query", "key": {"PK": "CASE#<id>"}}
ACTIVE = {
    "id": "list-active",
    "operation": "Query",
    "index": "GSI1",
    "key": {"GSI1PK": "INVESTIGATOR#<i>#STATUS#ACTIVE", "GSI1SK": "begins_with DUE#"},
}
BY_STATUS = {"id": "by-status", "operation": "Query", "index": "GSI1", "key": {"GSI1PK": "INVESTIGATOR#<i>#STATUS#<s>"}}
SCAN = {"id": "archive", "operation": "Scan"}

PK = ("PK", "=", ("CASE#1",))
META = ("SK", "=", ("META",))
SINCE = ("SK", "begins_with", ("AUDIT#2026",))
OTHER_PK = ("PK", "=", ("USER#1",))
UNKNOWN_PK = ("PK", "=", ())


def test_a_request_of_the_declared_key_is_declared(ask: Ask) -> None:
    found = ask([CASE, AUDIT], "GetItem", PK, META)
    assert (found.kind, found.pattern) == (AttributionKind.DECLARED, "get-case")
    assert found.because == "it is GetItem on the base table with PK CASE#<id> and SK META"


def test_another_key_is_undeclared_and_the_reason_names_the_closest_pattern(ask: Ask) -> None:
    found = ask(CASE, "GetItem", OTHER_PK, META)
    assert found.kind is AttributionKind.UNDECLARED
    assert found.because == "get-case of cases declares GetItem of another key"


def test_another_sort_condition_is_undeclared_and_the_reason_says_so(ask: Ask) -> None:
    found = ask(AUDIT, "Query", PK, ("SK", "begins_with", ("NOTE#",)))
    assert found.because == "list-audit of cases declares another sort condition for Query"


def test_a_query_without_the_declared_sort_condition_is_undeclared(ask: Ask) -> None:
    assert ask(AUDIT, "Query", PK).kind is AttributionKind.UNDECLARED


def test_an_index_that_serves_no_pattern_is_undeclared(ask: Ask) -> None:
    found = ask(CASE, "Query", ("GSI1PK", "=", ("X",)), index="GSI1")
    assert found.because == "no pattern of cases is served by GSI1"


def test_an_operation_that_no_pattern_has_is_undeclared(ask: Ask) -> None:
    assert ask(CASE, "Scan", scans=True).because == "no pattern of cases declares Scan"


def test_a_table_that_no_contract_declares_is_undeclared(ask: Ask) -> None:
    assert ask(EMPTY_CONTRACT, "Scan").because == "no contract declares this table"
    assert ask(EMPTY_CONTRACT, "Scan", tagged="x").because == "no contract declares this table"


def test_a_declared_scan_takes_every_scan_of_its_target(ask: Ask) -> None:
    assert ask([SCAN, CASE], "Scan", scans=True).pattern == "archive"
    assert ask([SCAN, CASE], "Scan", scans=True, index="GSI1").kind is AttributionKind.UNDECLARED


def test_a_shape_that_could_not_be_parsed_is_told_as_such(ask: Ask) -> None:
    assert ask(CASE, "Query", parsed=False).kind is AttributionKind.UNPARSED


def test_a_tag_wins_over_everything(ask: Ask) -> None:
    assert ask([CASE, AUDIT], "Query", OTHER_PK, tagged="get-case").pattern == "get-case"


def test_a_tag_that_names_no_pattern_is_undeclared(ask: Ask) -> None:
    found = ask(CASE, "GetItem", PK, META, tagged="gone")
    assert found.because == "the client tagged the request gone, which no pattern of this table is called"


def test_a_tag_of_another_table_holds_for_a_call_over_both(ask: Ask) -> None:
    contract = contract_from(
        {
            "tables": [
                {"name": "cases", "partition_key": "PK", "patterns": []},
                {
                    "name": "outbox",
                    "partition_key": "PK",
                    "patterns": [{"id": "approve", "operation": "TransactWriteItems"}],
                },
            ]
        }
    )
    assert ask(contract, "TransactWriteItems", tagged="approve", parts=[("Put", ())]).pattern == "approve"
    single = ask(contract, "PutItem", tagged="approve")
    assert single.because.endswith("; outbox declares one of that name")


def test_the_most_literal_template_wins(ask: Ask) -> None:
    key = ("GSI1PK", "=", ("INVESTIGATOR#7#STATUS#ACTIVE",))
    found = ask(
        [BY_STATUS, {**ACTIVE, "key": {"GSI1PK": "INVESTIGATOR#<i>#STATUS#ACTIVE"}}], "Query", key, index="GSI1"
    )
    assert found.pattern == "list-active"
    assert found.because.endswith(", closer than by-status")


def test_a_query_without_sort_condition_takes_one_only_where_no_sibling_declares_any(ask: Ask) -> None:
    note = ("SK", "begins_with", ("NOTE#",))
    assert ask([COLLECTION], "Query", PK, note).pattern == "load-case"
    assert ask([COLLECTION, AUDIT], "Query", PK, note).kind is AttributionKind.UNDECLARED
    assert ask([COLLECTION, AUDIT], "Query", PK).pattern == "load-case"
    assert ask([COLLECTION, AUDIT], "Query", PK, SINCE).pattern == "list-audit"


def test_a_read_of_one_item_is_no_query_with_a_sort_condition(ask: Ask) -> None:
    either = {"id": "either", "operation": ["GetItem", "Query"], "key": {"PK": "CASE#<id>"}}
    assert ask([either, AUDIT], "GetItem", PK, META).pattern == "either"


def test_a_pattern_that_declares_the_sort_condition_goes_before_one_that_takes_any(ask: Ask) -> None:
    any_sort = {"id": "any", "operation": "Query", "key": {"PK": "<pk>"}}
    told = {"id": "told", "operation": "Query", "key": {"PK": "<id>", "SK": "begins_with <prefix>"}}
    assert ask([any_sort, told], "Query", PK, SINCE).pattern == "told"


@pytest.mark.parametrize(
    ("distinction", "fields", "caller"),
    [
        ({"order": "descending"}, {"forward": False}, None),
        ({"order": "ascending"}, {}, None),
        ({"filter": {"discards_at_most": "10%"}}, {"filter": "a = :v0"}, None),
        ({"filter": "none"}, {}, None),
        ({"callers": ["web"]}, {}, "web"),
    ],
)
def test_equal_keys_are_told_apart(
    ask: Ask, distinction: dict[str, object], fields: dict[str, Any], caller: str | None
) -> None:
    assert (
        ask([COLLECTION, {**COLLECTION, "id": "told", **distinction}], "Query", PK, caller=caller, **fields).pattern
        == "told"
    )


def test_another_order_or_caller_goes_to_the_pattern_that_leaves_it_open(ask: Ask) -> None:
    told = {**COLLECTION, "id": "told", "order": "descending", "callers": ["web"]}
    assert ask([COLLECTION, told], "Query", PK).pattern == "load-case"
    assert ask([COLLECTION, {**told, "order": None}], "Query", PK, caller="batch").pattern == "load-case"


def test_what_no_request_can_tell_apart_is_ambiguous_between_its_candidates(ask: Ask) -> None:
    found = ask([COLLECTION, {**COLLECTION, "id": "twin"}], "Query", PK)
    assert (found.kind, found.candidates) == (AttributionKind.AMBIGUOUS, ("load-case", "twin"))
    assert found.because == "no request can tell load-case and twin apart; a tag on the request would"


def test_many_candidates_are_counted_not_listed(ask: Ask) -> None:
    found = ask([{**COLLECTION, "id": f"p{n}"} for n in range(5)], "Query", PK)
    assert len(found.candidates) == 5
    assert "p0, p1, p2 and 2 more apart" in found.because


def test_an_unknown_key_is_ambiguous_never_undeclared(ask: Ask) -> None:
    found = ask(CASE, "GetItem")
    assert (found.kind, found.candidates) == (AttributionKind.AMBIGUOUS, ("get-case",))
    assert ask(CASE, "GetItem", UNKNOWN_PK, META).because == "the value of PK is not known, so it may be get-case"


def test_an_unknown_key_is_declared_where_the_pattern_takes_any(ask: Ask) -> None:
    pattern = {"id": "renew", "operation": "UpdateItem", "key": {"PK": "<leaseKey>"}}
    assert ask(pattern, "UpdateItem").pattern == "renew"
    assert ask(pattern, "UpdateItem", UNKNOWN_PK).pattern == "renew"


def test_a_listed_variable_does_not_take_any_value(ask: Ask) -> None:
    pattern = {"id": "sharded", "operation": "GetItem", "key": {"PK": "<0..9>"}}
    assert ask(pattern, "GetItem", UNKNOWN_PK).kind is AttributionKind.AMBIGUOUS


def test_an_unknown_sort_condition_is_ambiguous_between_siblings(ask: Ask) -> None:
    found = ask([COLLECTION, AUDIT], "Query")
    assert found.candidates == ("load-case", "list-audit")


def test_a_perhaps_that_is_more_literal_keeps_a_sure_one_from_being_declared(ask: Ask) -> None:
    sure = {"id": "any", "operation": "GetItem", "key": {"PK": "<id>"}}
    found = ask([sure, CASE], "GetItem", UNKNOWN_PK, META)
    assert (found.kind, found.candidates) == (AttributionKind.AMBIGUOUS, ("any", "get-case"))


def test_a_perhaps_that_is_less_literal_does_not(ask: Ask) -> None:
    loose = {"id": "loose", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "<0..9>"}}
    assert ask([{"id": "sure", "operation": "GetItem", "key": {"PK": "CASE#<id>", "SK": "META"}}, loose],
               "GetItem", PK, META).pattern == "sure"  # fmt: skip


def test_of_two_that_may_fit_one_with_unknown_value_stays_a_candidate(ask: Ask) -> None:
    listed = {"id": "listed", "operation": "GetItem", "key": {"PK": "<s=A|B>"}}
    found = ask([{"id": "any", "operation": "GetItem", "key": {"PK": "<id>"}}, listed], "GetItem", UNKNOWN_PK)
    assert found.candidates == ("any", "listed")


def test_attributes_outside_the_key_of_the_target_say_nothing(ask: Ask) -> None:
    put = {"id": "put", "operation": "PutItem", "key": {"PK": "CASE#<id>", "SK": "META", "GSI1PK": "OPEN"}}
    assert ask(put, "PutItem", PK, META).pattern == "put"


def test_an_item_operation_whose_pattern_names_no_sort_key_takes_any(ask: Ask) -> None:
    assert (
        ask({"id": "x", "operation": "DeleteItem", "key": {"PK": "CASE#<id>"}}, "DeleteItem", PK, META).pattern == "x"
    )


def test_a_pattern_without_key_takes_every_key(ask: Ask) -> None:
    assert ask({"id": "x", "operation": ["GetItem", "Query"]}, "Query", PK).pattern == "x"


def test_a_list_of_key_maps_takes_any_of_them(ask: Ask) -> None:
    pattern = {"id": "x", "operation": "GetItem", "key": [{"PK": "CASE#<id>"}, {"PK": "USER#<id>"}]}
    assert ask(pattern, "GetItem", OTHER_PK, META).pattern == "x"


APPROVE = {
    "id": "approve",
    "operation": "TransactWriteItems",
    "key": [{"PK": "CASE#<id>", "SK": "META"}, {"PK": "CASE#<id>", "SK": "AUDIT#<at>"}],
}
AUDIT_PUT = ("SK", "=", ("AUDIT#1",))


def test_every_part_of_a_transaction_has_to_match_one_map(ask: Ask) -> None:
    declared = ask(APPROVE, "TransactWriteItems", parts=[("Update", (PK, META)), ("Put", (PK, AUDIT_PUT))])
    stranger = ask(APPROVE, "TransactWriteItems", parts=[("Update", (PK, META)), ("Put", (OTHER_PK, META))])
    assert declared.pattern == "approve"
    assert stranger.kind is AttributionKind.UNDECLARED


def test_the_transaction_with_the_closer_parts_wins(ask: Ask) -> None:
    wide = {"id": "wide", "operation": "TransactWriteItems", "key": {"PK": "<pk>", "SK": "<sk>"}}
    assert ask([wide, APPROVE], "TransactWriteItems", parts=[("Update", (PK, META))]).pattern == "approve"


def test_a_batch_of_one_map_takes_parts_that_all_fit_it(ask: Ask) -> None:
    batch = {"id": "many", "operation": "BatchGetItem", "key": {"PK": "CASE#<id>", "SK": "META"}}
    assert ask(batch, "BatchGetItem", parts=[("Get", (PK, META))] * 3).pattern == "many"
    assert ask(batch, "BatchGetItem", parts=[("Get", (PK, META)), ("Get", (PK, AUDIT_PUT))]).pattern is None


def test_parts_that_are_not_known_may_fit(ask: Ask) -> None:
    assert ask(APPROVE, "TransactWriteItems").candidates == ("approve",)
    assert ask({**APPROVE, "key": {"PK": "<pk>"}}, "TransactWriteItems").pattern == "approve"
    assert ask(APPROVE, "TransactWriteItems", parts=[("Put", ())]).candidates == ("approve",)


@pytest.mark.parametrize(
    ("statement", "conditions", "operation"),
    [
        ("SELECT * FROM cases WHERE PK = ?", (PK,), "Query"),
        ("SELECT * FROM cases WHERE PK = ? AND SK = ?", (PK, META), "GetItem"),
        ("INSERT INTO cases VALUE {?}", (PK, META), "PutItem"),
        ("update cases SET a = ? WHERE PK = ? AND SK = ?", (PK, META), "UpdateItem"),
        ("DELETE FROM cases WHERE PK = ? AND SK = ?", (PK, META), "DeleteItem"),
        ("SELECT * FROM cases WHERE PK = ?", (PK,), "ExecuteStatement"),
    ],
)
def test_a_statement_counts_as_the_operation_that_it_is_executed_as(
    ask: Ask, statement: str, conditions: tuple[tuple[str, str, tuple[str, ...]], ...], operation: str
) -> None:
    pattern = {"id": "x", "operation": operation, "key": {"PK": "CASE#<id>"}}
    assert ask(pattern, "ExecuteStatement", *conditions, statement=statement).pattern == "x"


@pytest.mark.parametrize("statement", [None, " ", "EXPLAIN x"])
def test_a_statement_that_is_not_known_counts_as_itself(ask: Ask, statement: str | None) -> None:
    assert ask({"id": "x", "operation": "Query"}, "ExecuteStatement", statement=statement).pattern is None


def test_a_statement_that_scans_counts_as_a_scan(ask: Ask) -> None:
    assert ask(SCAN, "ExecuteStatement", statement="SELECT * FROM cases", scans=True).pattern == "archive"
    found = ask(CASE, "ExecuteStatement", statement="SELECT * FROM cases", scans=True)
    assert found.because == "no pattern of cases declares ExecuteStatement/Scan"


def test_a_statement_of_an_index_is_no_read_of_one_item(ask: Ask) -> None:
    get = {"id": "x", "operation": "GetItem", "index": "GSI1"}
    key = (PK, META)
    assert ask(get, "ExecuteStatement", *key, statement="SELECT * FROM cases.GSI1", index="GSI1").pattern is None


@pytest.mark.parametrize(
    ("operation", "parts", "declared", "pattern"),
    [
        ("BatchExecuteStatement", [("Get", (PK, META))], "BatchGetItem", "x"),
        ("BatchExecuteStatement", [("Put", (PK, META))], "BatchGetItem", None),
        ("BatchExecuteStatement", [("Put", (PK, META))], "BatchWriteItem", "x"),
        ("ExecuteTransaction", [("Update", (PK, META))], "TransactWriteItems", "x"),
        ("ExecuteTransaction", [], "TransactGetItems", "x"),
    ],
)
def test_several_statements_count_as_the_batch_or_transaction_that_they_are(
    ask: Ask, operation: str, parts: list[tuple[str, tuple[Any, ...]]], declared: str, pattern: str | None
) -> None:
    assert ask({"id": "x", "operation": declared}, operation, parts=parts).pattern == pattern


def test_a_table_whose_keys_nobody_named_is_ambiguous_rather_than_undeclared(ask: Ask) -> None:
    contract = contract_from([{"id": "get", "pk": "CASE#<id>", "query_type": "get"}])
    assert ask(contract, "GetItem", ("userId", "=", ("1",))).candidates == ("get",)
    query = contract_from([{"id": "q", "pk": "CASE#<id>", "sk": "META", "query_type": "query"}])
    assert ask(query, "Query", ("userId", "=", ("1",))).candidates == ("q",)


def test_the_unnamed_table_stands_for_any(ask: Ask) -> None:
    contract = contract_from([{"id": "get", "pk": "PK=CASE#<id>", "query_type": "get"}])
    found = ask(contract, "GetItem", OTHER_PK)
    assert found.because == "get of the contract's unnamed table declares GetItem of another key"


def test_a_query_of_which_nothing_but_the_table_is_known_may_be_any_declared_one(ask: Ask) -> None:
    found = ask([ACTIVE, CASE], "Query")
    assert (found.kind, found.candidates) == (AttributionKind.AMBIGUOUS, ("list-active",))
    assert found.because == "neither its key nor its index is known, so it may be list-active"


def test_where_no_pattern_is_a_query_such_a_one_is_undeclared(ask: Ask) -> None:
    assert ask(CASE, "Query").because == "no pattern of cases declares Query"


def test_a_call_whose_table_is_not_known_may_be_of_any_pattern_of_its_operation(ask: Ask) -> None:
    found = ask([CASE, AUDIT], "GetItem", table="")
    assert (found.kind, found.candidates) == (AttributionKind.AMBIGUOUS, ("get-case",))
    assert found.because == "its table is not known, so it may be get-case"


def test_a_statement_whose_table_is_not_known_may_be_anything(ask: Ask) -> None:
    assert ask([CASE, AUDIT], "BatchExecuteStatement", table="").candidates == ("get-case", "list-audit")


def test_a_call_of_an_operation_that_nothing_declares_is_undeclared_whatever_its_table(ask: Ask) -> None:
    found = ask(CASE, "TransactWriteItems", table="")
    assert found.kind is AttributionKind.UNDECLARED
    assert found.because == "its table is not known, and no contract declares such a call"
