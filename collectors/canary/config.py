"""What the canary needs to be told."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

__all__ = ["CanaryConfig"]


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
