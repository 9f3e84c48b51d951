"""What could not be read of a request log, kept as long as a window looks back to it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from analyzer.model.instant import Instant
    from analyzer.model.window import Window

__all__ = ["Shortfalls"]


class _Kind(Struct, frozen=True):
    reason: GapReason
    detail: str
    hint: str


_KINDS = {
    "bad": _Kind(
        GapReason.MALFORMED,
        "{} lines of the request log are no records",
        "look at `dynascope_records_bad_total` and at what writes to the log",
    ),
    "dropped": _Kind(
        GapReason.LOW_COVERAGE,
        "{} records were dropped by samplers before they were written",
        "give the sampler a faster disk or a lower rate",
    ),
    "lost": _Kind(
        GapReason.LATE,
        "{} request logs were gone before they were read to their end",
        "keep rotated files until the daemon has read them",
    ),
    "damaged": _Kind(
        GapReason.MALFORMED,
        "{} compressed request logs could not be unpacked to their end",
        "compress rotated files whole, under another name, then rename",
    ),
    "skipped": _Kind(
        GapReason.UNSUPPORTED,
        "{} request logs are beyond the bound of files tailed at once",
        "name fewer files, or merge them",
    ),
}
"""What is noted, by the name of its counter."""


class Shortfalls:
    """Turns counters that should stand still into gaps of the windows in which they moved."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._moves: deque[tuple[Instant, str, int]] = deque()

    def note(self, at: Instant, totals: Mapping[str, int]) -> None:
        """Look at the counters; the first look only says where they stand."""
        for name in _KINDS:
            total = totals.get(name, 0)
            moved = total - self._last.get(name, total)
            if moved > 0:
                self._moves.append((at, name, moved))
            self._last[name] = total

    def gaps(self, window: Window, missing: Iterable[str], unread_bytes: int) -> tuple[Gap, ...]:
        """Return what a window lacks; `unread_bytes` are those that its end still waits for."""
        while self._moves and self._moves[0][0] < window.start:
            self._moves.popleft()
        found = [
            _gap(
                GapReason.NOT_ENABLED,
                f"{name} is not there",
                "check request_log.files, and that the application writes there",
            )
            for name in missing
        ]
        if unread_bytes:
            behind = f"reading is behind: {unread_bytes} bytes of the request log are not judged yet"
            found.append(_gap(GapReason.LATE, behind, "wait until it has caught up"))
        for name, kind in _KINDS.items():
            count = sum(moved for _, which, moved in self._moves if which == name)
            if count:
                found.append(_gap(kind.reason, kind.detail.format(count), kind.hint, window))
        return tuple(found)


def _gap(reason: GapReason, detail: str, hint: str, window: Window | None = None) -> Gap:
    start, end = (None, None) if window is None else (window.start, window.end)
    return Gap(SourceName.REQUEST_LOG, reason, detail, hint, start=start, end=end)
