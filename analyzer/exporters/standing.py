"""How this daemon stands to others on the same tables; `/readyz` and `dynascope_lease_held` both tell it."""

from __future__ import annotations

from enum import Enum

__all__ = ["Standing"]


class Standing(Enum):
    """Whether it reads AWS, another does, or nobody is known to; ALONE where there is no lease."""

    ALONE = "alone"
    READS = "reads"
    WAITS = "waits"
    UNKNOWN = "unknown"
