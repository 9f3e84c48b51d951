"""The section `history`: where minutes of traffic are written down, and for how long they are kept."""

from __future__ import annotations

import re

from msgspec import Struct
from pydantic import Field, field_validator, model_validator

from analyzer.config_kinds import UNITS_MS, Duration, Section, format_duration

__all__ = ["HistoryConfig", "HistorySettings", "is_bucket"]

_DAY_MS = UNITS_MS["d"]
_DAEMON = re.compile(r"[a-z0-9]{1,32}")


def is_bucket(place: str) -> bool:
    """Whether a place is in S3."""
    return place.startswith("s3://")


class HistoryConfig(Struct, frozen=True):
    """Where history goes, under which name, and how long it is kept, in milliseconds."""

    to: str
    region: str | None
    daemon: str | None
    minutes_alone_ms: int
    minutes_ms: int
    hours_ms: int

    @property
    def needs_aws(self) -> bool:
        """Whether it is written to a bucket."""
        return is_bucket(self.to)


class HistorySettings(Section):
    """A row a minute, target, shape and caller, in Parquet files that any tool reads."""

    to: str = Field("dynascope-history", description="folder, or s3://bucket/prefix")
    region: str | None = Field(None, description="region of the bucket, where it is not that of the environment")
    daemon: str | None = Field(None, description="name of this daemon in the names of files; made up where left out")
    minutes_alone_ms: Duration = Field(
        2 * _DAY_MS, alias="minutes_alone", description="after that the minutes of an hour become one file"
    )
    minutes_ms: Duration = Field(8 * _DAY_MS, alias="minutes", description="how long rows of minutes are kept")
    hours_ms: Duration = Field(400 * _DAY_MS, alias="hours", description="how long rows of hours are kept")

    @field_validator("to")
    @classmethod
    def _to_is_a_place(cls, value: str) -> str:
        if is_bucket(value) and not value.removeprefix("s3://").partition("/")[0]:
            raise ValueError("it names no bucket; write s3://bucket/prefix, or a folder")
        return value

    @field_validator("daemon")
    @classmethod
    def _daemon_fits_a_file(cls, value: str | None) -> str | None:
        if value is not None and not _DAEMON.fullmatch(value):
            raise ValueError("a daemon is named in lower-case letters and digits, 32 at most")
        return value

    @model_validator(mode="after")
    def _hours_are_made_before_minutes_go(self) -> HistorySettings:
        if self.minutes_alone_ms < UNITS_MS["h"]:
            raise ValueError("minutes stand alone for an hour at least; late ones come in it")
        if self.minutes_ms < 2 * self.minutes_alone_ms:
            least = format_duration(2 * self.minutes_alone_ms)
            raise ValueError(f"minutes go before they are made hours; keep them for {least} at least")
        if self.hours_ms < self.minutes_ms:
            raise ValueError("hours go before minutes do; keep them as long at least")
        return self

    def config(self) -> HistoryConfig:
        """Return what the daemon is told."""
        times = (self.minutes_alone_ms, self.minutes_ms, self.hours_ms)
        return HistoryConfig(self.to, self.region, self.daemon, *times)
