from __future__ import annotations

from typing import Any

from analyzer.model.counts import Count, KeyLevel
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from analyzer.requests.digest_churn import even_out, even_out_statement, rename_values
from analyzer.requests.digest_limits import DigestLimits
from tests.support.request_lines import LEXICON, START_MS, line, lines_of

MINUTE = Window(START_MS, START_MS + 60_000)


def invented(number: int, *, prefix: str = "AUDIT#", **fields: Any) -> dict[str, Any]:
    mark = f"{number:x}_"
    listed = ", ".join(f":l{mark}{member}" for member in range(1 + number % 7))
    return line(
        "Query",
        key_condition=f"#p{mark} = :p{mark} AND begins_with(#s{mark}, :s{mark})",
        filter=f"#f{mark} IN ({listed})",
        names={f"#p{mark}": "PK", f"#s{mark}": "SK", f"#f{mark}": "state"},
        values={f":p{mark}": {"S": "CASE#1"}, f":s{mark}": {"S": prefix}},
        consumed={"total": 1},
        **fields,
    )


def test_invented_names_are_one_shape_with_its_templates_and_keys() -> None:
    digest = Digest(LEXICON)
    digest.update(lines_of([invented(number, key={"PK": {"S": "CASE#1"}}) for number in range(50)]))
    digest.update(lines_of([invented(number) for number in range(50, 90)]))
    counts = digest.result(MINUTE)
    (cell,) = counts.cells
    assert [predicate.declared for predicate in cell.shape.key] == [("CASE#<caseId>",), ("begins_with AUDIT#",)]
    assert counts.values[0, Count.REQUESTS] == 90
    (key,) = [key for key in counts.keys[0].keys if key.name.level is KeyLevel.PARTITION]
    assert (key.name.partition, key.sampled) == ("CASE#1", 90)


def test_invented_names_do_not_fill_the_caches() -> None:
    digest = Digest(LEXICON)
    for number in range(300):
        digest.update(lines_of([invented(number)]), now=START_MS)
    assert len(digest._columns.router.known) == 1
    assert len(digest._columns.router.routes) == 2


def test_texts_that_come_back_get_a_route_of_their_own() -> None:
    digest = Digest(LEXICON)
    for number in (0, 1, 1, 2, 1, 2, 2):
        digest.update(lines_of([invented(number)]), now=START_MS)
    assert len(digest._columns.router.known) == 3
    assert len(digest.result(MINUTE).cells) == 1


def test_texts_that_come_back_share_one_route_where_they_are_too_many() -> None:
    digest = Digest(LEXICON, DigestLimits(routes=4))
    for number in [*range(12), 10, 11, 10, 11]:
        digest.update(lines_of([invented(number)]), now=START_MS)
    assert len(digest._columns.router.routes) <= 5
    assert len(digest._columns.router._met) <= 4
    assert digest.result(MINUTE).values[:, Count.REQUESTS].tolist() == [16]


def test_values_go_with_their_renamed_placeholders() -> None:
    digest = Digest(LEXICON)
    for number in range(9):
        digest.update(lines_of([invented(number, prefix="AUDIT#" if number % 2 else "OTHER#")]), now=START_MS)
    shapes = {cell.shape.key[1].template for cell in digest.result(MINUTE).cells}
    assert len(shapes) == 2


def test_inlined_literals_are_one_shape() -> None:
    digest = Digest(LEXICON)
    statements = [f"SELECT * FROM cases WHERE PK = 'CASE#{number}' AND state = {number}" for number in range(20)]
    for statement in statements:
        digest.update(lines_of([line("ExecuteStatement", statement=statement)]), now=START_MS)
    assert len(digest.result(MINUTE).cells) == 1
    assert len(digest._columns.router.known) == 1


def test_names_of_other_attributes_are_another_text() -> None:
    one, two = (even_out(("#a = :b",), {"#a": attribute}) for attribute in ("PK", "SK"))
    assert one is not None
    assert two is not None
    assert one.texts == two.texts == ("#0 = :1",)
    assert one.key != two.key


def test_lists_of_any_length_are_one_text() -> None:
    one, two = (even_out((f"#a IN ({listed}) AND :c < :c", None), {}) for listed in (":b", ":x , :y,:z"))
    assert one is not None
    assert two is not None
    assert one.key == two.key
    assert one.texts == ("#0 IN (:1) AND :2 < :2", None)


def test_a_text_without_placeholders_or_beyond_measure_is_left_alone() -> None:
    assert even_out(("attribute_exists(PK)", None), {}) is None
    assert even_out(("a = :a" * 10_000,), {}) is None


def test_a_statement_loses_its_literals() -> None:
    assert (
        even_out_statement("SELECT * FROM t WHERE a = 'x'").key
        == even_out_statement("SELECT * FROM t WHERE a = 'y'").key
    )


def test_values_that_no_text_names_are_left_out() -> None:
    assert rename_values({":a": {"S": "1"}, ":b": {"S": "2"}}, {":a": ":0"}) == b'{":0":{"S":"1"}}'
