"""What a change of contract does, as a page: reasons not to merge first, then heat, cost, indexes, patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number
from analyzer.render.blocks import Bullets, Grid, Heading, Paragraph
from analyzer.render.capacity import dollars
from analyzer.render.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.planning.diff import Diff, IndexChange, PatternChange, TableDiff
    from analyzer.render.blocks import Block

__all__ = ["diff_page"]


def diff_page(diff: Diff) -> tuple[Block, ...]:
    """Return the page of a difference."""
    return tuple(_blocks(diff))


def _blocks(diff: Diff) -> Iterator[Block]:
    yield Heading("Change of contract", 1)
    if not diff.tables:
        yield Paragraph("Nothing changes in what is served, by which key, and at what cost.")
    yield from (Paragraph(reason, is_warning=True) for reason in diff.breaks)
    if diff.tables and not diff.breaks:
        yield Paragraph("No heat crosses 1, and no pattern loses its index.")
    if diff.notes:
        yield Bullets(diff.notes)
    for table in diff.tables:
        yield from _table(table)


def _table(table: TableDiff) -> Iterator[Block]:
    yield Heading(f"{table.table}: {table.what}", 2)
    yield Paragraph(f"{_cost(table)} {_rates(table)} ({table.price}).")
    if table.unknown:
        yield Paragraph(f"Not in that sum, too little is declared or observed: {', '.join(table.unknown)}.")
    changed = [one for one in table.patterns if one.what != "same"]
    if changed:
        yield Heading("Patterns", 3)
        head = ("pattern", "", "requests", "units each", "a month", "what")
        yield Grid(head, tuple(_pattern(one) for one in changed), frozenset({2, 3, 4}))
    if table.assumed:
        yield Bullets(tuple(f"counted at its least: {text}" for text in table.assumed))
    if table.unserved:
        told = ", ".join(f"{name} ({number(rate)}/s)" for name, rate in table.unserved.items())
        yield Paragraph(f"Observed, and declared no more: {told}. It will be undeclared.", is_warning=True)
    indexes = [one for one in table.indexes if one.what != "same" or one.units_before != one.units_after]
    if indexes:
        yield Heading("Indexes", 3)
        title = ("index", "", "write units", "a month", "what")
        yield Grid(title, tuple(_index(one) for one in indexes), frozenset({2, 3}))
    heat = [one for one in table.heat if _shown(one.before) != _shown(one.after)]
    if heat:
        yield Heading("Heat of the hottest key", 3)
        yield Grid(
            ("where", "partition key", "", "heat", "rests on"),
            tuple(
                (one.index or "base table", one.template, one.direction.value, _heat(one.before, one.after), one.basis)
                for one in heat
            ),
            frozenset({3}),
        )


def _rates(table: TableDiff) -> str:
    if table.is_observed:
        return "at the observed rates"
    if not table.is_asked:
        return "at the declared rates: no traffic was given"
    if table.what == "added":  # traffic is told apart by the old contract
        return "at the declared rates: traffic is that of the old contract, which does not declare this table"
    return "at the declared rates: the traffic that was given holds nothing of this table"


def _cost(table: TableDiff) -> str:
    before, after = table.dollars_before, table.dollars_after
    if before is None or after is None:
        return "What it costs cannot be told"
    change = after - before
    sign = "+" if change >= 0 else "-"
    return f"{dollars(before)} → {dollars(after)} a month ({sign}{dollars(abs(change))})"


def _pattern(one: PatternChange) -> tuple[str, ...]:
    rate = "?" if one.rate is None else f"{number(one.rate)}/s{'' if one.is_observed else ' declared'}"
    what = "; ".join([*([f"loses its index: {one.lost}"] if one.lost else []), *one.fields])
    return (
        one.pattern,
        one.what,
        rate,
        _arrow(count(one.units_before), count(one.units_after), one.what),
        _arrow(dollars(one.dollars_before), dollars(one.dollars_after), one.what),
        what,
    )


def _index(one: IndexChange) -> tuple[str, ...]:
    before = "?" if one.units_before is None else f"{number(one.units_before)}/s"
    after = "?" if one.units_after is None else f"{number(one.units_after)}/s"
    money = _arrow(dollars(one.dollars_before), dollars(one.dollars_after), one.what)
    return one.index, one.what, _arrow(before, after, one.what), money, "; ".join((*one.fields, *one.notes))


def _arrow(before: str, after: str, what: str) -> str:
    if what == "added":
        return f"→ {after}"
    if what == "removed":
        return f"{before} →"
    return before if before == after else f"{before} → {after}"


def _heat(before: float | None, after: float | None) -> str:
    return f"{_shown(before)} → {_shown(after)}"


def _shown(heat: float | None) -> str:
    return "?" if heat is None else f"{heat:.2f}"
