"""What a bounded watch of the most accessed keys needs to be told."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

__all__ = ["InsightsWatchConfig"]


class InsightsWatchConfig(Struct, frozen=True):
    """Where intents are kept, and how patient to be.

    `folder` is the daemon's state folder. AWS makes and removes rules within seconds, and is asked every `poll_ms`
    whether it has; after `patience_ms` it is not waited for any longer.
    """

    folder: Path
    poll_ms: int = 2000
    patience_ms: int = 120_000
