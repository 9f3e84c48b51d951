from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.contract.draft import Draft, Unsure
from analyzer.contract.load import read_text
from analyzer.contract.merge import UnplaceableError, added, merge

CONTRACT = """\
# Ours.
version: 1
tables:
  - name: "cases"   # do not rename
    partition_key: PK
    sort_key: 'SK'

    entities:
      - {name: Case, PK: "CASE#<caseId>", SK: META}
    patterns:
      # the one that matters
      - id: load-case
        operation: GetItem
        key: {PK: "CASE#<caseId>", SK: META}
        title: >
          Load one case,
          all of it

        # until March
    owner: case-platform

# The end.
"""
LIST = {"id": "list-case", "operation": "Query", "key": {"PK": "CASE#<id>"}}
INDEX = {"name": "GSI1", "kind": "gsi", "partition_key": "GSI1PK"}
USER = {"name": "User", "PK": "USER#<id>"}


def draft(table: str = "cases", unsure: tuple[Unsure, ...] = (), **lists: list[dict[str, Any]]) -> Draft:
    head = {"name": table, "partition_key": "PK", "sort_key": "SK", "patterns": []}
    return Draft({"version": 1, "tables": [head | lists]}, unsure=unsure)


def new_lines(before: str, after: str) -> list[str]:
    """Return the lines that were added; all of those before are still there, in their order."""
    left = iter(before.splitlines())
    expected = next(left, None)
    found = []
    for line in after.splitlines():
        if line == expected:
            expected = next(left, None)
        else:
            found.append(line)
    assert expected is None
    return found


def test_items_go_to_the_end_of_their_lists_and_nothing_else_changes() -> None:
    unsure = (Unsure("cases", "patterns", "list-case", "id", "it was seen once"),)
    text = merge(CONTRACT, draft(unsure=unsure, patterns=[LIST], entities=[USER], indexes=[INDEX]), ["cases"])
    assert new_lines(CONTRACT, text) == [
        "      - name: User",
        "        PK: USER#<id>",
        "      - id: list-case  # unsure: it was seen once",
        "        operation: Query",
        "        key: {PK: CASE#<id>}",
        "    indexes:",
        "      - name: GSI1",
        "        kind: gsi",
        "        partition_key: GSI1PK",
    ]
    assert text.index("until March") < text.index("list-case") < text.index("owner")
    (table,) = read_text(text, "c.yaml").contract.tables
    assert [pattern.id for pattern in table.patterns] == ["load-case", "list-case"]
    assert (table.owner, [index.name for index in table.indexes]) == ("case-platform", ["GSI1"])


def test_a_table_that_is_new_goes_to_the_end() -> None:
    text = merge(CONTRACT, draft("users", patterns=[LIST]), ["cases"])
    assert new_lines(CONTRACT, text)[:4] == [
        "  - name: users",
        "    partition_key: PK",
        "    sort_key: SK",
        "    patterns:",
    ]
    assert [table.name for table in read_text(text, "c.yaml").contract.tables] == ["cases", "users"]


def test_nothing_new_changes_nothing() -> None:
    assert merge(CONTRACT, draft(), ["cases"]) == CONTRACT
    assert added(draft(entities=[USER])) == {"entities": 1, "indexes": 0, "patterns": 0}


def test_line_endings_stay_as_they_are() -> None:
    text = merge(CONTRACT.replace("\n", "\r\n"), draft(patterns=[LIST]), ["cases"])
    assert text.count("\r\n") == text.count("\n") == CONTRACT.count("\n") + 3


def test_a_list_at_the_margin_and_a_file_without_its_last_line_end() -> None:
    text = (
        "tables:\n- name: cases\n  partition_key: PK\n  patterns:\n  - id: a\n    operation: GetItem\n    key: {PK: A}"
    )
    merged = merge(text, draft(patterns=[LIST]), ["cases"])
    assert [pattern.id for pattern in read_text(merged, "c.yaml").contract.tables[0].patterns] == ["a", "list-case"]


def test_a_block_of_text_at_the_end_is_not_cut() -> None:
    text = "tables:\n  - name: cases\n    partition_key: PK\n    rebuild: |\n      replay\n\n      all of it\n"
    merged = merge(text, draft(patterns=[LIST]), ["cases"])
    assert merged.startswith(text)
    assert read_text(merged, "c.yaml").contract.tables[0].rebuild == "replay\n\nall of it\n"


SHORT = {"id": "b", "operation": "GetItem", "key": {"PK": "B#<id>"}}
HEAD = "tables:\n  - name: cases\n    partition_key: PK\n"
ONE = "{id: a, operation: GetItem, key: {PK: A}}"
ADDED = "{id: b, operation: GetItem, key: {PK: B#<id>}}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"patterns: [{ONE}]  # ours", f"patterns: [{ONE},\n      {ADDED}]  # ours"),
        (f"patterns: [ {ONE}, ]", f"patterns: [ {ONE}, \n      {ADDED},]"),
        (f"patterns: [\n       {ONE},  # ours\n    ]", f"patterns: [\n       {ONE},  # ours\n       {ADDED},\n    ]"),
        (f"patterns: [\n       {ONE}  # ours\n    ]", f"patterns: [\n       {ONE},  # ours\n       {ADDED}\n    ]"),
        (f"patterns: &p [{ONE}]", f"patterns: &p [{ONE},\n      {ADDED}]"),
        (
            "patterns: [  # none\n    ]",
            f"patterns: [  # none\n    \n      {ADDED}]",
        ),
    ],
)
def test_a_list_in_brackets_is_added_to_inside_of_them(before: str, after: str) -> None:
    text = merge(f"{HEAD}    {before}\n    owner: x\n", draft(patterns=[SHORT]), ["cases"])
    assert text == f"{HEAD}    {after}\n    owner: x\n"


def test_what_is_unsure_stands_above_what_is_added_in_brackets() -> None:
    unsure = (Unsure("cases", "patterns", "b", "id", "it was\nseen once"),)
    text = merge(f"{HEAD}    patterns: [{ONE}]\n", draft(unsure=unsure, patterns=[SHORT]), ["cases"])
    assert text == f"{HEAD}    patterns: [{ONE},\n      # unsure: id: it was seen once\n      {ADDED}]\n"


@pytest.mark.parametrize(
    ("empty", "left"), [("patterns: []  # none yet", "patterns:  # none yet"), ("patterns: &p [ ]", "patterns: &p")]
)
def test_the_brackets_of_an_empty_list_make_room_for_lines(empty: str, left: str) -> None:
    text = merge(f"{HEAD}    {empty}\n    owner: x\n", draft(patterns=[SHORT]), ["cases"])
    lines = "      - id: b\n        operation: GetItem\n        key: {PK: B#<id>}\n"
    assert text == f"{HEAD}    {left}\n{lines}    owner: x\n"


def test_a_table_in_braces_gets_lists_that_it_has_not_and_those_that_it_has() -> None:
    text = "tables:\n  - {name: cases, partition_key: PK, patterns: []}\n"
    merged = merge(text, draft(patterns=[SHORT], entities=[USER]), ["cases"])
    assert merged == (
        "tables:\n  - {name: cases, partition_key: PK, patterns: [\n"
        f"      {ADDED}],\n      entities: [{{name: User, PK: USER#<id>}}]}}\n"
    )


def test_json_stays_json_as_wide_as_it_was() -> None:
    table = {"name": "cases", "partition_key": "PK", "patterns": []}
    for width, tab in ((None, " "), (2, " "), (4, "\t")):
        text = json.dumps({"tables": [table]}, indent=width, separators=(",", f":{tab}"))
        merged = merge(text, draft(patterns=[SHORT], entities=[USER]), ["cases"], is_json=True)
        (read,) = json.loads(merged)["tables"]
        assert (read["patterns"], read["entities"]) == ([SHORT], [USER])
        assert ("\n" in merged) == (width is not None)
        assert json.loads(merge(merged, draft("users"), ["cases"], is_json=True))["tables"][1]["name"] == "users"


@pytest.mark.parametrize("text", ["", "# ours\n", "version: 1\n", "tables: []  # none\n", "tables:\n  []\n", "{}\n"])
def test_a_contract_without_tables_gets_its_first(text: str) -> None:
    merged = merge(text, draft(patterns=[SHORT]), [])
    assert [pattern.id for pattern in read_text(merged, "c.yaml").contract.tables[0].patterns] == ["b"]
    assert "# ours" not in text or merged.startswith(text)


@pytest.mark.parametrize(
    "text",
    [
        "    patterns: &p\n      - &a\n        id: a\n        operation: GetItem\n        key: {PK: A}\n",
        "    patterns: !!seq\n      - {id: a, operation: GetItem, key: {PK: A}}\n    owner:\n",
        "    access_patterns:\n      - id: a\n        operation: GetItem\n        key: {PK: A}\n",
        "    ? patterns\n    : - id: a\n        operation: GetItem\n        key: {PK: A}\n",
        "    patterns:\n    - id: a\n      operation: GetItem\n      key: {PK: A}\n\n      # deep\n\n    owner:\n",
        "    patterns:\n    - id: a\n      operation: GetItem\n      key: {PK: A}\n      title: |+\n        kept\n\n",
    ],
)
def test_anchors_tags_and_whatever_yaml_allows_stay(text: str) -> None:
    merged = merge(HEAD + text, draft(patterns=[SHORT]), ["cases"])
    assert new_lines(HEAD + text, merged)[0].strip() == "- id: b"
    assert [pattern.id for pattern in read_text(merged, "c.yaml").contract.tables[0].patterns] == ["a", "b"]


ALIASED = f"{HEAD}    patterns: &p [{ONE}]\n  - name: other\n    partition_key: PK\n    patterns: *p\n"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("patterns: []\n", 1, "its patterns stand in no list of `tables:`"),
        ("- id: a\n", 1, "its patterns stand in no list of `tables:`"),
        ("tables:\n  cases: {partition_key: PK}\n", 2, "its tables are a mapping by name"),
        (f"{HEAD}    patterns:\n      a: {{operation: GetItem}}\n", 5, "the patterns of its table cases are a mapping"),
        (f"{HEAD}    patterns:\n    owner: x\n", 5, "the patterns of its table cases are no list"),
        (ALIASED, 4, "an alias of `&p` repeats the patterns of its table cases"),
        ("tables:\n  - &t\n    name: cases\n    patterns: []\n  - {<<: *t, name: b}\n", 2, "repeats its table cases"),
        ("tables:\n  - &t {name: b, patterns: []}\n  - <<: *t\n    name: cases\n", 3, "come by `<<` from elsewhere"),
        ("tables:\n  - &t {name: b, patterns: []}\n  - <<: [*t]\n    name: cases\n", 3, "come by `<<` from elsewhere"),
        ("tables:\n  - &t {name: cases}\n  - <<: *t\n", 2, "repeats its table cases"),
        ("tables:\n  - id: a\n", 2, "its table cases has its name from elsewhere"),
        ("a: 1\rtables: []\n", 1, "a carriage return without a line feed"),
    ],
)
def test_what_cannot_be_added_to_is_refused_with_its_line(text: str, line: int, told: str) -> None:
    with pytest.raises(UnplaceableError, match=told) as refused:
        merge(text, draft(patterns=[LIST]), ["cases"])
    assert refused.value.line == line
    assert refused.value.mend


def test_tables_that_are_no_list_are_refused() -> None:
    with pytest.raises(UnplaceableError, match="`tables:` holds no list"):
        merge("tables:\n", draft(patterns=[LIST]), [])


def test_what_would_not_read_as_both_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.contract.merge.spliced", lambda text, _: text)
    with pytest.raises(UnplaceableError, match="would not read as what stands there"):
        merge(CONTRACT, draft(patterns=[LIST]), ["cases"])
    monkeypatch.setattr("analyzer.contract.merge.spliced", lambda _, __: "a: [")
    with pytest.raises(UnplaceableError, match="with the additions this is no YAML"):
        merge(CONTRACT, draft(patterns=[LIST]), ["cases"])


COMMENTS = st.sampled_from(["", "# one", "    # two", "        # three", "          # four"])


@settings(deadline=None, max_examples=25)
@given(inner=st.lists(COMMENTS, max_size=5), outer=st.lists(COMMENTS, max_size=5), has_owner=st.booleans())
def test_whatever_comments_stand_around_every_line_stays(
    inner: list[str], outer: list[str], *, has_owner: bool
) -> None:
    lines = ["tables:", "  - name: cases", "    partition_key: PK", "    patterns:", *inner]
    lines += ["      - id: a", "        operation: GetItem", "        key: {PK: A}", *outer]
    text = "".join(f"{line}\n" for line in [*lines, *(["    owner: x"] if has_owner else [])])
    merged = merge(text, draft(patterns=[LIST], entities=[USER]), ["cases"])
    assert len(new_lines(text, merged)) == 6
    reading = read_text(merged, "c.yaml")
    assert not reading.faults
    assert [pattern.id for pattern in reading.contract.tables[0].patterns] == ["a", "list-case"]
