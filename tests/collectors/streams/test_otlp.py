from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from analyzer.model.batch import Position
from analyzer.model.sight import GapReason
from collectors.request_log.decoders.seam import Decoded
from collectors.request_log.otlp.collector import OtlpStream
from collectors.request_log.otlp.config import OtlpConfig
from collectors.request_log.otlp.parse import JSON, PROTOBUF, Refusal, blocks_of, received, unpack
from tests.collectors.streams.conftest import NOW, Kept

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PATH = "otlp://127.0.0.1:0"


def span(number: int, **attributes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "rpc.system": "aws-api",
        "rpc.service": "DynamoDB",
        "rpc.method": "Scan",
        "aws.request_id": f"r{number}",
        **attributes,
    }
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "DynamoDB.Scan",
        "kind": 3,
        "startTimeUnixNano": str(NOW * 1_000_000),
        "endTimeUnixNano": str(NOW * 1_000_000 + 5_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in values.items()],
    }


def export(*spans: dict[str, Any]) -> bytes:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "orders"}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}).encode()


def protobuf(*spans: dict[str, Any]) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for one in spans:
        added = scope.spans.add()
        added.name = one["name"]
        added.trace_id = bytes.fromhex(one["traceId"])
        added.start_time_unix_nano = int(one["startTimeUnixNano"])
        added.end_time_unix_nano = int(one["endTimeUnixNano"])
        for attribute in one["attributes"]:
            entry = added.attributes.add()
            entry.key = attribute["key"]
            entry.value.string_value = attribute["value"]["stringValue"]
    body: bytes = request.SerializeToString()
    return body


TIMELESS = {**span(7), "startTimeUnixNano": "0"}


class Receiver:
    """A receiver that is read, and a client of it."""

    def __init__(self, stream: OtlpStream, session: aiohttp.ClientSession) -> None:
        self.stream = stream
        self.kept = Kept()
        self._session = session

    async def post(
        self, body: Any, kind: str | None = JSON, encoding: str | None = None, path: str = "/v1/traces"
    ) -> tuple[int, bytes, dict[str, str]]:
        headers = {} if kind is None else {"Content-Type": kind}
        if encoding is not None:
            headers["Content-Encoding"] = encoding
        url = f"http://127.0.0.1:{self.stream.port}{path}"
        async with self._session.post(url, data=body, headers=headers, skip_auto_headers=["Content-Type"]) as answer:
            return answer.status, await answer.read(), dict(answer.headers)

    async def read(self) -> None:
        async for block in self.stream.blocks():
            self.kept.take(block)


@asynccontextmanager
async def listening(*, is_read: bool = True, **bounds: Any) -> AsyncIterator[Receiver]:
    stream = OtlpStream(OtlpConfig(port=0, **bounds), (), lambda: NOW)
    async with asyncio.timeout(30), aiohttp.ClientSession(auto_decompress=False) as session:
        receiver = Receiver(stream, session)
        async with asyncio.TaskGroup() as group:
            if is_read:
                group.create_task(receiver.read())
            else:
                blocks = stream.blocks()
                waiting = asyncio.ensure_future(anext(blocks))
            while stream.port is None:  # noqa: ASYNC110 -- nothing in the stream is there to be awaited
                await asyncio.sleep(0.001)
            yield receiver
            stream.stop()
            if not is_read:
                receiver.kept.take(await waiting)
                await receiver.kept.read(blocks)


@pytest.mark.parametrize("encoding", [None, "gzip"])
@pytest.mark.parametrize(("kind", "write", "said"), [(JSON, export, b"{}"), (PROTOBUF, protobuf, b"")])
async def test_spans_of_dynamodb_become_records(kind: str, write: Any, said: bytes, encoding: str | None) -> None:
    async with listening() as receiver:
        body = write(span(1), span(2, **{"rpc.service": "S3"}), span(3))
        packed = body if encoding is None else gzip.compress(body)
        status, answer, headers = await receiver.post(packed, f"{kind}; charset=utf-8", encoding)
        assert (status, answer, headers["Content-Type"]) == (200, said, kind)
    assert receiver.kept.ids == ["r1", "r3"]
    assert receiver.kept.positions == {PATH: Position(PATH, 0, 1, "closed", modified=NOW)}


@pytest.mark.parametrize(("kind", "body"), [(JSON, b"{}"), (JSON, b'{"resourceSpans": []}'), (PROTOBUF, b"")])
async def test_an_empty_request_is_taken(kind: str, body: bytes) -> None:
    async with listening() as receiver:
        status, _, _ = await receiver.post(body, kind)
        assert status == 200
    assert receiver.kept.ids == []


async def test_spans_that_cannot_be_read_are_a_partial_success_and_bad() -> None:
    async with listening() as receiver:
        status, answer, _ = await receiver.post(export(span(1), TIMELESS))
        said = {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "a span has no start time"}}
        assert (status, json.loads(answer)) == (200, said)
        status, answer, _ = await receiver.post(protobuf(span(2), *[TIMELESS] * 300), PROTOBUF)
        told = ExportTraceServiceResponse.FromString(answer).partial_success
        assert (status, told.rejected_spans, told.error_message) == (200, 300, "a span has no start time")
    assert receiver.kept.ids == ["r1", "r2"]
    assert receiver.kept.bad == {"a span has no start time": 301}


BOMB = gzip.compress(b"[" * 100_000_000)


@pytest.mark.parametrize(
    ("body", "kind", "encoding", "status", "why"),
    [
        (b"{}", None, None, 415, "send application/x-protobuf or application/json"),
        (b"{}", "text/plain", None, 415, "send application/x-protobuf or application/json"),
        (b"{}", JSON, "br", 415, "compress with gzip, or not at all"),
        (b"[]", JSON, None, 400, "the body is no OTLP request in JSON"),
        (b"{", JSON, None, 400, "the body is no OTLP request in JSON"),
        (b"[" * 100_000, JSON, None, 400, "the body is no OTLP request in JSON"),
        (b'{"resourceSpans": [1]}', JSON, None, 400, "the body is no OTLP request in JSON"),
        (b"\xff\xfe", JSON, None, 400, "the body is no OTLP request in JSON"),
        (b"{}", JSON, "gzip", 400, "the body is no gzip"),
        (gzip.compress(export(span(1)))[:-20], JSON, "gzip", 400, "the body ends before the end of its gzip"),
        (protobuf(span(1))[:-3], PROTOBUF, None, 400, "a request is no OTLP protobuf"),
        (b"\xff" * 50, PROTOBUF, None, 400, "a request is no OTLP protobuf"),
        (BOMB, JSON, "gzip", 413, "unpacked, the body is over 1000000 bytes: send smaller batches"),
        (b"x" * 1_000_001, JSON, None, 413, "the body is over 1000000 bytes: send smaller batches"),
    ],
)
async def test_a_body_that_is_none_is_refused(
    body: bytes, kind: str | None, encoding: str | None, status: int, why: str
) -> None:
    async with listening(largest_body_bytes=1_000_000) as receiver:
        found, answer, headers = await receiver.post(body, kind, encoding)
        assert found == status
        assert why.encode() in answer
        assert headers["Content-Type"] == (PROTOBUF if kind == PROTOBUF else JSON)
        assert (await receiver.post(export(span(1))))[0] == 200
    assert receiver.kept.ids == ["r1"]
    (gap,) = receiver.stream.status().gaps
    assert (gap.reason, gap.detail) == (
        GapReason.LOW_COVERAGE,
        f"{PATH}: 1 exports were refused with HTTP {status}",
    )


async def test_a_body_of_100_megabytes_without_a_length_is_cut_off() -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 1_000_000

    async with listening(largest_body_bytes=1_000_000) as receiver:
        try:
            status, _, _ = await receiver.post(endless())
        except aiohttp.ClientConnectionError:  # it was cut off before the answer was read
            status = 413
        assert status == 413
        assert receiver.stream.status().pending_bytes == 0


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with listening(body_ms=20) as receiver:
        status, answer, _ = await receiver.post(slow())
        assert (status, json.loads(answer)["code"]) == (408, 14)


async def test_a_full_queue_is_told_to_the_client_at_once() -> None:
    async with listening(is_read=False, queue_bytes=100) as receiver:
        codes = [(await receiver.post(export(span(number))))[0] for number in range(3)]
        status, answer, headers = await receiver.post(protobuf(span(9)), PROTOBUF)
        assert status == 429
        assert answer.startswith(b"\x08\x08\x12")
        assert headers["Retry-After"] == "2"
        assert 429 in codes
    assert len(receiver.kept.ids) == codes.count(200)


async def test_more_requests_at_once_than_the_bound_are_told_to_come_again() -> None:
    waiting = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        waiting.set()
        await asyncio.sleep(0.3)
        yield b"}"

    async with listening(most_requests=1) as receiver, asyncio.TaskGroup() as group:
        first = group.create_task(receiver.post(slow()))
        await waiting.wait()
        while receiver.stream._taking == 0:  # noqa: ASYNC110 -- nothing in the stream is there to be awaited
            await asyncio.sleep(0.001)
        assert (await receiver.post(b"{}"))[0] == 429
        assert (await first)[0] == 200


async def test_a_receiver_that_stops_takes_nothing_more() -> None:
    async with listening(is_read=False) as receiver:
        await receiver.post(export(span(1)))
        receiver.stream.close()
        status, _, headers = await receiver.post(export(span(2)))
        assert (status, headers["Retry-After"]) == (503, "2")
    assert receiver.kept.ids == ["r1"]


@pytest.mark.parametrize(("path", "status"), [("/v1/metrics", 404), ("/", 404)])
async def test_only_traces_are_taken(path: str, status: int) -> None:
    async with listening() as receiver:
        assert (await receiver.post(b"{}", path=path))[0] == status


async def test_an_address_that_is_taken_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collectors.request_log.otlp.collector._OPEN_AGAIN_SECONDS", 0.01)
    async with listening() as receiver:
        port = receiver.stream.port
        assert port is not None
        second = OtlpStream(OtlpConfig(port=port), (), lambda: NOW)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(Kept().read(second.blocks()))
            while not second.status().gaps:  # noqa: ASYNC110 -- nothing in the stream is there to be awaited
                await asyncio.sleep(0.001)
            (gap,) = second.status().gaps
            assert gap.reason == GapReason.NOT_ENABLED
            assert second.status().files == 0
            receiver.stream.stop()
            while second.port is None:  # noqa: ASYNC110 -- same
                await asyncio.sleep(0.001)
            assert second.status().gaps == ()
            second.stop()
            await task


@pytest.mark.parametrize(
    ("position", "since", "gap"),
    [
        (None, NOW - 60_000, None),
        (Position(PATH, 0, 5, modified=NOW - 90_000), NOW - 60_000, (NOW - 60_000, NOW)),
        (Position(PATH, 0, 5, "closed", modified=NOW - 30_000), NOW - 60_000, (NOW - 30_000, NOW)),
        (Position(PATH, 0, 5, "closed", modified=NOW - 500), NOW - 60_000, None),
        (Position(PATH, 0, 5, modified=NOW - 90_000), None, (NOW - 90_000, NOW)),
    ],
)
def test_what_was_sent_while_nobody_listened_is_a_gap(
    position: Position | None, since: int | None, gap: tuple[int, int] | None
) -> None:
    stream = OtlpStream(OtlpConfig(port=0), [] if position is None else [position], lambda: NOW, since)
    assert [(one.start, one.end) for one in stream.status().gaps] == ([] if gap is None else [gap])
    assert stream.begin() == (Position(PATH, 0, 0 if position is None else 5, modified=NOW),)
    assert stream.paths() == {PATH}


async def test_reading_that_is_cancelled_lets_the_address_go() -> None:
    stream = OtlpStream(OtlpConfig(port=0), (), lambda: NOW)
    task = asyncio.ensure_future(Kept().read(stream.blocks()))
    while stream.port is None:  # noqa: ASYNC110 -- nothing in the stream is there to be awaited
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stream.port is None


def test_many_records_become_blocks_of_whole_lines() -> None:
    lines = b"".join(b"x" * random.Random(n).randrange(2000) + b"\n" for n in range(2000))
    blocks = blocks_of(Decoded(lines, {"bad": 1}))
    assert b"".join(block for block, _ in blocks) == lines
    assert all(block.endswith(b"\n") and len(block) < 300_000 for block, _ in blocks)
    assert [bad for _, bad in blocks if bad] == [{"bad": 1}]
    assert blocks_of(Decoded(b"", {})) == []


def test_a_span_whose_text_is_no_unicode_is_bad() -> None:
    body = export(span(1, **{"aws.dynamodb.index_name": "x"})).replace(b'"x"', b'"\\ud800"')
    decoded = received(body, JSON, is_packed=False, most=10**6)
    assert (decoded.lines, decoded.bad) == (b"", {"a span holds text that is no Unicode": 1})


def test_gzip_in_several_members_is_unpacked() -> None:
    assert unpack(gzip.compress(b"a" * 300_000) + gzip.compress(b"b"), 10**6) == b"a" * 300_000 + b"b"
    assert unpack(gzip.compress(b"a" * 262_144), 10**6) == b"a" * 262_144
    assert unpack(gzip.compress(b""), 1) == b""


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([JSON, PROTOBUF]), st.sampled_from(["", "gzip"]))
def test_whatever_the_body_is_it_is_taken_or_refused(body: bytes, kind: str, encoding: str) -> None:
    with contextlib.suppress(Refusal):
        assert received(body, kind, is_packed=bool(encoding), most=10_000).lines == b""


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["key", "value", "spans"]), inner),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["resource", "scopeSpans", "attributes"]), ANY), st.lists(ANY, max_size=3))
def test_spans_of_any_form_never_break_it(one: dict[str, Any], attributes: list[Any]) -> None:
    spans = [{**span(1), "attributes": [*span(1)["attributes"], *attributes]}]
    body = {"resourceSpans": [one, {"scopeSpans": [{"spans": spans}]}]}
    received(json.dumps(body).encode(), JSON, is_packed=False, most=10**6)


async def test_the_real_exporter_of_python_is_understood() -> None:
    from opentelemetry.exporter.otlp.proto.http import Compression  # noqa: PLC0415 -- only here
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 -- same
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 -- same
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415 -- same

    def work(url: str) -> None:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(url, compression=Compression.Gzip)))
        tracer = provider.get_tracer("opentelemetry.instrumentation.botocore")
        with tracer.start_as_current_span("DynamoDB.Scan") as made:
            made.set_attributes(
                {
                    "rpc.system": "aws-api",
                    "rpc.service": "DynamoDB",
                    "rpc.method": "Scan",
                    "aws.request_id": "r1",
                    "aws.dynamodb.table_names": ["cases"],
                }
            )
        provider.shutdown()

    async with listening() as receiver:
        await asyncio.to_thread(work, f"http://127.0.0.1:{receiver.stream.port}/v1/traces")
    assert receiver.kept.ids == ["r1"]
