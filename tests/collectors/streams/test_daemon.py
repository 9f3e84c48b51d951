"""A daemon whose only log is a receiver of traces, or a bucket: a right report, limited to what such a log can tell."""

from __future__ import annotations

import asyncio
import gzip
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from analyzer.model.instant import format_instant
from collectors.request_log.opening import open_streams
from collectors.request_log.otlp.collector import OtlpStream
from tests.collectors.streams.test_otlp import span
from tests.collectors.streams.test_s3 import Bucket
from tests.test_daemon import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.interfaces import Stream
    from analyzer.model.report import Report


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def event(stage: Stage, number: int) -> dict[str, Any]:
    return {
        "eventSource": "dynamodb.amazonaws.com",
        "eventName": "Scan",
        "eventTime": format_instant(stage.now)[:19] + "Z",
        "awsRegion": "us-east-1",
        "requestParameters": {"tableName": "cases"},
        "requestID": f"r{number}",
    }


def detectors(reports: list[Report]) -> set[str]:
    return {found.detector for report in reports for found in report.findings}


async def test_a_daemon_that_only_takes_traces_finds_the_scan(stage: Stage) -> None:
    opened: list[OtlpStream] = []

    def opening(*arguments: Any) -> Stream:
        stream = open_streams(*arguments)
        assert isinstance(stream, OtlpStream)
        opened.append(stream)
        return stream

    stage.settings = {"request_log": {"otlp": {"listen": "127.0.0.1:0"}}}
    stage.daemon = stage.new(opening)

    async def send() -> None:
        while not opened or opened[0].port is None:  # noqa: ASYNC110 -- nothing there is to be awaited
            await asyncio.sleep(0.01)
        spans = []
        for number in range(300):
            one = span(number, **{"aws.dynamodb.table_names": "cases"})
            one["startTimeUnixNano"] = str(stage.now * 1_000_000)
            one["endTimeUnixNano"] = str(stage.now * 1_000_000 + 9)
            spans.append(one)
        body = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
        url = f"http://127.0.0.1:{opened[0].port}/v1/traces"
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
            assert answer.status == 200
        stage.now += 40_000

    async with asyncio.TaskGroup() as group:
        group.create_task(send())
        await stage.run_until(lambda: bool(stage.told))
    assert detectors(stage.told) == {"unexpected-scan"}
    (position,) = stage.state().positions
    assert (position.path, position.head, position.offset) == ("otlp://127.0.0.1:0", "closed", 1)


async def test_a_daemon_that_only_reads_a_trail_finds_the_scan(stage: Stage) -> None:
    bucket = Bucket()
    root = "AWSLogs/111122223333/CloudTrail/us-east-1/"
    body = gzip.compress(json.dumps({"Records": [event(stage, number) for number in range(300)]}).encode())
    bucket.put(f"{root}{format_instant(stage.now)[:10].replace('-', '/')}/x.json.gz", body, stage.now)
    trail = {"bucket": "trails", "layout": "cloudtrail", "prefix": root, "look_back": "1h"}
    stage.settings = {"request_log": {"s3": [trail]}}
    stage.daemon = stage.new(partial(open_streams, aws=bucket.aws))
    stage.now += 15 * 60_000 + 30_000
    await stage.run_until(lambda: bool(stage.told))
    assert detectors(stage.told) == {"unexpected-scan"}
