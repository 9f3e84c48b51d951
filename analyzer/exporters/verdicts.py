"""One line a finding that opens or closes: for eyes, or for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.model.finding import Status
from analyzer.model.instant import format_instant
from analyzer.render.json import report_object
from analyzer.render.words import clock, elsewhere, place, plain

if TYPE_CHECKING:
    from analyzer.model.finding import Finding
    from analyzer.model.report import Report

__all__ = ["json_lines", "text_lines"]


def text_lines(events: Report) -> str:
    """Write the findings of a report that holds only what opened and closed, one line each."""
    return "".join(
        f"{format_instant(events.as_of)[11:19]} {'CLOSED' if finding.status is Status.CLOSED else 'OPEN':<6} "
        f"{finding.severity.value:<8} {finding.detector:<18} "
        f"{place(finding.table, finding.index)}{elsewhere(events, finding.account, finding.region)}: "
        f"{plain(finding.summary)}{_times(finding)}\n"
        for finding in events.findings
    )


def _times(finding: Finding) -> str:
    """Say from when to when one held that closed: of what CloudWatch told late that is long before it is told."""
    if finding.status is not Status.CLOSED or finding.first_seen is None or finding.last_seen is None:
        return ""
    return f" ({clock(finding.first_seen)}–{clock(finding.last_seen)})"


def json_lines(events: Report) -> str:
    """Write the same as JSON Lines of `time`, `event` (`open` or `closed`) and `finding`."""
    document = report_object(events)
    return "".join(
        json.dumps({"time": document["as_of"], "event": finding["status"], "finding": finding}) + "\n"
        for finding in document["findings"]
    )
