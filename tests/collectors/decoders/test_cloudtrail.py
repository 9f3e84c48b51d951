from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.model.request import Part, RequestError, RequestRecord
from collectors.request_log.decoders.cloudtrail import CloudTrailDecoder
from collectors.request_log.decoders.decoding import decode
from tests.collectors.decoders.conftest import recognized, records

TODAY = {"Artist": {"S": "No One You Know"}, "SongTitle": {"S": "Call Me Today"}}
ROLE = "arn:aws:iam::111122223333:role/dash-api"


def event(name: str, parameters: object, **fields: Any) -> dict[str, Any]:
    return {
        "eventVersion": "1.11",
        "eventTime": "2026-11-30T10:00:00Z",
        "eventSource": "dynamodb.amazonaws.com",
        "eventName": name,
        "awsRegion": "us-west-2",
        "requestParameters": parameters,
        "responseElements": None,
        "requestID": f"R-{name}",
        "eventCategory": "Data",
        "recipientAccountId": "111122223333",
        **fields,
    }


def read(*events: dict[str, Any]) -> list[RequestRecord]:
    decoded = decode(CloudTrailDecoder(), json.dumps({"Records": events}).encode())
    assert decoded.bad == {}
    return records(decoded)


@pytest.mark.parametrize("key", [{"Artist": "No One You Know", "SongTitle": "Call Me Today"}, TODAY])
@pytest.mark.parametrize("names", [("tableName", "key", "updateExpression"), ("TableName", "Key", "UpdateExpression")])
def test_an_event_is_a_record_whatever_the_case_of_its_names_and_whether_its_values_are_typed(
    key: dict[str, Any], names: tuple[str, str, str]
) -> None:
    parameters = dict(zip(names, ("Music", key, "SET #Y = :y"), strict=True))
    (record,) = read(event("UpdateItem", parameters | {"expressionAttributeNames": {"#Y": "Year"}}))
    assert (record.table, record.key, record.update, record.names) == ("Music", TODAY, "SET #Y = :y", {"#Y": "Year"})
    assert (record.time, record.region, record.account) == ("2026-11-30T10:00:00.000Z", "us-west-2", "111122223333")
    assert record.request_id == "R-UpdateItem"


def test_what_cloudtrail_never_tells_is_absent() -> None:
    (record,) = read(event("Query", {"tableName": "Music", "returnConsumedCapacity": "TOTAL"}))
    assert (record.count, record.scanned, record.consumed, record.latency_ms) == (None, None, None, None)
    assert (record.more, record.resumed, record.attempts, record.key) == (None, None, None, None)


def test_the_resource_tells_account_and_region_of_the_table_and_its_name_where_nothing_else_does() -> None:
    arn = "arn:aws:dynamodb:eu-west-1:999900001111:table/Music"
    (record,) = read(event("GetItem", None, resources=[{"type": "AWS::DynamoDB::Table", "ARN": arn}]))
    assert (record.table, record.region, record.account) == ("Music", "eu-west-1", "999900001111")
    (named,) = read(event("GetItem", {"tableName": arn}, resources=[{"ARN": arn}, {"ARN": arn + "2"}]))
    assert (named.table, named.account) == ("Music", "999900001111")


def test_a_role_is_the_caller_whatever_its_session_is_called_and_a_service_in_between_is_told() -> None:
    session = "arn:aws:sts::111122223333:assumed-role/dash-api/i-0123"
    role = {"arn": session, "sessionContext": {"sessionIssuer": {"arn": ROLE}}, "invokedBy": "appsync.amazonaws.com"}
    user = {"type": "IAMUser", "arn": "arn:aws:iam::111122223333:user/bob", "invokedBy": "10.0.0.1"}
    by_role, by_user = read(
        event("GetItem", {"tableName": "Music"}, userIdentity=role, userAgent="aws-sdk-js/3"),
        event("PutItem", {"tableName": "Music"}, userIdentity=user),
    )
    assert (by_role.caller, by_role.principal, by_role.via, by_role.user_agent) == (
        ROLE,
        session,
        "appsync",
        "aws-sdk-js/3",
    )
    assert (by_user.caller, by_user.via) == ("arn:aws:iam::111122223333:user/bob", None)


def test_a_refused_call_has_its_code_and_a_cancelled_transaction_its_reasons() -> None:
    message = "Transaction cancelled, please refer cancellation reasons [ConditionalCheckFailed, None]"
    cancelled = {"errorCode": "TransactionCanceledException", "errorMessage": message}
    items = [
        {"operation": "Put", "tableName": "Music", "key": TODAY, "items": ["Artist"]},
        {"operation": "Delete", "TableName": "Music", "Key": {"Artist": "A", "SongTitle": 7}},
        {"operation": "ConditionCheck", "TableName": "Other", "Key": TODAY, "ConditionExpression": "a = :a"},
    ]
    transaction, refused = read(
        event("TransactWriteItems", {"requestItems": items}, **cancelled),
        event("PutItem", {"tableName": "Music", "key": {"Artist": "secret"}}, errorCode="ValidationException",
              errorMessage="One value was secret and 'quoted'"),
    )  # fmt: skip
    assert transaction.error is not None
    assert transaction.error.cancellation == ["ConditionalCheckFailed", None]
    assert (transaction.table, transaction.parts) == (
        None,
        [
            Part("Put", "Music", TODAY),
            Part("Delete", "Music", {"Artist": {"S": "A"}, "SongTitle": {"N": "7"}}),
            Part("ConditionCheck", "Other", TODAY, condition="a = :a"),
        ],
    )
    assert refused.error == RequestError("ValidationException", "One value was ? and ?")


@pytest.mark.parametrize("hidden", ["HIDDEN_DUE_TO_SECURITY_REASONS", "***(Redacted)", {"S": "***(Redacted)"}])
def test_a_hidden_value_is_no_key(hidden: object) -> None:
    (record,) = read(event("GetItem", {"tableName": "Music", "key": {"Artist": hidden, "SongTitle": "T"}}))
    assert record.key is None


def test_what_partiql_hides_is_masked_and_the_key_that_it_shows_is_known_once_the_keys_are() -> None:
    select = """SELECT * FROM "Music" WHERE "Artist" = 'Acme Band' AND "Year" = '***(Redacted)' AND SongTitle = 5"""
    insert = """INSERT INTO Music VALUE {'Artist': ***(Redacted), 'Year': 1999}"""
    _, found, inserted, batch = read(
        event("GetItem", {"tableName": "Music", "key": TODAY}),
        event("ExecuteStatement", {"statement": select}),
        event("ExecuteStatement", {"statement": insert}),
        event("BatchExecuteStatement", {"requestItems": [{"statement": select}]}),
    )
    assert found.statement == """SELECT * FROM "Music" WHERE "Artist" = ? AND "Year" = ? AND SongTitle = ?"""
    assert found.key == {"Artist": {"S": "Acme Band"}, "SongTitle": {"N": "5"}}
    assert (inserted.statement, inserted.key) == ("INSERT INTO Music VALUE {'Artist': ?, 'Year': ?}", None)
    assert batch.parts == [Part("Get", key=found.key, statement=found.statement)]


@pytest.mark.parametrize(
    ("name", "requested", "parts"),
    [
        ("BatchGetItem", {"Music": {"Keys": [TODAY]}}, [Part("Get", "Music", TODAY)]),
        ("BatchGetItem", {"Music": {"projectionExpression": "a"}}, [Part("Get", "Music")]),
        ("BatchGetItem", {"Music": [TODAY]}, [Part("Get", "Music", TODAY)]),
        ("BatchWriteItem", {"Music": [{"deleteRequest": {"key": TODAY}}]}, [Part("Delete", "Music", TODAY)]),
        ("BatchWriteItem", {"Music": [{"putRequest": {"item": ["Artist"]}}]}, [Part("Put", "Music")]),
        ("BatchWriteItem", {"Music": 2}, [Part("Put", "Music")]),
        ("BatchWriteItem", [{"tableName": "Music", "key": TODAY}], [Part("Put", "Music", TODAY)]),
        ("BatchGetItem", None, None),
        ("BatchGetItem", [], None),
    ],
)
def test_batches_are_read_by_table_or_as_a_list(name: str, requested: object, parts: list[Part] | None) -> None:
    (record,) = read(event(name, {"requestItems": requested}))
    assert record.parts == parts
    assert record.table == (None if parts is None else "Music")


def test_what_is_no_call_of_the_data_plane_is_passed_over() -> None:
    events = [
        event("DescribeTable", {"tableName": "Music"}),
        event("GetRecords", {"shardIterator": "x"}),
        event("GetObject", {}, eventSource="s3.amazonaws.com"),
        event("UpdateTable", {"tableName": "Music"}),
    ]
    decoded = decode(CloudTrailDecoder(), json.dumps({"Records": events}).encode())
    assert (decoded.lines, decoded.bad, decoded.others) == (b"", {}, 4)


def test_an_event_without_a_time_is_bad_and_the_reason_holds_nothing_of_it() -> None:
    decoded = decode(
        CloudTrailDecoder(), json.dumps(event("GetItem", {"tableName": "Music"}, eventTime="soon")).encode()
    )
    assert decoded.bad == {"an event has no eventTime": 1}


@pytest.mark.parametrize("events", [1, 3])
@pytest.mark.parametrize("layout", ["file", "lines", "pretty", "joined", "bridge", "messages"])
def test_trails_are_recognized_in_every_layout(layout: str, events: int) -> None:
    each = [event("GetItem", {"tableName": "Music", "key": TODAY}, requestID=str(number)) for number in range(events)]
    content = {
        "file": json.dumps({"Records": each}),
        "lines": "\n".join(map(json.dumps, each)),
        "pretty": json.dumps({"Records": each}, indent=2),
        "joined": "".join(map(json.dumps, each)),
        "bridge": "\n".join(json.dumps({"detail-type": "AWS API Call via CloudTrail", "detail": one}) for one in each),
        "messages": json.dumps(
            {"logEvents": [{"id": "1", "timestamp": 0, "message": json.dumps(one)} for one in each]}
        ),
    }[layout]
    decoder, found, _ = recognized(content.encode())
    assert decoder.name == "cloudtrail"
    assert [(record.key, record.request_id) for record in found] == [(TODAY, str(number)) for number in range(events)]
