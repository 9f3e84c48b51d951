"""Numbers of a sample, marked as that where there is no room for their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.report import PatternLine

__all__ = ["calls_words"]


def calls_words(line: PatternLine, write: Callable[[float], str]) -> str:
    """Write how many requests there were: `~1k` where that is an estimate."""
    mark = "~" if line.requests_low < line.requests_high else ""
    return mark + write(round(line.requests))
