"""What the canary needs to be told."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

__all__ = ["CanaryConfig", "CanaryPlace", "PolledCanaryConfig"]


class CanaryConfig(Struct, frozen=True):
    """Where it is noted what must be removed, how often it writes, and what it may cost.

    `folder` is the daemon's state folder. `probes` writes are made, `every_ms` apart; `most_usd` is the bound of what
    all of them cost at worst, at list price. An item that is left expires after `expire_seconds` where the table has a
    time to live.
    """

    folder: Path
    probes: int = 60
    every_ms: int = 1000
    most_usd: float = 0.1
    expire_seconds: int = 3600


class CanaryPlace(Struct, frozen=True):
    """An index that is probed; account and region None: wherever the daemon looks."""

    table: str
    index: str
    account: str | None = None
    region: str | None = None

    def is_at(self, account: str | None, region: str | None) -> bool:
        """Whether it is probed there."""
        return self.account in {None, account} and self.region in {None, region}


class PolledCanaryConfig(Struct, frozen=True, kw_only=True):
    """What a daemon probes: `probes` items an index and poll, `gap_ms` apart, and nothing as long as `dry_run` holds.

    What an index may cost a day at worst is bounded; what probes told is kept for `keep_ms`.
    """

    folder: Path
    places: tuple[CanaryPlace, ...]
    every_ms: int = 300_000
    probes: int = 25
    gap_ms: int = 1000
    most_usd_per_day: float = 0.1
    dry_run: bool = True
    keep_ms: int = 3_600_000
