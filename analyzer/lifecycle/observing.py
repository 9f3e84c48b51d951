"""Whether findings page already: a new install observes first, so that nobody is woken by what he does not know yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.report import Mode

if TYPE_CHECKING:
    from analyzer.model.instant import Instant
    from analyzer.model.report import Report

__all__ = ["in_mode", "is_observing", "observing_until"]


def observing_until(mode: Mode | None, began: Instant, observe_for_ms: int) -> Instant | None:
    """Return when observing ends, or has ended (0: it never was); None where it never does.

    A mode that somebody set holds. Without one an install observes for a while after it began, then it pages.
    """
    if mode is Mode.PAGE:
        return 0
    return None if mode is Mode.OBSERVE else began + observe_for_ms


def is_observing(until: Instant | None, at: Instant) -> bool:
    """Whether nothing pages yet."""
    return until is None or at < until


def in_mode(report: Report, until: Instant | None) -> Report:
    """Return a report that says whether its findings page, and from when on they will."""
    if is_observing(until, report.as_of):
        return msgspec.structs.replace(report, mode=Mode.OBSERVE, observing_until=until)
    return msgspec.structs.replace(report, mode=Mode.PAGE, observing_until=None)
