from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.contract.document import parse_document
from analyzer.contract.likeness import is_contract_like
from analyzer.contract.shorthand import slug

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.load import Reading
    from analyzer.contract.model import PatternDeclaration, TableDeclaration


def tables(reading: Reading) -> dict[str, TableDeclaration]:
    assert reading.faults == ()
    return {table.name: table for table in reading.contract.tables}


def only(reading: Reading) -> PatternDeclaration:
    (table,) = tables(reading).values()
    (pattern,) = table.patterns
    return pattern


def key(pattern: PatternDeclaration) -> dict[str, str]:
    return {k.attribute: k.template.text for k in pattern.keys[0]} if pattern.keys else {}


@pytest.mark.parametrize(
    "text",
    [
        "- {name: get user, pk: USER#<id>, sk: META, query_type: GetItem, notes: by login}",
        "patterns: [{name: get user, pk: USER#<id>, sk: META, query_type: get_item}]",
        "access_patterns:\n  get-user: {title: get user, pk: USER#<id>, sk: META, operation: get}",
        "accessPatterns: [{pattern_id: get-user, description: get user, pk: USER#<id>, sk: META, queryType: Get}]",
        "patterns: [{id: get-user, name: get user, key: {pk: USER#<id>, sk: META}, operations: [get]}]",
        "patterns: [{title: get user, key_condition: 'pk=USER#<id>, sk=META', query_type: get}]",
        "patterns: [{id: get-user, title: get user, key: 'pk = USER#<id> and sk = META', query_type: get}]",
        "patterns: [{id: get-user, title: get user, pk: 'pk=USER#<id>', sk: META, query_type: get}]",
        "patterns: [{name: get-user, title: get user, pk: USER#<id>, sk: META, query_type: get}]",
        "patterns: {get-user: {id: get-user, title: get user, pk: USER#<id>, sk: META, query_type: get}}",
    ],
)
def test_rows_are_read_however_they_are_written(read: Callable[..., Reading], text: str) -> None:
    reading = read(text)
    pattern = only(reading)
    assert (pattern.id, pattern.title, pattern.operations) == ("get-user", "get user", ("GetItem",))
    assert key(pattern) == {"pk": "USER#<id>", "sk": "META"}
    assert reading.contract.tables[0].name == "*"


def test_a_mapping_of_names_to_operations_is_a_list_of_rows(read: Callable[..., Reading]) -> None:
    assert only(read("patterns: {all: Scan}")).scans
    assert "is no DynamoDB operation" in str(read("patterns: {a: fast}").faults[0])


@pytest.mark.parametrize(
    "text",
    [
        "table: cases\npartition_key: PK\nsort_key: SK\npatterns: [{id: a, pk: x, sk: y, query_type: get}]",
        "table: {name: cases, pk: PK, sk: SK}\npatterns: [{id: a, pk: x, sk: y, query_type: get}]",
        "tables: [{table: cases, pk: PK, sk: SK, access_patterns: [{id: a, key: {pk: x, sk: y}, query_type: get}]}]",
        "tables: {cases: {partition_key: [PK], sort_key: SK, patterns: {a: {pk: x, sk: y, query_type: get}}}}",
        "tables: [{name: cases, partition_key: PK, sort_key: SK, patterns: [{id: a, key: [{pk: x, sk: y}], op: get}]}]",
    ],
)
def test_pk_and_sk_stand_for_the_key_attributes_of_the_table(read: Callable[..., Reading], text: str) -> None:
    reading = read(text.replace("op: get", "operation: get"))
    assert key(only(reading)) == {"PK": "x", "SK": "y"}
    assert reading.contract.tables[0].name == "cases"
    assert not reading.contract.tables[0].keys_assumed


def test_pk_and_sk_of_an_index_stand_for_its_own_key(read: Callable[..., Reading]) -> None:
    text = (
        "table: t\npartition_key: PK\nindexes: {GSI1: {pk: G1, sk: G2}}\n"
        "patterns: [{id: a, index: GSI1, pk: x, sk: y, query_type: query}]"
    )
    assert key(only(read(text))) == {"G1": "x", "G2": "y"}


def test_an_attribute_that_is_called_pk_stays_so(read: Callable[..., Reading]) -> None:
    text = "tables: [{name: t, partition_key: pk, sort_key: sk, patterns: [{id: a, pk: x, sk: y, operation: get}]}]"
    assert key(only(read(text))) == {"pk": "x", "sk": "y"}


def test_a_multi_attribute_key_has_no_short_name(read: Callable[..., Reading]) -> None:
    text = "tables: [{name: t, partition_key: [a, b], patterns: [{id: a, pk: x, operation: query}]}]"
    assert key(only(read(text))) == {"pk": "x"}


def test_indexes_that_rows_name_need_no_declaration_of_their_own(read: Callable[..., Reading]) -> None:
    reading = read("- {id: a, index: GSI1, pk: x, query_type: query}\n- {id: b, index: GSI1, query_type: query}")
    (table,) = tables(reading).values()
    assert [(index.name, index.keys_assumed, index.line) for index in table.indexes] == [("GSI1", True, 1)]


@pytest.mark.parametrize("word", ["null", "''", "base table", "primary", "none"])
def test_the_base_table_may_be_named_in_words(read: Callable[..., Reading], word: str) -> None:
    assert only(read(f"[{{id: a, index: {word}, pk: x, query_type: get}}]")).index is None


def test_rows_may_name_their_table(read: Callable[..., Reading]) -> None:
    text = (
        "owner: me\npatterns: [{table: a, id: x, pk: p, query_type: get}, "
        "{table_name: b, id: y, pk: p, query_type: get}]"
    )
    found = tables(read(text))
    assert {name: (t.owner, [p.id for p in t.patterns]) for name, t in found.items()} == {
        "a": ("me", ["x"]),
        "b": ("me", ["y"]),
    }


def test_what_is_said_of_one_table_is_not_said_of_another(read: Callable[..., Reading]) -> None:
    text = (
        "table: a\npk: PK\nowner: me\npatterns: [{id: x, pk: p, query_type: get}, "
        "{table: b, id: y, pk: p, query_type: get}]"
    )
    found = tables(read(text))
    assert (found["a"].owner, found["b"].owner) == ("me", None)


def test_a_table_without_patterns_may_stand_at_top_level(read: Callable[..., Reading]) -> None:
    reading = read("table: a\npk: PK")
    assert tables(reading)["a"].partition_key == ("PK",)
    assert "write a list here" in str(read("table: a\npatterns: 7").faults[0])
    assert "is no field" not in str(read("patterns: []").faults)


def test_key_attributes_are_taken_from_the_patterns_that_name_them(read: Callable[..., Reading]) -> None:
    text = (
        "- {id: a, key: {userId: <id>, at: '> 5'}, query_type: query}\n"
        "- {id: b, index: G, key: {mail: <m>}, query_type: query}"
    )
    (table,) = tables(read(text)).values()
    assert (table.partition_key, table.sort_key, table.keys_assumed) == (("userId",), ("at",), False)
    assert table.indexes[0].partition_key == ("mail",)


def test_a_lone_sort_key_does_not_become_the_partition_key(read: Callable[..., Reading]) -> None:
    (table,) = tables(read("[{id: a, sk: META, query_type: query}]")).values()
    assert (table.partition_key, table.sort_key, table.keys_assumed) == (("pk",), ("sk",), True)


def test_entities_may_be_written_like_patterns(read: Callable[..., Reading]) -> None:
    text = "tables: [{name: t, pk: PK, sk: SK, entities: {Case: {pk: x, sk: y}, Audit: {key: {PK: z, SK: w}, SK: v}}}]"
    (table,) = tables(read(text)).values()
    assert [{k.attribute: k.template.text for k in e.key} for e in table.entities] == [
        {"PK": "x", "SK": "y"},
        {"SK": "v", "PK": "z"},
    ]


def test_an_empty_pk_says_nothing(read: Callable[..., Reading]) -> None:
    assert key(only(read("[{id: a, index: G, pk: null, sk: x, query_type: query}]"))) == {"sk": "x"}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{id: a, query_type: scan, operation: get, pk: x}", "'query_type' and 'operation' say different"),
        ("{id: a, pk: x, key: {pk: y}, query_type: get}", "'pk' is no field here"),
        ("{id: a, pk: x, key: 7, query_type: get}", "'pk' is no field here"),
        ("{id: a, key_condition: 'P K', query_type: query}", "write a list here"),
        ("7", "write a mapping here"),
        ("{id: a, key: [true], query_type: query}", "write a mapping here"),
    ],
)
def test_what_contradicts_itself_is_a_fault(faults: Callable[..., list[str]], row: str, fault: str) -> None:
    assert any(fault in told for told in faults(f"[{row}]")), faults(f"[{row}]")


def test_members_that_are_no_mappings_are_left_to_the_form(faults: Callable[..., list[str]]) -> None:
    assert faults("tables: [{name: t, partition_key: PK, patterns: [7], indexes: {G: 1}, entities: 3}]")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("tables: [{name: t, partition_key: PK}]", True),
        ("tables: {t: {pk: PK}}", True),
        ("tables: [{legs: 4}]", False),
        ("tables: 4", False),
        ("patterns: [{id: a, query_type: get}]", True),
        ("patterns: {a: {operation: get}}", True),
        ("patterns: ['*.py']", False),
        ("patterns: 3", False),
        ("access_pattern_mapping: {}", True),
        ("- {query_type: get}", True),
        ("- 3", False),
        ("[]", False),
        ("hello", False),
    ],
)
def test_a_document_looks_like_a_contract_or_not(text: str, *, is_one: bool) -> None:
    assert is_contract_like(parse_document(text, "f", is_json=False)) is is_one


def test_a_slug_drops_what_is_no_word() -> None:
    assert slug("Get a user's Orders, newest first!") == "get-a-user-orders-newest-first"


@pytest.mark.parametrize(
    "row",
    [
        "{id: a, query_type: query, operation: [Query], pk: USER#<id>, sk: begins_with ORDER#}",
        "{id: a, query_type: query, PK: USER#<id>, SK: begins_with ORDER#}",
        "{id: a, query_type: query, partition_key: USER#<id>, sort_key: begins_with(ORDER#)}",
        "{id: a, query_type: query, pk: USER#<id>, sk: 'begins_with(SK, ORDER#)'}",
        "{id: a, query_type: query, pk: USER#<id>, sk: 'begins_with(SK, \"ORDER#\")'}",
        "{id: a, query_type: query, key: {PK: USER#<id>, SK: 'begins_with(ORDER#)'}}",
        "{id: a, query_type: query, order: desc, freshness: 5, pk: USER#<id>, sk: begins_with ORDER#}",
    ],
)
def test_what_is_clear_enough_is_taken(read: Callable[..., Reading], row: str) -> None:
    assert list(key(only(read(f"- {row}"))).values()) == ["USER#<id>", "begins_with ORDER#"]


def test_short_words_have_their_meaning(read: Callable[..., Reading]) -> None:
    pattern = only(read("- {id: a, query_type: query, pk: x, order: asc, freshness: 5}"))
    assert (pattern.order, pattern.freshness_seconds) == ("ascending", 5.0)


def test_a_call_names_the_attribute(read: Callable[..., Reading]) -> None:
    assert key(only(read("- {id: a, op: query, pk: x, sk: 'begins_with(created, 2)'}")))["created"] == "begins_with 2"


@pytest.mark.parametrize(
    "word", ["N/A", "'no'", "no", "false", "TBD", "'?'", "unknown", "(none)", "None (base table)", "'—'", "'--'", "'-'"]
)
def test_words_for_nothing_are_no_index_and_no_sort_key(read: Callable[..., Reading], word: str) -> None:
    pattern = only(read(f"- {{id: a, op: query, pk: X#<id>, index: {word}, sk: {word.replace('(base table)', '')}}}"))
    assert pattern.index is None
    assert list(key(pattern)) == ["pk"]
