from __future__ import annotations

import pytest

from analyzer.contract.document import ListNode, MapNode, line_at, parse_document, to_node
from analyzer.errors import ContractError


def test_every_key_and_member_knows_its_line() -> None:
    document = parse_document("a: 1\nb:\n  - c: 2\n    d: 3\n  - e\n", "f", is_json=False)
    assert [line_at(document, path) for path in (("a",), ("b",), ("b", 0, "d"), ("b", 1))] == [1, 2, 4, 5]


def test_a_path_that_is_not_there_has_the_line_of_the_deepest_part_that_is() -> None:
    document = parse_document("a:\n  b: 1\n", "f", is_json=False)
    assert line_at(document, ("a", "x", "y")) == 1
    assert line_at(document, ("a", "b", 0)) == 2
    assert line_at(None, ("a",)) is None


def test_json_knows_its_lines_and_may_be_indented_by_tabs() -> None:
    document = parse_document('{\n\t"a": [\n\t\t{"b": 1}\n\t]\n}', "f.json", is_json=True)
    assert line_at(document, ("a", 0, "b")) == 3


@pytest.mark.parametrize("text", ["", " \n", "# only a comment\n"])
def test_an_empty_text_declares_nothing(text: str) -> None:
    assert parse_document(text, "f", is_json=False) is None


@pytest.mark.parametrize(
    ("text", "line"), [("a: 1\na: 2\n", 2), ("a: [1\n", 2), ("a: *b\n", 1), ("a: 1\nb: >A\n", 2), ("\x00", None)]
)
def test_broken_yaml_is_a_fault_with_its_line(text: str, line: int | None) -> None:
    with pytest.raises(ContractError) as error:
        parse_document(text, "f", is_json=False)
    assert (error.value.faults[0].line, error.value.faults[0].file) == (line, "f")


def test_broken_json_is_a_fault_with_its_line() -> None:
    with pytest.raises(ContractError, match=r"^f:2: this is no JSON"):
        parse_document('{\n"a": }', "f", is_json=True)


def test_aliases_that_multiply_or_loop_are_a_fault() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 7)]
    for text in ("\n".join(lines), "&a [*a]"):
        with pytest.raises(ContractError, match="more than a contract can"):
            parse_document(text, "f", is_json=False)


def test_a_text_nested_beyond_reason_is_a_fault() -> None:
    with pytest.raises(ContractError, match="nested too deep"):
        parse_document("[" * 60 + "]" * 60, "f", is_json=False)
    for is_json, depth in ((False, 400), (True, 100_000)):
        with pytest.raises(ContractError, match=r"this is no (YAML|JSON)"):
            parse_document("[" * depth + "]" * depth, "f", is_json=is_json)


def test_dates_and_tags_are_read_as_text() -> None:
    assert parse_document("until: 2027-03-31\nx: !Sub foo\n", "f", is_json=False) == {"until": "2027-03-31", "x": "foo"}


def test_a_decoded_document_has_no_lines() -> None:
    node = to_node({"a": [1, {"b": None}], "c": {}})
    assert isinstance(node, MapNode)
    assert node == {"a": [1, {"b": None}], "c": {}}
    assert line_at(node, ("a", 1, "b")) is None


def test_an_empty_list_of_yaml_has_no_lines_to_know() -> None:
    assert parse_document("a: []\nb: {}\n", "f", is_json=False) == {"a": [], "b": {}}


def test_a_moved_key_keeps_its_line() -> None:
    node = MapNode([("a", 1)], 1)
    node.lines["a"] = 7
    node.take("a", node, "b")
    assert (node, node.line_of("b")) == ({"b": 1}, 7)
    assert ListNode([node, 3]).lines == [1, None]


def test_a_number_that_is_too_long_and_a_day_that_does_not_exist_stay_as_text() -> None:
    digits = "9" * 5000
    expected = {"a": digits, "b": "2027-13-45"}
    assert parse_document(f"a: {digits}\nb: 2027-13-45\n", "f", is_json=False) == expected
    assert parse_document(f'{{"a": {digits}, "b": "2027-13-45"}}', "f", is_json=True) == expected


def test_the_end_of_a_long_comment_is_not_looked_at() -> None:
    assert parse_document("# " + "x" * 500_000 + "\na: 1\n  # " + "x" * 500_000 + "\n", "f", is_json=False) == {"a": 1}
