"""What happened beside a map: changes of the table, and findings that began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.heatmap import HeatMark, MarkKind
from analyzer.model.target import Target
from analyzer.render.words import evidence_words
from analyzer.requests.digest_key_slices import is_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report
    from analyzer.model.window import Window

__all__ = ["is_about", "marks_of"]

_MOST = 50
_LONGEST = 80


def marks_of(report: Report, target: Target, window: Window) -> tuple[HeatMark, ...]:
    """Return the marks within a window that concern a target or everything, in the order of time; the newest stay."""
    marks = sorted(set(_marks(report, target)), key=lambda mark: (mark.at, mark.what))
    return tuple(mark for mark in marks if window.holds(mark.at))[-_MOST:]


def is_about(finding: Finding, target: Target) -> bool:
    """Whether a finding may be of a target: of another account or region it is not."""
    return is_place(Target(finding.account, finding.region, finding.table, finding.index), target)


def _marks(report: Report, target: Target) -> Iterator[HeatMark]:
    for change in report.changes:
        is_named = change.table in (None, target.table) and change.index in (None, target.index)
        if is_named and change.is_at(target.account, target.region):
            yield HeatMark(change.time, " ".join(one for one in (change.what, change.detail) if one)[:_LONGEST])
    for finding in report.findings:
        if is_about(finding, target) and finding.first_seen is not None:
            yield HeatMark(finding.first_seen, f"{finding.detector} began{_amount(finding)}", MarkKind.FINDING)


def _amount(finding: Finding) -> str:
    """Say how much of it there is, as the finding does: its heat, the first share of its evidence, its first number."""
    numbers = [name for name, value in finding.evidence.items() if isinstance(value, int | float)]
    shares = [name for name in numbers if "share" in name.split("_")]
    name = next((one for one in ("heat", *shares, *numbers) if one in numbers), None)
    if name is None:
        return ""
    (words,) = evidence_words({name: finding.evidence[name]})
    of, _, amount = words.rpartition(" ")
    return f" ({amount} {of.removeprefix('share ')})" if of.startswith("share of") else f" ({words})"
