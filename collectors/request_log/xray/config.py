"""What traces in X-Ray need to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["XrayConfig"]


class XrayConfig(Struct, frozen=True):
    """One region and account, and the bounds of reading.

    `filter` is a filter expression of X-Ray's own; without one every trace is fetched, and paid for. A trace is fetched
    `settle_ms` after it began, for its segments come one by one. Traces that X-Ray does not hand out are asked for
    again for `patience_ms`, those that come up to `overlap_ms` late are found. Without a checkpoint reading begins
    `look_back_ms` ago. One look spans at most `step_ms`.
    """

    filter: str | None = None
    region: str | None = None
    account: str | None = None
    poll_ms: int = 30_000
    settle_ms: int = 60_000
    overlap_ms: int = 900_000
    patience_ms: int = 600_000
    look_back_ms: int = 300_000
    delay_ms: int = 90_000
    step_ms: int = 300_000
    most_seen: int = 50_000

    @property
    def path(self) -> str:
        """The name of its position."""
        return f"xray://{self.region or ''}{f'@{self.account}' if self.account else ''}/"
