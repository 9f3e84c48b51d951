from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from analyzer.contract.draft import Draft, SetAside, Unsure
from analyzer.contract.evidence import Evidence
from analyzer.contract.induce import induce
from analyzer.contract.lint import lint
from analyzer.contract.load import contract_from, read_text
from analyzer.contract.write import write_contract
from analyzer.correlator.attribute import attribute
from analyzer.model.counts import Count, HeavyKeys
from analyzer.model.finding import Direction
from analyzer.model.shape import AttributionKind, KeyPredicate, Shape
from analyzer.model.table import IndexDescription, TableDescription
from analyzer.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.contract.model import Contract
    from analyzer.model.counts import Counts

CASE = ("PK", "=", "CASE#<id>")
META = ("SK", "=", "META")
MINUTE = [60] * 6


def induce_from(counts: Counts) -> Draft:
    return induce(Evidence(counts))


@pytest.fixture
def draft(counted: Callable[..., Counts]) -> Callable[..., Draft]:
    """Draft a contract from shapes that each came sixty times in each of six slices."""

    def drafted(*shapes: Shape, **rest: object) -> Draft:
        return induce_from(counted(*((shape, "web", MINUTE, 1.0) for shape in shapes), **rest))

    return drafted


def table(draft: Draft, position: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = draft.document["tables"][position]
    return found


def test_a_shape_becomes_a_pattern_with_key_rate_and_caller(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    found = table(draft(shape("GetItem", CASE, META)))
    assert (found["partition_key"], found["sort_key"]) == ("PK", "SK")
    assert found["entities"] == [{"name": "Case", "PK": "CASE#<id>", "SK": "META"}]
    assert found["patterns"] == [
        {
            "id": "get-case-meta",
            "entity": "Case",
            "operation": "GetItem",
            "key": {"PK": "CASE#<id>", "SK": "META"},
            "rate": {"p95": 6, "peak": 6},
            "callers": ["web"],
        }
    ]


def test_shapes_that_differ_only_in_what_no_pattern_is_made_of_are_one(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    first = shape("Query", CASE, limit_bucket=16, consistent=True, projection=("a",))
    second = shape("Query", ("PK", "=", "CASE#<n>"), limit_bucket=64)
    (pattern,) = table(induce_from(counted((first, "web", MINUTE, 0.1), (second, "job", MINUTE, 1.0))))["patterns"]
    assert (pattern["callers"], pattern["rate"]["peak"]) == (["job", "web"], 66)
    assert not {"consistency", "page_size"} & set(pattern)


@pytest.mark.parametrize(("column", "is_meant"), [(None, False), (Count.THROTTLED_FAILED, True)])
def test_what_was_always_refused_is_set_aside_unless_a_limit_refused_it(
    counted: Callable[..., Counts], shape: Callable[..., Shape], column: Count | None, *, is_meant: bool
) -> None:
    counts = counted((shape("Query", CASE, index="typo"), "web", MINUTE, 1.0))
    counts.values[0, Count.FAILED] = counts.values[0, Count.REQUESTS]
    if column is not None:
        counts.values[0, column] = counts.values[0, Count.REQUESTS]
    draft = induce_from(counts)
    assert bool(draft.document["tables"]) is is_meant
    assert [one.because for one in draft.set_aside] == (
        [] if is_meant else ["every call was refused; nothing shows that it is meant"]
    )


def test_order_filter_and_consistency_are_told(counted: Callable[..., Counts], shape: Callable[..., Shape]) -> None:
    one = shape("Query", CASE, forward=False, filter="a = :v0", consistent=True)
    counts = counted((one, None, [1], 1.0))
    counts.values[0, Count.SCANNED], counts.values[0, Count.RETURNED] = 100, 28
    (pattern,) = table(induce_from(counts))["patterns"]
    assert pattern == {
        "id": "list-case",
        "operation": "Query",
        "key": {"PK": "CASE#<id>"},
        "order": "descending",
        "consistency": "strong",
        "filter": {"text": "a = :v0", "discards_at_most": "75%"},
    }


def test_a_filter_whose_counts_are_not_known_has_no_limit(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    assert table(draft(shape("Query", CASE, filter="a = :v0")))["patterns"][0]["filter"] == {"text": "a = :v0"}


@pytest.mark.parametrize(
    ("predicate", "template"),
    [
        (("SK", "begins_with", "AUDIT#"), "begins_with AUDIT#"),
        (("SK", "between", "<id> and <id>"), "between <id> and <id>"),
        (("SK", ">=", "<n>"), ">= <id>"),
        (("SK", "=", ""), "<SK>"),
        (("s-k", "=", ""), "<s_k>"),
        (("SK", "IN", "A or B"), "<SK>"),
        (("SK", "begins_with", ""), "begins_with <SK>"),
        (("SK", "=", "between us"), '"between us"'),
        (("SK", "=", "begins_with us"), '"begins_with us"'),
        (("SK", "=", "<"), "<value>"),
        (("SK", "begins_with", "<"), "begins_with <value>"),
        (("SK", "between", "<"), "<value>"),
    ],
)
def test_a_condition_becomes_a_template(
    draft: Callable[..., Draft], shape: Callable[..., Shape], predicate: tuple[str, str, str], template: str
) -> None:
    (pattern,) = table(draft(shape("Query", CASE, predicate)))["patterns"]
    assert pattern["key"][predicate[0]] == template


def test_the_keys_of_an_index_are_guessed_and_said_to_be(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    found = draft(
        shape("Query", ("at", "begins_with", "2026"), ("owner", "=", "O#<id>"), index="GSI1"),
        shape("Query", ("PK", "=", "X#<id>"), index="L", consistent=True),
        shape("Query", index="G"),
    )
    assert table(found)["indexes"] == [
        {"name": "G", "kind": "gsi", "partition_key": "GPK"},
        {"name": "GSI1", "kind": "gsi", "partition_key": "owner", "sort_key": "at"},
        {"name": "L", "kind": "lsi", "partition_key": "PK"},
    ]
    assert table(found)["partition_key"] == "PK"
    assert [str(one) for one in found.unsure] == [
        "cases: partition_key: no request shows its key",
        "cases G: partition_key: no request shows its key",
    ]


def test_what_no_request_reads_is_an_index_all_the_same(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    counts = counted((shape("PutItem", CASE, META), "web", MINUTE, 1.0), (shape("PutItem", CASE, META), "web", [], 1.0))
    one, two = counts.cells
    index = Target(None, None, "cases", "GSI9")
    counts = replace(counts, cells=(one, replace(two, target=index, secondary=True)))
    found = induce_from(counts)
    assert table(found)["indexes"] == [{"name": "GSI9", "kind": "gsi", "partition_key": "GSI9PK"}]
    assert [str(one) for one in found.unsure] == [
        "cases GSI9: partition_key: no request shows its key",
        "cases GSI9: name: no request of the log reads it, and every write of its items pays",
    ]


def test_an_index_of_the_tables_partition_key_may_be_local(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    found = draft(shape("GetItem", CASE, META), shape("Query", CASE, ("due", "<", "2026"), index="ByDue"))
    assert [str(one) for one in found.unsure] == [
        "cases ByDue: kind: it has the table's partition key, so it may be an lsi"
    ]


def test_tables_as_they_are_described_leave_nothing_to_guess(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    described = TableDescription(
        name="cases",
        partition_key=("PK",),
        sort_key=("SK",),
        attribute_types={"PK": "S", "SK": "N"},
        indexes=(
            IndexDescription(name="ByDay", kind="gsi", partition_key=("a", "b"), sort_key=("c",), projection=("x",)),
            IndexDescription(name="Local", kind="lsi", partition_key=("PK",), projection="all"),
        ),
    )
    counts = counted((shape("GetItem", CASE, META), "web", MINUTE, 1.0))
    found = induce(Evidence(counts, described={"cases": described}))
    assert (table(found)["partition_key"], table(found)["sort_key"]) == ("PK", "SK")
    assert table(found)["types"] == {"SK": "N"}
    assert table(found)["indexes"] == [
        {"name": "ByDay", "kind": "gsi", "projection": ["x"], "partition_key": ["a", "b"], "sort_key": ["c"]},
        {"name": "Local", "kind": "lsi", "projection": "all", "partition_key": "PK"},
    ]
    assert {one.field for one in found.unsure} == {"name"}


def test_heavy_keys_know_the_key_attributes_better(draft: Callable[..., Draft], shape: Callable[..., Shape]) -> None:
    heavy = [
        HeavyKeys(Target(None, None, "cases", index), Direction.READ, 1, 0, (), 0, attributes)
        for index, attributes in ((None, ("SK", "PK")), ("G", ("x",)))
    ]
    found = table(draft(shape("GetItem", CASE, META), shape("Query", index="G"), keys=tuple(heavy)))
    assert (found["partition_key"], found["sort_key"]) == ("SK", "PK")
    assert found["indexes"][0]["partition_key"] == "x"


def test_a_sort_like_name_is_taken_for_the_sort_key(draft: Callable[..., Draft], shape: Callable[..., Shape]) -> None:
    found = table(draft(shape("GetItem", ("item_sk", "=", "A#<id>"), ("owner", "=", "B#<id>"))))
    assert (found["partition_key"], found["sort_key"]) == ("owner", "item_sk")


def test_a_batch_keeps_each_kind_of_key_once(draft: Callable[..., Draft], shape: Callable[..., Shape]) -> None:
    parts = [[CASE, META], [CASE, META], [CASE, ("SK", "=", "NOTE#<id>")]]
    several = table(draft(shape("TransactWriteItems", parts=parts)))["patterns"][0]
    text = write_contract(draft(shape("TransactWriteItems", parts=parts)))
    assert "\n          - {PK: CASE#<id>, SK: META}\n          - {PK: CASE#<id>, SK: NOTE#<id>}\n" in text
    single = table(draft(shape("BatchGetItem", parts=parts[:2])))["patterns"][0]
    assert several["key"] == [{"PK": "CASE#<id>", "SK": "META"}, {"PK": "CASE#<id>", "SK": "NOTE#<id>"}]
    assert single["key"] == {"PK": "CASE#<id>", "SK": "META"}


def test_entities_are_named_for_their_literals(draft: Callable[..., Draft], shape: Callable[..., Shape]) -> None:
    found = table(
        draft(
            shape("PutItem", CASE, ("SK", "=", "AUDIT#<id>")),
            shape("PutItem", ("PK", "=", "USER#<id>"), ("SK", "=", "AUDIT#<id>")),
            shape("GetItem", ("PK", "=", "<id>"), ("SK", "=", "META")),
            shape("GetItem", ("PK", "=", "<id>"), ("SK", "=", "<id>")),
            shape("DeleteItem", CASE, ("SK", "=", "AUDIT#<id>")),
        )
    )
    assert sorted(entity["name"] for entity in found["entities"]) == ["Audit", "Audit-2", "Meta"]


def test_a_scan_is_declared_for_its_owners_to_say_why(draft: Callable[..., Draft], shape: Callable[..., Shape]) -> None:
    found = draft(shape("Scan"), shape("GetItem", CASE, META))
    assert [p["id"] for p in table(found)["patterns"]] == ["get-case-meta", "scan-cases"]
    assert "purpose" not in table(found)["patterns"][1]
    assert [str(one) for one in found.unsure] == [
        "cases scan-cases: operation: a Scan; if it is meant, say why (purpose), when (schedule) and how fast"
    ]


def test_what_clients_tag_is_called_so_and_is_one_pattern_with_what_they_do_not(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    tagged, other = shape("GetItem", CASE, META, tagged="load-case"), shape("Query", CASE, tagged="load-case")
    elsewhere = shape("Query", ("x", "=", "A"), tagged="load-case", index="G")
    counts = counted(
        (tagged, "web", [9] * 6, 1.0),
        (other, "web", [5] * 6, 1.0),
        (elsewhere, "web", [5] * 6, 1.0),
        (shape("GetItem", CASE, META), "job", [20] * 6, 1.0),
        (shape("DeleteItem", CASE, META, tagged="undeclared"), "job", [1] * 6, 1.0),
    )
    load, delete = table(induce_from(counts))["patterns"]
    assert (load["id"], load["operation"]) == ("load-case", ["GetItem", "Query"])
    assert load["key"] == [{"PK": "CASE#<id>", "SK": "META"}, {"PK": "CASE#<id>"}]
    assert load["callers"] == ["job", "web"]
    assert delete["id"] == "delete-case-meta"


def test_a_batch_of_some_kinds_is_part_of_the_one_of_more(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    note = [CASE, ("SK", "=", "NOTE#<id>")]
    found = draft(shape("BatchGetItem", parts=[[CASE, META]]), shape("BatchGetItem", parts=[[CASE, META], note]))
    (pattern,) = table(found)["patterns"]
    assert pattern["key"] == [{"PK": "CASE#<id>", "SK": "META"}, {"PK": "CASE#<id>", "SK": "NOTE#<id>"}]


def test_a_doubt_of_a_template_stands_at_the_keys_of_its_patterns(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    counts = counted((shape("GetItem", CASE, META), "web", MINUTE, 1.0))
    found = induce(Evidence(counts, doubts={("cases", "META"): "it may vary"}))
    assert [str(one) for one in found.unsure] == ["cases get-case-meta: key: it may vary"]


def test_of_two_that_overlap_the_rarer_is_set_aside(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    one, two = shape("Query", ("PK", "=", "A#<id>")), shape("Query", ("PK", "=", "<id>#B"))
    found = induce_from(counted((one, None, [1], 1.0), (two, None, [9], 1.0)))
    assert [aside.pattern["id"] for aside in found.set_aside] == ["list-a"]


def test_a_rate_that_would_throttle_is_left_out_and_noted(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    found = induce_from(counted((shape("GetItem", ("PK", "=", "CONFIG"), META), None, [90_000] * 6, 1.0)))
    assert "rate" not in table(found)["patterns"][0]
    assert any("no rate" in str(one) and "will throttle" in str(one) for one in found.unsure)


def test_what_was_not_requested_or_not_parsed_is_no_pattern(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    found = induce_from(counted((shape("Query", CASE), None, [0], 1.0), (shape("Query", parsed=False), None, [5], 1.0)))
    assert found == Draft({"version": 1, "tables": []})


def test_a_table_without_sort_key_and_an_operation_of_its_own(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    found = draft(
        shape("Query", ("id", "=", "<id>")), shape("ExecuteStatement", ("id", "=", "<id>"), statement="SELECT")
    )
    assert "sort_key" not in table(found)
    assert sorted(p["id"] for p in table(found)["patterns"]) == ["execute-statement-cases", "list-cases"]


def test_ids_are_told_apart(draft: Callable[..., Draft], shape: Callable[..., Shape]) -> None:
    found = draft(shape("Query", CASE), shape("Query", CASE, filter="a"), shape("Query", CASE, forward=False))
    assert sorted(p["id"] for p in table(found)["patterns"]) == [
        "list-case",
        "list-case-descending",
        "list-case-filtered",
    ]


def test_rare_patterns_beyond_the_bound_are_left_out_and_counted(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    def word(n: int) -> str:
        return "".join(chr(97 + int(digit)) for digit in f"{n:03}")

    found = draft(*(shape("GetItem", ("PK", "=", f"{word(n)}#<id>"), META) for n in range(205)))
    assert (len(table(found)["patterns"]), len(table(found)["entities"])) == (200, 50)
    assert found.left_out == {"cases": 5}
    assert "\n    # 5 rarer ones are left out\n    patterns:\n" in write_contract(found)


@pytest.mark.parametrize(
    ("template", "is_concealed"),
    [
        ("<id>#<id>", True),
        ("begins_with <id>#<id>", True),
        ("USER#<id>", False),
        ("<id>", False),
        ("<a>#<id>#X", False),
    ],
)
def test_the_yaml_says_that_words_of_keys_are_concealed(template: str, *, is_concealed: bool) -> None:
    pattern = {"id": "a", "operation": "GetItem", "key": {"PK": template}}
    document = {"version": 1, "tables": [{"name": "t", "partition_key": "PK", "patterns": [pattern]}]}
    assert ("write them as they are" in write_contract(Draft(document))) is is_concealed


def test_the_yaml_says_what_is_a_guess_and_keeps_what_was_set_aside_as_comment() -> None:
    document = {
        "version": 1,
        "tables": [
            {
                "name": "t",
                "partition_key": "PK",
                "indexes": [{"name": "G", "kind": "gsi", "partition_key": "x"}],
                "patterns": [{"id": "a", "operation": "Query", "index": "G", "key": {"x": "A#<id>"}, "callers": ["w"]}],
            }
        ],
    }
    aside = SetAside("t", {"id": "scan", "operation": "Scan"}, "it scans; do not")
    unsure = (
        Unsure("t", "", "", "partition_key", "no request\nshows it"),
        Unsure("t", "indexes", "G", "partition_key", "a guess"),
        Unsure("t", "patterns", "a", "id", "seen once"),
        Unsure("t", "patterns", "a", "rate", "the field is not there"),
    )
    text = write_contract(Draft(document, (aside,), unsure))
    assert text.splitlines()[3:] == [
        "version: 1",
        "tables:",
        "  - name: t",
        "    partition_key: PK  # unsure: no request shows it",
        "    indexes:",
        "      - name: G",
        "        kind: gsi",
        "        partition_key: x  # unsure: a guess",
        "    patterns:",
        "      - id: a  # unsure: seen once; the field is not there",
        "        operation: Query",
        "        index: G",
        "        key: {x: A#<id>}",
        "        callers: [w]",
        "",
        "# Seen on t, and not declared: it scans; do not",
        "#       - id: scan",
        "#         operation: Scan",
    ]


def known() -> Contract:
    """A contract of one table, with an index, an entity and a pattern, under a name for every stage."""
    table = {
        "name": "ca*",
        "partition_key": "PK",
        "sort_key": "SK",
        "entities": [{"name": "Case", "PK": "CASE#<caseId>", "SK": "META"}],
        "indexes": [{"name": "GSI1", "partition_key": "GSI1PK", "sort_key": "GSI1SK"}],
        "patterns": [
            {"id": "get-case-meta", "operation": "GetItem", "key": {"PK": "CASE#<caseId>", "SK": "META"}},
            {"id": "list-x", "operation": "Query", "key": {"PK": "<a>#X"}},
        ],
    }
    return contract_from({"version": 1, "tables": [table]})


def test_what_is_declared_is_not_drafted_again(counted: Callable[..., Counts], shape: Callable[..., Shape]) -> None:
    counts = counted(
        (shape("GetItem", CASE, META), None, [9], 1.0),
        (shape("DeleteItem", CASE, META), None, [9], 1.0),
        (shape("PutItem", CASE, ("SK", "=", "NOTE#<id>")), None, [9], 1.0),
        (shape("Query", ("GSI1PK", "=", "OPEN"), index="GSI1"), None, [9], 1.0),
        (shape("Query", ("at", "=", "A#<id>"), index="GSI2"), None, [9], 1.0),
        (shape("Query", ("id", "=", "U#<id>"), table="users"), None, [9], 1.0),
    )
    found = induce(Evidence(counts, known=known(), is_undeclared=lambda cell: cell.shape.operation != "GetItem"))
    cases, users = found.document["tables"]
    assert (cases["name"], users["name"]) == ("ca*", "users")
    assert [entity["name"] for entity in cases["entities"]] == ["Note"]
    assert [index["name"] for index in cases["indexes"]] == ["GSI2"]
    assert sorted(p["id"] for p in cases["patterns"]) == [
        "delete-case-meta",
        "list-a",
        "list-open",
        "put-case-note",
    ]


def test_what_no_request_tells_from_what_is_declared_is_set_aside(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    found = induce(Evidence(counted((shape("Query", ("PK", "=", "X#<id>")), None, [9], 1.0)), known=known()))
    assert [aside.pattern["id"] for aside in found.set_aside] == ["list-x-2"]
    assert table(found)["patterns"] == []


def test_a_template_of_another_operator_is_not_the_one_that_was_asked(
    counted: Callable[..., Counts], shape: Callable[..., Shape]
) -> None:
    sort = KeyPredicate("SK", "between", "A#<id> and A#<id>", ("begins_with A#", "between A#<a> and A#<b>"))
    one = replace(shape("Query", CASE), key=(KeyPredicate("PK", "=", "CASE#<id>"), sort))
    (pattern,) = table(induce_from(counted((one, None, [9], 1.0))))["patterns"]
    assert pattern["key"]["SK"] == "between A#<a> and A#<b>"


WORDS = st.sampled_from(
    ["<id>", "<n>", "CASE", "AUDIT", "META", "é", "between", ">", "{x}", "a b", ":", "'", '"', "- "]
)
TEMPLATES = st.lists(WORDS, min_size=1, max_size=3).map("#".join)
OPERATORS = st.sampled_from(["begins_with", ">=", "between", "="])


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    operation = draw(st.sampled_from(["GetItem", "Query", "Scan", "PutItem", "UpdateItem"]))
    operator = draw(OPERATORS) if operation == "Query" else "="
    key = [KeyPredicate("PK", "=", draw(TEMPLATES)), KeyPredicate("SK", operator, draw(TEMPLATES))]
    return Shape(
        fingerprint=draw(st.text("ab", min_size=3, max_size=3)),
        operation=operation,
        table=draw(st.sampled_from(["cases", "users"])),
        index=draw(st.sampled_from([None, "GSI1"])) if operation == "Query" else None,
        key=tuple(key[: draw(st.integers(1, 2))] if operation == "Query" else key),
        scans=operation == "Scan",
        filter=draw(st.sampled_from([None, "a = :v0"])),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(listed=st.lists(shapes(), min_size=1, max_size=8))
def test_what_is_drafted_always_loads_and_passes_check_but_for_scans(
    counted: Callable[..., Counts], listed: list[Shape]
) -> None:
    draft = induce_from(counted(*((one, "web", MINUTE, 1.0) for one in listed)))
    reading = read_text(write_contract(draft), "c.yaml")
    assert reading.faults == ()
    assert {remark.rule for remark in lint(reading.contract) if remark.severity == "fail"} <= {"scan-pattern"}


def test_traffic_is_declared_by_the_contract_that_was_drafted_from_it(
    draft: Callable[..., Draft], shape: Callable[..., Shape]
) -> None:
    asked = [shape("GetItem", CASE, META), shape("Query", CASE, ("SK", "begins_with", "AUDIT#"))]
    contract = read_text(write_contract(draft(*asked)), "c.yaml").contract
    lexicon = contract.lexicon()
    values = {"CASE#<id>": "CASE#7", "META": "META", "AUDIT#": "AUDIT#"}
    for one in asked:
        key = tuple(lexicon.classify("cases", p.attribute, p.operator, (values[p.template],)) for p in one.key)
        seen = Shape(fingerprint="f", operation=one.operation, table="cases", key=key)
        assert attribute(seen, Target(None, None, "cases"), "web", contract).kind is AttributionKind.DECLARED
