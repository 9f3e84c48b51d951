"""The page's parts on the contract: what it lacks, what nobody asks for, how much it covers, and readiness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.render.blocks import Grid, Heading, Paragraph, Snippet
from analyzer.render.capacity import dollars
from analyzer.render.words import share
from analyzer.reports.item_words import many
from analyzer.reports.undeclared import MOST_UNDECLARED
from analyzer.reports.week_values import ReadinessState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.render.blocks import Block
    from analyzer.reports.week_values import Undeclared, Unseen, WeekReport

__all__ = ["contract_blocks"]

_MOST_UNSEEN = 20
_MOST_LINES = 60
"""Of one declaration: more are names that no page should hold."""


def contract_blocks(report: WeekReport) -> Iterator[Block]:
    """Yield what concerns the contract."""
    yield Heading("Readiness")
    rows = tuple((one.name, _state(one.state), one.evidence) for one in report.readiness)
    yield Grid(("", "stands", "because"), rows, state=1)
    yield Heading("Undeclared")
    yield from _undeclared(report)
    yield Heading("Declared, but unseen")
    yield from _unseen(report.unseen, has_contract=report.has_contract, is_covered=report.covered_share > 0)
    yield Heading("How much is declared")
    yield from _coverage(report)


def _state(state: ReadinessState) -> str:
    return state.value.upper() if state is ReadinessState.FAILED else state.value


def _undeclared(report: WeekReport) -> Iterator[Block]:
    meant = [one for one in report.undeclared if not one.is_ad_hoc]
    ad_hoc = len(report.undeclared) - len(meant)
    if not meant:
        yield Paragraph("Nothing was asked as nobody declared." if report.covered_share else "Nobody looked.")
    elif not report.has_contract:
        yield Paragraph(f"All {len(meant)} patterns: no contract was given. dynascope infer drafts one from a log.")
    for one in meant[: MOST_UNDECLARED if report.has_contract else 0]:
        yield Heading(one.text, 3)
        yield Paragraph(_about(one))
        lines = tuple(one.yaml.splitlines())
        more = len(lines) - _MOST_LINES
        yield Snippet(lines if more <= 0 else (*lines[:_MOST_LINES], f"# and {more} more lines: the JSON has them"))
    if ad_hoc:
        yield Paragraph(f"Besides {ad_hoc} that came a few times, as from somebody at a console.")


def _about(one: Undeclared) -> str:
    cost = "" if one.dollars is None else f", {dollars(one.dollars)} a month"
    callers = ", ".join(one.callers) or "callers not recorded"
    return (
        f"{many(one.requests)} requests of {callers}{cost}. If it is meant, add it to the patterns of {one.yaml_table} "
        "under a name of yours:"
    )


def _unseen(unseen: tuple[Unseen, ...], *, has_contract: bool, is_covered: bool) -> Iterator[Block]:
    if not has_contract or not is_covered:
        yield Paragraph("No contract was given." if not has_contract else "Nobody looked.")
        return
    if not unseen:
        yield Paragraph("Every declared pattern was asked.")
        return
    yield Grid(
        ("pattern", "of", "owner", "last seen", "declared rate", ""),
        tuple(
            (
                one.pattern,
                f"{one.table}{f'/{one.index}' if one.index else ''}",
                one.owner or "not declared",
                one.last_seen,
                "?" if one.declared_rate is None else f"{one.declared_rate:g}/s",
                "no chance at that rate" if one.is_dead else "may be chance",
            )
            for one in unseen[:_MOST_UNSEEN]
        ),
        frozenset({4}),
    )
    if len(unseen) > _MOST_UNSEEN:
        yield Paragraph(f"And {len(unseen) - _MOST_UNSEEN} more.")


def _coverage(report: WeekReport) -> Iterator[Block]:
    if not report.coverage:
        yield Paragraph("No request was seen.")
        return
    yield Grid(
        ("table", "owner", "requests", "declared", "undeclared", "unclear", "of units", "patterns"),
        tuple(
            (
                one.table,
                one.owner or ("not declared" if one.is_declared else "no declaration"),
                many(one.requests),
                share(one.declared_share),
                share(one.undeclared_share),
                share(one.unclear_share),
                share(one.units_share),
                f"{one.patterns_seen} of {one.patterns}",
            )
            for one in report.coverage
        ),
        frozenset({2, 3, 4, 5, 6, 7}),
    )
    yield Paragraph(
        "Unclear is what is ambiguous between declared patterns, or cannot be parsed; of units is the share of "
        "capacity units that declared patterns take; patterns are those that were asked, of all that are declared."
    )
