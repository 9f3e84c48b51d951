"""A daemon that is killed anywhere: what is counted and where reading stands are one, so nothing is lost or doubled."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.checkpoint import Checkpoint
from analyzer.config import load_settings
from analyzer.setup import Setup, build_setup
from analyzer.watch import Watch
from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.joining import CLAIMS, Joiner
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.s3.config import S3Config
from collectors.request_log.together import TogetherStream
from tests.collectors.streams.conftest import NOW, lines_of, record
from tests.collectors.streams.test_cloudwatch_logs import Group
from tests.collectors.streams.test_s3 import Bucket

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.interfaces import Stream
    from analyzer.model.batch import Position


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    folder: Path = tmp_path_factory.mktemp("daemon")
    (folder / "d.yaml").write_text(json.dumps({"request_log": {"files": ["log"]}}))
    return build_setup(load_settings(folder / "d.yaml", {}))


class World:
    """A bucket and a log group; requests without an id, so that nothing but positions keeps them apart."""

    def __init__(self) -> None:
        self.bucket = Bucket()
        self.group = Group(page=3)
        self.written = 0

    def anonymous(self, count: int, table: str) -> list[dict[str, object]]:
        self.written += count
        return [{name: it for name, it in record(0, table=table).items() if name != "request_id"} for _ in range(count)]

    def put(self, step: int, count: int) -> None:
        body = lines_of(self.anonymous(count, "of-the-bucket"))
        self.bucket.firehose(step, gzip.compress(body.replace(b"}\n{", b"}{")), NOW - 1000 * step)
        for one in self.anonymous(count % 7, "of-the-group"):
            self.group.put(0, NOW - 1000, json.dumps(one))

    def stream(self, positions: tuple[Position, ...], *, is_joined: bool) -> TogetherStream:
        def clock() -> int:
            return NOW

        s3 = S3Stream(S3Config("logs", "ddb/", part_bytes=2000, poll_ms=1), self.bucket.aws, positions, clock)
        logs = CloudwatchLogsStream(
            CloudwatchLogsConfig("/aws/lambda/orders", poll_ms=1, overlap_ms=120_000), self.group.aws, positions, clock
        )
        streams: dict[str, Stream] = {"s3": s3, "logs": logs}
        claims = next((one for one in positions if one.path == CLAIMS), None)
        return TogetherStream(streams, Joiner(tuple(streams), 1, claims) if is_joined else None)


def stored(watch: Watch, stream: Stream) -> Checkpoint:
    checkpoint = watch.checkpoint(NOW, stream.paths())
    return msgspec.msgpack.decode(msgspec.msgpack.encode(checkpoint), type=Checkpoint)


@pytest.mark.parametrize("way", ["apart", "joined"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 12), st.integers(1, 6)), min_size=1, max_size=5))
async def test_killed_between_any_block_and_any_checkpoint_every_request_is_counted_once(
    setup: Setup, way: str, lives: list[tuple[int, int, int]]
) -> None:
    world = World()
    first = world.stream((), is_joined=way == "joined")
    watch = Watch(setup, None)
    watch.positions = {position.path: position for position in first.begin()}
    checkpoint = stored(watch, first)
    for step, (count, blocks, every) in enumerate([*lives, (0, 10**6, 1)]):
        if count:
            world.put(step, count)
        watch = Watch(setup, checkpoint)
        if watch.records()["read"] >= world.written:
            continue  # a log in which nothing is new may have no block for ever
        stream = world.stream(checkpoint.positions, is_joined=way == "joined")
        number = 0
        async for block in stream.blocks():
            watch.take(block, NOW)
            number += 1
            if number % every == 0:
                checkpoint = stored(watch, stream)
            is_last = step == len(lives)
            if number >= blocks or (is_last and watch.records()["read"] >= world.written):
                break
            if is_last and number > 5000:
                break
            if not is_last and watch.records()["read"] >= world.written:
                break
        stream.stop()
    assert watch.records()["read"] == world.written
    assert watch.records()["duplicate"] == 0
    assert watch.records()["bad"] == 0
