from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.contract.markdown import is_markdown

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.load import Reading
    from analyzer.contract.model import PatternDeclaration

HEAD = (
    "| pattern | entity | key condition | read/write | est. freq | served by |\n| --- | --- | --- | --- | --- | --- |\n"
)
ORDERS = (
    "| Get a user's orders, newest first | Order | PK=USER#<id>, SK begins_with ORDER# | read | high "
    "| base table Query |\n"
)
OPEN = "| List open orders | Order | sparse GSI2PK=OPEN | read | low | GSI2 (sparse) Query |\n"


def patterns(reading: Reading) -> tuple[PatternDeclaration, ...]:
    assert reading.faults == ()
    (table,) = reading.contract.tables
    return table.patterns


def test_the_table_of_the_format_is_read(read: Callable[..., Reading]) -> None:
    reading = read(HEAD + ORDERS + OPEN + OPEN.replace("(sparse) ", "").replace("open", "all"), "c.md")
    orders, open_orders, _ = patterns(reading)
    assert (orders.id, orders.title) == ("get-a-user-orders-newest-first", "Get a user's orders, newest first")
    assert (orders.entity, orders.frequency, orders.operations, orders.index) == ("Order", "high", ("Query",), None)
    assert (open_orders.index, open_orders.line) == ("GSI2", 4)
    (table,) = reading.contract.tables
    assert (table.name, table.partition_key, table.sort_key, table.keys_assumed) == ("*", ("PK",), ("SK",), False)
    assert (table.indexes[0].partition_key, table.indexes[0].sparse) == (("GSI2PK",), True)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("## Table: cases", "cases"),
        ("## cases", "cases"),
        ("### `cases` table", "cases"),
        ("## DynamoDB table cases ##", "cases"),
        ("# case-table", "case-table"),
        ("## *-cases", "*-cases"),
        ("# Orders", "*"),
        ("# `Orders`", "Orders"),
        ("## Access patterns", "*"),
        ("## Patterns", "*"),
        ("## The table", "*"),
        ("## Base table", "*"),
    ],
)
def test_a_heading_may_name_the_table(read: Callable[..., Reading], heading: str, name: str) -> None:
    reading = read(f"{heading}\n\nSome words.\n\n{HEAD}{ORDERS}", "c.md")
    assert reading.contract.tables[0].name == name


def test_a_heading_holds_for_the_headings_under_it(read: Callable[..., Reading]) -> None:
    text = f"## cases\n\n### Access patterns\n\n{HEAD}{ORDERS}\n## users\n\n{HEAD}{ORDERS}\n## cases\n\n{HEAD}{OPEN}"
    tables = read(text, "c.md").contract.tables
    assert [(table.name, len(table.patterns)) for table in tables] == [("cases", 2), ("users", 1)]


def test_columns_come_in_any_order_and_others_are_none_of_ours(read: Callable[..., Reading]) -> None:
    text = (
        "| **Notes** | Operation | Index | PK | SK | ID | Filter | Page size | Callers | Order |\n"
        "|:--|--|--|--|--|--|--|--|--|--:|\n"
        "| x | Query | GSI1 | `OPEN` | - | list-open | status = :s | 25 | web, job | descending |\n"
        "| x | get / batch_get | - | `<status=A\\|B>` | META | get | none | | | |\n"
    )
    listed, got = patterns(read(text, "c.md"))
    assert (listed.id, listed.title, listed.index, listed.page_size) == ("list-open", None, "GSI1", 25)
    assert (listed.callers, listed.order) == (("web", "job"), "descending")
    assert listed.filter is not None
    assert listed.filter.text == "status = :s"
    assert (got.operations, got.index, got.filter) == (("GetItem", "BatchGetItem"), None, None)
    assert got.keys[0][0].template.text == "<status=A|B>"


@pytest.mark.parametrize(
    ("served", "index", "operations"),
    [
        ("Query", None, ("Query",)),
        ("table GetItem", None, ("GetItem",)),
        ("Query on GSI1", "GSI1", ("Query",)),
        ("`GSI1` Query", "GSI1", ("Query",)),
        ("base table PutItem + UpdateItem", None, ("PutItem", "UpdateItem")),
        ("TransactWriteItems (3 items)", None, ("TransactWriteItems",)),
        ("main table Scan", None, ("Scan",)),
    ],
)
def test_served_by_is_a_place_then_an_operation(
    read: Callable[..., Reading], served: str, index: str | None, operations: tuple[str, ...]
) -> None:
    (pattern,) = patterns(read(f"{HEAD}| a | - | PK=x | read | | {served} |\n", "c.md"))
    assert (pattern.index, pattern.operations, pattern.entity) == (index, operations, None)


@pytest.mark.parametrize(
    ("text", "frequency", "rate"),
    [("HIGH", "high", None), ("~100/s", None, 100), ("50/min", None, 50 / 60), ("now and then", None, None)],
)
def test_a_frequency_is_a_word_or_a_rate(
    read: Callable[..., Reading], text: str, frequency: str | None, rate: float | None
) -> None:
    (pattern,) = patterns(read(f"{HEAD}| a | E | PK=x | read | {text} | base table Query |\n", "c.md"))
    assert pattern.frequency == frequency
    assert pattern.rate.p95 == pytest.approx(rate)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("| a | E | PK=x | read | low | GSI1 |", "c.md:3: a: 'GSI1' names no operation; write what serves it"),
        ("| a | E | PK=x | read | low | the fast index Query |", "'the fast' is no index; write the index, a remark"),
        ("| a | E | by id | read | low | Query |", "c.md:3: a: 'by id' is no condition on a key attribute; write PK="),
        ("| | E | PK=x | read | low | Query |", "c.md:3: a row names no pattern; write what it reads or writes"),
    ],
)
def test_a_faulty_row_is_told_with_its_line_and_the_others_are_read(
    read: Callable[..., Reading], row: str, fault: str
) -> None:
    reading = read(f"{HEAD}{row}\n{ORDERS}", "c.md")
    assert fault in str(reading.faults[0])
    assert len(reading.contract.tables[0].patterns) == 1


def test_a_faulty_operation_column_is_told(faults: Callable[..., list[str]]) -> None:
    assert "'go' is no DynamoDB operation" in faults("| id | operation |\n|--|--|\n| a | go |\n", "c.md")[0]


def test_a_template_that_cannot_be_read_is_told_with_its_line(faults: Callable[..., list[str]]) -> None:
    told = faults(f"{HEAD}| a | E | PK=<x, SK=y | read | low | Query |\n", "c.md")
    assert told[0].startswith("c.md:3: tables.*.patterns.a.key.PK: ")


def test_tables_with_other_columns_are_none_of_ours(read: Callable[..., Reading]) -> None:
    text = "| a | b |\n| --- | --- |\n| 1 | 2 |\n\na | b\n\n| not a table |\n"
    assert read(text, "c.md").contract.tables == ()


def test_two_tables_that_touch_no_blank_line_are_one(read: Callable[..., Reading]) -> None:
    assert len(patterns(read(HEAD + ORDERS + "| --- | --- | --- | --- | --- | --- |\n" + OPEN, "c.md"))) == 2


def test_a_text_of_unknown_kind_is_told_by_its_rule() -> None:
    assert is_markdown(HEAD)
    assert not is_markdown("a: b | c\n")


THREE = "| pattern | key condition | served by |\n|---|---|---|\n"


def declared(read: Callable[..., Reading], rows: str) -> list[PatternDeclaration]:
    reading = read(rows, "a.md")
    assert reading.faults == ()
    return [pattern for table in reading.contract.tables for pattern in table.patterns]


@pytest.mark.parametrize(
    ("served", "operations"),
    [
        ("Query (falls back to Scan)", {"Query", "Scan"}),
        ("Query (scans when the index lags)", {"Query", "Scan"}),
        ("Query (no scan)", {"Query"}),
        ("Query (never scans)", {"Query"}),
        ("Query (sparse)", {"Query"}),
    ],
)
def test_a_scan_in_a_remark_is_seen(read: Callable[..., Reading], served: str, operations: set[str]) -> None:
    (pattern,) = declared(read, THREE + f"| a | PK=X#<id> | {served} |\n")
    assert set(pattern.operations) == operations


def test_a_scan_in_a_remark_is_seen_beside_a_column_of_operations(read: Callable[..., Reading]) -> None:
    head = "| pattern | pk | operation | served by |\n|---|---|---|---|\n"
    (pattern,) = declared(read, head + "| a | X#<id> | Query | base table (else Scan) |\n")
    assert pattern.operations == ("Query", "Scan")


@pytest.mark.parametrize(
    ("key", "served", "text"),
    [
        ("PK=X#<id>, filter status=OPEN", "Query", "status=OPEN"),
        ("PK=X#<id> (filter on status)", "Query", "status"),
        ("PK=X#<id> with FilterExpression: a = :b", "Query", "a = :b"),
        ("PK=X#<id> + filter", "Query", None),
        ("PK=X#<id>", "Query + filter", None),
        ("PK=X#<id>", "Query (filter on status)", None),
    ],
)
def test_a_filter_in_another_column_is_seen(read: Callable[..., Reading], key: str, served: str, text: object) -> None:
    (pattern,) = declared(read, THREE + f"| a | {key} | {served} |\n")
    assert [k.template.text for k in pattern.keys[0]] == ["X#<id>"]
    assert pattern.filter is not None
    assert pattern.filter.text == text


def test_a_key_that_is_called_filter_is_none(read: Callable[..., Reading]) -> None:
    (pattern,) = declared(read, THREE + "| a | PK=FILTER#<id>, SK=filter | Query |\n")
    assert pattern.filter is None


def test_a_table_in_a_quotation_is_read(read: Callable[..., Reading]) -> None:
    text = "".join(f"> {line}\n" for line in (THREE + "| a | PK=X#<id> | Query |").splitlines())
    assert [pattern.id for pattern in declared(read, text)] == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n| pattern | pk | operation |\n| a | X | Query |\n", "c.md:2: this looks like a table of access patterns, "),
        ("| Access pattern | Key |\n|---|---|\n| a | X |\n", "c.md:1: this looks like a table of access patterns, "),
    ],
)
def test_what_looks_like_a_table_and_cannot_be_read_is_a_fault(
    faults: Callable[..., list[str]], text: str, message: str
) -> None:
    (fault,) = faults(text, "c.md")
    assert fault.startswith(message)


def test_a_table_of_something_else_is_none_of_ours(read: Callable[..., Reading]) -> None:
    assert declared(read, "| name | key |\n|---|---|\n| a | b |\n\nthis | that\n") == []
