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

__all__ = ["PageFormat", "as_json", "check_place", "format_of", "named_place", "print_page", "rendered"]

_HTML = frozenset({".html", ".htm"})
_MARKDOWN = frozenset({".md", ".markdown"})


class PageFormat(StrEnum):
    """How a page is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def named_place(text: str) -> Path:
    """Read the value of -o; raises UsageError for one that names nothing, which would be the folder that we are in."""
    from pathlib import Path  # noqa: PLC0415 -- the module names it as a type alone

    if not text.strip():
        raise UsageError("-o names no file: its value is empty")
    return Path(text)


def check_place(output: Path | None, *, takes_folder: bool = False) -> None:
    """Refuse before the work what could only fail after it; raises UsageError."""
    if output is None:
        return
    if output.is_dir():
        if not takes_folder:
            raise UsageError(f"{output} is a folder; name a file in it")
        folder = output
    else:
        folder = output.parent
        if not folder.is_dir():
            raise UsageError(f"{output} cannot be written: there is no folder {folder}")
        if output.exists() and not os.access(output, os.W_OK):
            raise UsageError(f"{output} cannot be written: it is read-only")
    if not os.access(folder, os.W_OK) and not _is_special(output):
        raise UsageError(f"{output} cannot be written: the folder {folder} is not yours to write in")


def _is_special(output: Path) -> bool:
    """Whether it is a device or a pipe, such as /dev/stdout: nothing that could take the place of another file."""
    return output.exists() and not output.is_file() and not output.is_dir()


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
    """Write to a file, wholly or not at all, or to standard output; raises UsageError where it cannot be written."""
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.cli.replacing import replace_file  # noqa: PLC0415 -- only what is asked for

    if output is None:
        write(text)
        return
    try:
        if _is_special(output):
            output.write_text(text, encoding="utf-8")
        else:
            replace_file(output, text.encode())
    except OSError as error:
        because = error.strerror or type(error).__name__
        raise UsageError(f"{output} cannot be written: {because[0].lower()}{because[1:]}") from None
