from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.model.batch import Block, Position, StreamStatus
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.collector import FileStream
from collectors.request_log.config import RequestLogConfig
from collectors.request_log.joining import CLAIMS, Joiner
from collectors.request_log.opening import open_streams
from collectors.request_log.otlp.config import OtlpConfig
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.s3.config import S3Config
from collectors.request_log.together import TogetherStream
from collectors.request_log.xray.config import XrayConfig
from tests.collectors.streams.conftest import NOW, FakeAws, Kept, lines_of, record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

GAP = Gap(SourceName.REQUEST_LOG, GapReason.DENIED, "no")


class Given:
    """A stream of blocks that are given, and then nothing until it is stopped."""

    def __init__(self, name: str, *blocks: Block, failure: Exception | None = None) -> None:
        self.name = name
        self.given = blocks
        self.failure = failure
        self.ending = asyncio.Event()
        self.was_closed = False
        self.was_ended = False

    def begin(self) -> tuple[Position, ...]:
        return (Position(self.name, 0, 0),)

    async def blocks(self) -> AsyncIterator[Block]:
        try:
            for number, block in enumerate(self.given, start=1):
                yield Block(block.lines, Position(self.name, 0, number))
            if self.failure is not None:
                raise self.failure
            await self.ending.wait()
        finally:
            self.was_ended = True

    def stop(self) -> None:
        self.ending.set()

    def close(self) -> None:
        self.was_closed = True

    def paths(self) -> frozenset[str]:
        return frozenset({self.name})

    def status(self) -> StreamStatus:
        return StreamStatus(1, (f"{self.name} is missing",), 10, 1, 2, 3, 4, (GAP,))


def block(*numbers: int) -> Block:
    return Block(lines_of(record(number) for number in numbers))


async def test_several_streams_are_read_as_one(kept: Kept) -> None:
    streams = {"a": Given("a", block(1), block(2)), "b": Given("b", *[block(n) for n in range(10, 30)])}
    together = TogetherStream(streams)
    assert together.begin() == (Position("a", 0, 0), Position("b", 0, 0))
    async for one in together.blocks():
        kept.take(one)
        if len(kept.ids) == 22:
            together.stop()
    assert kept.positions == {"a": Position("a", 0, 2), "b": Position("b", 0, 20)}
    together.close()
    assert all(stream.was_closed for stream in streams.values())
    assert together.paths() == {"a", "b"}


async def test_the_state_of_all_is_told_in_one() -> None:
    told = TogetherStream({"a": Given("a"), "b": Given("b")}).status()
    assert told == StreamStatus(2, ("a is missing", "b is missing"), 20, 2, 4, 6, 8, (GAP, GAP))


async def test_a_bug_in_one_ends_all() -> None:
    streams = {"a": Given("a", failure=ZeroDivisionError()), "b": Given("b", block(1))}

    async def read() -> None:
        async for _ in TogetherStream(streams).blocks():
            pass

    with pytest.raises(ZeroDivisionError):
        await read()
    assert streams["b"].was_ended


async def test_reading_that_is_cancelled_ends_every_stream() -> None:
    streams = {"a": Given("a"), "b": Given("b", block(1))}
    seen = asyncio.Event()

    async def read() -> None:
        async for _ in TogetherStream(streams).blocks():
            seen.set()

    task = asyncio.create_task(read())
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(stream.was_ended for stream in streams.values())


async def test_the_same_request_of_two_streams_is_one_when_its_time_has_come(kept: Kept) -> None:
    streams = {"a": Given("a", block(1, 2)), "b": Given("b", block(2, 3))}
    together = TogetherStream(streams, Joiner(("a", "b"), 20))
    assert together.begin()[-1] == Position(CLAIMS, 0, 0)
    async with asyncio.timeout(10):
        async for one in together.blocks():
            kept.take(one)
            if set(kept.positions) == {"a", "b", CLAIMS}:
                together.stop()
    assert kept.ids == ["r1", "r2"]
    assert together.paths() == {"a", "b", CLAIMS}
    assert (together.status().joined, together.status().set_aside) == (1, 1)


async def test_what_waits_when_the_streams_end_is_let_go(kept: Kept) -> None:
    streams = {"a": Given("a", block(1)), "b": Given("b", block(1))}
    together = TogetherStream(streams, Joiner(("a", "b"), 60_000), lambda: NOW)
    asyncio.get_running_loop().call_later(0.05, together.stop)
    await kept.read(together.blocks())
    assert kept.ids == ["r1"]


@pytest.mark.parametrize("most", range(1, 9))
async def test_a_kill_between_any_two_blocks_loses_and_doubles_nothing(tmp_path: Path, most: int) -> None:
    """What is counted belongs to the positions; ids that come again are the digest's to drop, others never come."""
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(lines_of(record(number) for number in range(40)))
    second.write_bytes(lines_of(record(number, NOW + 1) for number in range(20, 60)))
    kept = Kept()

    def opened() -> TogetherStream:
        positions = kept.checkpoint()
        streams = {
            str(path): FileStream(RequestLogConfig((str(path),), block_bytes=1000), positions)
            for path in (first, second)
        }
        claims = next((one for one in positions if one.path == CLAIMS), None)
        return TogetherStream(streams, Joiner(tuple(streams), 1, claims))

    for killed_after in (most, most, most, 10**9):
        together = opened()
        together.stop()
        await kept.read(together.blocks(), most=killed_after)
        together.close()
    primary = {claim.split("\t")[0] for claim in kept.positions[CLAIMS].seen}
    assert primary in ({str(first)}, {str(second)})
    numbers = range(40) if primary == {str(first)} else range(20, 60)
    assert sorted(set(kept.ids)) == sorted(f"r{number}" for number in numbers)
    assert len(kept.ids) == len(set(kept.ids))


async def test_files_alone_are_tailed_as_ever(tmp_path: Path) -> None:
    assert isinstance(open_streams(RequestLogConfig((str(tmp_path / "log"),))), FileStream)


async def test_every_log_that_is_configured_is_opened() -> None:
    config = RequestLogConfig(
        ("log",),
        s3=(S3Config("trails", layout="cloudtrail"), S3Config("logs")),
        otlp=OtlpConfig(),
        xray=(XrayConfig(),),
    )
    claims = Position(CLAIMS, 0, 0, seen=("xray\t1\tcases\t\t",))
    stream = open_streams(config, (claims,), lambda: NOW)
    assert isinstance(stream, TogetherStream)
    assert list(stream._streams) == ["files", "s3://logs/", "otlp://127.0.0.1:4318", "xray:///", "s3://trails/"]
    assert stream.begin()[-1] == claims


async def test_groups_of_one_kind_are_parts_of_one_log() -> None:
    groups = (CloudwatchLogsConfig("/lambda-a"), CloudwatchLogsConfig("/lambda-b"))
    assert not RequestLogConfig(cloudwatch_logs=groups).is_joined
    trail = CloudwatchLogsConfig("/trail", shape="cloudtrail")
    config = RequestLogConfig(cloudwatch_logs=(*groups, trail))
    assert config.is_joined
    assert list(config.logs.values()) == ["cloudwatch-logs", "cloudwatch-logs", "cloudtrail"]


async def test_logs_are_not_joined_where_nobody_wants_it() -> None:
    config = RequestLogConfig(("log",), s3=(S3Config("logs"),), join_ms=0)
    stream = open_streams(config)
    assert isinstance(stream, TogetherStream)
    assert stream.paths() == {"s3://logs/"}


async def test_without_a_way_to_aws_a_bucket_is_a_gap() -> None:
    stream = open_streams(RequestLogConfig(s3=(S3Config("logs", poll_ms=1),)))
    assert isinstance(stream, S3Stream)

    async def read() -> None:
        async for _ in stream.blocks():
            pass

    task = asyncio.create_task(read())
    while not stream.status().gaps:  # noqa: ASYNC110 -- nothing in the stream is there to be awaited
        await asyncio.sleep(0.001)
    assert stream.status().gaps[0].reason == GapReason.UNSUPPORTED
    stream.close()
    await task


async def test_the_way_to_aws_is_handed_on(kept: Kept) -> None:
    def listed(**_: Any) -> dict[str, Any]:
        return {"IsTruncated": False}

    aws = FakeAws(ListObjectsV2=listed)
    stream = open_streams(RequestLogConfig(s3=(S3Config("logs", layout="flat"),)), aws=aws)
    assert isinstance(stream, S3Stream)
    await kept.read(stream.look())
    assert aws.count("ListObjectsV2") == 1
