"""Every request log that is configured, opened as one stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.errors import UnsupportedError
from collectors.request_log.cloudwatch_logs.collector import CloudwatchLogsStream
from collectors.request_log.collector import FileStream
from collectors.request_log.config import CLOUDTRAIL
from collectors.request_log.joining import CLAIMS, Joiner
from collectors.request_log.polling import wall_clock
from collectors.request_log.s3.collector import S3Stream
from collectors.request_log.together import TogetherStream
from collectors.request_log.xray.collector import XrayStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.interfaces import AwsCaller, Stream
    from analyzer.model.batch import Position
    from analyzer.model.instant import Instant
    from collectors.request_log.config import RequestLogConfig

__all__ = ["open_streams"]

_FILES = "files"


class _NoAws:
    """Stands where no way to AWS was opened."""

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: object
    ) -> dict[str, object]:
        del service, region, account, params
        hint = "start the daemon anew: the way to AWS is opened when it starts"
        raise UnsupportedError(f"{operation}: no way to AWS was opened", hint=hint)


def open_streams(
    config: RequestLogConfig,
    positions: Iterable[Position] = (),
    clock: Callable[[], Instant] = wall_clock,
    since: Instant | None = None,
    aws: AwsCaller | None = None,
) -> Stream:
    """Open every log; files alone are tailed as ever. Logs of several kinds are joined where they see one request.

    They are preferred in this order where two saw the same: what applications write of themselves, spans, what AWS
    writes of them. Buckets, groups and regions of one kind are parts of one log: of several services, say.
    """
    held = tuple(positions)
    caller = _NoAws() if aws is None else aws
    streams: dict[str, Stream] = {}
    logs = config.logs
    if config.files:
        streams[_FILES] = FileStream(config, held, clock, since)
    buckets = {one.path: S3Stream(one, caller, held, clock, config.declared) for one in config.s3}
    groups = {
        one.path: CloudwatchLogsStream(one, caller, held, clock, config.declared) for one in config.cloudwatch_logs
    }
    written: dict[str, Stream] = {**buckets, **groups}
    streams |= {path: one for path, one in written.items() if logs[path] != CLOUDTRAIL}
    if config.otlp is not None:
        from collectors.request_log.otlp.collector import OtlpStream  # noqa: PLC0415 -- aiohttp only where it listens

        streams[config.otlp.path] = OtlpStream(config.otlp, held, clock, since, config.declared)
    streams |= {one.path: XrayStream(one, caller, held, clock) for one in config.xray}
    streams |= {path: one for path, one in written.items() if logs[path] == CLOUDTRAIL}
    if len(streams) == 1:
        return next(iter(streams.values()))
    claims = next((one for one in held if one.path == CLAIMS), None)
    names = dict.fromkeys(logs.get(path, path) for path in streams)
    joiner = Joiner(tuple(names), config.join_ms, claims) if config.is_joined else None
    return TogetherStream(streams, joiner, clock, logs)
