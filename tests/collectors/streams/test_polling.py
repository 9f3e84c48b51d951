from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.request_log.decoders.recognize import SAMPLE_BYTES
from collectors.request_log.polling import wall_clock
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.s3.config import S3Config
from collectors.request_log.seen import Seen, fingerprint_of
from collectors.request_log.translating import Translation
from tests.collectors.streams.conftest import NOW, lines_of, record


def test_the_clock_counts_milliseconds() -> None:
    assert wall_clock() > NOW


def test_a_fingerprint_is_short_and_the_same_for_the_same_name() -> None:
    assert fingerprint_of("ddb/" + "x" * 900) == fingerprint_of("ddb/" + "x" * 900)
    assert len(fingerprint_of("a")) == 11
    assert fingerprint_of("a") != fingerprint_of("b")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 100)), max_size=40), st.integers(0, 100))
def test_what_was_seen_is_never_new_again_and_memory_is_bounded(names: list[tuple[int, int]], horizon: int) -> None:
    seen = Seen(10, 5)
    for name, at in names:
        if seen.is_new(str(name), at):
            seen.add(str(name), at)
    seen.advance(horizon)
    assert len(seen) <= 5
    assert seen.horizon >= max(10, horizon)
    assert not any(seen.is_new(str(name), at) for name, at in dict(names).items())
    assert set(seen.tokens()) <= {str(name) for name, _ in names}


def test_what_an_earlier_process_saw_is_kept_until_its_time_has_passed() -> None:
    seen = Seen(10, 5, ("a",), now=50)
    assert not seen.is_new("a", 20)
    assert Seen(10, 5, ("a",), now=50).advance(40)
    restored = Seen(10, 5, ("a",), now=50)
    restored.advance(40)
    assert restored.tokens() == ("a",)
    restored.advance(51)
    assert restored.tokens() == ()


def read(content: bytes, size: int, shape: str = "auto") -> tuple[list[str], dict[str, int]]:
    translation = Translation(shape)
    lines = b"".join(translation.feed(content[at : at + size]) for at in range(0, len(content), size))
    lines += translation.finish()
    return [json.loads(line)["request_id"] for line in lines.splitlines()], translation.take_bad()


def test_records_come_out_however_the_chunks_are_cut() -> None:
    content = lines_of(record(number) for number in range(30))
    for size in (7, 100, 10**6):
        assert read(content, size) == ([f"r{number}" for number in range(30)], {})
        assert read(content.replace(b"}\n{", b"}{"), size)[0] == [f"r{number}" for number in range(30)]
        assert read(content[:-1], size)[0] == [f"r{number}" for number in range(30)]


def test_a_shape_that_is_named_is_not_looked_for() -> None:
    assert read(lines_of([record(1)]), 10, "native") == (["r1"], {})
    assert read(lines_of([record(1)]), 10, "nobody-knows") == (["r1"], {})


def test_what_is_of_no_known_shape_is_given_up_after_a_while() -> None:
    translation = Translation()
    for _ in range(6):
        assert translation.feed(b"x" * (SAMPLE_BYTES // 4 - 1) + b"\n") == b""
    assert translation.is_known is False
    assert translation.finish() == b""
    assert translation.take_bad() == {"a log is of no shape that is known": 1}
    assert translation.take_bad() == {}


def test_what_is_broken_in_a_log_without_newlines_is_bad() -> None:
    content = json.dumps(record(1)) + json.dumps(record(2)) + '{"v": 1, "op": '
    assert read(content.encode(), 10**6) == (["r1", "r2"], {"not one JSON object in UTF-8": 1})


def test_a_line_that_is_too_long_to_wait_for_is_split() -> None:
    content = lines_of([record(1)]) + json.dumps(record(2, filter="x" * 1_500_000)).encode()
    assert read(content, 100_000)[0] == ["r1", "r2"]


def test_one_short_record_without_an_end_is_told() -> None:
    translation = Translation()
    short = b'{"v":1,"time":"2025-11-30T10:53:20Z","op":"Scan"}'
    assert translation.feed(short) + translation.finish() == short + b"\n"


def test_other_logs_in_an_envelope_are_nobody_s_loss() -> None:
    events = [{"id": "1", "timestamp": NOW, "message": text} for text in ("START {x", json.dumps(record(1)), '{"v": 1')]
    content = json.dumps({"messageType": "DATA_MESSAGE", "logGroup": "g", "logEvents": events})
    assert read(content.encode(), 10**6) == (["r1"], {})


class Hanging:
    """An AWS that never answers."""

    def __init__(self) -> None:
        self.was_asked = asyncio.Event()
        self.was_cancelled = False

    async def call(self, *_: Any, **__: Any) -> dict[str, Any]:
        self.was_asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return {}


@pytest.mark.parametrize("is_cancelled", ["stopped", "cancelled"])
async def test_a_call_that_hangs_holds_up_nobody_who_wants_to_stop(is_cancelled: str) -> None:
    aws = Hanging()
    stream = S3Stream(S3Config("logs"), aws)

    async def read() -> list[bytes]:
        return [block.lines async for block in stream.blocks()]

    async with asyncio.timeout(10):
        task = asyncio.create_task(read())
        await aws.was_asked.wait()
        if is_cancelled == "cancelled":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            stream.stop()
            assert await task == []
    assert aws.was_cancelled


@pytest.mark.parametrize("following", [b"", b"x" * (3 * SAMPLE_BYTES)])
def test_a_first_entry_longer_than_the_sample_tells_the_shape_too(following: bytes) -> None:
    call = {"clientName": "DynamoDBClient", "commandName": "GetItemCommand", "input": {"TableName": "t"}}
    whole = call | {"timestamp": "2026-11-30T10:00:00Z", "output": {"Item": {"a": {"S": "x" * (SAMPLE_BYTES + 9)}}}}
    content = json.dumps(whole | {"metadata": {}}).encode() + b"\n" + following
    translation = Translation()
    parts = [content[at : at + SAMPLE_BYTES // 2] for at in range(0, len(content), SAMPLE_BYTES // 2)]
    lines = b"".join(map(translation.feed, parts)) + translation.finish()
    assert (lines.count(b"\n"), translation.is_known, translation.take_bad()) == (1, True, {})
