"""When a fault that metrics show began, and which of its minutes are worth comparing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.knowledge.operations import OPERATIONS
from analyzer.model.instant import MINUTE_MS
from analyzer.model.window import Window
from analyzer.planning.compared import HOUR_MS
from analyzer.traffic.series import points, series_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.model.finding import Finding
    from analyzer.model.instant import Instant
    from analyzer.model.traffic import Traffic
    from analyzer.traffic.series import Point

__all__ = ["Onset", "began", "compared_stretch", "onset_of", "since_words"]

_PAUSE_MS = 10 * MINUTE_MS
"""Refusals that pause for less are one fault: callers back off and come again."""
_LONGEST_MS = 15 * MINUTE_MS
"""So much of a fault is compared: more than a quarter of an hour would meet itself an hour before."""
_SHORTEST_MS = MINUTE_MS
_OVER_MS = 5 * MINUTE_MS
"""Refusals come in bursts: a shorter silence is no end."""


class Onset(Struct, frozen=True):
    """The run of bad minutes that ends last; `is_cut` where it may have begun before what was read."""

    window: Window
    is_cut: bool


def onset_of(finding: Finding, traffic: Traffic) -> Onset | None:
    """Return when the fault of a finding was last there, minute by minute; None where metrics do not show it."""
    first = traffic.window.start - HOUR_MS
    read = Window(first, traffic.window.end)
    bad = sorted({(point.start, point.end) for point in _bad(finding, traffic, read)})
    if not bad:
        return None
    start, end = bad[-1]
    for begin, over in reversed(bad[:-1]):
        if start - over > _PAUSE_MS:
            break
        start = begin
    return Onset(Window(start, end), is_cut=start - first < MINUTE_MS)


def _bad(finding: Finding, traffic: Traffic, read: Window) -> Iterator[Point]:
    """Yield the points that show the fault."""
    if finding.detector == "service-fault":
        names = [("SystemErrors", {"Operation": operation}) for operation in OPERATIONS]
    elif finding.direction is not None and finding.detector != "latency-shift":
        word = finding.direction.value.capitalize()
        limits = ("KeyRangeThroughput", "ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit", "")
        names = [(f"{word}{limit}ThrottleEvents", {}) for limit in limits]
    else:
        return
    for metric, beside in names:
        for series in series_in(traffic.metrics, metric, "Sum", **beside):
            yield from (point for point in points(series, read) if point.value > 0)


def compared_stretch(onset: Onset | None, window: Window) -> Window:
    """Return the minutes to compare with earlier ones: the newest of the fault, or of the whole window."""
    whole = window if onset is None else onset.window
    end = min(whole.end, window.end)
    start = max(min(whole.start, end - _SHORTEST_MS), end - _LONGEST_MS)
    return Window(start, end)


def since_words(onset: Onset | None, now: Instant, clock: Callable[[Instant], str]) -> str:
    """Write when it began, ` since 02:41`, and of what is over when that was; nothing where it is not known."""
    if onset is None:
        return ""
    begin = f"{'before ' if onset.is_cut else ''}{clock(onset.window.start)}"
    if now - onset.window.end > _OVER_MS:
        return f" from {begin} to {clock(onset.window.end)}"
    return f" since {begin}"


def began(onset: Onset | None) -> Instant | None:
    """Return when it began, None where that is not known."""
    return None if onset is None else onset.window.start
