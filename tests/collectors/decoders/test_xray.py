from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.model.request import Consumed, Part, RequestError, RequestRecord
from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.xray import XRayDecoder
from tests.collectors.decoders.conftest import recognized, records

TRACE = "1-6b0d516e-bcb4f58266511fddd207112c"


def call(operation: str = "Scan", fields: dict[str, Any] | None = None, **aws: Any) -> dict[str, Any]:
    """Return a subsegment as the SDK for Python sends it."""
    return {
        "id": "f8404a14ca78679b",
        "name": "dynamodb",
        "start_time": 1796034926.7925103,
        "end_time": 1796034926.8084493,
        "http": {"response": {"status": 200}},
        "aws": {"operation": operation, "region": "us-east-1", "request_id": "R", "table_name": "t", **aws},
        "namespace": "aws",
        **(fields or {}),
    }


def segment(*calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    inner = {"id": "2", "name": "## handler", "start_time": 1, "end_time": 2, "subsegments": list(calls)}
    return {
        "id": "1",
        "name": "shop",
        "trace_id": TRACE,
        "start_time": 1.0,
        "end_time": 2.0,
        "subsegments": [inner],
        **fields,
    }


def read(*values: dict[str, Any]) -> list[RequestRecord]:
    decoded = decode(XRayDecoder(), "\n".join(map(json.dumps, values)).encode())
    assert decoded.bad == {}
    return records(decoded)


def test_a_subsegment_is_a_record_with_its_units_its_latency_and_the_counts_of_a_scan() -> None:
    units = {"TableName": "t", "CapacityUnits": 1.0}
    (record,) = read(segment(call(consumed_capacity=units, count=2, scanned_count=9, segment=0, total_segments=4)))
    assert (record.time, record.op, record.table) == ("2026-11-30T10:35:26.793Z", "Scan", "t")
    assert (record.count, record.scanned, record.consumed) == (2, 9, Consumed(total=1.0))
    assert (record.latency_ms, record.segment, record.total_segments) == (15.939, 0, 4)
    assert (record.caller, record.trace_id, record.request_id, record.region) == ("shop", TRACE, "R", "us-east-1")
    assert (record.key, record.key_condition, record.filter, record.attempts) == (None, None, None, None)


def test_what_a_query_asks_is_told_but_for_its_key_and_placeholders_are_no_projection() -> None:
    query: dict[str, Any] = {
        "index_name": "gsi1",
        "limit": 5,
        "scan_index_forward": False,
        "consistent_read": False,
        "retries": 2,
    }
    first, second = read(
        call("Query", **query, select="ALL", projection_expression="a, b"), call("query", projection_expression="#a")
    )
    assert (first.index, first.limit, first.forward, first.consistent, first.select) == ("gsi1", 5, False, False, "ALL")
    assert (first.projection, first.attempts) == ("a, b", 3)
    assert (second.op, second.projection, second.caller) == ("Query", None, None)


@pytest.mark.parametrize(
    ("operation", "names", "table", "parts"),
    [
        ("BatchGetItem", ["a", "b"], None, [Part("Get", "a"), Part("Get", "b")]),
        ("BatchWriteItem", ["a", "b"], None, [Part("Put", "a"), Part("Put", "b")]),
        ("BatchGetItem", ["a"], "a", None),
        ("BatchGetItem", None, None, None),
        ("TransactWriteItems", None, None, None),
    ],
)
def test_batches_name_their_tables(
    operation: str, names: list[str] | None, table: str | None, parts: list[Part] | None
) -> None:
    (record,) = read(call(operation, table_name=None, table_names=names))
    assert (record.table, record.parts) == (table, parts)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"throttle": True, "error": True}, RequestError("ThrottlingException")),
        ({"fault": True, "http": {"response": {"status": 500}}}, RequestError("HTTP500")),
        ({"error": True, "http": {}}, RequestError("Error")),
        ({"http": {"response": {"status": 400}}}, RequestError("HTTP400")),
        (
            {
                "error": True,
                "cause": {"exceptions": [{"type": "ConditionalCheckFailedException", "message": "The 'k'"}]},
            },
            RequestError("ConditionalCheckFailedException", "The ?"),
        ),
        (
            {"throttle": True, "cause": {"exceptions": [{"type": "ClientError", "message": "An error"}]}},
            RequestError("ThrottlingException", "An error"),
        ),
        (
            {
                "throttle": True,
                "cause": {
                    "exceptions": [{"type": "ClientError", "message": "An error occurred (RequestLimitExceeded)"}]
                },
            },
            RequestError("RequestLimitExceeded", "An error occurred (RequestLimitExceeded)"),
        ),
        ({"error": True, "cause": "an id"}, RequestError("Error")),
        ({"throttle": False}, None),
    ],
)
def test_throttles_faults_and_errors_are_told_apart(fields: dict[str, Any], error: RequestError | None) -> None:
    if "http" not in fields:
        fields = {"http": {}, **fields}
    assert read(call(fields=fields))[0].error == error


def test_what_x_ray_inferred_is_not_counted_twice_and_what_still_runs_not_at_all() -> None:
    inferred = {**call(), "inferred": True, "origin": "AWS::DynamoDB::Table"}
    running = {**call(), "in_progress": True}
    other = {"id": "3", "name": "s3", "start_time": 1, "end_time": 2, "aws": {"operation": "GetObject"}}
    decoded = decode(XRayDecoder(), json.dumps(segment(inferred, running, other, call("DescribeTable"))).encode())
    assert (decoded.lines, decoded.bad, decoded.others) == (b"", {}, 1)


def test_segments_in_segments_without_end_end_somewhere() -> None:
    deep = call()
    for _ in range(150):
        deep = {"id": "1", "name": "x", "start_time": 1, "end_time": 2, "subsegments": [deep]}
    assert read(deep) == []


@pytest.mark.parametrize("layout", ["documents", "traces", "whole"])
def test_answers_of_batch_get_traces_are_read_as_segment_documents_are(layout: str) -> None:
    document = segment(call(), call("Query"))
    trace = {"Id": TRACE, "Duration": 1.0, "Segments": [{"Id": "1", "Document": json.dumps(document)}]}
    content = {
        "documents": json.dumps({"format": "json", "version": 1}) + "\n" + json.dumps(document),
        "traces": json.dumps({"Traces": [trace], "UnprocessedTraceIds": [], "NextToken": "x{y"}, indent=4),
        "whole": json.dumps({"ResponseMetadata": {}, "Traces": [trace]}),
    }[layout]
    decoder, found, decoded = recognized(content.encode())
    assert (decoder.name, decoded.bad) == ("xray", {})
    assert [record.op for record in found] == ["Scan", "Query"]


def test_what_cannot_be_read_is_counted() -> None:
    trace = {"Id": TRACE, "Segments": [{"Id": "1", "Document": "{cut"}, {"Id": "2"}]}
    decoded = decode(XRayDecoder(), (json.dumps(trace) + json.dumps({**call(), "start_time": "x"})).encode())
    assert decoded.bad == {"a segment's document is no JSON object": 2, "a subsegment has no start time": 1}
