"""A diagnosis to paste into an incident channel; it reads well where nothing renders it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.render.diagnosis import (
    change_words,
    compared_rows,
    dark_words,
    first_words,
    other_words,
    spent_words,
    time_words,
)
from analyzer.render.markdown import code, safe
from analyzer.render.words import place, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.finding import Advice
    from analyzer.planning.diagnosis import Diagnosis

__all__ = ["render_diagnosis_markdown"]

_DARK = 6


def render_diagnosis_markdown(diagnosis: Diagnosis, *, verbose: bool = False) -> str:
    """Write a diagnosis as Markdown; nothing that was read can become markup."""
    label, text = first_words(diagnosis)
    lines = [f"**{label}**: {safe(text)}", "", safe(time_words(diagnosis)), ""]
    lines += [f"- {safe(fact)}" for fact in diagnosis.facts]
    lines += [f"- who: {safe(diagnosis.who)}"] if diagnosis.who else []
    lines += (
        [f"- before: {safe(change_words(diagnosis.change, diagnosis.since))}"] if diagnosis.change is not None else []
    )
    lead = diagnosis.lead
    if lead is not None and lead.self_heals is not None:
        lines.append(f"- heals alone: {safe(f'{lead.self_heals.answer}, {lead.self_heals.reason}')}")
    lines += [f"- also: {safe(told)}" for told in other_words(diagnosis)]
    lines += _past(diagnosis)
    if diagnosis.steps:
        lines += ["", "### Do", "", *(line for step in diagnosis.steps for line in _step(step))]
    if diagnosis.suspects[1:]:
        lines += ["", "### Also suspected", ""]
        lines += [f"- {code(place(one.target.table, None))}: {safe(one.why)}" for one in diagnosis.suspects[1:]]
    dark = dark_words(diagnosis)
    if dark:
        lines += ["", "### Not visible", "", *(f"- {safe(entry)}" for entry in dark[:_DARK])]
    if verbose:
        lines += ["", safe(spent_words(diagnosis))]
    return "\n".join(lines) + "\n"


def _past(diagnosis: Diagnosis) -> Iterator[str]:
    rows = compared_rows(diagnosis)
    if not rows:
        return
    header, *others = rows
    yield from ("", f"| {' | '.join(header)} |", f"| --- |{' ---: |' * (len(header) - 1)}")
    yield from (f"| {' | '.join(map(safe, row))} |" for row in others)


def _step(step: Advice) -> Iterator[str]:
    yield f"1. **{step.action}**: {safe(step.text)}"
    if step.command is not None:
        yield from ("", "   ```sh", f"   {plain(step.command)}", "   ```", "")
