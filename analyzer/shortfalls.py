"""What could not be read of a request log, kept as long as a window looks back to it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.config_kinds import format_duration
from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from analyzer.model.batch import StreamStatus
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["Shortfalls", "shortfall"]


class _Kind(Struct, frozen=True):
    reason: GapReason
    one: str
    many: str
    hint: str


_KINDS = {
    "bad": _Kind(
        GapReason.MALFORMED,
        "1 line of the request log is no record",
        "{:,} lines of the request log are no records",
        "look at what writes to the log",
    ),
    "dropped": _Kind(
        GapReason.LOW_COVERAGE,
        "1 record was dropped by a sampler before it was written",
        "{:,} records were dropped by samplers before they were written",
        "give the sampler a faster disk or a lower rate",
    ),
    "squeezed": _Kind(
        GapReason.LOW_COVERAGE,
        "1 request was counted as unparsed: a bound of what is kept in memory was reached",
        "{:,} requests were counted as unparsed: a bound of what is kept in memory was reached",
        "look for texts of expressions that are never the same, or raise `limits`",
    ),
    "lost": _Kind(
        GapReason.LATE,
        "1 request log was gone before it was read to its end",
        "{:,} request logs were gone before they were read to their end",
        "keep rotated files until the daemon has read them",
    ),
    "future": _Kind(
        GapReason.LOW_COVERAGE,
        "1 record is ahead of the clock, and was not counted",
        "{:,} records are ahead of the clock, and were not counted",
        "look at the sender's clock, and at this machine's",
    ),
    "damaged": _Kind(
        GapReason.MALFORMED,
        "1 compressed request log could not be unpacked to its end",
        "{:,} compressed request logs could not be unpacked to their end",
        "compress rotated files whole, under another name, then rename",
    ),
}
"""What is noted when it grows, by the name of its counter."""

_SKIPPED = _Kind(
    GapReason.UNSUPPORTED,
    "1 request log is beyond the bound of files tailed at once",
    "{:,} request logs are beyond the bound of files tailed at once",
    "name fewer files, or merge them",
)


def shortfall(name: str, count: int = 1, because: str = "") -> Gap:
    """Return the gap that a counter leaves in a whole log; `because` says more, without any content of the lines."""
    gap = _gap(_KINDS[name], count)
    return msgspec.structs.replace(gap, detail=f"{gap.detail}: {because}") if because else gap


class Shortfalls:
    """Turns counters that should stand still into gaps of the windows in which they moved.

    `stood` is where they stood before the first look: those of a checkpoint, or zero.
    """

    def __init__(self, stood: Mapping[str, int]) -> None:
        self._last = dict(stood)
        self._moves: deque[tuple[Instant, str, int]] = deque()
        self._ahead: deque[tuple[Instant, int]] = deque()

    def note(self, at: Instant, totals: Mapping[str, int], ahead_seconds: int = 0) -> None:
        """Look at the counters; one that fell began anew with its stream. The clock may have been set back.

        `ahead_seconds` is how far ahead of the clock a record was since the last look, 0 where none was.
        """
        if self._moves and self._moves[-1][0] > at:
            self._moves = deque((min(at, moved_at), name, moved) for moved_at, name, moved in self._moves)
            self._ahead = deque((min(at, seen_at), seconds) for seen_at, seconds in self._ahead)
        if ahead_seconds > 0:
            self._ahead.append((at, ahead_seconds))
        for name in _KINDS:
            total = totals.get(name, 0)
            last = self._last.get(name, 0)
            moved = total - last if total >= last else total
            if moved > 0:
                self._moves.append((at, name, moved))
            self._last[name] = total

    def gaps(self, window: Window, status: StreamStatus, *, is_behind: bool) -> tuple[Gap, ...]:
        """Return what a window lacks; `is_behind` where its end still waits for bytes that are not read."""
        while self._moves and self._moves[0][0] < window.start:
            self._moves.popleft()
        while self._ahead and self._ahead[0][0] < window.start:
            self._ahead.popleft()
        standing = (gap for gap in status.gaps if gap.end is None or gap.end > window.start)
        return (*_standing(status, is_behind=is_behind), *standing, *self._moved(window))

    def _moved(self, window: Window) -> Iterator[Gap]:
        for name, kind in _KINDS.items():
            count = sum(moved for _, which, moved in self._moves if which == name)
            if count:
                yield self._with_lead(_gap(kind, count, window)) if name == "future" else _gap(kind, count, window)

    def _with_lead(self, gap: Gap) -> Gap:
        """Say by how much records are ahead, as far as that is known."""
        most = max((seconds for _, seconds in self._ahead), default=0)
        if not most:
            return gap
        told = f"by up to {format_duration(most * 1000)}"
        return msgspec.structs.replace(gap, detail=gap.detail.replace("of the clock", f"of the clock {told}"))


def _standing(status: StreamStatus, *, is_behind: bool) -> Iterator[Gap]:
    """Say what is missing as long as it is."""
    for name in status.missing:
        hint = "check request_log.files, and that the application writes there"
        yield Gap(SourceName.REQUEST_LOG, GapReason.NOT_ENABLED, f"{name} is not there", hint)
    if is_behind:
        behind = f"reading is behind: {status.pending_bytes:,} bytes of the request log are not judged yet"
        yield Gap(SourceName.REQUEST_LOG, GapReason.LATE, behind, "wait until it has caught up")
    if status.skipped:
        yield _gap(_SKIPPED, status.skipped)


def _gap(kind: _Kind, count: int, window: Window | None = None) -> Gap:
    start, end = (None, None) if window is None else (window.start, window.end)
    detail = kind.one if count == 1 else kind.many.format(count)
    return Gap(SourceName.REQUEST_LOG, kind.reason, detail, kind.hint, start=start, end=end)
