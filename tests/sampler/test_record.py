"""What a record says of each operation. Tokens are written here as their shape, so that a test looks like the log."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError
from dynascope_sampler.record import Call, build
from dynascope_sampler.schema import Schema

from tests.sampler.stub_dynamodb import CUT, StubDynamoDB, failure

if TYPE_CHECKING:
    from tests.sampler.conftest import Log

CASE = {"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}
ITEM = {**CASE, "GSI1PK": {"S": "INV#7"}, "GSI1SK": {"S": "DUE#1"}, "version": {"N": "3"}}
UNITS = {"TableName": "cases", "CapacityUnits": 3.0, "Table": {"CapacityUnits": 2.0}}
INDEX_UNITS = {**UNITS, "GlobalSecondaryIndexes": {"GSI1": {"CapacityUnits": 1.0}}}


def shaped(value: Any) -> Any:
    """Replace tokens by `~k` or `~d`."""
    if isinstance(value, dict):
        return {name: shaped(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shaped(inner) for inner in value]
    return re.sub(r"~([kd])[a-z2-7]{8}", r"~\1", value) if isinstance(value, str) else value


def said(record: dict[str, Any], *fields: str) -> dict[str, Any]:
    """Return the named fields of a record, None where they are absent."""
    return {field: shaped(record.get(field)) for field in fields}


def test_get_tells_key_count_size_and_how_it_went(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Item": ITEM, "ConsumedCapacity": UNITS}
    log.start().get_item(TableName="cases", Key=CASE, ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
    record = log.record()
    assert said(record, "v", "op", "table", "region", "caller", "keys", "key", "count", "consistent", "attempts") == {
        "v": 1,
        "op": "GetItem",
        "table": "cases",
        "region": "us-east-1",
        "caller": "tests",
        "keys": "token",
        "key": {"PK": {"S": "CASE#~d"}, "SK": {"S": "META"}},
        "count": 1,
        "consistent": True,
        "attempts": 1,
    }
    assert record["consumed"] == {"total": 3.0, "table": 2.0}
    assert record["item_bytes"] == 2 + 6 + 2 + 4 + 6 + 5 + 6 + 5 + 7 + 2
    assert record["latency_ms"] > 0
    assert record["returned_bytes"] > 100
    assert record["request_id"] == "R1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["time"])
    assert "sample_rate" not in record


def test_a_missing_item_counts_zero(log: Log) -> None:
    log.start().get_item(TableName="cases", Key=CASE)
    assert said(log.record(), "count", "item_bytes", "error") == {"count": 0, "item_bytes": None, "error": None}


def test_query_of_an_index_tells_condition_bound_key_and_what_came_back(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {
        "Items": [ITEM],
        "Count": 1,
        "ScannedCount": 40,
        "LastEvaluatedKey": CASE,
        "ConsumedCapacity": INDEX_UNITS,
    }
    log.start().query(
        TableName="cases",
        IndexName="GSI1",
        KeyConditionExpression="#a = :a AND begins_with(#b, :b)",
        FilterExpression="#s = :s",
        ProjectionExpression="#a",
        ExpressionAttributeNames={"#a": "GSI1PK", "#b": "GSI1SK", "#s": "status"},
        ExpressionAttributeValues={":a": {"S": "INV#7"}, ":b": {"S": "DUE#"}, ":s": {"S": "OPEN"}},
        Limit=40,
        ScanIndexForward=False,
        ExclusiveStartKey=CASE,
        ReturnConsumedCapacity="INDEXES",
    )
    record = log.record()
    assert said(record, "index", "key_condition", "filter", "projection", "names", "values", "key") == {
        "index": "GSI1",
        "key_condition": "#0 = :0 AND begins_with(#1, :1)",
        "filter": "#2 = :2",
        "projection": "#0",
        "names": {"#0": "GSI1PK", "#1": "GSI1SK", "#2": "status"},
        "values": {":0": {"S": "~k#~d"}, ":1": {"S": "~k#"}},
        "key": {"GSI1PK": {"S": "~k#~d"}},
    }
    assert said(record, "count", "scanned", "more", "resumed", "limit", "forward") == {
        "count": 1,
        "scanned": 40,
        "more": True,
        "resumed": True,
        "limit": 40,
        "forward": False,
    }
    assert record["consumed"] == {"total": 3.0, "table": 2.0, "indexes": {"GSI1": 1.0}}
    assert shaped(record["returned"]) == [{"key": "CASE#~d\tMETA", "version": "~d"}]


def test_scan_tells_its_segment_and_no_key(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Items": [], "Count": 0, "ScannedCount": 9}
    log.start().scan(TableName="cases", Segment=2, TotalSegments=4, Select="COUNT")
    assert said(log.record(), "segment", "total_segments", "select", "scanned", "more", "resumed", "key") == {
        "segment": 2,
        "total_segments": 4,
        "select": "COUNT",
        "scanned": 9,
        "more": False,
        "resumed": False,
        "key": None,
    }


def test_the_key_of_an_item_put_comes_from_the_schema(log: Log) -> None:
    log.start().put_item(
        TableName="cases",
        Item={**ITEM, "expiresAt": {"N": "1999999999"}},
        ConditionExpression="attribute_not_exists(PK)",
    )
    assert said(log.record(), "key", "index_keys", "condition", "ttl_seen") == {
        "key": {"PK": {"S": "CASE#~d"}, "SK": {"S": "META"}},
        "index_keys": {"GSI1": {"GSI1PK": {"S": "~k#~d"}, "GSI1SK": {"S": "~k#~d"}}},
        "condition": "attribute_not_exists(PK)",
        "ttl_seen": {"attribute": "expiresAt", "value": {"N": "1999999999"}},
    }


def test_an_item_that_lacks_an_index_key_is_in_no_index(log: Log) -> None:
    log.start().put_item(TableName="cases", Item={**CASE, "GSI1PK": {"S": "INV#7"}})
    assert "index_keys" not in log.record()


def test_expired_items_that_were_returned_are_counted(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Items": [{"expiresAt": {"N": "5"}}, {"expiresAt": {"N": "9999999999"}}]}
    log.start().scan(TableName="cases")
    assert log.record()["ttl_seen"] == {"attribute": "expiresAt", "expired_returned": 1}


def test_update_tells_index_keys_where_it_sets_them_in_full(log: Log) -> None:
    client = log.start()
    client.update_item(
        TableName="cases",
        Key=CASE,
        UpdateExpression="SET GSI1PK = :p, #s = :s REMOVE closedAt",
        ExpressionAttributeNames={"#s": "GSI1SK"},
        ExpressionAttributeValues={":p": {"S": "INV#8"}, ":s": {"S": "DUE#2"}},
    )
    client.update_item(
        TableName="cases",
        Key=CASE,
        UpdateExpression="SET GSI1PK = if_not_exists(GSI1PK, :p)",
        ExpressionAttributeValues={":p": {"S": "INV#8"}},
    )
    full, computed = log.records()
    assert shaped(full["index_keys"]) == {"GSI1": {"GSI1PK": {"S": "~k#~d"}, "GSI1SK": {"S": "~k#~d"}}}
    assert full["update"] == "SET GSI1PK = :0, #0 = :1 REMOVE closedAt"
    assert "index_keys" not in computed
    assert "item_bytes" not in full


def test_key_schema_is_learnt_from_other_calls(log: Log) -> None:
    client = log.start(schema=None)
    client.put_item(TableName="cases", Item=ITEM)
    client.delete_item(TableName="cases", Key=CASE)
    client.put_item(TableName="cases", Item=ITEM)
    before, _, after = log.records()
    assert "key" not in before
    assert shaped(after["key"]) == {"PK": {"S": "~k#~d"}, "SK": {"S": "~k"}}
    assert log.stats.key_unknown == 1


def test_a_refused_key_teaches_nothing(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start(schema=None)
    dynamodb.script = [failure("ValidationException", "The provided key element does not match the schema")]
    with pytest.raises(ClientError):
        client.get_item(TableName="cases", Key={"wrong": {"S": "a"}})
    client.put_item(TableName="cases", Item={"wrong": {"S": "a"}})
    assert "key" not in log.records()[1]


def test_describe_table_of_the_application_teaches_the_schema(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start(schema=None)
    dynamodb.script = [{"Table": DESCRIBED}]
    client.describe_table(TableName="cases")
    client.put_item(TableName="cases", Item=ITEM)
    assert shaped(log.record()["index_keys"]) == {"GSI1": {"GSI1PK": {"S": "~k#~d"}, "GSI1SK": {"S": "~k#~d"}}}


@pytest.mark.parametrize("on_client", [True, False])
def test_one_describe_table_in_the_background_where_that_is_allowed(
    log: Log, dynamodb: StubDynamoDB, *, on_client: bool
) -> None:
    asked = threading.Event()

    def answer(operation: str, _body: Any) -> Any:
        if operation == "DescribeTable":
            asked.set()
            return {"Table": DESCRIBED}
        return {}

    dynamodb.answer = answer
    client = log.start(schema=None, describe=True, on_client=on_client)
    client.put_item(TableName="cases", Item=ITEM)
    assert asked.wait(10)
    for thread in threading.enumerate():
        if thread.name == "dynascope-describe":
            thread.join(10)
    client.put_item(TableName="cases", Item=ITEM)
    before, after = log.records()
    assert "key" not in before
    assert shaped(after["key"]) == {"PK": {"S": "~k#~d"}, "SK": {"S": "~k"}}
    assert [operation for operation, _ in dynamodb.requests].count("DescribeTable") == 1


def test_batch_get_tells_parts_and_what_was_handed_back(log: Log, dynamodb: StubDynamoDB) -> None:
    keys = [{"PK": {"S": f"CASE#{n}"}, "SK": {"S": "META"}} for n in range(3)]
    dynamodb.answer = lambda *_: {
        "Responses": {"cases": [ITEM]},
        "UnprocessedKeys": {"cases": {"Keys": [keys[2], keys[0]]}},
        "ConsumedCapacity": [UNITS],
    }
    log.start().batch_get_item(RequestItems={"cases": {"Keys": keys, "ConsistentRead": True}})
    record = log.record()
    assert said(record, "table", "unprocessed", "handed_back", "count", "consistent", "consumed") == {
        "table": "cases",
        "unprocessed": 2,
        "handed_back": [0, 2],
        "count": 1,
        "consistent": True,
        "consumed": {"total": 3.0, "table": 2.0},
    }
    assert (
        shaped(record["parts"])
        == [{"op": "Get", "table": "cases", "key": {"PK": {"S": "CASE#~d"}, "SK": {"S": "META"}}}] * 3
    )


def test_batch_write_over_two_tables_is_one_record(log: Log, dynamodb: StubDynamoDB) -> None:
    put = {"PutRequest": {"Item": ITEM}}
    dynamodb.answer = lambda *_: {
        "UnprocessedItems": {"cases": [put]},
        "ConsumedCapacity": [UNITS, {"TableName": "audit", "CapacityUnits": 1.0}],
    }
    log.start().batch_write_item(
        RequestItems={"audit": [{"DeleteRequest": {"Key": {"id": {"N": "5"}}}}], "cases": [put]}
    )
    record = log.record()
    assert "table" not in record
    assert [(part["op"], part["table"]) for part in record["parts"]] == [("Delete", "audit"), ("Put", "cases")]
    assert shaped(record["parts"][0]["key"]) == {"id": {"S": "~d"}}
    assert record["parts"][1]["item_bytes"] > 0
    assert record["handed_back"] == [1]
    assert record["consumed"] == {
        "total": 4.0,
        "by_table": {"cases": {"total": 3.0, "table": 2.0}, "audit": {"total": 1.0}},
    }


def test_a_cancelled_transaction_tells_why_by_position(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    dynamodb.script = [
        failure(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons [None, Cond]",
            CancellationReasons=[{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "CASE#1"}],
        )
    ]
    with pytest.raises(ClientError):
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": "cases", "Item": ITEM}},
                {
                    "Update": {
                        "TableName": "cases",
                        "Key": CASE,
                        "UpdateExpression": "SET #a = :a",
                        "ConditionExpression": "#a = :b",
                        "ExpressionAttributeNames": {"#a": "status"},
                        "ExpressionAttributeValues": {":a": {"S": "x"}, ":b": {"S": "y"}},
                    }
                },
            ],
            ClientRequestToken="mine",
        )
    record = log.record()
    assert record["error"]["cancellation"] == [None, "ConditionalCheckFailed"]
    assert record["token_sent"] is True
    assert said(record, "table", "names") == {"table": "cases", "names": {"#0": "status"}}
    assert record["parts"][1]["update"] == "SET #0 = :0"
    assert record["parts"][1]["condition"] == "#0 = :1"
    assert shaped(record["parts"][0]["key"]) == {"PK": {"S": "CASE#~d"}, "SK": {"S": "META"}}


def test_a_token_that_botocore_made_up_is_none_of_the_applications(log: Log) -> None:
    log.start().transact_write_items(TransactItems=[{"Delete": {"TableName": "cases", "Key": CASE}}])
    assert "token_sent" not in log.record()


def test_names_that_clash_between_parts_are_told_apart(log: Log) -> None:
    def check(attribute: str) -> dict[str, Any]:
        return {
            "ConditionCheck": {
                "TableName": "cases",
                "Key": CASE,
                "ConditionExpression": "attribute_exists(#a)",
                "ExpressionAttributeNames": {"#a": attribute},
            }
        }

    log.start().transact_write_items(TransactItems=[check("status"), check("owner")])
    record = log.record()
    assert record["names"] == {"#0": "status", "#1": "owner"}
    assert [part["condition"] for part in record["parts"]] == ["attribute_exists(#0)", "attribute_exists(#1)"]


def test_failed_tries_tell_time_and_reason(log: Log, dynamodb: StubDynamoDB) -> None:
    log.start()
    arn = "arn:aws:dynamodb:us-east-1:111122223333:table/cases"
    reason = {"reason": "TableReadKeyRangeThroughputExceeded", "resource": arn}
    dynamodb.script = [
        failure("ProvisionedThroughputExceededException", ThrottlingReasons=[reason]),
        CUT,
        failure("InternalServerError", status=500),
    ]
    log.client(attempts=5).get_item(TableName="cases", Key=CASE)
    record = log.record()
    assert record["attempts"] == 4
    assert "error" not in record
    assert [(failed["code"], failed.get("reason")) for failed in record["tries"]] == [
        ("ProvisionedThroughputExceededException", "TableReadKeyRangeThroughputExceeded"),
        ("ConnectionClosedError", None),
        ("InternalServerError", None),
    ]
    assert [failed.get("resource") for failed in record["tries"]] == [arn, None, None]
    times = [failed["at_ms"] for failed in record["tries"]]
    assert times == sorted(times)
    assert times[-1] <= record["latency_ms"]


def test_a_throttle_in_the_end_tells_its_reasons_in_either_spelling(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    reasons = [{"reason": "IndexWriteMaxOnDemandThroughputExceeded", "resource": "arn:x"}]
    dynamodb.script = [failure("ThrottlingException", throttlingReasons=reasons)]
    with pytest.raises(ClientError):
        client.put_item(TableName="cases", Item=ITEM)
    record = log.record()
    assert record["error"]["reasons"] == reasons
    assert record["tries"][0]["reason"] == "IndexWriteMaxOnDemandThroughputExceeded"
    assert "consumed" not in record


def test_a_call_without_an_answer_is_a_record_without_a_message(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    dynamodb.script = [CUT]
    with pytest.raises(Exception, match="Connection was closed"):
        client.get_item(TableName="cases", Key=CASE)
    record = log.record()
    assert record["error"] == {"code": "ConnectionClosedError"}
    assert record["attempts"] == 1
    assert "count" not in record


def test_statements_keep_their_shape_and_the_positions_of_keys(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Items": [ITEM], "NextToken": "n"}
    log.start().execute_statement(
        Statement='SELECT * FROM "cases"."GSI1" WHERE amount > 10 AND GSI1PK = \'INV#7\' AND begins_with(GSI1SK, ?)',
        Parameters=[{"S": "DUE#"}],
    )
    assert said(log.record(), "statement", "table", "index", "key", "values", "count", "more", "resumed") == {
        "statement": 'SELECT * FROM "cases"."GSI1" WHERE amount > ? AND GSI1PK = ? AND begins_with(GSI1SK, ?)',
        "table": "cases",
        "index": "GSI1",
        "key": {"GSI1PK": {"S": "~k#~d"}},
        "values": {"?2": {"S": "~k#~d"}, "?3": {"S": "~k#"}},
        "count": 1,
        "more": True,
        "resumed": False,
    }


def test_a_batch_of_statements_tells_the_throttled_and_the_failed(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {
        "Responses": [
            {"Error": {"Code": "ThrottlingError", "Message": "slow"}},
            {"Error": {"Code": "DuplicateItem", "Message": "CASE#1"}},
            {"Item": ITEM},
        ]
    }
    log.start().batch_execute_statement(
        Statements=[
            {"Statement": "SELECT * FROM cases WHERE PK='CASE#1' AND SK='META'"},
            {"Statement": "INSERT INTO cases VALUE {'PK': 'CASE#1', 'SK': ?}", "Parameters": [{"S": "META"}]},
            {"Statement": "DELETE FROM cases WHERE PK='CASE#1' AND SK='META'"},
        ]
    )
    record = log.record()
    assert said(record, "unprocessed", "handed_back", "count", "table") == {
        "unprocessed": 1,
        "handed_back": [0],
        "count": 1,
        "table": "cases",
    }
    assert record["error"] == {"code": "DuplicateItem", "cancellation": ["ThrottlingError", "DuplicateItem", None]}
    assert [part["op"] for part in record["parts"]] == ["Get", "Put", "Delete"]
    assert record["parts"][1]["statement"] == "INSERT INTO cases VALUE {'PK': ?, 'SK': ?}"
    assert all(shaped(part["key"])["PK"] == {"S": "CASE#~d"} for part in record["parts"])


def test_an_arn_in_place_of_a_name_is_reduced(log: Log) -> None:
    log.start().get_item(TableName="arn:aws:dynamodb:us-east-1:111122223333:table/cases", Key=CASE)
    assert said(log.record(), "table", "account", "key") == {
        "table": "cases",
        "account": "111122223333",
        "key": {"PK": {"S": "CASE#~d"}, "SK": {"S": "META"}},
    }


def test_a_paginator_is_a_record_a_page(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    dynamodb.script = [
        {"Items": [ITEM], "Count": 1, "ScannedCount": 1, "LastEvaluatedKey": CASE},
        {"Items": [], "Count": 0, "ScannedCount": 0},
    ]
    for _ in client.get_paginator("scan").paginate(TableName="cases"):
        pass
    assert [(record["more"], record["resumed"]) for record in log.records()] == [(True, False), (False, True)]


def test_the_resource_api_logs_what_goes_over_the_wire(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Items": [ITEM], "Count": 1, "ScannedCount": 1}
    log.start()
    answer = log.table().query(
        KeyConditionExpression=Key("PK").eq("CASE#1") & Key("SK").begins_with("AUDIT#"),
        FilterExpression=Attr("status").eq("OPEN"),
    )
    assert answer["Items"][0]["version"] == 3
    assert said(log.record(), "key_condition", "filter", "names", "values", "key") == {
        "key_condition": "(#0 = :0 AND begins_with(#1, :1))",
        "filter": "#2 = :2",
        "names": {"#0": "PK", "#1": "SK", "#2": "status"},
        "values": {":0": {"S": "CASE#~d"}, ":1": {"S": "AUDIT#"}},
        "key": {"PK": {"S": "CASE#~d"}},
    }


def test_number_and_binary_keys_are_hashed_whole(log: Log) -> None:
    log.start(schema=None).get_item(TableName="t", Key={"id": {"N": "12"}, "blob": {"B": b"\x00/\x01"}})
    assert shaped(log.record()["key"]) == {"id": {"S": "~d"}, "blob": {"S": "~k"}}


def test_keys_as_sent_keep_their_types(log: Log) -> None:
    log.start(keys="reveal").get_item(TableName="t", Key={"id": {"N": "12"}, "blob": {"B": b"ab"}})
    assert said(log.record(), "key", "keys", "salt_id") == {
        "key": {"id": {"N": "12"}, "blob": {"B": "YWI="}},
        "keys": "reveal",
        "salt_id": None,
    }


def test_keys_as_templates_have_no_identity(log: Log) -> None:
    log.start(keys="template").get_item(TableName="cases", Key={"PK": {"S": "CASE#1#a||"}, "SK": {"S": "META"}})
    assert log.record()["key"] == {"PK": {"S": "CASE#<n>#<id>||"}, "SK": {"S": "META"}}


DESCRIBED = {
    "TableName": "cases",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "GSI1",
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
        }
    ],
}


def test_units_of_a_transaction_are_split_into_read_and_write(log: Log, dynamodb: StubDynamoDB) -> None:
    split = {"ReadCapacityUnits": 2.0, "WriteCapacityUnits": 4.0, "CapacityUnits": 6.0}
    dynamodb.answer = lambda *_: {"ConsumedCapacity": [{"TableName": "cases", **split, "Table": split}]}
    log.start(capacity=True).transact_write_items(TransactItems=[{"Delete": {"TableName": "cases", "Key": CASE}}])
    assert log.record()["consumed"] == {
        "total": 6.0,
        "read": 2.0,
        "write": 4.0,
        "table": {"read": 2.0, "write": 4.0},
    }


def test_an_update_that_returns_the_new_item_tells_all_its_index_keys(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Attributes": ITEM}
    log.start().update_item(
        TableName="cases",
        Key=CASE,
        UpdateExpression="ADD version :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="ALL_NEW",
    )
    assert shaped(log.record()["index_keys"]) == {"GSI1": {"GSI1PK": {"S": "~k#~d"}, "GSI1SK": {"S": "~k#~d"}}}


def test_vector_searches_are_records_on_any_botocore() -> None:
    call = Call("SearchVectors", {"TableName": "cases", "IndexName": "V1", "Limit": 3}, token_sent=False)
    raw = build(call, {"SearchResults": [{}, {}]}, Schema({}))
    assert raw.fields == {"op": "SearchVectors", "table": "cases", "limit": 3, "index": "V1", "count": 2}


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("transact_write_items", {"TransactItems": [{"Delete": {"TableName": "t", "Key": CASE}}]}),
        ("batch_get_item", {"RequestItems": {"t": {"Keys": [CASE]}}}),
        ("batch_write_item", {"RequestItems": {"t": [{"DeleteRequest": {"Key": CASE}}]}}),
    ],
)
def test_every_call_that_names_a_key_teaches_it(log: Log, operation: str, params: dict[str, Any]) -> None:
    client = log.start(schema=None)
    getattr(client, operation)(**params)
    client.put_item(TableName="t", Item=ITEM)
    assert set(log.records()[1]["key"]) == {"PK", "SK"}


def test_a_query_teaches_the_partition_key_so_that_the_key_stratum_works(log: Log) -> None:
    client = log.start(schema=None, request_rate=0.0, key_rate=1.0)
    client.get_item(TableName="t", Key=CASE)
    assert log.records() == []
    client.query(
        TableName="t",
        KeyConditions={
            "PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "CASE#1"}]},
            "SK": {"ComparisonOperator": "GT", "AttributeValueList": [{"S": "A"}]},
        },
    )
    client.get_item(TableName="t", Key=CASE)
    client.transact_write_items(TransactItems=[{"Delete": {"TableName": "t", "Key": CASE}}])
    assert [record["op"] for record in log.records()] == ["GetItem", "TransactWriteItems"]


def test_index_reads_of_tables_with_number_keys_tell_what_they_returned(log: Log, dynamodb: StubDynamoDB) -> None:
    dynamodb.answer = lambda *_: {"Items": [{"id": {"N": "5"}}], "Count": 1, "ScannedCount": 1}
    schema = {"t": {"partition_key": "id", "indexes": {"by-a": ["a"]}}}
    log.start(schema=schema, request_rate=0.0, key_rate=1.0).query(
        TableName="t",
        IndexName="by-a",
        KeyConditionExpression="a = :a",
        ExpressionAttributeValues={":a": {"S": "x"}},
    )
    assert shaped(log.record()["returned"]) == [{"key": "~d"}]


def test_a_very_long_record_loses_its_expressions_and_keeps_its_keys(log: Log) -> None:
    update = "SET " + ", ".join(f"a{n} = :v" for n in range(400))
    member = {"Key": CASE, "UpdateExpression": update, "ExpressionAttributeValues": {":v": {"S": "x"}}}
    log.start().transact_write_items(TransactItems=[{"Update": {"TableName": "cases", **member}}] * 60)
    record = log.record()
    assert len(record["parts"]) == 60
    assert all("update" not in part and "key" in part for part in record["parts"])


def test_a_message_about_more_values_than_can_be_removed_is_left_out(log: Log, dynamodb: StubDynamoDB) -> None:
    client = log.start()
    dynamodb.script = [failure("ValidationException", "no")]
    item = {**CASE, "l": {"L": [{"S": f"value-{n}"} for n in range(500)]}}
    with pytest.raises(ClientError):
        client.put_item(TableName="cases", Item=item)
    assert log.record()["error"] == {"code": "ValidationException"}


class Text(str):
    """A string of the application's own kind, as members of `class Case(str, Enum)` are."""

    __slots__ = ()


def test_keys_of_the_applications_own_string_types_are_keys(log: Log) -> None:
    client = log.start(keys="reveal")
    for key in (
        {"PK": {"S": Text("CASE#1")}, "SK": {"S": Text("META")}},
        {"PK": {"B": "CASE#1"}, "SK": {"B": bytearray(b"x")}},
    ):
        client.get_item(TableName="cases", Key=key)
        client.put_item(TableName="cases", Item=key)
    found = [record["key"] for record in log.records()]
    assert found[:2] == [CASE, CASE]
    assert found[2:] == [{"PK": {"B": "Q0FTRSMx"}, "SK": {"B": "eA=="}}] * 2


def test_parameters_of_odd_types_and_unknown_words_are_left_out(log: Log) -> None:
    log.start().scan(TableName="cases", Limit=True, Select="canary", Segment=0, TotalSegments=2)
    assert said(log.record(), "limit", "select", "segment", "total_segments") == {
        "limit": None,
        "select": None,
        "segment": 0,
        "total_segments": 2,
    }
