"""Blocks for a terminal, in at most 98 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from analyzer.render.blocks import Bullets, Commands, Grid, Heading, Paragraph
from analyzer.render.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.render.blocks import Block

__all__ = ["render_text_page"]

_WIDTH = 98
_NARROWEST = 24


def render_text_page(blocks: Sequence[Block]) -> str:
    """Write a page as text; nothing that was read can steer a terminal."""
    parts = [list(_block(block)) for block in blocks]
    lines: list[str] = []
    for block, part in zip(blocks, parts, strict=True):
        if lines and part and not _continues(block, lines[-1]):
            lines.append("")
        lines += part
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _continues(block: Block, last: str) -> bool:
    """Whether a block stands right below its title."""
    return not isinstance(block, Heading) and bool(last) and last == last.upper() and last[:1].isalpha()


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield from _wrap(block.text.upper() if block.level <= 2 else block.text, "")  # noqa: PLR2004 -- page and part
    elif isinstance(block, Paragraph):
        yield from _wrap(block.text, "! " if block.is_warning else "")
    elif isinstance(block, Bullets):
        for item in block.items:
            yield from _wrap(item, "- ")
    elif isinstance(block, Commands):
        yield from (f"  $ {plain(line)}" for line in block.lines)
    else:
        yield from _grid(block)


def _wrap(text: str, lead: str) -> list[str]:
    return textwrap.wrap(
        plain(text),
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _grid(grid: Grid) -> Iterator[str]:
    rows = [tuple(map(plain, row)) for row in (grid.head, *grid.rows)]
    last = len(grid.head) - 1
    widths = [max(len(row[column]) for row in rows) for column in range(last)]
    lead = sum(widths) + 2 * last + 2
    left = max(_WIDTH - lead, _NARROWEST)
    for row in rows:
        cells = [f"{cell:>{w}}" if n in grid.numeric else f"{cell:<{w}}" for n, (cell, w) in _columns(row, widths)]
        text = row[last]
        wrapped = textwrap.wrap(text, left, break_long_words=False, break_on_hyphens=False) or [""]
        width = max((len(one[last]) for one in rows), default=0)
        if last in grid.numeric and width <= left:
            wrapped = [f"{text:>{width}}"]
        yield f"  {'  '.join([*cells, wrapped[0]])}"
        yield from (" " * lead + line for line in wrapped[1:])


def _columns(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[int, tuple[str, int]]]:
    return enumerate(zip(row, widths, strict=False))
