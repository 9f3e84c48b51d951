"""What the page shows beside the report: maps, calls over time, how the daemon stands. Here it is only asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.target import Target

if TYPE_CHECKING:
    from analyzer.exporters.asked import MapQuestion
    from analyzer.exporters.assemble import Health
    from analyzer.model.heatmap import HeatMap
    from analyzer.model.report import Report

__all__ = ["NO_CALLS", "Atlas", "CallsOverTime", "Subject", "subject_of"]

Subject = tuple[Target, str]
"""A table or index, and a pattern's id or a shape's fingerprint: a row of the patterns table."""


class CallsOverTime(Struct, frozen=True):
    """Calls a second of each row of the patterns table; None where nothing is known of that time."""

    start: Instant
    series: Mapping[Subject, Sequence[float | None]]
    step_ms: int = MINUTE_MS


NO_CALLS = CallsOverTime(0, {})


def subject_of(row: Mapping[str, Any]) -> Subject:
    """Return what a row of the patterns table is known by, as JSON has it; an older daemon tells no account."""
    target = Target(row.get("account"), row.get("region"), row["table"] or "", row["index"])
    return target, row["pattern"] or row["fingerprint"] or ""


class Atlas(Protocol):
    """Who draws maps; what it returns stays the same until the next judgement."""

    async def heat_map(self, question: MapQuestion, report: Report) -> HeatMap | None:
        """Return the map that is wanted, None where there is no such target."""
        ...

    async def calls(self, report: Report) -> CallsOverTime:
        """Return the calls of the last hour."""
        ...

    def health(self) -> Health | None:
        """Return how the daemon stands, None before it ever judged."""
        ...
