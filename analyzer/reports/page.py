"""The weekly report as a page: what to know first, then what it rests on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.model.instant import to_moment
from analyzer.render.blocks import Bullets, Facts, Heading, Paragraph, Snippet
from analyzer.render.capacity import dollars
from analyzer.render.words import short
from analyzer.reports.item_words import day, many
from analyzer.reports.page_contract import contract_blocks
from analyzer.reports.page_costs import cost_blocks
from analyzer.reports.page_heat import heat_blocks
from analyzer.reports.week_values import ReadinessState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.render.blocks import Block
    from analyzer.reports.week_values import Item, WeekReport

__all__ = ["MOST_ITEMS", "week_page"]

MOST_ITEMS = 10
"""What a team reads in five minutes; JSON has them all."""


def week_page(report: WeekReport) -> tuple[Block, ...]:
    """Return the page of a week."""
    return tuple(_blocks(report))


def _blocks(report: WeekReport) -> Iterator[Block]:
    first, last = to_moment(report.window.start), to_moment(report.window.end - 1)
    yield Heading(f"DynamoDB in {report.week}", 1)
    yield Paragraph(f"{first:%d %b} to {last:%d %b %Y}, UTC · {' · '.join(_head(report))}")
    yield from (Paragraph(text, is_warning=True) for text in report.remarks)
    if not report.covered_share and not report.has_contract:
        return
    yield Paragraph(_in_short(report))
    yield from _items(report)
    yield from _better(report)
    yield from contract_blocks(report)
    yield from heat_blocks(report)
    yield from cost_blocks(report)


def _head(report: WeekReport) -> Iterator[str]:
    yield f"{many(report.requests)} requests"
    if report.dollars is not None:
        yield f"units for {dollars(report.dollars)} a month ({report.basis})"
    if report.weeks:
        yield f"beside {report.weeks} earlier {'week' if report.weeks == 1 else 'weeks'}"
        yield f"{report.growth - 1:+.1%} on the week before, all patterns together"


def _in_short(report: WeekReport) -> str:
    severities = Counter(item.severity for item in report.items)
    told = ", ".join(f"{severities[one]} {one.value}" for one in sorted(severities, key=lambda one: -one.rank))
    count = len(report.items)
    news = "Nothing to know" if not count else f"{count} {'thing' if count == 1 else 'things'} to know: {told}"
    states = Counter(line.state for line in report.readiness)
    ready = states[ReadinessState.PROVED] + states[ReadinessState.DECLARED]
    failed = states[ReadinessState.FAILED]
    return f"{news}. Readiness: {ready} of {len(report.readiness)} lines hold, {failed} failed."


def _items(report: WeekReport) -> Iterator[Block]:
    yield Heading("What to know")
    if not report.items:
        looked = (
            "Nothing left its past or its declaration." if report.covered_share else "Nobody looked: nothing is known."
        )
        yield Paragraph(looked)
    for number, item in enumerate(report.items[:MOST_ITEMS], start=1):
        yield Heading(f"{number}. {item.summary}", 3, item.severity.value)
        yield Facts(tuple(_facts(item)))
        snippet = next((advice.snippet for advice in item.advice if advice.snippet), None)
        if snippet is not None:
            yield Snippet(tuple(snippet.splitlines()))
    more = len(report.items) - MOST_ITEMS
    if more > 0:
        yield Paragraph(f"{more} more, of less risk and money, stand in the report as JSON.")
    if report.items:
        yield Paragraph(
            "What is known and borne: dynascope report --acknowledge ID --reason TEXT keeps it out of the next reports "
            "until it moves by another half."
        )
    if report.quieted:
        yield Paragraph("Known, and not moved by another half since:")
        yield Bullets(tuple(f"{one.summary} (id {one.id}, {_said(one.reason, one.who)})" for one in report.quieted))


def _said(reason: str, who: str | None) -> str:
    return f"{who}: {reason}" if who else reason


def _facts(item: Item) -> Iterator[tuple[str, str]]:
    place = " of ".join(word for word in (item.region, item.account) if word)
    where = f"{item.table}{f'/{item.index}' if item.index else ''}{f' in {place}' if place else ''}"
    money = "" if item.extra_usd is None else f"{_money(item.extra_usd)} · "
    yield item.severity.value, f"{money}{where} · id {item.id}"
    yield "caller", f"{short(item.caller or 'not known')} · owner {short(item.owner or 'not declared')} · {_seen(item)}"
    if item.change:
        yield "changed", item.change
    yield from (("also", text) for text in item.also)
    for number, advice in enumerate(item.advice):
        why = "; ".join(word for word in (advice.action, advice.effect) if word)
        yield "or" if number else "do", f"{advice.text} ({why})"


def _money(extra: float) -> str:
    return f"{dollars(abs(extra))} a month {'more' if extra >= 0 else 'less'}"


def _seen(item: Item) -> str:
    first = "first seen: not known" if item.first_seen is None else f"first seen {day(item.first_seen)}"
    if item.days_seen is None:
        return first
    return f"{first} · seen on {item.days_seen} of the last {item.days_covered} days"


def _better(report: WeekReport) -> Iterator[Block]:
    yield Heading("What got better")
    if not report.better:
        yield Paragraph("Nothing that would be more than chance.")
        return
    saved = (f" ({dollars(one.saved_usd)} a month less)" if one.saved_usd else "" for one in report.better)
    places = (f"{one.table}{f'/{one.index}' if one.index else ''}" for one in report.better)
    rows = zip(report.better, places, saved, strict=True)
    yield Bullets(tuple(f"{place}: {one.summary}{less}" for one, place, less in rows))
