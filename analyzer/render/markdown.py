"""A report for an incident channel: Markdown that also reads well where nothing renders it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.render.estimated import calls_words
from analyzer.render.outside import outside_words
from analyzer.render.words import (
    LONGEST_TEXT,
    before_words,
    clock,
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
    verdict_words,
    warm_keys,
    who_words,
    why_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.model.finding import Finding
    from analyzer.model.report import KeyLine, PatternLine, Report

__all__ = ["code", "render_markdown", "safe"]

_PATTERNS = 12
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")


def render_markdown(report: Report) -> str:
    """Write a report as Markdown; nothing that was read from a log can become markup."""
    state, text = verdict_words(report)
    lines = [f"**{state}**: {safe(text)}"]
    facts = head_words(report)
    if facts:
        lines += ["", safe(" · ".join(facts))]
    if report.outside:
        lines += ["", safe(outside_words(report))]
    for cause, effects in fold(report.findings):
        lines += ["", *_finding(cause, report), *(_effect(effect, report) for effect in effects)]
    lines += _patterns(report.patterns)
    lines += _keys(report.keys)
    hidden = [*(gap_words(gap, report) for gap in report.gaps), *skipped_words(report)]
    if hidden:
        lines += ["", "### Not visible", "", *(f"- {safe(entry)}" for entry in hidden)]
    return "\n".join(lines) + "\n"


def safe(text: str) -> str:
    """Escape what Markdown or HTML would take for markup, and keep a chat from calling people."""
    return _MARKS.sub(r"\\\1", plain(short(text, LONGEST_TEXT))).replace("@", "@\u200b")


def code(text: str) -> str:
    """Write a text as code, whatever backticks it holds."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{edge}{plain(text)}{edge}{fence}"


def _title(finding: Finding, report: Report) -> str:
    words = [finding.direction.value if finding.direction else None, finding.cause]
    details = ", ".join(word for word in (*words, finding.confidence.value, finding.status.value) if word)
    where = place(finding.table, finding.index) + elsewhere(report, finding.account, finding.region)
    return f"{finding.severity.value.upper()} · {finding.detector} · {code(where)} ({safe(details)})"


def _finding(finding: Finding, report: Report) -> Iterator[str]:
    yield f"### {_title(finding, report)}"
    yield ""
    yield safe(finding.summary)
    yield ""
    yield f"- **who**: {safe(who_words(finding) or 'not known')}"
    if why := why_words(finding):
        yield f"- **why**: {safe(why)}"
    if finding.caveat:
        yield f"- **but**: {safe(finding.caveat)}"
    if finding.evidence:
        yield f"- **shows**: {safe(' · '.join(evidence_words(finding.evidence)))}"
    if finding.first_seen is not None:
        yield f"- **since**: {clock(finding.first_seen)} UTC{_change(finding)}"
    if finding.self_heals is not None:
        yield f"- **heals**: {safe(f'{finding.self_heals.answer}: {finding.self_heals.reason}')}"
    if finding.cost_per_month_usd is not None:
        yield f"- **costs**: about ${count(round(finding.cost_per_month_usd, 2))} a month if this rate goes on"
    yield from _advice(finding)
    if finding.runbook is not None:
        yield f"- **page**: `dynascope explain {finding.detector}`"


def _change(finding: Finding) -> str:
    change = finding.since_change
    if change is None:
        return ""
    words = [f"{change.what} at {clock(change.time)}", change.who and f"by {change.who}", change.detail]
    words.insert(1, before_words(change, finding.first_seen))
    return safe(f", after {', '.join(word for word in words if word)}")


def _advice(finding: Finding) -> Iterator[str]:
    for number, advice in enumerate(finding.advice):
        effect = f" ({advice.effect})" if advice.effect else ""
        yield f"- **{'or' if number else 'do'}**: {advice.action}: {safe(advice.text + effect)}"
        if advice.command is not None and number == 0:
            yield f"  {code(advice.command)}"


def _effect(finding: Finding, report: Report) -> str:
    return f"- ↳ {_title(finding, report)}: {safe(finding.summary)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _patterns(patterns: Sequence[PatternLine]) -> Iterator[str]:
    if not patterns:
        return
    total = sum(line.units or 0 for line in patterns)
    ranked = sorted(patterns, key=lambda line: (-(line.units or 0), -line.requests, pattern_name(line)))
    yield from ("", "### Patterns, by units", "")
    yield from _table(
        ("pattern", "where", "calls", "units", "share", "wasted", "p99", "errors"),
        [
            (
                safe(pattern_name(line)),
                safe(place(line.table, line.index)) if line.table else "",
                calls_words(line, count),
                count(line.units),
                share(line.units / total) if total and line.units is not None else "?",
                count(line.waste_units),
                milliseconds(line.p99_ms),
                count(round(line.errors)),
            )
            for line in ranked[:_PATTERNS]
        ],
    )
    if len(ranked) > _PATTERNS:
        yield from ("", f"and {len(ranked) - _PATTERNS} more")


def _keys(keys: Sequence[KeyLine]) -> Iterator[str]:
    warm = warm_keys(keys)
    if not warm:
        return
    yield from ("", "### Hottest keys", "")
    yield from _table(
        ("key", "where", "direction", "heat", "units"),
        [
            (
                safe(key_words(line.key)),
                safe(place(line.table, line.index)),
                line.direction.value,
                f"{line.heat:.2f}",
                count(line.units),
            )
            for line in warm
        ],
    )
