"""Blocks of log lines by time: which stretch they lie in, where a log ends, and several logs as one."""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING

from analyzer.errors import UsageError
from analyzer.model.instant import DAY_MS, Instant, format_instant, parse_instant
from analyzer.requests.stretches import APART_MS, FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from analyzer.model.window import Window

__all__ = ["cut", "end_time", "first_time", "in_time_order", "last_time", "refuse_ages"]

_LONGEST_MS = 3 * 366 * DAY_MS
"""No request log reaches further; what seems to is a clock that was wrong."""

_KEPT_OPEN = 32
_TIME = re.compile(rb'"time"\s*:\s*"([^"\\]+)"')


def refuse_ages(span: Window | None, mend: str) -> None:
    """Raise UsageError where requests lie years apart: one wrong clock would make everything between them count."""
    if span is not None and span.end - span.start > _LONGEST_MS:
        first, last = (format_instant(time)[:10] for time in (span.start, span.end - 1))
        raise UsageError(f"requests lie from {first} to {last}: the clock of one was wrong; {mend}")


def first_time(lines: bytes) -> Instant | None:
    """Return the time of the first line that has one."""
    return next(_times(lines), None)


def last_time(lines: bytes) -> Instant | None:
    """Return the newest time of a block."""
    return max(_times(lines), default=None)


def end_time(lines: bytes) -> Instant | None:
    """Return the newest time of a block, but for few that lie a day or more beyond the others: a clock was wrong."""
    times = sorted(_times(lines))
    most = round(len(times) * FEW)
    beyond = next((n for n in range(most, 0, -1) if times[-n] - times[-n - 1] >= APART_MS), 0)
    return times[-1 - beyond] if times else None


def _times(lines: bytes) -> Iterator[Instant]:
    for match in _TIME.finditer(lines):
        try:
            yield parse_instant(match[1].decode("ascii"))
        except ValueError:
            continue


def cut(
    lines: bytes,
    since: Instant | None,
    until: Instant | None,
    pass_over: Callable[[bytes, Instant], None] | None = None,
) -> bytes:
    """Keep the lines of a stretch [since, until); one without a time stays, so that it is counted as it deserves.

    `pass_over` is told of each of the others, with its time.
    """
    if since is None and until is None:
        return lines
    kept: list[bytes] = []
    for line in lines.splitlines(keepends=True):
        time = first_time(line)
        if time is None or _lies_in(time, since, until):
            kept.append(line)
        elif pass_over is not None:
            pass_over(line, time)
    return b"".join(kept)


def _lies_in(time: Instant, since: Instant | None, until: Instant | None) -> bool:
    return (since is None or time >= since) and (until is None or time < until)


def in_time_order(feeds: Sequence[Callable[[], Iterator[bytes]]]) -> Iterator[tuple[int, bytes, Instant | None]]:
    """Yield the blocks of several logs in the order of time: which log, its lines, and where all that follows begins.

    Each log is taken to be in order itself. The first logs stay open from the start; beyond a bound the beginning is
    read twice instead. After the last block nothing follows: None.
    """
    waiting: list[tuple[Instant, int]] = []
    opened: dict[int, tuple[bytes, Iterator[bytes]]] = {}
    for number, feed in enumerate(feeds):
        block, rest = _open(feed)
        if block:
            heapq.heappush(waiting, (first_time(block) or 0, number))
            if number < _KEPT_OPEN:
                opened[number] = block, rest
    while waiting:
        _, number = heapq.heappop(waiting)
        block, rest = opened.pop(number) if number in opened else _open(feeds[number])
        following = next(rest, None)
        if following is not None:
            opened[number] = following, rest
            heapq.heappush(waiting, (first_time(following) or 0, number))
        yield number, block, waiting[0][0] if waiting else None


def _open(feed: Callable[[], Iterator[bytes]]) -> tuple[bytes, Iterator[bytes]]:
    rest = feed()
    return next(rest, b""), rest
