"""Blocks for a terminal, in at most 98 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from analyzer.render.blocks import Bullets, Commands, Facts, Grid, Heading, Paragraph, Snippet
from analyzer.render.words import copied, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.render.blocks import Block

__all__ = ["render_text_page"]

_WIDTH = 98
_LONGEST_WORD = 20


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
    elif isinstance(block, Facts):
        for label, text in block.rows:
            yield from _wrap(f"{label}: {text}", "- ")
    elif isinstance(block, Commands):
        yield from (f"  $ {copied(line)}" for line in block.lines)
    elif isinstance(block, Snippet):
        yield from (f"  {copied(line)}" for line in block.lines)
    elif isinstance(block, Grid):
        yield from _grid(block)


def _wrap(text: str, lead: str) -> list[str]:
    return textwrap.wrap(
        readable(text),
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _grid(grid: Grid) -> Iterator[str]:
    rows = [tuple(map(readable, row)) for row in (grid.head, *grid.rows)]
    widths = _widths(rows, grid.numeric)
    for row in rows:
        wrapped = [
            textwrap.wrap(cell, width, break_long_words=True, break_on_hyphens=False) or [""]
            for cell, width in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, wrapped))):
            cells = (
                f"{(lines[number] if number < len(lines) else ''):{'>' if column in grid.numeric else '<'}{width}}"
                for column, (lines, width) in enumerate(zip(wrapped, widths, strict=True))
            )
            yield f"  {'  '.join(cells)}"


def _widths(rows: Sequence[Sequence[str]], numeric: frozenset[int]) -> list[int]:
    """Return the width of each column; what does not fit is taken from the widest, down to their longest words."""
    columns = [[row[number] for row in rows] for number in range(len(rows[0]))]
    widths = [min(max(map(len, cells)), _WIDTH) or 1 for cells in columns]
    least = [_least(cells, is_numeric=number in numeric) for number, cells in enumerate(columns)]
    left = _WIDTH - 2 * len(widths)
    while sum(widths) > left:
        wide = [number for number, width in enumerate(widths) if width > least[number]]
        if not wide:
            break
        widths[max(wide, key=lambda number: widths[number])] -= 1
    return widths


def _least(cells: Sequence[str], *, is_numeric: bool) -> int:
    """Return how narrow a column may be: numbers stay whole, of words those that are not too long."""
    head, *body = cells
    words = [*head.split(), *(body if is_numeric else (word for cell in body for word in cell.split()))]
    longest = max(map(len, words), default=1)
    return longest if is_numeric else min(longest, _LONGEST_WORD)
