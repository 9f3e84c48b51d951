"""Calls in the API's own JSON, as clients log them: what is of an unexpected type is not known, and never a crash."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.model.request import Capacity, Consumed, Part, RequestError, RequestRecord, ThrottleReason
from collectors.request_log.decoders import schema
from collectors.request_log.decoders.aws_sdk_js import AwsSdkJsDecoder
from collectors.request_log.decoders.calls import add_answer, error_of, record_of
from collectors.request_log.decoders.capacity import consumed_of
from collectors.request_log.decoders.cloudtrail import CloudTrailDecoder
from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.fields import flag, number, whole
from collectors.request_log.decoders.legacy import modernize
from collectors.request_log.decoders.messages import error_code, masked_message
from collectors.request_log.decoders.opentelemetry import OpenTelemetryDecoder
from collectors.request_log.decoders.schema import DeclaredKeys, KeyNames
from collectors.request_log.decoders.statements import key_of_statement, masked_statement, verb_of
from collectors.request_log.decoders.values import item_bytes, key_of, scalar
from collectors.request_log.decoders.xray import XRayDecoder

if TYPE_CHECKING:
    from collectors.request_log.decoders.seam import Decoder

KEYS = (DeclaredKeys("t", ("pk", "sk")),)


def record(operation: str, request: dict[str, Any], answer: dict[str, Any] | None = None) -> RequestRecord:
    found = record_of(operation, request, 0, KeyNames(KEYS))
    if answer is not None:
        add_answer(found, request, answer)
    return found


class TestValues:
    """Keys are strings, numbers and bytes; what else stands there is no key."""

    @pytest.mark.parametrize(
        ("given_", "expected"),
        [
            ("a", {"S": "a"}),
            (5, {"N": "5"}),
            (5.0, {"N": "5"}),
            (0.5, {"N": "0.5"}),
            ({"S": "a"}, {"S": "a"}),
            ({"N": "5"}, {"N": "5"}),
            ({"N": 5}, {"N": "5"}),
            ({"B": "YQ=="}, {"B": "YQ=="}),
            ({"B": {"type": "Buffer", "data": [97]}}, {"B": "YQ=="}),
            ({"B": {"0": 97}}, {"B": "YQ=="}),
            ({"B": [97]}, {"B": "YQ=="}),
            ({"B": [300]}, None),
            ({"B": 1}, None),
            ({"S": 1}, None),
            ({"N": []}, None),
            ({"N": True}, None),
            ({"SS": ["a"]}, None),
            ({"a": 1, "b": 2}, None),
            ({}, None),
            (True, None),
            (None, None),
            ([], None),
            (float("inf"), None),
        ],
    )
    def test_a_scalar_typed_or_plain_is_an_attribute_value(self, given_: object, expected: object) -> None:
        assert scalar(given_) == expected

    def test_a_key_is_known_whole_or_not_at_all(self) -> None:
        assert key_of({"pk": "a", "sk": 1}) == {"pk": {"S": "a"}, "sk": {"N": "1"}}
        assert [key_of(each) for each in ({"pk": "a", "sk": None}, {}, None, "a")] == [None] * 4

    @pytest.mark.parametrize(
        ("item", "size"),
        [
            ({"a": {"S": "hé"}}, 4),
            ({"a": "hé"}, 4),
            ({"a": {"N": "-12.50"}}, 5),
            ({"a": -12.5}, 5),
            ({"a": {"BOOL": True}, "b": {"NULL": True}}, 4),
            ({"a": True, "b": None}, 4),
            ({"a": {"B": "YWJj"}}, 4),
            ({"a": {"L": [{"S": "x"}, {"N": "1"}]}}, 9),
            ({"a": ["x", 1]}, 9),
            ({"a": {"M": {"k": {"S": "v"}}}}, 7),
            ({"a": {"k": "v"}}, 7),
            ({"a": {"SS": ["ab", "c"]}}, 4),
            ({"a": {"BS": [0, "YWJj"]}}, 4),
            ({"a": {"B": 5}}, 8),
        ],
    )
    def test_an_item_weighs_what_dynamodb_stores(self, item: dict[str, Any], size: int) -> None:
        assert item_bytes(item) == size

    def test_fields_of_another_type_are_not_known(self) -> None:
        assert [*map(whole, ("5", 5.0, 5.5, "x", -1, True))] == [5, 5, None, None, None, None]
        assert [*map(number, ("2.5", float("nan"), 2.0**41, []))] == [2.5, None, None, None]
        assert [*map(flag, ("True", False, "yes", 1))] == [True, False, None, None]


class TestCapacity:
    """ConsumedCapacity as DynamoDB answers it."""

    def test_what_is_split_stays_split(self) -> None:
        told = {
            "TableName": "t",
            "CapacityUnits": 3,
            "ReadCapacityUnits": 1,
            "WriteCapacityUnits": 2,
            "Table": {"CapacityUnits": 1},
            "GlobalSecondaryIndexes": {"g": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 0}},
            "LocalSecondaryIndexes": {"l": {"CapacityUnits": 0.5}, "broken": []},
        }
        assert consumed_of(told) == Consumed(3, 1, 2, table=1, indexes={"g": Capacity(1, 0), "l": 0.5})

    def test_several_tables_are_told_apart_and_summed(self) -> None:
        told = [
            {"TableName": "a", "CapacityUnits": 1},
            {"TableName": "arn:aws:dynamodb:r:1:table/b", "CapacityUnits": 2},
        ]
        assert consumed_of(told) == Consumed(3, by_table={"a": Consumed(1), "b": Consumed(2)})
        assert consumed_of([{}, {}]) is None

    @pytest.mark.parametrize("told", [None, [], {}, "x", [None], [{"TableName": "t"}], {"CapacityUnits": "x"}])
    def test_nothing_told_is_nothing_known(self, told: object) -> None:
        assert consumed_of(told) is None


class TestBatchesAndTransactions:
    """Members in their order."""

    def test_what_was_handed_back_is_known_by_position(self) -> None:
        keys = [{"pk": {"S": name}, "sk": {"S": "x"}} for name in "abc"]
        request = {"RequestItems": {"t": {"Keys": keys, "ConsistentRead": True}, "u": {"Keys": keys[:1]}}}
        back = {"UnprocessedKeys": {"t": {"Keys": [keys[2], keys[0]]}}, "Responses": {"t": [{}], "u": [{}, {}]}}
        found = record("BatchGetItem", request, back)
        assert (found.unprocessed, found.handed_back, found.count) == (2, [0, 2], 3)
        assert (found.table, found.consistent) == (None, True)
        stranger = {"UnprocessedKeys": {"t": {"Keys": [{"pk": {"S": "z"}}]}}}
        other = record("BatchGetItem", request, stranger)
        assert (other.unprocessed, other.handed_back) == (1, None)
        silent = record("BatchGetItem", request, {})
        assert (silent.unprocessed, silent.handed_back, silent.count) == (None, None, 0)

    def test_writes_of_a_batch_are_puts_and_deletes(self) -> None:
        item = {"pk": "a", "sk": "b", "n": 1}
        request = {
            "RequestItems": {
                "t": [{"PutRequest": {"Item": item}}, {"DeleteRequest": {"Key": {"pk": "a", "sk": "b"}}}, {}]
            }
        }
        key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
        found = record("BatchWriteItem", request, {"UnprocessedItems": {}})
        assert found.parts == [Part("Put", "t", key, item_bytes=9), Part("Delete", "t", key), Part("Put", "t")]
        assert (found.unprocessed, found.handed_back) == (0, None)

    def test_members_of_a_transaction_keep_their_names_apart(self) -> None:
        def member(kind: str, name: str) -> dict[str, Any]:
            return {kind: {"TableName": "t", "Key": {"pk": "a", "sk": "b"}, "UpdateExpression": "SET #a = :v, #ab = :w",
                           "ExpressionAttributeNames": {"#a": name, "#ab": "x", "#n": 5}}}  # fmt: skip

        found = record(
            "TransactWriteItems", {"TransactItems": [member("Update", "p"), member("Update", "q"), {"Odd": 1}]}
        )
        assert found.parts is not None
        assert [part.update for part in found.parts] == ["SET #a = :v, #ab = :w", "SET #a_ = :v, #a_b = :w"]
        assert found.names == {"#a": "p", "#ab": "x", "#a_": "q"}

    def test_statements_of_a_batch_have_their_keys(self) -> None:
        statements = [
            {"Statement": 'SELECT * FROM "t" WHERE pk = ? AND "sk" = ?', "Parameters": [{"S": "a"}, {"N": "1"}]},
            {"Statement": "UPDATE t SET n = 5 WHERE pk = 'it''s' AND sk = -1.5"},
            {"Statement": "DELETE FROM t"},
            {},
        ]
        for name in ("Statements", "TransactStatements"):
            found = record("BatchExecuteStatement", {name: statements})
            assert found.parts is not None
            assert [(part.op, part.key, part.statement) for part in found.parts] == [
                ("Get", {"pk": {"S": "a"}, "sk": {"N": "1"}}, 'SELECT * FROM "t" WHERE pk = ? AND "sk" = ?'),
                ("Update", {"pk": {"S": "it's"}, "sk": {"N": "-1.5"}}, "UPDATE t SET n = ? WHERE pk = ? AND sk = ?"),
                ("Delete", None, "DELETE FROM t"),
                ("Get", None, ""),
            ]
        assert record("ExecuteTransaction", {}).parts is None


class TestStatements:
    """PartiQL."""

    def test_a_statement_is_masked_and_its_items_are_counted(self) -> None:
        request = {"Statement": "SELECT a1 FROM t WHERE pk = 'a' AND x > 1e3", "NextToken": "n"}
        found = record("ExecuteStatement", request, {"Items": [{}, {}], "NextToken": "m"})
        assert (found.statement, found.key) == ("SELECT a1 FROM t WHERE pk = ? AND x > ?", {"pk": {"S": "a"}})
        assert (found.count, found.resumed, found.more) == (2, True, True)
        assert record("ExecuteStatement", request, {}).count is None

    @pytest.mark.parametrize(
        ("statement", "parameters"),
        [
            ("SELECT * FROM other WHERE pk = 'a'", []),
            ("SELECT * FROM t", []),
            ("SELECT * FROM t WHERE pk = ?", []),
            ("SELECT * FROM t WHERE pk > 'a' AND x = 5", []),
            ('SELECT * FROM t WHERE pk = "sk"', []),
            ("nonsense", []),
            ("", []),
        ],
    )
    def test_what_binds_no_key_has_none(self, statement: str, parameters: list[Any]) -> None:
        assert key_of_statement(statement, parameters, KeyNames(KEYS)) is None
        assert isinstance(verb_of(statement) + masked_statement(statement), str)


class TestLegacyParameters:
    """What was asked before there were expressions is asked in expressions."""

    def test_every_operator_has_its_expression(self) -> None:
        def condition(operator: str, *operands: str) -> dict[str, Any]:
            return {"ComparisonOperator": operator, "AttributeValueList": [{"S": one} for one in operands]}

        modern = modernize(
            {
                "TableName": "t",
                "KeyConditions": {"sk": condition("BEGINS_WITH", "o"), "pk": condition("EQ", "a")},
                "QueryFilter": {
                    "a": condition("IN", "1", "2"),
                    "b": condition("BETWEEN", "1", "2"),
                    "c": condition("NULL"),
                    "d": condition("NOT_NULL"),
                    "e": condition("CONTAINS", "x"),
                    "f": condition("NOT_CONTAINS", "x"),
                    "g": condition("GE", "x"),
                },
                "ConditionalOperator": "OR",
                "Expected": {"v": {"Value": {"N": "1"}}, "w": {"Exists": False}},
                "AttributesToGet": ["n", "m", 5],
                "AttributeUpdates": {
                    "a": {"Value": {"N": "1"}, "Action": "ADD"},
                    "b": {"Value": {"N": "1"}},
                    "c": {"Action": "DELETE"},
                },
            }
        )
        assert modern["KeyConditionExpression"] == "#k0 = :k0 AND begins_with(#k1, :k1)"
        assert modern["FilterExpression"] == (
            "#f0 IN (:f0_0, :f0_1) OR #f1 BETWEEN :f1_0 AND :f1_1 OR attribute_not_exists(#f2) OR attribute_exists(#f3)"
            " OR contains(#f4, :f4) OR NOT contains(#f5, :f5) OR #f6 >= :f6"
        )
        assert modern["ConditionExpression"] == "#c0 = :c0 OR attribute_not_exists(#c1)"
        assert modern["ProjectionExpression"] == "#p0, #p1"
        assert modern["UpdateExpression"] == "ADD #u0 :u0 SET #u1 = :u1 REMOVE #u2"
        assert modern["ExpressionAttributeValues"][":k0"] == {"S": "a"}
        assert "KeyConditions" not in modern

    def test_a_record_knows_no_difference(self) -> None:
        conditions = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}
        found = record("Query", {"TableName": "t", "KeyConditions": conditions})
        assert (found.key_condition, found.values, found.names) == ("#k0 = :k0", {":k0": {"S": "a"}}, {"#k0": "pk"})


class TestErrors:
    """Codes and messages, without values."""

    def test_throttles_name_their_reasons_however_they_are_spelt(self) -> None:
        arn = "arn:aws:dynamodb:us-east-1:1:table/t"
        told = [{"reason": "TableReadKeyRangeThroughputExceeded", "resource": arn}, {"resource": arn}, "x"]
        for name in ("ThrottlingReasons", "throttlingReasons"):
            found = error_of({"code": "com.amazonaws.dynamodb.v20120810#ThrottlingException", name: told}, {})
            assert found == RequestError(
                "ThrottlingException", reasons=[ThrottleReason("TableReadKeyRangeThroughputExceeded", arn)]
            )

    def test_a_code_is_a_word_or_none(self) -> None:
        codes = ["a.b$TimeoutError", "", "not a code", 5, "model.RequestLimitExceededException"]
        assert [error_code(code) for code in codes] == ["TimeoutError", None, None, None, "RequestLimitExceeded"]
        assert error_of({"__type": "x#BadException"}, {}).code == "BadException"
        assert error_of({"message": 5}, {}) == RequestError("Error")

    def test_values_of_the_request_leave_its_message(self) -> None:
        request = {
            "Key": {"pk": {"S": "ann"}, "sk": {"S": "ab"}},
            "ExpressionAttributeValues": {":v": {"L": [{"S": "deep value"}]}},
        }
        message = "item of ann with deep value in ab is absent, 'x', user@host"
        assert error_of({"name": "E", "message": message}, request).message == "item of ? with ? in ? is absent, ?"

    def test_of_a_long_message_no_word_is_cut_in_two(self) -> None:
        assert masked_message("words and " * 99 + "secretvalue", ["words", "and", "secretvalue"]) == "?"
        assert "secret" not in (masked_message("x" * 995 + " secretvalue", ["secretvalue"]) or "")

    def test_a_request_of_too_many_values_has_no_message(self) -> None:
        assert masked_message("m", [f"value{number}" for number in range(500)]) is None


def test_a_read_over_indexes_without_consistency_says_nothing_of_it() -> None:
    assert record("BatchGetItem", {"RequestItems": {"t": {"Keys": []}}}).consistent is None
    assert (
        record(
            "TransactGetItems", {"TransactItems": [{"Get": {"TableName": "t", "Key": {"pk": "a", "sk": "b"}}}]}
        ).table
        == "t"
    )


def test_an_arn_tells_table_account_and_region() -> None:
    found = record("GetItem", {"TableName": "arn:aws:dynamodb:eu-west-1:111122223333:table/t"})
    assert (found.table, found.account, found.region) == ("t", "111122223333", "eu-west-1")


def test_a_token_of_the_applications_own_is_noted() -> None:
    assert record("TransactWriteItems", {"ClientRequestToken": "x", "TransactItems": []}).token_sent is True


def test_keys_are_learnt_once_and_a_table_of_the_exact_name_goes_before_a_glob() -> None:
    names = KeyNames((DeclaredKeys("o*", ("a",)), DeclaredKeys("orders", ("b",)), DeclaredKeys("x*", ())))
    names.learn("orders", ["c"])
    names.learn("xs", ["one", "two", "three"])
    names.learn("xs", ["d"])
    names.learn("xs", ["e"])
    names.learn(None, ["f"])
    assert [names.of(table) for table in ("orders", "others", "xs", "unheard", None)] == [
        ("b",),
        ("a",),
        ("d",),
        (),
        (),
    ]
    assert names.index_keys_in(None, {}) is None


def test_memory_of_keys_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_MOST_TABLES", 1)
    names = KeyNames()
    names.learn("a", ["x"])
    names.learn("b", ["x"])
    assert (names.of("a"), names.of("b")) == (("x",), ())


NAMES = """
    TableName Key Item RequestItems Keys PutRequest TransactItems Put Statement S N KeyConditions Expected
    AttributeUpdates ExpressionAttributeNames KeyConditionExpression Items Count ConsumedCapacity UnprocessedKeys
    Responses error name message aws key
"""
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JUNK: st.SearchStrategy[Any] = st.recursive(
    SCALARS | st.sampled_from(["", "t", "x y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES.split()), inner, max_size=4),
    max_leaves=15,
)
AT = "2026-11-30T10:00:00Z"
OPERATIONS = ["Query", "PutItem", "BatchGetItem", "BatchWriteItem", "TransactWriteItems", "ExecuteStatement"]


def entries(junk: object, more: object, operation: str) -> list[tuple[Decoder, dict[str, Any]]]:
    sdk = {"time": AT, "clientName": "DynamoDBClient", "commandName": f"{operation}Command"}
    trail = {"eventSource": "dynamodb.amazonaws.com", "eventName": operation, "eventTime": AT}
    attributes = {"db.system": "dynamodb", "db.operation": operation, "aws.dynamodb.table_names": junk}
    span = {"name": "DynamoDB.x", "kind": 3, "start_time": AT}
    segment = {"id": "1", "name": "dynamodb", "start_time": 1, "end_time": 2}
    aws = {"operation": operation, "table_names": junk, "consumed_capacity": more}
    return [
        (AwsSdkJsDecoder(), sdk | {"input": junk, "output": more, "error": junk, "metadata": more}),
        (CloudTrailDecoder(), trail | {"requestParameters": junk, "resources": more, "userIdentity": junk}),
        (CloudTrailDecoder(), trail | {"requestParameters": {"requestItems": junk}, "errorCode": more}),
        (OpenTelemetryDecoder(), span | {"attributes": attributes, "status": junk, "events": more, "resource": junk}),
        (XRayDecoder(), segment | {"aws": aws, "http": junk, "cause": more, "subsegments": junk}),
    ]


@given(junk=JUNK, more=JUNK, operation=st.sampled_from(OPERATIONS))
def test_whatever_stands_in_a_log_no_decoder_falls_over_it(junk: object, more: object, operation: str) -> None:
    for decoder, value in entries(junk, more, operation):
        decoded = decode(decoder, json.dumps(value).encode())
        assert decoded.lines.count(b"\n") + sum(decoded.bad.values()) + decoded.others >= 1
