"""What request logs need to be told: those in files, and the streams beside them."""

from __future__ import annotations

from msgspec import Struct

from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.decoders.schema import DeclaredKeys
from collectors.request_log.otlp.config import OtlpConfig
from collectors.request_log.s3.config import S3Config
from collectors.request_log.xray.config import XrayConfig

__all__ = ["CLOUDTRAIL", "RequestLogConfig"]

CLOUDTRAIL = "cloudtrail"
"""The log that AWS writes of requests."""


class RequestLogConfig(Struct, frozen=True):
    """Files to tail, or globs of them, and the bounds of reading; and what is listed or listened to.

    `shape` is that of all files; `auto` tells each by its first lines. A line over `longest_line_bytes` is skipped and
    counted. A rotated file is left `grace_ms` after its last byte, so that a writer which still holds it can finish. At
    most `most_files` are tailed at once. Where there are several logs, a record waits `join_ms` for what another says
    of the same request; 0 does not join. `declared` is what a contract says of tables' keys: logs of other shapes do
    not tell which attributes of an item are.
    """

    files: tuple[str, ...] = ()
    shape: str = "auto"
    block_bytes: int = 256 * 1024
    longest_line_bytes: int = 1024 * 1024
    poll_ms: int = 200
    rescan_ms: int = 1000
    grace_ms: int = 1000
    most_files: int = 1000
    s3: tuple[S3Config, ...] = ()
    cloudwatch_logs: tuple[CloudwatchLogsConfig, ...] = ()
    otlp: OtlpConfig | None = None
    xray: tuple[XrayConfig, ...] = ()
    join_ms: int = 60_000
    declared: tuple[DeclaredKeys, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not (self.files or self.s3 or self.cloudwatch_logs or self.otlp or self.xray)

    @property
    def needs_aws(self) -> bool:
        """Whether a log lies with AWS."""
        return bool(self.s3 or self.cloudwatch_logs or self.xray)

    @property
    def logs(self) -> dict[str, str]:
        """Of which log each stream that is polled is a part.

        Files, buckets, groups and regions of one kind are one log, each part that of another service, say; what AWS
        writes of requests is a log of its own wherever it lies.
        """
        buckets = {one.path: CLOUDTRAIL if CLOUDTRAIL in {one.layout, one.shape} else "s3" for one in self.s3}
        groups = {
            one.path: CLOUDTRAIL if one.shape == CLOUDTRAIL else "cloudwatch-logs" for one in self.cloudwatch_logs
        }
        return buckets | groups | {one.path: "xray" for one in self.xray}

    @property
    def is_joined(self) -> bool:
        """Whether the same request may come from several logs."""
        logs = bool(self.files) + bool(self.otlp) + len(set(self.logs.values()))
        return logs > 1 and self.join_ms > 0

    @property
    def delay_ms(self) -> int:
        """How old the records of the fastest log are when they can be counted, beyond what a file needs."""
        others = [one.delay_ms for one in self.s3]
        others += [one.delay_ms for one in self.cloudwatch_logs]
        others += [one.delay_ms for one in self.xray]
        others += [self.otlp.delay_ms] if self.otlp else []
        fastest = 0 if self.files or not others else min(others)
        return fastest + (self.join_ms if self.is_joined else 0)
