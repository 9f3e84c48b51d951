"""What is found now in a few lines, each with the id that a snooze takes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from analyzer.model.sight import GapReason, SourceName
from analyzer.render.words import (
    elsewhere,
    fold,
    gap_words,
    head_words,
    life_words,
    place,
    plain,
    verdict_words,
    why_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report

__all__ = ["render_findings"]

_WIDTH = 98
_INDENT = " " * 14


def render_findings(report: Report) -> str:
    """Write the verdict, then each finding with its id, causes with what they explain beneath."""
    state, text = verdict_words(report)
    lines = [*textwrap.wrap(f"{state:13}{text}", _WIDTH, subsequent_indent=" " * 13, break_on_hyphens=False)]
    lines.append(" " * 13 + " · ".join(head_words(report)))
    for gap in report.gaps:
        if (gap.source, gap.reason) == (SourceName.HISTORY, GapReason.MALFORMED):  # snoozes are lost, findings speak up
            lines += textwrap.wrap(f"{'NOT SEEN':13}{gap_words(gap, report)}", _WIDTH, subsequent_indent=" " * 13)
    for cause, effects in fold(report.findings):
        lines += ["", *_finding(cause, "", report)]
        lines += [line for effect in effects for line in _finding(effect, "└─ ", report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _finding(finding: Finding, mark: str, report: Report) -> Iterator[str]:
    where = place(finding.table, finding.index) + elsewhere(report, finding.account, finding.region)
    words = [finding.severity.value.upper(), finding.detector, where]
    words += [plain(finding.cause)] if finding.cause else []
    yield f"{plain(finding.id):12}  {mark}{'  '.join(words)}  {life_words(finding)}"
    for text in filter(None, (finding.summary, why_words(finding))):
        yield from textwrap.wrap(
            plain(text), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
        )
