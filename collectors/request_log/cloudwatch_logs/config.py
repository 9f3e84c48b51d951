"""What a request log in CloudWatch Logs needs to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["CloudwatchLogsConfig"]


class CloudwatchLogsConfig(Struct, frozen=True):
    """One log group, and the bounds of reading.

    `group` is a name, or the ARN of a group of another account. `streams` is the prefix of the log streams to read,
    `filter` a filter pattern of CloudWatch's own. Events come up to `overlap_ms` late: so long they are looked for
    again. Without a checkpoint reading begins `look_back_ms` ago. One look spans at most `step_ms`, and less while
    events are many. At most `most_seen` event ids are remembered.
    """

    group: str
    streams: str | None = None
    filter: str | None = None
    region: str | None = None
    account: str | None = None
    shape: str = "auto"
    poll_ms: int = 10_000
    overlap_ms: int = 900_000
    look_back_ms: int = 300_000
    delay_ms: int = 15_000
    step_ms: int = 60_000
    most_seen: int = 50_000

    @property
    def path(self) -> str:
        """The name of its position."""
        place = f"{self.region or ''}{f'@{self.account}' if self.account else ''}"
        return f"logs://{place}/{self.group.removeprefix('/')}"
