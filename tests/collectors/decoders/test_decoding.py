from __future__ import annotations

import json

import msgspec
import pytest

from analyzer.model.request import RequestRecord
from collectors.request_log.decoders.aws_sdk_js import AwsSdkJsDecoder
from collectors.request_log.decoders.decoding import decode, pieces_of
from collectors.request_log.decoders.native import NativeDecoder
from collectors.request_log.decoders.recognize import DECODERS, decoder_named, recognize
from tests.collectors.decoders.conftest import recognized, records

CALL = {
    "clientName": "DynamoDBClient",
    "commandName": "GetItemCommand",
    "input": {"TableName": "t", "Key": {"pk": {"S": "a"}}},
    "output": {},
    "metadata": {"requestId": "R", "attempts": 2},
}
OURS = {"v": 1, "time": "2026-11-30T10:00:00.000Z", "op": "GetItem", "table": "t"}
AT = "2026-11-30T10:00:00.000Z"
MS = 1796032800000


def times(text: str) -> list[str]:
    return [record.time for record in records(decode(AwsSdkJsDecoder(), text.encode()))]


def test_requests_of_another_shape_are_counted_with_its_name_and_other_entries_are_nobodys_loss() -> None:
    event = {"eventSource": "dynamodb.amazonaws.com", "eventName": "GetItem", "requestParameters": {"tableName": "t"}}
    foreign = [event | {"eventTime": AT}, event, event | {"eventSource": "s3.amazonaws.com"}, OURS, {"level": "info"}]
    decoded = decode(AwsSdkJsDecoder(), "\n".join(map(json.dumps, [CALL | {"time": AT}, *foreign])).encode())
    assert len(records(decoded)) == 1
    assert decoded.bad == {
        "a request of another shape, CloudTrail data events: give each shape a log of its own": 2,
        "a request of another shape, Dynascope request records: give each shape a log of its own": 1,
    }
    assert decoded.others == 2


def test_a_request_with_a_number_beyond_all_measure_is_counted_as_bad() -> None:
    text = json.dumps(CALL | {"time": AT}).replace('{"clientName"', '{"size": ' + "9" * 5000 + ', "clientName"')
    decoded = decode(AwsSdkJsDecoder(), text.encode())
    assert (decoded.lines, sum(decoded.bad.values()), decoded.others) == (b"", 1, 0)


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-30T10:00:00Z",
        "2026-11-30 10:00:00,000+0000",
        "2026-11-30T12:00:00.000+02:00",
        "2026-11-30 10:00:00 UTC",
        MS,
        MS / 1000,
        MS * 1000,
        MS * 1_000_000,
        str(MS),
        str(MS / 1000),
    ],
)
@pytest.mark.parametrize("name", ["timestamp", "time", "@timestamp", "ts"])
def test_the_time_that_a_logger_adds_is_read_however_it_is_written(name: str, written: object) -> None:
    assert times(json.dumps({name: written} | CALL)) == [AT]


@pytest.mark.parametrize(
    "text",
    [
        f"2026-11-30T10:00:00.000Z\tR\tINFO\t{json.dumps(CALL)}",
        f"2026-11-30T10:00:00.000Z stdout F {json.dumps(CALL)}",
        json.dumps({"log": json.dumps(CALL) + "\n", "stream": "stdout", "time": "2026-11-30T10:00:00.000000001Z"}),
        json.dumps({"logEvents": [{"id": "1", "timestamp": MS, "message": f"R INFO {json.dumps(CALL)}"}]}),
        json.dumps(
            {"events": [{"logStreamName": "s", "timestamp": MS, "ingestionTime": MS, "message": json.dumps(CALL)}]}
        ),
        json.dumps({"level": "info", "message": CALL, "timestamp": AT}),
        json.dumps({"time": AT, "a": {"b": {"c": CALL}}}),
    ],
)
def test_the_time_may_stand_before_the_entry_or_in_what_wraps_it_up(text: str) -> None:
    assert times(text) == [AT]


@pytest.mark.parametrize(
    "written", [None, "soon", "2026-13-01T00:00:00Z", 5, -1, 1e30, True, [], "12345678901234567890"]
)
def test_an_entry_without_a_time_is_bad_and_the_reason_says_how_to_mend_it(written: object) -> None:
    decoded = decode(AwsSdkJsDecoder(), json.dumps({"timestamp": written} | CALL).encode())
    assert (decoded.lines, decoded.bad) == (b"", {"a request has no time: let the logger add one (`timestamp`)": 1})


def test_reasons_are_counted_and_hold_nothing_of_the_entries() -> None:
    text = "\n".join(
        [
            json.dumps(CALL | {"time": AT, "input": None}),
            json.dumps(CALL | {"time": AT, "input": {"TableName": "t\ud800"}}),
            "{ clientName: 'DynamoDBClient',\n  commandName: 'GetItemCommand'\n}",
            "{ something: 'else' }",
            json.dumps({"stream": "stdout", "log": '{"commandName": "cut off'}),
            json.dumps({"level": "info"}),
            json.dumps(CALL | {"time": AT, "clientName": "S3Client"}),
            json.dumps(CALL | {"time": AT, "clientName": "DynamoDBStreamsClient"}),
            json.dumps(CALL | {"time": AT, "commandName": "DescribeTableCommand"}),
            json.dumps(CALL | {"time": AT, "commandName": "?"}),
        ]
    )
    decoded = decode(AwsSdkJsDecoder(), text.encode())
    assert decoded.bad == {
        "a request has no input: the logger leaves it out": 1,
        "a request holds text that is no Unicode": 1,
        "an entry that looks like a request is no whole JSON object": 2,
    }
    assert (decoded.lines, decoded.others) == (b"", 6)


def test_an_error_that_is_no_object_is_an_error_all_the_same_and_without_an_answer_nothing_is_known_of_it() -> None:
    failed = json.dumps({"time": AT, **CALL, "error": "it failed", "metadata": None})
    silent = json.dumps(
        {"time": AT, **CALL, "output": None, "duration": 12.5, "trace_id": "T", "service": "s", "version": "2"}
    )
    first, second = records(decode(AwsSdkJsDecoder(), f"{failed}\n{silent}".encode()))
    assert (first.error is not None, first.count, first.attempts) == (True, None, None)
    assert (second.count, second.latency_ms, second.trace_id, second.caller, second.caller_version) == (
        None,
        12.5,
        "T",
        "s",
        "2",
    )


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        ("Get", "GetItem"),
        ("Put", "PutItem"),
        ("Update", "UpdateItem"),
        ("Delete", "DeleteItem"),
        ("BatchGet", "BatchGetItem"),
        ("BatchWrite", "BatchWriteItem"),
        ("TransactGet", "TransactGetItems"),
        ("TransactWrite", "TransactWriteItems"),
        ("Query", "Query"),
        ("ExecuteTransaction", "ExecuteTransaction"),
    ],
)
def test_a_command_of_the_document_client_is_the_operation_that_it_sends(command: str, operation: str) -> None:
    put = {"Put": {"TableName": "carts", "Item": {"pk": "CART#9"}}}
    asked = {"TransactItems": [put]} if command.startswith("Transact") else {"TableName": "carts"}
    entry = CALL | {"time": AT, "clientName": "DynamoDBDocumentClient", "commandName": f"{command}Command"}
    (record,) = records(decode(AwsSdkJsDecoder(), json.dumps(entry | {"input": asked}).encode()))
    assert (record.op, record.table) == (operation, "carts")


@pytest.mark.parametrize(
    ("around", "caller"),
    [
        ({"pid": 4, "hostname": "pod-1", "name": "cart-api"}, "cart-api"),
        ({"pid": 4, "hostname": "pod-1", "name": "cart-api", "service": "carts"}, "carts"),
        ({"pid": 4, "hostname": "pod-1", "name": ""}, None),
        ({"pid": 4, "hostname": "pod-1"}, None),
        ({"name": "an event"}, None),
    ],
)
def test_the_name_of_a_pino_entry_is_its_caller_unless_it_tells_a_service(
    around: dict[str, object], caller: str | None
) -> None:
    (record,) = records(decode(AwsSdkJsDecoder(), json.dumps({"time": AT} | around | CALL).encode()))
    assert record.caller == caller


def test_envelopes_in_envelopes_are_opened_so_deep_and_no_deeper() -> None:
    text = json.dumps({"time": AT} | CALL)
    depths = []
    for _ in range(5):
        depths.append(bool(times(text)))
        text = json.dumps({"log": text, "stream": "stdout"})
    assert depths == [True, True, True, True, False]


def test_what_looks_like_an_envelope_and_holds_no_text_is_an_object_like_any_other() -> None:
    first = json.dumps(
        [{"stream": 1}, {"ingestionTime": 1}, {"logEvents": [{"message": 1}, 2]}, {"logEvents": 1}, {"a": 1}]
    )
    assert [piece.value for piece in pieces_of(first.encode(), 9)] == [
        {"stream": 1},
        {"ingestionTime": 1},
        {"logEvents": 1},
        {"a": 1},
    ]


class TestOurOwnRecords:
    """They pass through as they are."""

    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_lines_pass_byte_by_byte_good_or_bad(self, size: int) -> None:
        content = json.dumps(OURS).encode() + b'\n{"v": 1, "new field": 2}\nnot json\n\n{"v":1'
        decoding = NativeDecoder().begin()
        lines = b"".join(decoding.feed(content[at : at + size]) for at in range(0, len(content), size))
        assert lines + decoding.finish() == content + b"\n"
        assert (decoding.finish(), decoding.bad, decoding.others) == (b'{"v":1\n', {}, 0)

    def test_a_line_beyond_all_measure_is_cut_out_and_counted(self) -> None:
        decoding = NativeDecoder().begin()
        parts = [b"first\n", b"x" * 700_000, b"x" * 700_000, b"x" * 700_000, b"tail\nnext\n"]
        assert b"".join(map(decoding.feed, parts)) + decoding.finish() == b"first\nnext\n"
        assert decoding.bad == {"line is too long": 1}

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda line: f"2026-11-30T10:00:00Z stdout F {line}",
            lambda line: json.dumps({"log": line + "\n", "stream": "stdout", "time": AT}),
            lambda line: json.dumps({"logEvents": [{"timestamp": MS, "message": line}]}),
        ],
    )
    def test_they_are_taken_out_of_what_a_log_service_wraps_them_in(self, wrap: object) -> None:
        counter = {"v": 1, "counter": "dropped", "count": 3}
        assert callable(wrap)
        text = "\n".join(wrap(json.dumps(one)) for one in (OURS, counter, {"else": 1}))
        decoder = recognize(text.encode())
        assert decoder is not None
        decoded = decode(decoder, text.encode())
        assert (decoder.name, decoded.others) == ("wrapped", 1)
        assert [msgspec.json.decode(line) for line in decoded.lines.splitlines()] == [OURS, counter]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (json.dumps(OURS), "native"),
        (json.dumps({"time": AT} | CALL), "aws-sdk-js"),
        ("{}\n" * 300 + json.dumps({"time": AT} | CALL), "aws-sdk-js"),
        (json.dumps(OURS) + "\n" + 2 * (json.dumps({"time": AT} | CALL) + "\n"), "aws-sdk-js"),
        ("{}\n" * 600 + json.dumps({"time": AT} | CALL), None),
        ("", None),
        ("plain text\n", None),
        ('{"level": "info"}', None),
        ("\x00\x01\x02", None),
    ],
)
def test_a_shape_is_told_by_most_of_a_logs_first_objects(content: str, name: str | None) -> None:
    decoder = recognize(content.encode())
    assert (None if decoder is None else decoder.name) == name


def test_every_shape_has_one_name_a_title_and_the_sight_of_requests() -> None:
    names = [decoder.name for decoder in DECODERS]
    assert len(set(names)) == len(names)
    for decoder in DECODERS:
        assert decoder_named(decoder.name) is decoder
        assert decoder.title
        assert "REQUESTS" in decoder.sights
    assert decoder_named("unheard-of") is None


def test_records_are_requests_of_version_1() -> None:
    _, found, _ = recognized(json.dumps({"time": AT} | CALL).encode())
    assert found == [
        RequestRecord(AT, "GetItem", 1, table="t", key={"pk": {"S": "a"}}, count=0, attempts=2, request_id="R")
    ]
