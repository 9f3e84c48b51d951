"""A capacity plan as a page: warnings first, then what to do, the ways to pay, the arithmetic, patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number
from analyzer.render.blocks import Bullets, Commands, Grid, Heading, Paragraph
from analyzer.render.words import count, share, stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.planning.capacity import Capacity
    from analyzer.planning.event import Event
    from analyzer.planning.option import Option
    from analyzer.planning.pattern_costs import PatternCost
    from analyzer.planning.rules_of_thumb import Thumb
    from analyzer.render.blocks import Block

__all__ = ["capacity_page", "capital", "dollars", "pattern_blocks"]

_MODES = {"PROVISIONED": "provisioned", "PAY_PER_REQUEST": "on demand", None: "billing mode not known"}
_CENT = 0.01
_HUNDRED = 100


def dollars(amount: float | None) -> str:
    """Write dollars a month: cents below a hundred; `?` for unknown."""
    if amount is None:
        return "?"
    if 0 < amount < _CENT:
        return "<$0.01"
    return f"${amount:,.2f}" if amount < _HUNDRED else f"${amount:,.0f}"


def capacity_page(plan: Capacity) -> tuple[Block, ...]:
    """Return the page of a plan."""
    return tuple(_blocks(plan))


def _blocks(plan: Capacity) -> Iterator[Block]:
    yield Heading(f"Capacity of {plan.table}", 1)
    yield Paragraph(f"{stretch(plan.window)} · {_MODES.get(plan.billing_mode, plan.billing_mode or '')} · {plan.price}")
    yield from (Paragraph(text, is_warning=True) for text in plan.warnings)
    yield from _best(plan)
    if plan.notes:
        yield Bullets(plan.notes)
    if plan.demands:
        yield from _demands(plan)
        yield from _options(plan)
    yield from _thumb(plan.thumb)
    if plan.event is not None:
        yield from _event(plan.event)
    if plan.patterns:
        yield Heading("Cost by pattern")
        yield from pattern_blocks(plan.patterns)


def _best(plan: Capacity) -> Iterator[Block]:
    best = next((option for option in plan.options if option.name == plan.best), None)
    if best is None:
        yield Paragraph("What would be cheapest cannot be told: no consumed units are known.")
        return
    first = "Once the keys are mended: " if plan.warnings else ""
    text = f"{best.title}, {dollars(best.dollars)} a month, is the cheapest that would have refused next to nothing."
    yield Paragraph(first + (text if first else capital(text)))


def _demands(plan: Capacity) -> Iterator[Block]:
    yield Heading("Demand")
    yield Grid(
        ("", "mean", "fullest minute", "a month", "use of autoscaled capacity", "source"),
        tuple(
            (
                f"{one.direction.value} units of {one.place}",
                f"{number(one.mean_units)}/s",
                f"{number(one.peak_units)}/s",
                number(one.month_units),
                share(one.used_share),
                one.source.value,
            )
            for one in plan.demands
        ),
        frozenset({1, 2, 3, 4}),
    )
    requests = "not known" if plan.requests_a_month is None else f"{number(plan.requests_a_month)} a month"
    yield Paragraph(f"Requests: {requests}.")


def _options(plan: Capacity) -> Iterator[Block]:
    yield Heading("Ways to pay")
    rows = tuple((option.title, dollars(option.dollars), _risk(option)) for option in plan.options)
    yield Grid(("", "a month", "risk"), rows, frozenset({1}))
    yield Heading("Arithmetic")
    yield Grid(
        ("", "of", "a month", "how"),
        tuple(
            (option.title if not number_of_term else "", term.of, dollars(term.dollars), term.words)
            for option in plan.options
            if option.name != "on-demand-maximum"  # the same as on demand
            for number_of_term, term in enumerate(option.terms)
        ),
        frozenset({2}),
    )


def _risk(option: Option) -> str:
    return option.risk if option.because is None else f"{option.risk}. {capital(option.because)}"


def capital(text: str) -> str:
    """Begin a sentence."""
    return text[:1].upper() + text[1:]


def _thumb(thumb: Thumb) -> Iterator[Block]:
    yield Heading("Rules of thumb")
    words = {True: "holds", False: "does not hold", None: "cannot be judged"}
    rows = tuple((rule.text, rule.advises, words[rule.holds], rule.because) for rule in thumb.rules)
    yield Grid(("rule", "advises", "here", "because"), rows)
    yield Paragraph(f"{capital(thumb.difference)}.")


def _event(event: Event) -> Iterator[Block]:
    yield Heading(f"A peak of {number(event.factor)} times the fullest stretch")
    yield Grid(
        ("", "now", "peak", "ready on demand", "autoscaling alone, if it comes within a minute"),
        tuple(
            (
                f"{one.direction.value} units of {one.place}",
                f"{number(one.now_units)}/s",
                f"{number(one.peak_units)}/s",
                f"{number(one.ready_units)}/s{'' if one.is_told else ' (estimated)'}{', too little' * one.is_short}",
                f"refuses {number(one.throttled_units)} units in {one.catch_up_minutes} minutes",
            )
            for one in event.peaks
        ),
        frozenset({1, 2}),
    )
    yield Bullets(event.words)
    if event.commands:
        yield Commands(event.commands)


def pattern_blocks(patterns: tuple[PatternCost, ...]) -> Iterator[Block]:
    """Yield what each pattern costs, and beside it what it should."""
    yield Grid(
        ("pattern", "requests", "units each", "declared", "costs", "should cost", "at declared rate", "of it, indexes"),
        tuple(_pattern(one) for one in patterns),
        frozenset({1, 2, 3, 4, 5, 6}),
    )
    yield Paragraph(
        "Costs are dollars a month. Declared are the units of one request: size, consistency, transaction and index "
        "factors; what it should cost is that at the observed rate. The declared rate is a busy second's, all month. "
        "Capacity that stands unused is in none of them."
    )
    assumed = dict.fromkeys(text for one in patterns if one.should is not None for text in one.should.assumed)
    drifted = [one for one in patterns if one.drift is not None and not _IN <= one.drift <= 1 / _IN]
    notes = [
        f"{one.pattern}: {number(one.units_a_request or 0)} units a request, where {one.should.words} = "
        f"{number(one.should.units_a_request or 0)} is declared"
        for one in drifted
        if one.should is not None
    ]
    if notes or assumed:
        yield Bullets((*notes, *assumed))


_IN = 0.8
"""Units a request within a quarter of what is declared are as declared: sizes are round numbers."""


def _pattern(one: PatternCost) -> tuple[str, ...]:
    should = one.should
    indexes = ", ".join(f"{name} {number(units)}/s" for name, units in one.index_units.items())
    rate = "?" if one.requests_a_second is None else f"{number(one.requests_a_second)}/s"
    return (
        one.pattern,
        rate,
        count(one.units_a_request),
        "" if should is None else count(should.units_a_request),
        dollars(one.dollars),
        "" if should is None else dollars(should.dollars_as_observed),
        "" if should is None else dollars(should.dollars_as_declared),
        indexes,
    )
