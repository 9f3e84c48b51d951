"""A report for eyes at three in the morning: the verdict, then causes with what they explain folded beneath."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from analyzer.render.distinct import cut_distinct, cut_text
from analyzer.render.estimated import calls_words
from analyzer.render.outside import outside_words
from analyzer.render.words import (
    COLD,
    LONGEST_TEXT,
    before_words,
    clock,
    compact,
    count,
    elsewhere,
    evidence_words,
    fold,
    gap_words,
    head_words,
    key_words,
    milliseconds,
    pattern_name,
    place,
    plain,
    share,
    short,
    skipped_words,
    stretch_words,
    verdict_words,
    warm_keys,
    who_words,
    why_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.model.finding import Advice, Finding
    from analyzer.model.report import KeyLine, PatternLine, Report

__all__ = ["render_text"]

_WIDTH = 98
_LABEL = 8
_DETAILED = 6
_BRIEF = 20
_PATTERNS = 12
_HIDDEN = 6
_PLACE = 24
_LEAST_ROOM = 12
_COLORS = {
    "critical": "1;31",
    "high": "31",
    "medium": "33",
    "low": "36",
    "fault": "1;31",
    "clean": "1;32",
    "cannot-tell": "1;33",
    "faint": "2",
    "strong": "1",
}


def render_text(report: Report, *, color: bool = False) -> str:
    """Write a report in at most 98 columns; color only underlines what the words say already."""
    ink = _Ink(report, color=color)
    lines = [*_head(report, ink)]
    groups = fold(report.findings)
    lines += [line for group in groups[:_DETAILED] for line in ("", *_group(*group, ink))]
    lines += _others(groups[_DETAILED:], ink)
    lines += _patterns(report.patterns, ink)
    lines += _keys(report.keys, ink)
    lines += _hidden(report, ink)
    return "\n".join(line.rstrip() for line in lines) + "\n"


class _Ink:
    """How a report is told: with color or without, and what its head says of places already."""

    def __init__(self, report: Report, *, color: bool) -> None:
        self._report = report
        self._color = color

    def __call__(self, role: str, text: str) -> str:
        return f"\x1b[{_COLORS[role]}m{text}\x1b[0m" if self._color else text

    def place(self, finding: Finding) -> str:
        """Say where a finding is."""
        return place(finding.table, finding.index) + elsewhere(self._report, finding.account, finding.region)


def _head(report: Report, ink: _Ink) -> Iterator[str]:
    role = report.verdict.state.value
    state, text = verdict_words(report)
    first, *more = textwrap.wrap(short(text, LONGEST_TEXT), _WIDTH - 13, break_on_hyphens=False) or [""]
    yield f"{ink(role, state):{13 + _ink_width(ink, role)}}{first}"
    yield from (" " * 13 + line for line in more)
    facts = head_words(report)
    if report.as_of != report.window.end:
        facts.append(f"as of {clock(report.as_of)}")
    if facts:
        yield " " * 13 + ink("faint", " · ".join(facts))
    for line in textwrap.wrap(outside_words(report), _WIDTH - 13, break_on_hyphens=False):
        yield " " * 13 + line


def _ink_width(ink: _Ink, role: str) -> int:
    """Return how many characters the color of a role takes that nobody sees."""
    return len(ink(role, ""))


def _group(cause: Finding, effects: Sequence[Finding], ink: _Ink) -> Iterator[str]:
    yield from _finding(cause, ink)
    for effect in effects:
        yield from _effect(effect, ink)


def _others(groups: Sequence[tuple[Finding, Sequence[Finding]]], ink: _Ink) -> Iterator[str]:
    """Tell the lesser findings in one line each."""
    if not groups:
        return
    yield from ("", ink("strong", "also"))
    told = [f"{cause.detector} {ink.place(cause)}: {plain(cause.summary)}" for cause, _ in groups[:_BRIEF]]
    for (cause, _), words in zip(groups[:_BRIEF], cut_distinct(told, _WIDTH - 12), strict=False):
        label = f"{cause.severity.value.upper():8}"
        yield f"  {ink(cause.severity.value, label)}  {words}"
    if len(groups) > _BRIEF:
        yield f"  and {len(groups) - _BRIEF} more: --format json tells them all"


def _finding(finding: Finding, ink: _Ink) -> Iterator[str]:
    yield f"{ink(finding.severity.value, finding.severity.value.upper())}  {_title(finding, ink)}"
    yield from _paragraph("", plain(finding.summary))
    yield from _paragraph("who", who_words(finding) or "not known")
    yield from _paragraph("why", plain(why_words(finding)))
    yield from _paragraph("but", plain(finding.caveat or ""))
    yield from _paragraph("shows", " · ".join(evidence_words(finding.evidence)))
    if finding.since_change is not None:
        change = finding.since_change
        words = [f"{change.what} at {clock(change.time)}", change.who and f"by {change.who}", change.detail]
        words.insert(1, before_words(change, finding.first_seen))
        yield from _paragraph("after", plain(", ".join(word for word in words if word)))
    if finding.self_heals is not None:
        yield from _paragraph("heals", plain(f"{finding.self_heals.answer}: {finding.self_heals.reason}"))
    if finding.cost_per_month_usd is not None:
        yield from _paragraph(
            "costs", f"about ${count(round(finding.cost_per_month_usd, 2))} a month if this rate goes on"
        )
    yield from _advice(finding.advice)
    if finding.runbook is not None:
        yield from _unbroken("page", f"dynascope explain {finding.detector}")


def _title(finding: Finding, ink: _Ink) -> str:
    words = [ink("strong", finding.detector), ink.place(finding)]
    words += [word.value for word in (finding.direction,) if word]
    words += [plain(finding.cause)] if finding.cause else []
    return f"{'  '.join(words)}  {ink('faint', f'{finding.confidence.value} · {stretch_words(finding)}')}"


def _effect(finding: Finding, ink: _Ink) -> Iterator[str]:
    head = f"{ink(finding.severity.value, finding.severity.value.upper())}  {_title(finding, ink)}"
    yield f"  └─ {head}"
    yield from textwrap.wrap(
        plain(short(finding.summary, LONGEST_TEXT)),
        _WIDTH,
        initial_indent=" " * (_LABEL + 2),
        subsequent_indent=" " * (_LABEL + 2),
        break_on_hyphens=False,
    )


def _advice(advice: Sequence[Advice]) -> Iterator[str]:
    """Tell the first advice, and where it has no command the first that has one; name the others."""
    if not advice:
        return
    ready = next((other for other in advice if other.command is not None), None)
    told = [advice[0]] if ready is None or ready is advice[0] else [advice[0], ready]
    for label, one in zip(("do", "or"), told, strict=False):
        effect = f" ({plain(one.effect)})" if one.effect else ""
        takes = f"; takes {plain(one.takes)}" if one.takes else ""
        yield from _paragraph(label, f"{one.action}: {plain(one.text)}{effect}{takes}")
        if one.command is not None:
            yield from _unbroken("", f"$ {plain(one.command)}")
    yield from _paragraph("or", ", ".join(other.action for other in advice if other not in told))


def _paragraph(label: str, text: str) -> Iterator[str]:
    if text:
        yield from textwrap.wrap(
            short(text, LONGEST_TEXT),
            _WIDTH,
            initial_indent=f"  {label:{_LABEL - 2}}",
            subsequent_indent=" " * _LABEL,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _unbroken(label: str, text: str) -> Iterator[str]:
    yield f"  {label:{_LABEL - 2}}{text}"


def _table(rows: Sequence[Sequence[str]], right: int) -> Iterator[str]:
    """Align columns: the first `right` of them at their right, the others at their left; cut at the width.

    The last column is cut so that rows which differ in it alone look different.
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = _WIDTH - 2 - sum(width + 2 for width in widths[:-1])
    shown = cut_distinct([row[-1] for row in rows], max(room, _LEAST_ROOM))
    for row, last in zip(rows, shown, strict=True):
        cells = [
            f"{cell:>{width}}" if column < right else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip((*row[:-1], last), widths, strict=True))
        ]
        yield cut_text("  " + "  ".join(cells).rstrip(), _WIDTH)


def _patterns(patterns: Sequence[PatternLine], ink: _Ink) -> Iterator[str]:
    if not patterns:
        return
    total = sum(line.units or 0 for line in patterns)
    ranked = sorted(patterns, key=lambda line: (-(line.units or 0), -line.requests, pattern_name(line)))
    yield from ("", ink("strong", "patterns, by units"))
    rows = [("share", "units", "calls", "wasted", "p99", "errors", "where", "pattern")]
    rows += [
        (
            share(line.units / total) if total and line.units is not None else "?",
            compact(line.units),
            calls_words(line, compact),
            compact(line.waste_units),
            milliseconds(line.p99_ms),
            compact(round(line.errors)),
            cut_text(place(line.table, line.index) if line.table is not None else "", _PLACE),
            pattern_name(line),
        )
        for line in ranked[:_PATTERNS]
    ]
    yield from _table(rows, right=6)
    if len(ranked) > _PATTERNS:
        rest = ranked[_PATTERNS:]
        yield f"  and {len(rest)} more with {count(sum(line.units or 0 for line in rest))} units"


def _keys(keys: Sequence[KeyLine], ink: _Ink) -> Iterator[str]:
    if not keys:
        return
    yield from ("", ink("strong", "hottest keys, by share of what their partition may serve"))
    warm = warm_keys(keys)
    if not warm:
        yield f"  none over {share(COLD)}"
        return
    rows = [("heat", "peak", "units", "direction", "where", "key")]
    rows += [
        (
            f"{line.heat:.2f}",
            "?" if line.peak_second is None else f"{line.peak_second:.2f}",
            compact(line.units),
            line.direction.value,
            cut_text(place(line.table, line.index), _PLACE),
            key_words(line.key),
        )
        for line in warm
    ]
    yield from _table(rows, right=3)


def _hidden(report: Report, ink: _Ink) -> Iterator[str]:
    entries = [*(gap_words(gap, report) for gap in report.gaps), *skipped_words(report)]
    if not entries:
        return
    yield from ("", ink("strong", "not visible"))
    for entry in entries[:_HIDDEN]:
        yield from textwrap.wrap(
            short(entry, LONGEST_TEXT), _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
    if len(entries) > _HIDDEN:
        yield f"  and {len(entries) - _HIDDEN} more: --format json lists them"
