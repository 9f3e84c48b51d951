"""The page's parts on what is paid for: filters, indexes, transactions, and what traces read together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number, percent
from analyzer.render.blocks import Bullets, Grid, Heading, Paragraph
from analyzer.render.capacity import dollars
from analyzer.reports.item_words import many
from analyzer.reports.week_values import Togetherness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.render.blocks import Block
    from analyzer.reports.week_values import IndexUse, Together, TransactionUse, WeekReport

__all__ = ["cost_blocks"]


def cost_blocks(report: WeekReport) -> Iterator[Block]:
    """Yield what filters, indexes and transactions cost a month, and what one table would save."""
    yield Heading("What filters throw away")
    yield from _waste(report)
    yield Heading("Indexes")
    yield from _indexes(report.indexes)
    yield Heading("Transactions")
    yield from _transactions(report)
    yield Heading("One table, or several")
    yield from _together(report.together)


def _waste(report: WeekReport) -> Iterator[Block]:
    if report.waste is None:
        yield Paragraph("Not observable: no source counts what was scanned and returned.")
    elif not report.waste:
        yield Paragraph("Nothing worth a line." if report.covered_share else "Nobody looked.")
    else:
        yield Grid(
            ("pattern", "of", "filters by", "callers", "thrown away", "of its units", "a month"),
            tuple(
                (
                    one.pattern,
                    f"{one.table}{f'/{one.index}' if one.index else ''}",
                    ", ".join(one.attributes) or "?",
                    ", ".join(one.callers) or "?",
                    f"{many(one.wasted_units)} units",
                    percent(one.share),
                    dollars(one.dollars),
                )
                for one in report.waste
            ),
            frozenset({4, 5, 6}),
        )


def _indexes(indexes: tuple[IndexUse, ...] | None) -> Iterator[Block]:
    if indexes is None:
        yield Paragraph("Not observable: no table was described, no index is declared, and none was asked.")
        return
    if not indexes:
        yield Paragraph("There is none.")
        return
    yield Grid(
        ("index", "units a month", "storage a month", "reads", "read by"),
        tuple(
            (
                f"{one.table}/{one.index}",
                dollars(one.unit_dollars),
                dollars(one.storage_dollars),
                many(one.reads),
                ", ".join(one.patterns) or "nobody",
            )
            for one in indexes
        ),
        frozenset({1, 2, 3}),
    )
    unread = [one for one in indexes if one.days_unread]
    if unread:
        yield Bullets(tuple(_unread(one) for one in unread))


def _unread(one: IndexUse) -> str:
    days = number(one.days_unread or 0.0)
    if one.is_unused:
        return f"{one.table}/{one.index} is unused: nobody read it in {days} days that were looked at"
    return f"{one.table}/{one.index}: nobody read it in {days} days; whether it is unused, two weeks tell"


def _transactions(report: WeekReport) -> Iterator[Block]:
    if not report.transactions:
        yield Paragraph("None was seen." if report.covered_share else "Nobody looked.")
        return
    yield Grid(
        ("caller", "of", "", "share of calls", "items each", "declared", "costs more, a month"),
        tuple(
            (
                one.caller or "?",
                one.table,
                one.operation,
                percent(one.share),
                _items(one),
                "?" if one.declared_items is None else f"{one.declared_items}: {one.because or 'no reason'}",
                dollars(one.dollars_more),
            )
            for one in report.transactions
        ),
        frozenset({3, 4, 6}),
    )
    yield Paragraph("Items each lie between the kinds of parts that were seen, and one for each two units.")


def _items(one: TransactionUse) -> str:
    if one.items_each is None:
        return "?"
    low, high = one.items_each.low, one.items_each.high
    return number(low) if low == high else f"{number(low)}–{number(high)}"


def _together(together: tuple[Together, ...] | None) -> Iterator[Block]:
    if together is None:
        yield Paragraph("Not observable: history holds no traces. Requests with a trace_id tell what is read together.")
        return
    if not together:
        yield Paragraph("No two entities are read together always, or never.")
        return
    yield Bullets(tuple(_pair(one) for one in together))


def _pair(one: Together) -> str:
    first, second = (
        f"{entity or 'items'} of {table}"
        for table, entity in ((one.one_table, one.one_entity), (one.other_table, one.other_entity))
    )
    how = "always" if one.how is Togetherness.ALWAYS else "never"
    counts = f"{many(one.traces)} of {many(one.of_traces)} traces"
    return f"{first} and {second} are {how} read together ({counts}): {one.advice}"
