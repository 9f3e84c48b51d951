"""How commands that print a page, not a report, print it: text, Markdown, HTML or JSON, to a file or the terminal."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING

from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from msgspec import Struct

    from analyzer.render.blocks import Block

__all__ = ["PageFormat", "as_json", "check_place", "format_of", "print_page", "rendered"]

_HTML = frozenset({".html", ".htm"})
_MARKDOWN = frozenset({".md", ".markdown"})


class PageFormat(StrEnum):
    """How a page is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def check_place(output: Path | None) -> None:
    """Refuse before the work what could only fail after it; raises UsageError."""
    if output is None:
        return
    if output.is_dir():
        raise UsageError(f"{output} is a folder; name a file in it")
    if not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {output.parent}")
    if not os.access(output.parent, os.W_OK):
        raise UsageError(f"{output} cannot be written: the folder {output.parent} is not yours to write in")


def format_of(output: Path | None, chosen: PageFormat | None, otherwise: PageFormat) -> PageFormat:
    """Return the format: what was chosen, else what the file's name says."""
    if chosen is not None or output is None:
        return chosen or otherwise
    suffix = output.suffix.lower()
    if suffix in _HTML:
        return PageFormat.HTML
    if suffix in _MARKDOWN:
        return PageFormat.MARKDOWN
    return PageFormat.JSON if suffix == ".json" else otherwise


def as_json(value: Struct) -> str:
    """Write a plan as JSON: `v` first, times as RFC 3339, keys as the plan names them."""
    import json  # noqa: PLC0415 -- light start

    from analyzer.render.json import plain_value  # noqa: PLC0415 -- light start

    return json.dumps({"v": 1, **plain_value(value)}, indent=2, ensure_ascii=False) + "\n"


def rendered(blocks: Sequence[Block], form: PageFormat) -> str:
    """Write a page in a format that is for people."""
    if form is PageFormat.HTML:
        from analyzer.render.blocks_html import render_html_page  # noqa: PLC0415 -- only what is asked for

        return render_html_page(blocks)
    if form is PageFormat.MARKDOWN:
        from analyzer.render.blocks_markdown import render_markdown_page  # noqa: PLC0415 -- only what is asked for

        return render_markdown_page(blocks)
    from analyzer.render.blocks_text import render_text_page  # noqa: PLC0415 -- only what is asked for

    return render_text_page(blocks)


def print_page(text: str, output: Path | None) -> None:
    """Write to a file, or to standard output."""
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start

    if output is None:
        write(text)
    else:
        output.write_text(text, encoding="utf-8")
