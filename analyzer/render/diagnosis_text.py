"""A diagnosis on one screen, under thirty lines: the first line, what explains it, what to type."""

from __future__ import annotations

import textwrap
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
from analyzer.render.words import place, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.model.finding import Advice
    from analyzer.planning.diagnosis import Diagnosis

__all__ = ["MOST_LINES", "render_diagnosis"]

MOST_LINES = 29
_WIDTH = 98
_LABEL = 9
_STEPS = 3
_DARK = 3
_FACTS = 3
_ESCAPE = "\x1b"
_COLORS = {"FAULT": "1;31", "CRITICAL": "1;31", "HIGH": "31", "MEDIUM": "33", "CLEAN": "1;32", "CANNOT TELL": "1;33"}


def render_diagnosis(diagnosis: Diagnosis, *, color: bool = False, verbose: bool = False) -> str:
    """Write a diagnosis; where it does not fit, the end of what was not visible is left out first, then of the past."""
    head = [*_head(diagnosis, color=color), *_facts(diagnosis)]
    steps = [*_steps(diagnosis.steps)]
    others = [*_others(diagnosis)]
    suspects = [*_suspects(diagnosis)]
    tail = [spent_words(diagnosis)] if verbose else []
    past = [*_past(diagnosis)]
    dark = [*_dark(diagnosis)]
    left = MOST_LINES - len(head) - len(steps) - len(others) - len(suspects) - len(tail)
    past = past[: max(left, 0)] if left > 3 else []  # noqa: PLR2004 -- a title, a header and a row say something
    dark = dark[: max(left - len(past), 0)]
    return "\n".join(line.rstrip() for line in (*head, *others, *past, *steps, *suspects, *dark, *tail)) + "\n"


def _head(diagnosis: Diagnosis, *, color: bool) -> Iterator[str]:
    label, text = first_words(diagnosis)
    indent = " " * (len(label) + 2)
    first, *more = textwrap.wrap(text, _WIDTH - len(indent), break_on_hyphens=False) or [""]
    ink = _COLORS.get(label) if color else None
    yield f"{label if ink is None else f'{_ESCAPE}[{ink}m{label}{_ESCAPE}[0m'}  {first}"
    yield from (indent + line for line in more)
    yield from textwrap.wrap(
        time_words(diagnosis), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _facts(diagnosis: Diagnosis) -> Iterator[str]:
    for number, fact in enumerate(diagnosis.facts[:_FACTS]):
        label = "note" if diagnosis.lead is None else "why"
        yield from _paragraph("" if number else label, plain(fact), most=2)
    lead = diagnosis.lead
    if diagnosis.who:
        yield from _paragraph("who", diagnosis.who)
    if diagnosis.change is not None:
        yield from _paragraph("before", change_words(diagnosis.change, diagnosis.since), most=1)
    if lead is not None and lead.self_heals is not None:
        yield from _paragraph("heals", plain(f"{lead.self_heals.answer}: {lead.self_heals.reason}"), most=2)


def _past(diagnosis: Diagnosis) -> Iterator[str]:
    rows = compared_rows(diagnosis)
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        name, *values = row
        cells = [f"{value:>{width}}" for value, width in zip(values, widths[1:], strict=True)]
        yield f"  {name:<{widths[0]}}  {'  '.join(cells)}"


def _steps(steps: Sequence[Advice]) -> Iterator[str]:
    for number, step in enumerate(steps[:_STEPS], start=1):
        yield from _paragraph(f"do {number}", f"{step.action}: {plain(step.text)}", most=3)
        if step.command is not None:
            yield f"{' ' * (_LABEL + 2)}$ {plain(step.command)}"


def _others(diagnosis: Diagnosis) -> Iterator[str]:
    for number, told in enumerate(other_words(diagnosis)):
        yield from _paragraph("" if number else "also", told, most=1)


def _suspects(diagnosis: Diagnosis) -> Iterator[str]:
    for number, one in enumerate(diagnosis.suspects[1:]):
        where = place(one.target.table, None)
        region = "" if one.target.region in {None, diagnosis.report.region} else f" in {one.target.region}"
        yield from _paragraph("" if number else "also", f"{where}{region}: {plain(one.why)}", most=1)


def _dark(diagnosis: Diagnosis) -> Iterator[str]:
    entries = dark_words(diagnosis)
    if entries:
        yield "  not visible"
    for entry in entries[:_DARK]:
        yield from textwrap.wrap(
            entry, _WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False, max_lines=2
        )
    if len(entries) > _DARK:
        yield f"    and {len(entries) - _DARK} more: --format json lists them"


def _paragraph(label: str, text: str, most: int | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"  {label:{_LABEL}}",
        subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" …",
    )
