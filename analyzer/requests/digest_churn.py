"""Texts whose placeholders or literals were invented anew, as one text: what keeps shape churn off the slow path.

Cheaper than masking for the grammar and less thorough: it evens out names and lists, not spaces or the case of words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from analyzer.requests.masking import LONGEST_TEXT, mask_statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Evened", "even_out", "even_out_statement", "rename_values"]

_LIST = re.compile(r"[Ii][Nn]\s*\(\s*:\w+(?:\s*,\s*:\w+)*+\s*\)")
_SQUASHED = "IN (:in)"
_PLACEHOLDER = re.compile(r"([:#]\w+)")
_END, _NONE = "\0", "\1"


class Evened(msgspec.Struct, frozen=True):
    """Texts without the names of their placeholders: `pieces` are what stands between those.

    `numbers` counts placeholders in order of appearance, `order` tells which stands where, and `attributes` what is
    behind each: its attribute, else its sign.
    """

    pieces: tuple[str, ...]
    order: tuple[int, ...] = ()
    attributes: tuple[str, ...] = ()
    numbers: dict[str, int] = {}

    @property
    def key(self) -> tuple[object, ...]:
        """What is equal for all texts that differ in invented names alone."""
        return self.pieces, self.order, self.attributes

    @property
    def renamed(self) -> dict[str, str]:
        """The new name of each placeholder."""
        return {old: f"{old[0]}{number}" for old, number in self.numbers.items()}

    @property
    def texts(self) -> tuple[str | None, ...]:
        """The texts under the new names."""
        renamed = list(self.renamed.values())
        between = [renamed[number] for number in self.order]
        joined = "".join(map("".join, zip(self.pieces, [*between, ""], strict=True)))
        return tuple(None if text == _NONE else text for text in joined.split(_END))

    def names(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the attributes behind the new names."""
        return {new: names[old] for old, new in self.renamed.items() if old in names}


def even_out(texts: Sequence[str | None], names: Mapping[str, str]) -> Evened | None:
    """Give placeholders of expressions new names; None where there is nothing to gain."""
    joined = _END.join([_NONE if text is None else text for text in texts])
    if len(joined) > LONGEST_TEXT:
        return None
    pieces = _PLACEHOLDER.split(_LIST.sub(_SQUASHED, joined))
    if len(pieces) == 1:
        return None
    numbers: dict[str, int] = {}
    order = tuple([numbers.setdefault(name, len(numbers)) for name in pieces[1::2]])
    attributes = tuple([names.get(name, name[0]) for name in numbers])
    return Evened(tuple(pieces[::2]), order, attributes, numbers)


def even_out_statement(statement: str) -> Evened:
    """Replace the literals of a statement that tells no values."""
    return Evened((mask_statement(statement),))


def rename_values(values: dict[str, dict[str, Any]], renamed: dict[str, str]) -> bytes:
    """Write values under the new names of their placeholders."""
    return msgspec.json.encode({renamed[old]: value for old, value in values.items() if old in renamed})
