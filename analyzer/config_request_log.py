"""The section `request_log`: files that are tailed, and logs that are listed or listened to."""

from __future__ import annotations

import re

import msgspec
from pydantic import Field, field_validator, model_validator

from analyzer.config_kinds import (
    UNITS_MS,
    AccountNumber,
    Duration,
    Limit,
    Section,
    Texts,
    format_duration,
    split_address,
)
from analyzer.exporters.address import is_loopback
from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
from collectors.request_log.config import RequestLogConfig
from collectors.request_log.decoders.recognize import DECODERS
from collectors.request_log.otlp.config import OtlpConfig
from collectors.request_log.s3.config import TIME_PREFIXES, S3Config
from collectors.request_log.xray.config import XrayConfig

__all__ = ["CloudwatchLogsSettings", "OtlpSettings", "RequestLogSettings", "S3Settings", "XraySettings"]

_AUTO = "auto"
_DIRECTIVE = re.compile(r"%.?", re.DOTALL)
_KNOWN_DIRECTIVE = re.compile(r"%-?[YymdHMjbBeGVu%]")
_OTLP = "127.0.0.1:4318"
_CLOUDTRAIL_DELAY_MS = 900_000
_LONGEST_OVERLAP_MS = UNITS_MS["d"]


class _Polled(Section):
    """What every log that is looked for again and again has."""

    region: str | None = Field(None, description="region where it lies; else the first of `aws`")
    account: AccountNumber | None = Field(
        None, description="account where it lies, one of `aws`; else the daemon's own"
    )

    @field_validator("poll_ms", check_fields=False)
    @classmethod
    def _poll_costs(cls, value: int) -> int:
        if value < UNITS_MS["s"]:
            raise ValueError("every look is a call to AWS; write 1s or more")
        return value

    @field_validator("overlap_ms", check_fields=False)
    @classmethod
    def _overlap_is_bounded(cls, value: int) -> int:
        if value > _LONGEST_OVERLAP_MS:
            raise ValueError(
                f"what was seen is remembered for so long; write {format_duration(_LONGEST_OVERLAP_MS)} or less"
            )
        return value

    @field_validator("shape", check_fields=False)
    @classmethod
    def _shape_is_known(cls, value: str) -> str:
        return _known_shape(value)


class S3Settings(_Polled):
    """One bucket and prefix."""

    bucket: str = Field(description="bucket to list")
    prefix: str = Field("", description="what comes before the time in the keys; of CloudTrail, before `AWSLogs/`")
    layout: str = Field("firehose", description="how keys are put in order of time: `firehose`, `cloudtrail` or `flat`")
    time_prefix: str | None = Field(None, description="the time in the keys, such as `dt=%Y-%m-%d/h=%H/` (UTC)")
    shape: str = Field(_AUTO, description="shape of the log; `auto` finds it out")
    poll_ms: Duration = Field(30_000, alias="poll", description="how often the bucket is listed")
    overlap_ms: Duration = Field(3_600_000, alias="overlap", description="how late an object may come")
    look_back_ms: Duration = Field(900_000, alias="look_back", description="how far back the first look goes")
    delay_ms: Duration | None = Field(
        None, alias="delay", description="age of a record when it can be read; 6m, of CloudTrail 15m"
    )

    @field_validator("bucket")
    @classmethod
    def _bucket_is_a_name(cls, value: str) -> str:
        if not value or ("/" in value and not value.startswith("arn:")):
            raise ValueError(f"{value[:80]!r} is no bucket; write its name alone, and what comes behind it as prefix")
        return value

    @field_validator("time_prefix")
    @classmethod
    def _time_prefix_is_a_time(cls, value: str | None) -> str | None:
        unknown = _DIRECTIVE.findall(_KNOWN_DIRECTIVE.sub("", value or ""))
        if unknown:
            raise ValueError(f"{unknown[0]} is no part of a time here; write %Y, %m, %d, %H and %M")
        return value

    @field_validator("layout")
    @classmethod
    def _layout_is_known(cls, value: str) -> str:
        if value not in TIME_PREFIXES:
            raise ValueError(f"{value!r} is no layout that is known; known: {', '.join(TIME_PREFIXES)}")
        return value

    def config(self) -> S3Config:
        """Return what the collector needs."""
        delay = _CLOUDTRAIL_DELAY_MS if self.layout == "cloudtrail" else S3Config("").delay_ms
        values = self.model_dump() | {"delay_ms": delay if self.delay_ms is None else self.delay_ms}
        return msgspec.convert({**values, **_milliseconds(self)}, S3Config)


class CloudwatchLogsSettings(_Polled):
    """One log group."""

    group: str = Field(description="name of the log group, or its ARN")
    streams: str | None = Field(None, description="prefix of the log streams to read; else all")
    filter: str | None = Field(None, description="filter pattern of CloudWatch's own")
    shape: str = Field(_AUTO, description="shape of the log; `auto` finds it out")
    poll_ms: Duration = Field(10_000, alias="poll", description="how often the group is looked at")
    overlap_ms: Duration = Field(900_000, alias="overlap", description="how late an event may come")
    look_back_ms: Duration = Field(300_000, alias="look_back", description="how far back the first look goes")

    def config(self) -> CloudwatchLogsConfig:
        """Return what the collector needs."""
        return msgspec.convert({**self.model_dump(), **_milliseconds(self)}, CloudwatchLogsConfig)


class OtlpSettings(Section):
    """The receiver of traces."""

    listen: str = Field(_OTLP, description="host:port where traces are taken, by OTLP over HTTP")
    listen_unprotected: bool = Field(default=False, description="allow an address that other machines can reach")
    largest_body_bytes: Limit = Field(20 * 1024 * 1024, description="bound of one body, before and after unpacking")
    queue_bytes: Limit = Field(32 * 1024 * 1024, description="records that may wait to be counted")

    @model_validator(mode="after")
    def _listen_is_a_safe_address(self) -> OtlpSettings:
        host, _ = split_address(self.listen, _OTLP)
        if not self.listen_unprotected and not is_loopback(host):
            raise ValueError(
                f"other machines can reach {self.listen} and are asked for no password; "
                f"listen on {_OTLP}, or set listen_unprotected: true behind a firewall"
            )
        return self

    def config(self) -> OtlpConfig:
        """Return what the collector needs."""
        host, port = split_address(self.listen, _OTLP)
        return OtlpConfig(host, port, self.largest_body_bytes, self.queue_bytes)


class XraySettings(_Polled):
    """Traces of one region and account."""

    filter: str | None = Field(
        None, description="filter expression of X-Ray's own; without one all traces are paid for"
    )
    poll_ms: Duration = Field(30_000, alias="poll", description="how often traces are looked for")
    settle_ms: Duration = Field(60_000, alias="settle", description="how long the segments of a trace may take to come")
    overlap_ms: Duration = Field(900_000, alias="overlap", description="how late a trace may come")
    look_back_ms: Duration = Field(300_000, alias="look_back", description="how far back the first look goes")

    def config(self) -> XrayConfig:
        """Return what the collector needs."""
        values = {**self.model_dump(), **_milliseconds(self)}
        return msgspec.convert({**values, "delay_ms": self.settle_ms + self.poll_ms}, XrayConfig)


class RequestLogSettings(Section):
    """Where request logs are."""

    files: Texts = Field(default=(), description="files to tail, or globs of them")
    shape: str = Field(_AUTO, description="shape of the files; `auto` tells that of each by its first lines")
    s3: tuple[S3Settings, ...] = Field(default=(), description="buckets to list")
    cloudwatch_logs: tuple[CloudwatchLogsSettings, ...] = Field(default=(), description="log groups to read")
    otlp: OtlpSettings | None = Field(default=None, description="receiver of traces; none is opened without it")
    xray: tuple[XraySettings, ...] = Field(default=(), description="regions whose traces are read")
    join_ms: Duration = Field(
        60_000, alias="join", description="how long a record waits for what another log says of its request; 0 does not"
    )

    @field_validator("shape")
    @classmethod
    def _shape_is_known(cls, value: str) -> str:
        return _known_shape(value)

    @model_validator(mode="after")
    def _each_log_is_named_once(self) -> RequestLogSettings:
        logs: tuple[S3Settings | CloudwatchLogsSettings | XraySettings, ...]
        logs = (*self.s3, *self.cloudwatch_logs, *self.xray)
        paths = [one.config().path for one in logs]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is named twice; name each log once")
        return self

    def config(self) -> RequestLogConfig:
        """Return what the collectors need."""
        return RequestLogConfig(
            self.files,
            shape=self.shape,
            s3=tuple(one.config() for one in self.s3),
            cloudwatch_logs=tuple(one.config() for one in self.cloudwatch_logs),
            otlp=None if self.otlp is None else self.otlp.config(),
            xray=tuple(one.config() for one in self.xray),
            join_ms=self.join_ms,
        )


def _known_shape(value: str) -> str:
    known = (_AUTO, *(decoder.name for decoder in DECODERS))
    if value not in known:
        raise ValueError(f"{value!r} is no shape that is known; known: {', '.join(known)}")
    return value


def _milliseconds(section: Section) -> dict[str, int]:
    """Return the durations of a section under the names that the collectors know."""
    fields = type(section).model_fields
    return {name: value for name in fields if name.endswith("_ms") and (value := getattr(section, name)) is not None}
