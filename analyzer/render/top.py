"""A report for a terminal that is looked at all the time: verdict, findings, hottest keys, patterns, on one screen."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from analyzer.model.finding import Severity, Status
from analyzer.model.report import VerdictState
from analyzer.model.target import Target
from analyzer.render.words import (
    clock,
    compact,
    elsewhere,
    fold,
    head_words,
    key_words,
    milliseconds,
    pattern_name,
    place,
    plain,
    share,
    verdict_words,
    warm_keys,
    who_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import ConsoleOptions, RenderableType

    from analyzer.model.finding import Finding
    from analyzer.model.report import KeyLine, PatternLine, Report

__all__ = ["Calls", "calls_name", "plain_top", "render_top"]

Calls = dict[tuple[Target, str], "Sequence[float | None]"]
"""Calls a second over time by table or index, and a pattern's id or a shape's fingerprint: by `calls_name`."""

_WIDTH = 98
_BAR = 20
_BLOCKS = "▁▂▃▄▅▆▇█"
_HIGHEST = len(_BLOCKS) - 1
_SPARK = 16
_LEAST_SPARK = 4
_NAME = 24
"""So wide a name is told whole; an undeclared shape in words may be far wider."""

_PADDING = 2
_FINDINGS = 5
_PATTERNS = 10
_LEAST_PATTERNS = 3
_HEAD_LINES = 6
_LINES_A_FINDING = 5
_BETWEEN = 8
_FULL = 1.0
_WARM = 0.7
_HEAD = ("share", "calls", "wasted", "p99", "throttled", "where", "pattern", "")
_STYLES = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
    Severity.LOW: "cyan",
    VerdictState.FAULT: "bold white on red",
    VerdictState.CLEAN: "bold white on green",
    VerdictState.CANNOT_TELL: "bold black on yellow",
}


def plain_top(report: Report, calls: Mapping[tuple[Target, str], Sequence[float | None]]) -> str:
    """Write one screen without color, for a pipe."""
    page = io.StringIO()
    Console(file=page, width=_WIDTH, no_color=True, force_terminal=False, legacy_windows=False).print(
        render_top(report, calls)
    )
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"


def render_top(
    report: Report,
    calls: Mapping[tuple[Target, str], Sequence[float | None]],
    *,
    height: int | None = None,
    note: str = "",
) -> RenderableType:
    """Return a screen of at most `height` lines, as far as that can be foreseen; `note` says how the view stands."""
    groups = fold([finding for finding in report.findings if finding.status is not Status.CLOSED]) or fold(
        report.findings
    )
    keys = warm_keys(report.keys)
    shown = groups[: _room(height, len(keys), len(groups))]
    used = _HEAD_LINES + _LINES_A_FINDING * len(shown) + len(keys) + _BETWEEN
    lines = _PATTERNS if height is None else max(_LEAST_PATTERNS, min(_PATTERNS, height - used))
    parts: list[RenderableType] = [*_head(report, note), *_findings(report, shown, len(groups))]
    parts += [Text(), Text("hottest keys, by share of what their partition may serve", "bold"), _keys(keys)]
    parts += [Text(), Text("patterns, by units", "bold"), _patterns(report, calls, lines)]
    return Group(*parts)


def calls_name(line: PatternLine) -> tuple[Target, str]:
    """Return what a pattern's calls are known by."""
    return Target(line.account, line.region, line.table or "", line.index), line.pattern or line.fingerprint or ""


def _room(height: int | None, keys: int, groups: int) -> int:
    if height is None:
        return _FINDINGS
    free = height - _HEAD_LINES - keys - _BETWEEN - _LEAST_PATTERNS
    return min(_FINDINGS, groups, max(1, free // _LINES_A_FINDING))


def _head(report: Report, note: str) -> Iterator[Text]:
    state, text = verdict_words(report)
    yield Text.assemble((f" {state} ", _STYLES[report.verdict.state]), " ", (text, "bold"))
    yield Text(" · ".join([*head_words(report), *([note] if note else [])]), "dim")
    if report.gaps:
        many = len(report.gaps)
        yield Text(f"{many} gap{'' if many == 1 else 's'}: not all was visible", "yellow")


def _findings(
    report: Report, groups: Sequence[tuple[Finding, Sequence[Finding]]], total: int
) -> Iterator[RenderableType]:
    yield Text()
    yield Text("findings, causes first", "bold")
    if not groups:
        yield Text("  none", "dim")
    for cause, effects in groups:
        yield _finding(report, cause, effects)
    if total > len(groups):
        yield Text(f"  and {total - len(groups)} more: `dynascope findings` lists them", "dim")


def _finding(report: Report, finding: Finding, effects: Sequence[Finding]) -> Table:
    """Tell a finding in two lines or three: what and where, the sentence, what to do."""
    where = place(finding.table, finding.index) + elsewhere(report, finding.account, finding.region)
    words = [where, *([plain(finding.cause)] if finding.cause else [])]
    words += [finding.status.value + ("" if finding.first_seen is None else f" since {clock(finding.first_seen)}")]
    who = who_words(finding)
    head = Text.assemble(
        (finding.detector, "bold"), f"  {' · '.join(words)}", *([f"  by {who}"] if who is not None else [])
    )
    if effects:
        head.append(f"  explains {', '.join(dict.fromkeys(effect.detector for effect in effects))}", "dim")
    rows = Table.grid(padding=(0, 2))
    rows.add_column(width=8)
    rows.add_column(overflow="fold")
    rows.add_row(Text(finding.severity.value.upper(), _STYLES[finding.severity]), head)
    rows.add_row(Text(), Text(plain(finding.summary)))
    if finding.status is Status.SNOOZED and finding.because:
        rows.add_row(Text(), Text(plain(finding.because), "dim"))
    if finding.advice:
        rows.add_row(Text("  do", "dim"), Text(plain(finding.advice[0].text)))
    return rows


def _keys(keys: Sequence[KeyLine]) -> RenderableType:
    if not keys:
        return Text("  none", "dim")
    rows = Table.grid(padding=(0, 2))
    rows.add_column(justify="right", width=6)
    rows.add_column(width=_BAR)
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for line in keys:
        style = "bold red" if line.heat >= _FULL else "yellow" if line.heat >= _WARM else "cyan"
        filled = min(_BAR, max(1, round(line.heat * _BAR)))
        rows.add_row(
            Text(f"{line.heat:.2f}", style),
            Text("█" * filled + "·" * (_BAR - filled), style),
            Text(f"{place(line.table, line.index)} {line.direction.value}"),
            Text(key_words(line.key)),
        )
    return rows


def _patterns(
    report: Report,
    calls: Mapping[tuple[Target, str], Sequence[float | None]],
    most: int,
) -> RenderableType:
    if not report.patterns:
        return Text("  none", "dim")
    total = sum(line.units or 0 for line in report.patterns)
    ranked = sorted(report.patterns, key=lambda line: (-(line.units or 0), -line.requests, pattern_name(line)))
    told = []
    for line in ranked[:most]:
        where = "" if line.table is None else place(line.table, line.index)
        where += elsewhere(report, line.account, line.region)
        told.append((_pattern(line, where, total), calls.get(calls_name(line), ())))
    rows = _Rows(told)
    if len(ranked) <= most:
        return rows
    return Group(rows, Text(f"  and {len(ranked) - most} more", "dim"))


class _Rows:
    """Patterns in as many columns as there are: names are whole before calls over time are drawn wide."""

    def __init__(self, told: Sequence[tuple[tuple[Text, ...], Sequence[float | None]]]) -> None:
        self._told = told

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        rows = Table.grid(padding=(0, _PADDING), expand=True)
        for _ in range(5):
            rows.add_column(justify="right", no_wrap=True)
        rows.add_column(no_wrap=True, overflow="ellipsis", max_width=_NAME)
        rows.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        rows.add_column(no_wrap=True)
        rows.add_row(*(Text(name, "dim") for name in _HEAD))
        wide = self._spark_width(options.max_width)
        for cells, calls in self._told:
            rows.add_row(*cells, Text(_spark(calls, wide), "cyan"))
        yield rows

    def _spark_width(self, width: int) -> int:
        """Return what the other columns leave of the screen; nothing where that is too little to show a course."""
        columns = zip(*(cells for cells, _ in self._told), strict=True)
        widths = [
            max(len(name), *(one.cell_len for one in cells)) for name, cells in zip(_HEAD[:-1], columns, strict=True)
        ]
        for name in ("where", "pattern"):
            widths[_HEAD.index(name)] = min(_NAME, widths[_HEAD.index(name)])
        left = width - sum(widths) - _PADDING * len(widths)
        return min(_SPARK, left) if left >= _LEAST_SPARK else 0


def _pattern(line: PatternLine, where: str, total: float) -> tuple[Text, ...]:
    known = line.units is not None and total > 0
    wasted = None if not line.units or line.waste_units is None else line.waste_units / line.units
    foreign = "" if line.kind.value == "declared" else "bold yellow"
    return (
        Text(share((line.units or 0) / total) if known else "?"),
        Text(compact(round(line.requests))),
        Text("" if wasted is None else share(wasted)),
        Text(milliseconds(line.p99_ms)),
        Text(compact(round(line.throttled)), "bold red" if line.throttled else ""),
        Text(where),
        Text(pattern_name(line), foreign),
    )


def _spark(values: Sequence[float | None], wide: int) -> str:
    """Draw numbers over time as blocks; what is not known is a gap."""
    last = values[-wide:] if wide else ()
    most = max((value for value in last if value is not None), default=0)
    return "".join(" " if value is None else _BLOCKS[int(value / most * _HIGHEST) if most else 0] for value in last)
