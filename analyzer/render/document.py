"""The artifacts of a design as a page: access patterns, key design, a record for each index, capacity and risks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.words import number
from analyzer.render.blocks import Bullets, Grid, Heading, Paragraph
from analyzer.render.capacity import capital, dollars, pattern_blocks
from analyzer.render.words import stretch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.planning.capacity import Capacity
    from analyzer.planning.document import Design, IndexRecord, PatternEntry
    from analyzer.render.blocks import Block

__all__ = ["document_page"]

_UNSAID = "not declared"


def document_page(designs: Sequence[Design]) -> tuple[Block, ...]:
    """Return the page of one contract's tables."""
    return tuple(block for design in designs for block in _design(design, 1 if len(designs) == 1 else 2))


def _design(design: Design, level: int) -> Iterator[Block]:
    yield Heading(f"Design of {design.table}", level)
    yield Paragraph(" · ".join(_about(design)))
    if design.faults:
        count = len(design.faults)
        yield Paragraph(f"`dynascope check` finds {count} {'fault' if count == 1 else 'faults'}", is_warning=True)
        yield Bullets(design.faults)
    yield Heading("Access patterns", level + 1)
    yield from _patterns(design)
    yield Heading("Key design", level + 1)
    yield from _entities(design)
    for index in design.indexes:
        yield Heading(f"Index {index.name}", level + 2)
        yield Grid(("", index.name), tuple(_record(index)))
    yield Heading("Hot partitions", level + 1)
    yield from _risks(design)
    yield Heading("Capacity and cost", level + 1)
    yield from _capacity(design)


def _about(design: Design) -> Iterator[str]:
    yield f"owner {design.owner or _UNSAID}"
    truth = {True: "source of truth", False: "projection", None: "source of truth or projection: not declared"}
    yield truth[design.source_of_truth]
    if design.seen is not None:
        yield f"observed {stretch(design.seen.window)} in {design.seen.source}"


def _patterns(design: Design) -> Iterator[Block]:
    if not design.patterns:
        yield Paragraph("No access pattern is declared.")
        return
    is_seen = design.seen is not None
    head = ("pattern", "entity", "key condition", "read/write", "frequency")
    rows = tuple(_pattern(one, is_seen=is_seen) for one in design.patterns)
    yield Grid((*head, "observed", "served by") if is_seen else (*head, "served by"), rows)


def _pattern(one: PatternEntry, *, is_seen: bool) -> tuple[str, ...]:
    name = one.id if one.title is None else f"{one.title} ({one.id})"
    row = (name, one.entity or _UNSAID, one.key_condition, one.read_write, one.frequency)
    return (*row, f"{number(one.seen or 0.0)}/s", one.served_by) if is_seen else (*row, one.served_by)


def _entities(design: Design) -> Iterator[Block]:
    if not design.entities:
        yield Paragraph("No entity is declared.")
        return
    yield Grid(
        ("entity", "key encoding", "size", "served by"),
        tuple(
            (
                one.entity,
                one.encoding or _UNSAID,
                _UNSAID if one.item_bytes is None else f"{one.item_bytes:,} B",
                "; ".join(f"{place}: {', '.join(names)}" for place, names in one.served_by.items()) or "no pattern",
            )
            for one in design.entities
        ),
    )


def _record(index: IndexRecord) -> Iterator[tuple[str, str]]:
    sparse = {True: ", sparse", False: "", None: ""}[index.is_sparse]
    tolerance = index.staleness_tolerance_seconds
    yield "patterns served", ", ".join(index.patterns) or "none"
    yield "keys", f"{index.keys or _UNSAID} ({index.kind.upper()}{sparse})"
    yield "projection", index.projection or _UNSAID
    yield "expected rate", index.rate or _UNSAID
    yield "written by", ", ".join(index.written_by) or "not known"
    if index.seen_writing:
        yield "observed to write", ", ".join(index.seen_writing)
    yield "write amplification", index.write_amplification or _UNSAID
    yield "staleness tolerance", _UNSAID if tolerance is None else f"{number(tolerance)} s"
    yield "backfill impact", index.backfill_impact or _UNSAID
    yield "hot-key risk", index.hot_key_risk or _UNSAID
    yield "owner", index.owner or _UNSAID


def _risks(design: Design) -> Iterator[Block]:
    if not design.risks:
        yield Paragraph("No partition key is declared.")
        return
    yield Paragraph(
        "Heat is the share of what one partition serves: 3,000 read and 1,000 write units a second. Too little is "
        "declared where a pattern says neither what a key gets (per_key) nor its hottest key's share (top_share)."
    )
    yield Grid(
        ("where", "partition key", "direction", "declared", "observed", "risk", "how"),
        tuple(
            (
                one.place,
                one.template,
                one.direction.value,
                _heat(one.declared),
                _heat(one.seen),
                one.verdict,
                one.words,
            )
            for one in design.risks
        ),
        frozenset({3, 4}),
    )


def _heat(heat: float | None) -> str:
    return "?" if heat is None else f"{heat:.2f}"


def _capacity(design: Design) -> Iterator[Block]:
    seen = design.seen
    plan = None if seen is None else seen.plan
    if plan is not None and plan.demands:
        yield from _recommendation(plan)
    else:
        declared = [one.should.dollars_as_declared for one in design.costs if one.should is not None]
        known = [amount for amount in declared if amount is not None]
        yield Paragraph(
            f"At the declared rates, all month long and on demand: {dollars(sum(known) if known else None)} a month; "
            f"{len(known)} of {len(design.costs)} patterns tell enough. `dynascope capacity` weighs the ways to pay "
            "once consumed units are known."
        )
    if design.costs:
        yield from pattern_blocks(design.costs)


def _recommendation(plan: Capacity) -> Iterator[Block]:
    yield from (Paragraph(text, is_warning=True) for text in plan.warnings)
    best = next((option for option in plan.options if option.name == plan.best), None)
    if best is not None:
        yield Paragraph(f"{capital(best.title)}, {dollars(best.dollars)} a month: {best.risk}.")
    yield Bullets(plan.notes)
    yield Grid(
        ("", "a month"), tuple((option.title, dollars(option.dollars)) for option in plan.options), frozenset({1})
    )
    yield Paragraph(f"{capital(plan.thumb.difference)}. The arithmetic: dynascope capacity {plan.table}.")
