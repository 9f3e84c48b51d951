import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.request import Part, RequestRecord
from analyzer.model.shape import KeyPredicate, PartShape
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.shapes import Slot, parts_shape, raw_key, skeleton_of
from analyzer.requests.templates import Template

LEXICON = Lexicon(
    [
        TableKeys(
            name="cases",
            partition_key=("PK",),
            sort_key=("SK",),
            indexes={"GSI1": (("region", "kind"), ("due",))},
            templates={
                "PK": (Template.parse("CASE#<id>"),),
                "SK": (Template.parse("begins_with DUE#"), Template.parse("META")),
            },
        )
    ]
)
CASE = {"PK": {"S": "CASE#4711"}}
CASE_META = {"PK": {"S": "CASE#4711"}, "SK": {"S": "META"}}
CASE_PREDICATE = KeyPredicate("PK", "=", "CASE#<id>", ("CASE#<id>",))
META_PREDICATE = KeyPredicate("SK", "=", "META", ("META",))


def record(op: str = "GetItem", **fields: Any) -> RequestRecord:
    fields.setdefault("table", "cases")
    return RequestRecord(time="2026-11-30T10:00:00Z", op=op, v=1, **fields)


def shapes(request: Any, lexicon: Any = LEXICON, tagged: Any = None) -> Any:
    return [
        parts_shape(request, skeleton.table, lexicon, tagged)
        if skeleton.is_parted
        else skeleton.shape(skeleton.predicates(lexicon, skeleton.values(request)), tagged)
        for skeleton in skeleton_of(request, lexicon)
    ]


def shape(request: Any, lexicon: Any = LEXICON, tagged: Any = None) -> Any:
    (only,) = shapes(request, lexicon, tagged)
    return only


GOLDEN = {
    "get": record(key=CASE_META, consistent=True),
    "query": record(
        "Query",
        key=CASE,
        key_condition="#a = :a AND begins_with(#b, :b)",
        names={"#a": "PK", "#b": "SK", "#c": "state"},
        values={":a": {"S": "CASE#4711"}, ":b": {"S": "DUE#2026"}},
        filter="#c IN (:c, :d) AND size(tags) > :e",
        projection="title, #c",
        forward=False,
        limit=25,
        select="SPECIFIC_ATTRIBUTES",
    ),
    "scan": record("Scan", segment=3, total_segments=8, filter="a = :a"),
    "update": record("UpdateItem", key=CASE_META, update="SET a = :a", condition="attribute_exists(PK)"),
    "statement": record("ExecuteStatement", statement="SELECT * FROM cases WHERE PK = ?"),
    "unparsed": record("Query", key_condition="PK ="),
    "transaction": record("TransactWriteItems", parts=[Part("Put", key=CASE_META), Part("Delete", key=CASE_META)]),
}
FINGERPRINTS = {
    "get": "9632b932ca12fed5",
    "query": "3fa6adcc56128522",
    "scan": "994271a1fdd821a7",
    "update": "b4db72d05bcc9c66",
    "statement": "1c0f90a98a22f45f",
    "unparsed": "167d21b034ce45b8",
    "transaction": "f219d990b210242c",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_fingerprint_never_changes(name: str) -> None:
    assert shape(GOLDEN[name]).fingerprint == FINGERPRINTS[name]


def test_fingerprints_differ() -> None:
    assert len(set(FINGERPRINTS.values())) == len(GOLDEN)


def test_a_query_keeps_operators_filter_projection_direction_and_limit_bucket() -> None:
    found = shape(GOLDEN["query"])
    assert found.key == (CASE_PREDICATE, KeyPredicate("SK", "begins_with", "DUE#<id>", ("begins_with DUE#",)))
    assert (found.filter, found.filter_attributes) == ("size(tags) > ? AND state IN (?)", ("state", "tags"))
    assert found.projection == ("state", "title")
    assert (found.forward, found.limit_bucket, found.select) == (False, 32, "SPECIFIC_ATTRIBUTES")
    assert not found.scans
    assert not found.writes


def test_a_scan_scans_and_may_be_segmented() -> None:
    found = shape(GOLDEN["scan"])
    assert (found.scans, found.segmented, found.filter) == (True, True, "a = ?")


def test_an_update_writes_under_a_condition() -> None:
    found = shape(GOLDEN["update"])
    assert (found.writes, found.update, found.condition) == (True, "SET a = ?", "attribute_exists(PK)")
    assert found.key == (CASE_PREDICATE, META_PREDICATE)


def test_a_tag_makes_a_shape_of_its_own() -> None:
    request = GOLDEN["get"]
    assert shape(request, tagged="load-case").tagged == "load-case"
    assert shape(request, tagged="load-case").fingerprint != shape(request).fingerprint


def test_an_operation_from_the_future_is_kept() -> None:
    assert shape(record("BulkPutItems")).operation == "BulkPutItems"


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("cases", "cases"),
        ("arn:aws:dynamodb:us-east-1:111122223333:table/cases", "cases"),
        ("arn:aws:dynamodb:us-east-1:111122223333:table/cases/index/GSI1", "cases"),
        (None, ""),
    ],
)
def test_an_arn_is_reduced_to_the_name_of_its_table(table: str, name: str) -> None:
    assert shape(record(table=table)).table == name


@pytest.mark.parametrize(("limit", "bucket"), [(None, None), (0, None), (1, 1), (2, 2), (3, 4), (25, 32), (64, 64)])
def test_limits_fall_into_powers_of_two(limit: Any, bucket: Any) -> None:
    assert shape(record("Query", limit=limit)).limit_bucket == bucket


@pytest.mark.parametrize(
    ("fields", "slots", "values"),
    [
        ({"key": CASE_META}, [("PK", "=", ()), ("SK", "=", ())], (("CASE#4711",), ("META",))),
        ({"key": {"PK": {"N": "1.0"}}}, [("PK", "=", ())], (("1",),)),
        ({"key": {"PK": {"BOOL": True}}}, [("PK", "=", ())], (None,)),
        ({}, [], ()),
        (
            {"key_condition": "SK > :s AND PK = :p", "values": {":p": {"S": "a"}, ":s": {"S": "b"}}},
            [("PK", "=", (1,)), ("SK", ">", (0,))],
            (("a",), ("b",)),
        ),
        (
            {"key_condition": "PK = :p AND SK BETWEEN :p AND :s", "values": {":p": {"S": "a"}, ":s": {"S": "b"}}},
            [("PK", "=", (0,)), ("SK", "between", (0, 1))],
            (("a",), ("a", "b")),
        ),
        (
            {"key_condition": "PK = :p AND SK < :s", "key": {"PK": {"S": "k"}}, "values": {":s": {"BOOL": True}}},
            [("PK", "=", (0,)), ("SK", "<", (1,))],
            (("k",), None),
        ),
        ({"key_condition": "PK = :p", "values": {}}, [("PK", "=", (0,))], (None,)),
        ({"key_condition": "PK = :p"}, [("PK", "=", (0,))], (None,)),
    ],
)
def test_slots_tell_where_the_key_values_stand(fields: dict[str, Any], slots: Any, values: Any) -> None:
    request = record("Query", **fields)
    (skeleton,) = skeleton_of(request)
    assert skeleton.slots == tuple(Slot(*slot) for slot in slots)
    assert skeleton.values(request) == values


def test_a_skeleton_serves_every_record_of_its_raw_key() -> None:
    one = record("Query", key_condition="#x = :p and SK < :q", names={"#x": "PK"}, values={":q": {"S": "1"}})
    two = record("Query", key_condition="#pk=:a AND SK<:b", names={"#pk": "PK"}, values={":b": {"S": "2"}})
    assert raw_key(one) == raw_key(two)
    (skeleton,) = skeleton_of(one)
    assert skeleton.values(two) == (None, ("2",))


def test_a_skeleton_that_meets_a_record_of_another_raw_key_knows_no_values() -> None:
    (skeleton,) = skeleton_of(record("Query", key_condition="PK = :a AND SK < :b"))
    assert skeleton.values(record("Query", key_condition="PK = :a", values={":a": {"S": "1"}})) == (("1",), None)
    assert skeleton.values(record("Query", values={":a": {"S": "1"}})) == (None, None)


@pytest.mark.parametrize(
    ("keys", "value", "template"),
    [
        (None, "OTHER#1", "<id>#<n>"),
        ("reveal", "OTHER#1", "<id>#<n>"),
        ("token", "OTHER#~dabcdefgh", "OTHER#<n>"),
        ("template", "OTHER#<n>", "OTHER#<n>"),
    ],
)
def test_literals_of_clear_keys_are_shown_only_where_declared(keys: Any, value: str, template: str) -> None:
    found = shape(record(key={"PK": {"S": value}}, keys=keys))
    assert found.key[0].template == template


@pytest.mark.parametrize(
    "fields",
    [
        {"key_condition": "PK = 'secret'"},
        {"key_condition": "PK <> :a"},
        {"filter": "secret ="},
        {"projection": "secret,"},
        {"condition": "secret"},
        {"update": "secret"},
        {"statement": "SELEC 'secret'"},
    ],
)
def test_what_cannot_be_parsed_is_one_shape_a_table_and_operation(fields: dict[str, Any]) -> None:
    found = shape(record("Query", **fields))
    assert not found.parsed
    assert found == shape(record("Query", update="("))
    assert "secret" not in found.text()


def test_the_table_of_a_statement_is_known_even_where_the_rest_cannot_be_parsed() -> None:
    assert (
        shape(record("ExecuteStatement", table=None, statement='SELECT ? ! FROM "my-cases" WHERE')).table == "my-cases"
    )
    assert shape(record("ExecuteStatement", table=None, statement="nonsense")).table == ""


def test_a_statement_is_read_through_the_declared_keys() -> None:
    request = record(
        "ExecuteStatement",
        table=None,
        statement="SELECT title FROM cases WHERE PK = ? AND begins_with(SK, ?) AND state IN (?, ?) ORDER BY SK DESC",
        values={"?1": {"S": "CASE#1"}, "?2": {"S": "DUE#1"}},
    )
    found = shape(request)
    assert found.key == (CASE_PREDICATE, KeyPredicate("SK", "begins_with", "DUE#<id>", ("begins_with DUE#",)))
    assert (found.filter, found.filter_attributes, found.projection) == ("state IN (?)", ("state",), ("title",))
    assert (found.scans, found.writes, found.forward) == (False, False, False)
    assert found.statement.startswith('SELECT title FROM "cases" WHERE PK = ? AND')


def test_the_values_of_a_list_are_all_those_of_its_parameters() -> None:
    request = record(
        "ExecuteStatement",
        statement="SELECT * FROM cases WHERE a = 'x' AND PK IN (?, ?) AND SK = ?",
        values={"?1": {"S": "CASE#1"}, "?2": {"S": "CASE#2"}, "?3": {"S": "META"}},
    )
    (skeleton,) = skeleton_of(request, LEXICON)
    assert skeleton.values(request) == (("META",), ("CASE#1", "CASE#2"))
    request.values = {"?1": {"S": "CASE#1"}, "?3": {"S": "META"}}
    assert skeleton.values(request) == (("META",), None)


def test_without_declared_keys_those_are_keys_whose_values_the_record_tells() -> None:
    request = record(
        "ExecuteStatement",
        table="other",
        statement="SELECT * FROM other WHERE pk = ? AND state = ?",
        values={"?1": {"S": "x"}},
    )
    found = shape(request)
    assert found.key == (KeyPredicate("pk", "=", "<id>"),)
    assert (found.filter, found.scans) == ("state = ?", False)


def test_without_any_hint_of_the_keys_nothing_is_taken_for_a_filter() -> None:
    found = shape(record("ExecuteStatement", statement="SELECT * FROM other WHERE pk = ? AND state = ?"))
    assert (found.key, found.filter, found.filter_attributes, found.scans, found.parsed) == ((), None, (), False, True)


@pytest.mark.parametrize(
    ("statement", "scans"),
    [
        ("SELECT * FROM other", True),
        ("SELECT * FROM other WHERE a = 1", False),
        ("SELECT * FROM cases", True),
        ("SELECT * FROM cases WHERE state = 'x'", True),
        ("SELECT * FROM cases WHERE SK = 'x'", True),
        ("SELECT * FROM cases WHERE PK = 'x'", False),
        ("SELECT * FROM cases WHERE PK IN ('x', 'y')", False),
        ("SELECT * FROM cases WHERE PK <> 'x'", True),
        ("SELECT * FROM cases.GSI1 WHERE region = 'x'", True),
        ("SELECT * FROM cases.GSI1 WHERE region = 'x' AND kind = 'y'", False),
        ("SELECT * FROM cases.GSI9 WHERE region = 'x'", False),
        ("DELETE FROM cases WHERE PK = 'x'", False),
    ],
)
def test_a_select_scans_where_no_partition_key_is_given(statement: str, *, scans: bool) -> None:
    assert shape(record("ExecuteStatement", statement=statement)).scans is scans


@pytest.mark.parametrize(
    ("statement", "key", "condition", "update"),
    [
        ("INSERT INTO cases VALUE {'PK': ?, 'SK': 'META', 'a': {'b': 1}}", 2, None, None),
        ("UPDATE cases SET a = ? WHERE PK = ? AND SK = 'x' AND v = 3", 2, "v = ?", "SET a = ?"),
        ("DELETE FROM cases WHERE PK = ? AND SK = ?", 2, None, None),
        ("DELETE FROM cases WHERE PK = ? AND (b = 1 AND a = 2)", 1, "a = ? AND b = ?", None),
    ],
)
def test_a_statement_that_writes_has_key_condition_and_update(
    statement: str, key: Any, condition: Any, update: Any
) -> None:
    found = shape(record("ExecuteStatement", statement=statement))
    assert (len(found.key), found.condition, found.update, found.writes) == (key, condition, update, True)
    assert found.filter is None


def test_an_insert_into_an_undeclared_table_has_the_keys_that_the_record_tells() -> None:
    told = record(
        "ExecuteStatement", statement="INSERT INTO other VALUE {'id': ?, 'a': ?, 'b': []}", values={"?1": {"S": "x"}}
    )
    assert shape(told).key == (KeyPredicate("id", "=", "<id>"),)
    keyed = record("ExecuteStatement", statement="INSERT INTO other VALUE {'id': 'x'}", key={"id": {"S": "y#z"}})
    assert shape(keyed).key == (KeyPredicate("id", "=", "<id>#<id>"),)


def test_a_transaction_is_its_distinct_members_table_by_table() -> None:
    request = record(
        "TransactWriteItems",
        names={"#k": "PK"},
        parts=[
            Part("Put", key=CASE_META, condition="attribute_not_exists(#k)"),
            Part("Put", key={"SK": {"S": "META"}, "PK": {"S": "CASE#9"}}, condition="attribute_not_exists(PK)"),
            Part("Update", key={"PK": {"M": {}}}, update="ADD n :one"),
            Part("Delete", table="outbox"),
        ],
    )
    cases, outbox = shapes(request)
    assert cases.parts == (
        PartShape("Put", (CASE_PREDICATE, META_PREDICATE), "attribute_not_exists(PK)"),
        PartShape("Update", (KeyPredicate("PK", "="),), None, "ADD n ?"),
    )
    assert (outbox.table, outbox.parts, outbox.writes) == ("outbox", (PartShape("Delete"),), True)


def test_a_batch_of_any_size_and_order_is_one_shape() -> None:
    members = [Part("Get", key={"PK": {"S": f"CASE#{n}"}, "SK": {"S": "META"}}) for n in range(100)]
    sizes = {shape(record("BatchGetItem", parts=members[:size])) for size in range(1, 100)}
    assert len(sizes) == 1
    mixed = [Part("Put"), Part("Delete"), Part("Put", key=CASE)]
    assert len({shape(record("BatchWriteItem", parts=list(order))) for order in itertools.permutations(mixed)}) == 1


def test_a_batch_of_which_no_member_is_known_is_a_shape_of_its_table() -> None:
    assert shape(record("BatchGetItem", parts=[])).parts == ()


def test_a_batch_of_statements_is_read_statement_by_statement() -> None:
    request = record(
        "BatchExecuteStatement",
        table=None,
        parts=[
            Part("Get", statement="SELECT * FROM cases WHERE PK = 'secret' AND SK = ?"),
            Part("Update", key=CASE_META, statement="UPDATE cases SET a = 1 WHERE PK = ? AND SK = ? AND b = 2"),
            Part("Put", statement="INSERT INTO other VALUE {'id': 1}"),
        ],
    )
    cases, other = shapes(request)
    assert cases.parts == (
        PartShape("Get", (KeyPredicate("PK", "="), KeyPredicate("SK", "="))),
        PartShape("Update", (CASE_PREDICATE, META_PREDICATE), "b = ?", "SET a = ?"),
    )
    assert (cases.writes, other.table, other.writes) == (True, "other", True)


def test_a_batch_with_a_member_that_cannot_be_parsed_is_the_unparsed_shape() -> None:
    found = shape(record("TransactWriteItems", parts=[Part("Put", key=CASE, condition="secret ==")]))
    assert (found.parsed, found.parts, found.writes) == (False, (), True)
    assert found == shape(record("TransactWriteItems", condition="(", key=CASE))


def test_a_record_without_contract_or_names_still_has_a_shape() -> None:
    found = shape(record("Query", table="t", key_condition="PK = :a", filter="#gone = :b"), Lexicon())
    assert (found.filter, found.filter_attributes) == ("# = ?", ())


@given(st.permutations(["a = :1", "b > :2", "contains(c, :3)", "NOT d = :4"]), st.permutations(["x", "y.z", "w"]))
def test_the_order_of_operands_and_attributes_is_no_part_of_a_shape(operands: Any, attributes: Any) -> None:
    request = record("Scan", filter=" AND ".join(operands), projection=", ".join(attributes))
    assert shape(request) == shape(
        record("Scan", filter="a=:1 and b>:2 and contains(c,:3) and not d=:4", projection="w,x,y.z")
    )


@given(st.dictionaries(st.sampled_from(["PK", "SK", "x"]), st.text(alphabet="a1#", max_size=6)))
def test_the_order_in_which_a_key_was_written_is_no_part_of_a_shape(key: Any) -> None:
    values = {name: {"S": text} for name, text in key.items()}
    assert shape(record(key=values)) == shape(record(key=dict(reversed(values.items()))))


def test_a_shape_crosses_a_wall_as_json() -> None:
    found = shape(GOLDEN["transaction"])
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_raw_keys_tell_the_structures_of_batches_apart() -> None:
    keys = {
        raw_key(record("BatchExecuteStatement", parts=[Part("Get", statement=text)]))
        for text in ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 2", "SELECT a FROM t WHERE c = 1")
    }
    assert len(keys) == 2
    assert raw_key(record(parts=[Part("Get")])) != raw_key(record(parts=[Part("Put")]))


def test_a_value_in_the_wrong_quotes_is_in_no_shape_and_the_statement_scans() -> None:
    lexicon = Lexicon([TableKeys(name="cases", partition_key=("PK",), sort_key=("SK",))])
    text = 'SELECT * FROM "cases" WHERE PK = "CASE#canaryzebra"'
    record = RequestRecord(time="", v=1, op="ExecuteStatement", statement=text)
    (skeleton,) = skeleton_of(record, lexicon)
    assert "canaryzebra" not in repr(skeleton)
    assert skeleton.scans
