"""A page as blocks that text, Markdown and HTML are written from: headings, words, lists, tables, commands, maps."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Block", "Bullets", "Commands", "Facts", "Grid", "Heading", "HeatGrid", "Paragraph", "Snippet"]


class Heading(Struct, frozen=True):
    """A title; level 1 is the page's own. `mark` is a severity, which HTML shows as a color beside it."""

    text: str
    level: int = 2
    mark: str | None = None


class Paragraph(Struct, frozen=True):
    """Running text; `is_warning` marks what is to be read first."""

    text: str
    is_warning: bool = False


class Bullets(Struct, frozen=True):
    """A list."""

    items: tuple[str, ...]


class Facts(Struct, frozen=True):
    """A list of which each line says first what it is about: `do`, `caller`."""

    rows: tuple[tuple[str, str], ...]


class Grid(Struct, frozen=True):
    """A table; the last column takes what width is left. `numeric` names the columns that are set to the right.

    `state` is the column that says how a row stands; HTML colors what failed and what holds.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    state: int | None = None


class Commands(Struct, frozen=True):
    """Shell commands, a line each."""

    lines: tuple[str, ...]


class Snippet(Struct, frozen=True):
    """Lines of a file, to be copied."""

    lines: tuple[str, ...]


class HeatGrid(Struct, frozen=True, kw_only=True):
    """A map of heat: a row a label, a cell a step, shares of the ceiling; only HTML draws it.

    `notes` say of each row what a reader who cannot see it has to know. `ticks` are columns with what stands below.
    """

    title: str
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    ticks: tuple[tuple[int, str], ...] = ()


Block = Heading | Paragraph | Bullets | Facts | Grid | Commands | Snippet | HeatGrid
