"""Request logs: those on this machine, and those that lie with AWS."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from analyzer.doctor.examined import Group
from analyzer.doctor.local import examine_files
from analyzer.errors import CollectError
from analyzer.model.batch import Check
from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.xray.collector import XrayStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from analyzer.setup import Setup
    from collectors.request_log.polling import PolledStream

__all__ = ["examine_logs"]

_PATIENCE_SECONDS = 60.0


async def examine_logs(setup: Setup, aws: AwsCaller | None, clock: Callable[[], Instant]) -> Group | None:
    """Check every request log that is configured; None where there is none."""
    if setup.request_log.is_empty:
        return None
    streams = {} if aws is None else _streams(setup, aws, clock)
    checks = await asyncio.gather(*(_check(path, stream) for path, stream in streams.items()))
    return Group("request log", (*examine_files(setup), *(one for some in checks for one in some)))


def _streams(setup: Setup, aws: AwsCaller, clock: Callable[[], Instant]) -> dict[str, PolledStream]:
    log = setup.request_log
    streams: dict[str, PolledStream] = {one.path: S3Stream(one, aws, (), clock) for one in log.s3}
    streams |= {one.path: CloudwatchLogsStream(one, aws, (), clock) for one in log.cloudwatch_logs}
    return streams | {one.path: XrayStream(one, aws, (), clock) for one in log.xray}


async def _check(path: str, stream: PolledStream) -> tuple[Check, ...]:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            checks = await stream.check()
    except CollectError as error:
        return (Check(path, "error", str(error), error.hint),)
    except TimeoutError:
        told = f"no answer within {_PATIENCE_SECONDS:.0f} s"
        return (Check(path, "error", told, "look at the network and at endpoints"),)
    return tuple(msgspec.structs.replace(one, name=f"{path}: {one.name.split(': ')[-1]}") for one in checks)
