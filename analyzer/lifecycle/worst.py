"""Whose numbers a finding has that lasted longer than a window: those of its worst one, and not of all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.instant import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Collection

    from analyzer.model.finding import Finding

__all__ = ["of_worst_window"]

_LONG = 2
"""Of what lasted little longer than a window its worst one is all but the whole."""


def of_worst_window(
    findings: tuple[Finding, ...], judged_by_window: Collection[str], window_ms: int
) -> tuple[Finding, ...]:
    """Let findings of the detectors that judge windows say so, where they lasted two of them or longer."""
    length = f"{window_ms / MINUTE_MS:g} minutes" if window_ms > MINUTE_MS else f"{window_ms / 1000:g} seconds"
    said = f"its numbers are those of the worst {length}"
    return tuple(
        _told(one, said) if one.detector in judged_by_window and _lasted(one) >= _LONG * window_ms else one
        for one in findings
    )


def _lasted(finding: Finding) -> int:
    if finding.first_seen is None or finding.last_seen is None:
        return 0
    return finding.last_seen - finding.first_seen


def _told(finding: Finding, said: str) -> Finding:
    caveat = said if finding.caveat is None else f"{finding.caveat}; {said}"
    return msgspec.structs.replace(finding, caveat=caveat)
