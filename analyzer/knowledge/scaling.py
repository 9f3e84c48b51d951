"""How capacity follows demand at AWS: the rules of autoscaling, burst credit, and what stands ready on demand."""

from __future__ import annotations

__all__ = [
    "APPLY_MINUTES",
    "BURST_SECONDS",
    "FREE_DECREASES",
    "IN_BELOW",
    "IN_MINUTES",
    "MOST_DECREASES",
    "OUT_MINUTES",
    "READY_READ_UNITS",
    "READY_WRITE_UNITS",
    "REUSE_MINUTES",
    "TARGET_SHARE",
]

# AWS re:Post, "Why is DynamoDB auto scaling not working as expected", and Developer Guide, "Managing throughput
# capacity automatically with DynamoDB auto scaling", read 2026-11-30.
TARGET_SHARE = 0.7
"""Target utilization as the console proposes it."""
OUT_MINUTES = 2
"""So many minutes in a row over the target raise capacity."""
IN_MINUTES = 15
"""So many minutes in a row far enough below it lower capacity."""
IN_BELOW = 0.2
"""How far: so much of the capacity below the target (at a target of 70 %, use below 50 %)."""
APPLY_MINUTES = 2
"""From the alarm to the capacity: AWS says "minutes", and gives no number; two is what is taken here."""

# Developer Guide, "Best practices for designing and using partition keys effectively", read 2026-11-30.
BURST_SECONDS = 300
"""Seconds of unused capacity that are kept for a burst; best effort, never promised."""

# Developer Guide, "Quotas in Amazon DynamoDB", read 2026-11-30. A day begins at midnight UTC.
FREE_DECREASES = 4
"""Decreases of a table or an index in a day, at any time."""
REUSE_MINUTES = 60
"""After so long without one another decrease is allowed."""
MOST_DECREASES = 27
"""Decreases in a day, altogether."""

# Developer Guide, "On-demand capacity mode", read 2026-11-30.
READY_READ_UNITS = 12_000
READY_WRITE_UNITS = 4_000
"""What a new on-demand table serves at once, units a second; later, twice the earlier peak where that is more."""
