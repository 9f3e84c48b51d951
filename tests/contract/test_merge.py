from __future__ import annotations

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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("patterns: []\n", "its tables are no list of blocks"),
        ("- id: a\n", "its tables are no list of blocks"),
        ("tables: [{name: cases}]\n", "its tables are no list of blocks"),
        ("tables:\n  cases: {partition_key: PK}\n", "its tables are no list of blocks"),
        ("tables:\n  - {name: cases, partition_key: PK}\n", "its table cases stands in braces"),
        (
            "tables:\n  - name: cases\n    patterns: [{id: a}]\n",
            "the patterns of its table cases are no list of blocks",
        ),
        ("tables:\n  - table_name: cases\n", "its table cases is written in a short form"),
    ],
)
def test_what_cannot_be_added_to_line_by_line_is_refused(text: str, told: str) -> None:
    with pytest.raises(UnplaceableError, match=told):
        merge(text, draft(patterns=[LIST]), ["cases"])


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
