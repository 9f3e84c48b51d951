"""A drafted contract: the document, what is unsure of it, and what was seen and left out."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["Draft", "SetAside", "Unsure"]


class SetAside(Struct, frozen=True):
    """A pattern that was seen and is not declared, and why."""

    table: str
    pattern: dict[str, Any]
    because: str


class Unsure(Struct, frozen=True):
    """A guess: `part` is the list of the table that it stands in (empty: the table itself), `field` what is guessed."""

    table: str
    part: str
    name: str
    field: str
    text: str

    def __str__(self) -> str:
        """Write where it is and what."""
        place = " ".join(word for word in (self.table, self.name) if word)
        return f"{place}: {self.field}: {self.text}"


class Draft(Struct, frozen=True):
    """A document of formats.md §4, what was left out of it, and what is unsure.

    `left_out` counts rarer patterns by table.
    """

    document: dict[str, Any]
    set_aside: tuple[SetAside, ...] = ()
    unsure: tuple[Unsure, ...] = ()
    left_out: dict[str, int] = {}
