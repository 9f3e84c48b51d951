"""How the daemon and its sources stand, from what each part of it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.exporters.assemble import Health, HistoryHealth
from analyzer.model.sight import GapReason

if TYPE_CHECKING:
    from analyzer.exporters.assemble import SourceHealth, Spent
    from analyzer.model.batch import StreamStatus
    from analyzer.model.instant import Instant
    from analyzer.watch import Tally

__all__ = ["health_of"]


def health_of(  # noqa: PLR0913 -- each part of the daemon tells its own
    tally: Tally,
    status: StreamStatus,
    now: Instant,
    *,
    is_config_valid: bool,
    written_ms: Instant | None,
    analysis_seconds: float | None,
    reads_log: bool,
    polled: tuple[SourceHealth, ...],
    spent: Spent,
    holds_lease: bool | None,
    is_observing: bool,
    marks_dropped: int,
    dropped: dict[str, int],
    history: HistoryHealth | None,
) -> Health:
    """Return how all of it stands at an instant; `dropped` is what the watch does not know of."""
    denied = sum(gap.reason is GapReason.DENIED for gap in status.gaps)
    return Health(
        is_config_valid=is_config_valid,
        is_source_up=status.files > len(status.missing) + denied,
        last_read_seconds=None if tally.last_read_ms is None else tally.last_read_ms / 1000,
        delay_seconds=tally.delay_seconds(now),
        checkpoint_seconds=None if written_ms is None else written_ms / 1000,
        analysis_seconds=analysis_seconds,
        records=tally.records,
        reads_log=reads_log,
        polled=polled,
        spent=spent,
        holds_lease=holds_lease,
        is_observing=is_observing,
        joined=status.joined,
        set_aside=status.set_aside,
        marks_dropped=marks_dropped,
        dropped={**dropped, **tally.dropped},
        history=HistoryHealth() if history is None else history,
    )
