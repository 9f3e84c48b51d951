"""Blocks as Markdown; nothing that was read can become markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.render.blocks import Bullets, Commands, Facts, Grid, Heading, Paragraph, Snippet
from analyzer.render.markdown import safe
from analyzer.render.words import copied, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.render.blocks import Block

__all__ = ["render_markdown_page"]


def render_markdown_page(blocks: Sequence[Block]) -> str:
    """Write a page as Markdown."""
    parts = ("\n".join(_block(block)) for block in blocks)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {_safe(block.text)}"
    elif isinstance(block, Paragraph):
        yield f"> **{_safe(block.text)}**" if block.is_warning else _safe(block.text)
    elif isinstance(block, Bullets):
        yield from (f"- {_safe(item)}" for item in block.items)
    elif isinstance(block, Facts):
        yield from (f"- **{_safe(label)}**: {_safe(text)}" for label, text in block.rows)
    elif isinstance(block, Commands | Snippet):
        yield from (f"    {copied(line)}" for line in block.lines)
    elif isinstance(block, Grid):
        yield from _grid(block)


def _grid(grid: Grid) -> Iterator[str]:
    yield f"| {' | '.join(map(_safe, grid.head))} |"
    yield f"| {' | '.join('---:' if n in grid.numeric else '---' for n in range(len(grid.head)))} |"
    for row in grid.rows:
        yield f"| {' | '.join(map(_safe, row))} |"


def _safe(text: str) -> str:
    return safe(readable(text))
