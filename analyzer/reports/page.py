"""The weekly report as a page: what to know first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.instant import to_moment
from analyzer.render.blocks import Grid, Heading, Paragraph
from analyzer.render.capacity import dollars
from analyzer.reports.item_words import day, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.render.blocks import Block
    from analyzer.reports.week_values import Item, WeekReport

__all__ = ["week_page"]


def week_page(report: WeekReport) -> tuple[Block, ...]:
    """Return the page of a week."""
    return tuple(_blocks(report))


def _blocks(report: WeekReport) -> Iterator[Block]:
    first, last = to_moment(report.window.start), to_moment(report.window.end - 1)
    yield Heading(f"DynamoDB in {report.week}", 1)
    yield Paragraph(f"{first:%d %b} to {last:%d %b %Y}, UTC · {' · '.join(_head(report))}")
    yield from (Paragraph(text, is_warning=True) for text in report.remarks)
    yield from _items(report)


def _head(report: WeekReport) -> Iterator[str]:
    yield f"{many(report.requests)} requests"
    if report.dollars is not None:
        yield f"{dollars(report.dollars)} a month of units ({report.basis})"
    if report.weeks:
        yield f"beside {report.weeks} {'week' if report.weeks == 1 else 'weeks'} before"
        yield f"all patterns together {report.growth - 1:+.1%} on the week before"


def _items(report: WeekReport) -> Iterator[Block]:
    yield Heading("What to know")
    if not report.items:
        quiet = "Nothing was looked at." if not report.covered_share else "Nothing left its past or its declaration."
        yield Paragraph(quiet)
    for number, item in enumerate(report.items, start=1):
        yield Heading(f"{number}. {item.summary}", 3)
        yield Grid(("", ""), tuple(_facts(item)))
    if report.more_items:
        yield Paragraph(f"{report.more_items} more, of less risk and money, are in the JSON report.")


def _facts(item: Item) -> Iterator[tuple[str, str]]:
    place = " ".join(word for word in (item.region, item.account) if word)
    yield "risk", f"{item.severity.value} · {item.kind.value} · id {item.id}"
    yield "where", f"{item.table}{f'/{item.index}' if item.index else ''}{f' in {place}' if place else ''}"
    yield "who", f"caller {item.caller or 'not known'} · owner {item.owner or 'not declared'}"
    if item.extra_usd is not None:
        yield "money", f"{dollars(abs(item.extra_usd))} a month {'more' if item.extra_usd >= 0 else 'less'}"
    if item.change:
        yield "change", item.change
    yield "first seen", _seen(item)
    for advice in item.advice:
        yield "do", f"{advice.action}: {advice.text}{f' ({advice.effect})' if advice.effect else ''}"


def _seen(item: Item) -> str:
    first = "not known" if item.first_seen is None else f"{day(item.first_seen)} {to_moment(item.first_seen).year}"
    if item.days_seen is None:
        return first
    return f"{first} · seen on {item.days_seen} of the last {item.days_covered} days"
