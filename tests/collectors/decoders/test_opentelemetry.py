from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from analyzer.model.request import Consumed, Part, RequestError, RequestRecord, Stratum
from collectors.request_log.decoders.decoding import decode
from collectors.request_log.decoders.opentelemetry import OpenTelemetryDecoder
from collectors.request_log.decoders.otlp import OtlpDecoder, decode_request
from collectors.request_log.decoders.seam import UnreadableError
from tests.collectors.decoders.conftest import recognized, records

AWS = {"rpc.system": "aws-api", "rpc.service": "DynamoDB"}


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": listed(value)}}
    kind = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}[type(value)]
    return {kind: str(value) if kind == "intValue" else value}


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": typed(value)} for name, value in attributes.items()]


def otlp(attributes: dict[str, Any], resource: dict[str, Any] | None = None, scope: str = "", **fields: Any) -> str:
    span = {
        "traceId": "5B8EFFF798038103D269B633813FC60C",
        "name": "DynamoDB.Scan",
        "kind": 3,
        "startTimeUnixNano": "1764496800000000000",
        "endTimeUnixNano": 1764496800042000000,
        "attributes": listed(attributes),
        **fields,
    }
    scopes = [{"scope": {"name": scope}, "spans": [span]}]
    return json.dumps({"resourceSpans": [{"resource": {"attributes": listed(resource or {})}, "scopeSpans": scopes}]})


def read(*texts: str) -> list[RequestRecord]:
    decoded = decode(OpenTelemetryDecoder(), "\n".join(texts).encode())
    assert decoded.bad == {}
    return records(decoded)


@pytest.mark.parametrize(
    "attributes",
    [
        {"db.system.name": "aws.dynamodb", "db.operation.name": "Scan", "db.namespace": "t"},
        {"db.system": "dynamodb", "db.operation": "Scan", "aws.dynamodb.table_names": ["t"]},
        {"db.system": "dynamodb", "db.name": "t"},
        {**AWS, "rpc.method": "Scan", "aws.dynamodb.table_names": "t"},
        {"rpc.system.name": "aws-api", "rpc.method": "DynamoDB/Scan", "aws.dynamodb.table_names": ["t"]},
        {"rpc.system": "aws-api", "rpc.service": "DynamoDb", "rpc.method": "Scan", "db.name": "t"},
        {**AWS, "rpc.method": "Scan", "aws.dynamodb.table_names": ["arn:aws:dynamodb:us-east-1:111122223333:table/t"]},
    ],
)
def test_old_and_new_names_of_all_three_languages_mean_the_same(attributes: dict[str, Any]) -> None:
    (record,) = read(otlp(attributes))
    assert (record.op, record.table, record.time) == ("Scan", "t", "2025-11-30T10:00:00.000Z")
    assert (record.latency_ms, record.trace_id) == (42.0, "5b8efff798038103d269b633813fc60c")


def test_the_parameters_that_the_conventions_know_are_read() -> None:
    units = ['{"TableName": "t", "CapacityUnits": 128.5}', "no json"]
    told = {
        "aws.dynamodb.index_name": "gsi1",
        "aws.dynamodb.limit": 10,
        "aws.dynamodb.select": "COUNT",
        "aws.dynamodb.segment": 0,
        "aws.dynamodb.total_segments": 4,
        "aws.dynamodb.consistent_read": True,
        "aws.dynamodb.scan_forward": False,
        "aws.dynamodb.projection": "a, b",
        "aws.dynamodb.count": 12,
        "aws.dynamodb.scanned_count": 4800,
        "aws.dynamodb.consumed_capacity": units,
        "aws.request_id": "R",
        "retry_attempts": 2,
        "cloud.region": "eu-west-1",
    }
    (record,) = read(otlp({**AWS, "rpc.method": "Scan", "db.name": "t", **told}, {"service.name": "shop"}))
    assert (record.index, record.limit, record.select) == ("gsi1", 10, "COUNT")
    assert (record.segment, record.total_segments, record.consistent, record.forward) == (0, 4, True, False)
    assert (record.projection, record.count, record.scanned) == ("a, b", 12, 4800)
    assert (record.consumed, record.request_id, record.attempts) == (Consumed(total=128.5), "R", 3)
    assert (record.region, record.caller, record.caller_version) == ("eu-west-1", "shop", None)


@pytest.mark.parametrize(
    ("resource", "scope", "told", "count"),
    [
        ({"telemetry.sdk.language": "nodejs"}, "", {"aws.dynamodb.scanned_count": 10}, 0),
        ({}, "@opentelemetry/instrumentation-aws-sdk", {"aws.dynamodb.scanned_count": 10}, 0),
        ({"telemetry.sdk.language": "python"}, "", {"aws.dynamodb.scanned_count": 10}, None),
        ({"telemetry.sdk.language": "nodejs"}, "", {}, None),
    ],
)
def test_only_javascript_leaves_zeros_out(
    resource: dict[str, Any], scope: str, told: dict[str, Any], count: int | None
) -> None:
    assert read(otlp({**AWS, "rpc.method": "Query", "db.name": "t", **told}, resource, scope))[0].count == count


@pytest.mark.parametrize(
    ("attributes", "fields", "error"),
    [
        ({}, {"status": {"code": 1}}, None),
        ({"http.status_code": 200}, {}, None),
        ({"http.status_code": 500}, {}, RequestError("HTTP500")),
        ({"http.response.status_code": 400, "error.type": "x.SlowDown"}, {}, RequestError("SlowDown")),
        ({}, {"status": {"code": 2}}, RequestError("Error")),
        (
            {},
            {"status": {"code": 2, "message": "An error occurred (ThrottlingException) when calling"}},
            RequestError("ThrottlingException", "An error occurred (ThrottlingException) when calling"),
        ),
        (
            {},
            {
                "status": {"code": "STATUS_CODE_ERROR"},
                "events": [
                    {"name": "other"},
                    {
                        "name": "exception",
                        "attributes": listed(
                            {
                                "exception.type": "software.amazon.awssdk.dynamodb.InternalServerErrorException",
                                "exception.message": "the key 'secret' failed",
                            }
                        ),
                    },
                ],
            },
            RequestError("InternalServerErrorException", "the key ? failed"),
        ),
    ],
)  # fmt: skip
def test_failures_are_told_by_exception_status_or_http(
    attributes: dict[str, Any], fields: dict[str, Any], error: RequestError | None
) -> None:
    assert read(otlp({**AWS, "rpc.method": "PutItem", "db.name": "t", **attributes}, **fields))[0].error == error


@pytest.mark.parametrize(
    ("operation", "tables", "parts"),
    [
        ("BatchGetItem", ["a", "b"], [Part("Get", "a"), Part("Get", "b")]),
        ("BatchWriteItem", ["a", "b"], [Part("Put", "a"), Part("Put", "b")]),
        ("TransactWriteItems", [], None),
        ("Query", ["a", "b"], None),
    ],
)
def test_a_call_over_several_tables_names_them_in_parts(
    operation: str, tables: list[str], parts: list[Part] | None
) -> None:
    (record,) = read(otlp({**AWS, "rpc.method": operation, "aws.dynamodb.table_names": tables}))
    assert (record.table, record.parts) == (None, parts)


def test_the_text_of_the_call_gives_key_and_filter_where_the_user_lets_it_be_written() -> None:
    asked = {"TableName": "t", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
    asked["ExpressionAttributeNames"] = {"#a": "b"}
    first, second = read(
        otlp({**AWS, "rpc.method": "Query", "db.query.text": json.dumps(asked), "db.name": "other"}),
        otlp({**AWS, "rpc.method": "Query", "db.statement": "SELECT", "db.name": "t", "aws.dynamodb.projection": "#a"}),
    )
    assert (first.table, first.key_condition, first.values) == ("t", "pk = :p", {":p": {"S": "a"}})
    assert (second.table, second.key_condition, second.projection) == ("t", None, None)


@pytest.mark.parametrize(
    ("state", "rate"),
    [
        ("ot=th:c", 0.25),
        ("vendor=x,ot=rv:1;th:8", 0.5),
        ("ot=th:0", 1.0),
        ("vendor=th:8", 1.0),
        ("", 1.0),
    ],
)
def test_the_rate_of_consistent_sampling_stands_in_the_trace_state(state: str, rate: float) -> None:
    (record,) = read(otlp({**AWS, "rpc.method": "GetItem", "db.name": "t"}, traceState=state))
    assert record.sample_rate == rate
    assert record.strata == ([Stratum("trace", rate)] if rate < 1 else None)


def test_a_service_that_nobody_named_is_no_caller() -> None:
    call = {**AWS, "rpc.method": "GetItem", "db.name": "t"}
    assert read(otlp(call, {"service.name": "unknown_service:node"}))[0].caller is None


def test_spans_that_exporters_print_are_read_in_every_dress() -> None:
    attributes = {
        **AWS,
        "rpc.method": "GetItem",
        "db.name": "t",
        "aws.dynamodb.consumed_capacity": ['{"CapacityUnits":1}'],
    }
    dress: list[dict[str, Any]] = [
        {"start_time": "2026-11-30T10:34:27.631701Z", "end_time": "2026-11-30T10:34:27.646046Z",
         "context": {"trace_id": "0xAB", "span_id": "0x1"}},
        {"timestamp": 1796034867631000, "duration": 15000, "traceId": "ab"},
        {"startTimeUnixNano": 1796034867631000000, "endTimeUnixNano": 1796034867646000000, "trace_id": "ab"},
    ]  # fmt: skip
    spans = [{"name": "DynamoDB.GetItem", "kind": 2, "attributes": attributes, **each} for each in dress]
    found = read(*(json.dumps(span, indent=4) for span in spans))
    assert found[0] == found[1] == found[2]
    assert (found[0].time, found[0].latency_ms, found[0].trace_id) == ("2026-11-30T10:34:27.631Z", 15.0, "ab")


def test_libraries_of_before_the_scope_and_nested_values_are_read() -> None:
    span = {
        "name": "DynamoDB.GetItem",
        "startTimeUnixNano": 10**18,
        "attributes": listed({**AWS, "db.name": "t", "x": {"y": [1.5, True]}}),
    }
    (record,) = read(
        json.dumps({"instrumentationLibrarySpans": [{"instrumentationLibrary": {"name": "l"}, "spans": [span]}]})
    )
    assert (record.op, record.latency_ms, record.trace_id) == ("GetItem", None, None)


def test_a_request_is_read_whole_where_something_stands_before_its_list() -> None:
    whole = {"received": 1} | json.loads(otlp({**AWS, "rpc.method": "GetItem", "db.name": "t"}))
    assert [record.op for record in read(json.dumps(whole))] == ["GetItem"]


def test_other_spans_are_passed_over_and_one_without_a_start_is_bad() -> None:
    texts = [
        otlp({"db.system": "postgresql"}),
        otlp({**AWS, "rpc.method": "DescribeTable"}),
        otlp({**AWS, "rpc.method": "GetItem"}, startTimeUnixNano="soon"),
        otlp({**AWS, "rpc.method": "GetItem"}, startTimeUnixNano=True),
        json.dumps({"name": "x", "attributes": {}, "kind": 1}),
        '{"something": "else"}',
    ]
    decoded = decode(OpenTelemetryDecoder(), "\n".join(texts).encode())
    assert (decoded.lines, decoded.bad, decoded.others) == (b"", {"a span has no start time": 2}, 4)


class TestProtobuf:
    """Requests as the exporter in C++, Go or Java would send them, made with OTLP's own library."""

    @staticmethod
    def body(*names: str, start: int = 10**18) -> bytes:
        request = ExportTraceServiceRequest()
        one = request.resource_spans.add()
        for name in names:
            span = one.scope_spans.add().spans.add(
                name=f"DynamoDB.{name}", start_time_unix_nano=start, trace_id=b"\xab"
            )
            span.end_time_unix_nano = start + 2_000_000
            span.attributes.add(key="db.system").value.string_value = "dynamodb"
            span.attributes.add(key="empty")
            span.attributes.add(key="aws.dynamodb.table_names").value.array_value.values.add().string_value = "t"
            nested = span.attributes.add(key="more").value.kvlist_value.values.add(key="n")
            nested.value.int_value = 1
            span.status.code = 2
            span.events.add(name="exception").attributes.add(key="exception.type").value.string_value = "a.BadException"
        return bytes(request.SerializeToString())

    def test_a_request_gives_records_and_counts_the_rest(self) -> None:
        decoded = decode_request(self.body("GetItem", "DescribeTable"))
        (record,) = records(decoded)
        assert (record.op, record.table, record.latency_ms, record.trace_id) == ("GetItem", "t", 2.0, "ab")
        assert record.error == RequestError("BadException")
        assert (decoded.bad, decoded.others) == ({}, 1)
        assert decode_request(self.body("GetItem", start=0)).bad == {"a span has no start time": 1}
        assert decode_request(b"").lines == b""

    def test_what_is_no_request_is_refused_at_once_and_counted_in_a_file(self) -> None:
        with pytest.raises(UnreadableError):
            decode_request(b"\x0a\xff\xff\xff")
        assert decode(OtlpDecoder(), b"\x0a\xff\xff\xff\xff").bad == {"a request is no OTLP protobuf": 1}

    @pytest.mark.parametrize("size", [1, 3, 1000])
    def test_a_file_is_read_in_any_chunks_with_lengths_and_without(self, size: int) -> None:
        body = self.body("GetItem", "Query", "DescribeTable")
        for content, times in ((body, 1), ((len(body).to_bytes(4, "big") + body) * 3, 3), (b"", 0)):
            decoding = OtlpDecoder().begin()
            lines = b"".join(decoding.feed(content[at : at + size]) for at in range(0, len(content), size))
            lines += decoding.finish()
            assert (lines.count(b"\n"), decoding.others) == (2 * times, times)

    def test_a_length_beyond_all_measure_is_not_waited_for(self) -> None:
        decoding = OtlpDecoder().begin()
        assert decoding.feed(b"\xff\xff\xff\xff\x0aabc") == b""
        assert decoding.bad == {"a request is too long": 1}

    def test_text_is_no_protobuf(self) -> None:
        assert recognized(self.body("GetItem"))[0].name == "otlp"
        assert (
            recognized(b"\n" + otlp({**AWS, "rpc.method": "GetItem", "db.name": "t"}).encode())[0].name
            == "opentelemetry"
        )


@pytest.mark.parametrize("name", ["db.system.name", "db.system", "rpc.system.name", "rpc.system"])
@pytest.mark.parametrize("value", [{"a": "b"}, ["dynamodb"], {}])
def test_a_system_that_is_no_text_is_none_that_is_known(name: str, value: Any) -> None:
    decoded = decode(OpenTelemetryDecoder(), otlp({name: value}).encode())
    assert (decoded.lines, decoded.bad) == (b"", {})


@pytest.mark.parametrize("nanoseconds", [2**64, 2**70, 10**21])
def test_a_start_that_is_no_time_of_otlp_is_none(nanoseconds: int) -> None:
    told = {**AWS, "rpc.method": "Scan"}
    decoded = decode(OpenTelemetryDecoder(), otlp(told, startTimeUnixNano=nanoseconds).encode())
    assert (decoded.lines, decoded.bad) == (b"", {"a span has no start time": 1})
