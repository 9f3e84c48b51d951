from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.dynamoose import DynamooseDecoder
from collectors.request_log.decoders.electrodb import ElectroDbDecoder
from tests.collectors.decoders.conftest import recognized, records

if TYPE_CHECKING:
    from analyzer.model.request import RequestRecord

AT = "2026-11-30T10:00:00.000Z"


def asked(key: str, operation: str = "getItem") -> str:
    request = {"TableName": "t", "Key": {"pk": {"S": key}}}
    return f"{AT} aws:dynamodb:{operation}:request - {json.dumps(request, indent=4)}\n"


def answered(operation: str = "getItem", what: str = "response", **answer: Any) -> str:
    return f"{AT} aws:dynamodb:{operation}:{what} - {json.dumps(answer, indent=4)}\n"


def read(*entries: str) -> list[RequestRecord]:
    decoded = decode(DynamooseDecoder(), "".join(entries).encode())
    assert decoded.bad == {}
    return records(decoded)


def told(found: list[RequestRecord]) -> list[tuple[str, int | None]]:
    return [((record.key or {})["pk"]["S"], record.count) for record in found]


HIT: dict[str, Any] = {"Item": {"pk": {"S": "x"}}}


def test_answers_are_joined_to_the_one_request_that_waits() -> None:
    assert told(read(asked("a"), answered(**HIT), asked("b"), answered())) == [("a", 1), ("b", 0)]


def test_requests_of_other_operations_may_come_between() -> None:
    found = read(asked("a"), asked("b", "deleteItem"), answered("deleteItem"), answered(**HIT))
    assert [(record.op, record.count) for record in found] == [("DeleteItem", None), ("GetItem", 1)]


def test_where_an_answer_may_be_of_two_requests_it_is_of_none() -> None:
    found = read(asked("a"), asked("b"), answered(**HIT), answered(), asked("c"), answered(**HIT))
    assert told(found) == [("a", None), ("b", None), ("c", 1)]


def test_an_answer_that_is_still_owed_to_an_earlier_request_is_not_given_to_the_next() -> None:
    found = read(asked("a"), asked("b"), answered(**HIT), asked("c"), answered())
    assert told(found) == [("a", None), ("b", None), ("c", None)]


def test_a_request_without_an_answer_is_told_at_the_end_and_an_answer_alone_is_nothing() -> None:
    assert told(read(answered(**HIT), asked("a"))) == [("a", None)]


def test_a_failure_is_one_where_the_log_says_so() -> None:
    (record,) = read(asked("a"), answered("getItem", "error", name="ThrottlingException", message="slow down"))
    assert record.error is not None
    assert (record.error.code, record.error.message) == ("ThrottlingException", "slow down")


def test_requests_that_nobody_answers_are_not_held_for_ever() -> None:
    decoding = DynamooseDecoder().begin()
    lines = b"".join(decoding.feed(asked(str(number)).encode()) for number in range(1200))
    assert (lines.count(b"\n"), decoding.finish().count(b"\n")) == (200, 1000)


def test_a_provider_that_writes_json_is_read_likewise() -> None:
    entries = [
        {
            "timestamp": AT,
            "category": "aws:dynamodb:getItem:request",
            "message": '{"TableName": "t", "Key": {"pk": "a"}}',
        },
        {"timestamp": AT, "category": "aws:dynamodb:getItem:response", "message": json.dumps(HIT)},
        {"timestamp": AT, "category": "aws:dynamodb:getItem:response", "message": "no json"},
        {"timestamp": AT, "category": "other", "message": "{}"},
    ]
    decoder, found, decoded = recognized("\n".join(map(json.dumps, entries)).encode())
    assert (decoder.name, decoded.others) == ("dynamoose", 2)
    assert told(found) == [("a", 1)]


@pytest.mark.parametrize("decoder", [DynamooseDecoder(), ElectroDbDecoder()])
def test_a_request_without_a_time_is_bad(decoder: DynamooseDecoder | ElectroDbDecoder) -> None:
    text = 'aws:dynamodb:query:request - {"type": "query", "method": "query", "params": {"TableName": "t"}}'
    assert decode(decoder, text.encode()).bad == {"a request has no time: let the logger add one (`timestamp`)": 1}


def test_events_of_electrodb_may_lie_in_what_a_logger_wraps_around_them() -> None:
    query = {"type": "query", "method": "get", "params": {"TableName": "t", "Key": {"pk": "a"}}}
    results = {"type": "results", "method": "get", "success": True, "results": {"Item": {"pk": "a"}}}
    entries = [{"time": AT, "msg": {"event": one}} for one in (query, results)] + [{"time": AT, "type": "query"}]
    decoder, found, decoded = recognized("\n".join(map(json.dumps, entries)).encode())
    assert (decoder.name, told(found), decoded.others) == ("electrodb", [("a", 1)], 1)
