"""The streams over the wire: S3, CloudWatch Logs and X-Ray of the local AWS, and everything that can go wrong there."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from analyzer.errors import AbsentError, CollectError
from analyzer.model.sight import GapReason
from collectors.aws.config import AwsConfig
from collectors.aws.session import Aws
from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.polling import gap_of
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.s3.config import S3Config
from collectors.request_log.xray.collector import XrayStream
from collectors.request_log.xray.config import XrayConfig
from tests.collectors.streams.conftest import Kept, lines_of, record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from collectors.request_log.polling import PolledStream
    from tests.support.emulator import LocalAws

REASONS = {
    "denied": {GapReason.DENIED},
    "expired": {GapReason.DENIED},
    "skewed": {GapReason.DENIED},
    "throttled": {GapReason.THROTTLED},
    "timeout": {GapReason.TIMEOUT},
    "reset": {GapReason.TIMEOUT},
    "truncated": {GapReason.TIMEOUT, GapReason.MALFORMED},
    "html": {GapReason.MALFORMED, GapReason.TIMEOUT},
    "wrong": {GapReason.MALFORMED},
    "garbage": {GapReason.MALFORMED},
}


def now() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
async def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Aws]:
    for name, value in emulator.environment.items():
        if name != "AWS_ENDPOINT_URL":
            monkeypatch.setenv(name, value)
    opened = Aws(AwsConfig(("us-east-1",), endpoint_url=emulator.url, read_ms=3500, attempts=1))
    yield opened
    await opened.close()


class Place:
    """One log of the local AWS: what is written to it, and the stream that reads it."""

    def __init__(self, emulator: LocalAws, aws: Aws, kind: str) -> None:
        self.kind = kind
        self._emulator = emulator
        self._aws = aws
        if kind == "s3":
            emulator.client("s3").create_bucket(Bucket="logs")
        elif kind == "logs":
            client = emulator.client("logs")
            client.create_log_group(logGroupName="/aws/lambda/orders")
            client.create_log_stream(logGroupName="/aws/lambda/orders", logStreamName="s")

    def stream(self) -> PolledStream:
        if self.kind == "s3":
            return S3Stream(S3Config("logs", "ddb/", poll_ms=5), self._aws)
        if self.kind == "logs":
            return CloudwatchLogsStream(CloudwatchLogsConfig("/aws/lambda/orders", poll_ms=5, overlap_ms=10), self._aws)
        return XrayStream(XrayConfig(poll_ms=5, settle_ms=0), self._aws)

    def write(self, number: int) -> None:
        at = now() - 1000
        if self.kind == "s3":
            moment = datetime.fromtimestamp(at / 1000, UTC)
            key = f"ddb/{moment:%Y/%m/%d/%H}/x-{number}"
            body = gzip.compress(lines_of([record(number, at)]))
            self._emulator.client("s3").put_object(Bucket="logs", Key=key, Body=body)
        elif self.kind == "logs":
            event = {"timestamp": at, "message": json.dumps(record(number, at))}
            self._emulator.client("logs").put_log_events(
                logGroupName="/aws/lambda/orders", logStreamName="s", logEvents=[event]
            )
        else:
            self._emulator.client("xray").put_trace_segments(TraceSegmentDocuments=[segment(number, at)])


def segment(number: int, at: int) -> str:
    call = {
        "id": f"{number:016x}",
        "name": "dynamodb",
        "namespace": "aws",
        "start_time": at / 1000,
        "end_time": at / 1000 + 0.01,
        "aws": {"operation": "Scan", "table_name": "cases", "request_id": f"r{number}"},
    }
    trace = f"1-{at // 1000:08x}-{number:024x}"
    own = {"id": f"{number + 1:016x}", "name": "orders", "start_time": at / 1000, "end_time": at / 1000 + 0.5}
    return json.dumps({**own, "trace_id": trace, "subsegments": [call]})


CALLS = [
    ("s3", "s3", "ListObjectsV2"),
    ("s3", "s3", "GetObject"),
    ("logs", "logs", "FilterLogEvents"),
]


@pytest.fixture
def open_place(emulator: LocalAws, aws: Aws) -> Callable[[str], Place]:
    return lambda kind: Place(emulator, aws, kind)


@pytest.mark.parametrize("kind", ["s3", "logs"])
async def test_what_is_written_is_read_once(open_place: Callable[[str], Place], kept: Kept, kind: str) -> None:
    place = open_place(kind)
    for number in range(5):
        place.write(number)
    stream = place.stream()
    await kept.read(stream.look())
    await asyncio.to_thread(place.write, 5)
    await asyncio.sleep(0.02)  # an event is no older than the look that finds it
    await kept.read(stream.look())
    assert sorted(kept.ids) == [f"r{number}" for number in range(6)]


@pytest.mark.parametrize("fault", REASONS)
@pytest.mark.parametrize(("kind", "service", "operation"), CALLS, ids=[call for *_, call in CALLS])
async def test_every_fault_is_a_gap_and_nothing_is_lost(
    open_place: Callable[[str], Place],
    emulator: LocalAws,
    kept: Kept,
    kind: str,
    service: str,
    operation: str,
    fault: str,
) -> None:
    place = open_place(kind)
    for number in range(3):
        place.write(number)
    times = 2 if fault == "reset" else 1  # the first is tried again on a new connection
    emulator.fault(fault, service=service, operation=operation, times=times, seconds=5)
    stream = place.stream()
    with pytest.raises(CollectError) as caught:
        await kept.read(stream.look())
    assert gap_of(caught.value, "a").reason in REASONS[fault]
    assert caught.value.hint
    emulator.forgive()
    await kept.read(stream.look())
    assert sorted(kept.ids) == ["r0", "r1", "r2"]


async def test_traces_are_fetched(emulator: LocalAws, open_place: Callable[[str], Place], kept: Kept) -> None:
    """The local AWS lists no summaries, so only the batch is real."""
    place = open_place("xray")
    at = now() - 1000
    emulator.client("xray").put_trace_segments(TraceSegmentDocuments=[segment(1, at), segment(2, at)])
    stream = place.stream()
    assert isinstance(stream, XrayStream)
    kept.take(await stream._fetch((f"1-{at // 1000:08x}-{1:024x}", f"1-{at // 1000:08x}-{2:024x}")))
    assert sorted(kept.ids) == ["r1", "r2"]


async def test_a_bucket_that_is_not_there_is_a_gap(aws: Aws, kept: Kept) -> None:
    with pytest.raises(AbsentError):
        await kept.read(S3Stream(S3Config("nowhere"), aws).look())
