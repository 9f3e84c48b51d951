"""What a request log in S3 needs to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["TIME_PREFIXES", "S3Config"]

TIME_PREFIXES = {"firehose": "%Y/%m/%d/%H/", "cloudtrail": "%Y/%m/%d/", "flat": ""}
"""How the keys of each layout are put in order of time, below the prefix or, of CloudTrail, below each region."""


class S3Config(Struct, frozen=True):
    """One bucket and prefix, and the bounds of reading.

    `layout` is `firehose`, `cloudtrail` or `flat`; `time_prefix` replaces the layout's own (strftime, UTC). Objects
    come up to `overlap_ms` late: so long they are looked for again. Without a checkpoint reading begins `look_back_ms`
    ago. `delay_ms` is how old a record is when it can be read. An object is fetched in parts of `part_bytes`. At most
    `most_objects` are listed at once and `most_seen` remembered.
    """

    bucket: str
    prefix: str = ""
    layout: str = "firehose"
    time_prefix: str | None = None
    region: str | None = None
    account: str | None = None
    shape: str = "auto"
    poll_ms: int = 30_000
    overlap_ms: int = 3_600_000
    look_back_ms: int = 900_000
    delay_ms: int = 360_000
    part_bytes: int = 8 * 1024 * 1024
    most_objects: int = 50_000
    most_seen: int = 50_000

    @property
    def path(self) -> str:
        """The name of its position."""
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def times(self) -> str:
        """The part of the keys that is a time, as strftime writes it."""
        return TIME_PREFIXES[self.layout] if self.time_prefix is None else self.time_prefix
