"""Texts that are cut to a width, and still can be told from one another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["cut_distinct", "cut_text"]

_HEAD_WORDS = 2
"""Of what is left out in the middle so many words stay before it: `undeclared: Query …`."""


def cut_text(text: str, width: int) -> str:
    """Cut a text to a width at its end."""
    return text if len(text) <= width else text[: width - 1] + "…"


def cut_distinct(texts: Sequence[str], width: int) -> list[str]:
    """Cut texts to a width; of those that would look alike what they share is left out, so that the rest is seen.

    Texts that are equal stay so.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        alike[cut_text(text, width)].append(at)
    told = [""] * len(texts)
    for cut, places in alike.items():
        whole = [texts[at] for at in places]
        shown = [cut] * len(whole) if len(set(whole)) == 1 else _apart(whole, width)
        for at, text in zip(places, shown, strict=True):
            told[at] = text
    return told


def _apart(texts: Sequence[str], width: int) -> list[str]:
    """Leave out what differing texts begin with alike, but for their first words where there is room for them."""
    shared = _shared(texts)
    if not shared:  # long words: their ends tell
        return ["…" + text[1 - width :] for text in texts]
    rests = [text[len(shared) :] for text in texts]
    head = " ".join(shared.split(" ")[:_HEAD_WORDS]) + " …"
    if max(map(len, rests)) <= width - len(head):
        return [head + rest for rest in rests]
    return [f"…{rest.removeprefix('…')}" for rest in cut_distinct(rests, width - 1)]


def _shared(texts: Sequence[str]) -> str:
    """Return the whole words that all begin with."""
    first, last = min(texts), max(texts)
    length = next((at for at, (one, two) in enumerate(zip(first, last, strict=False)) if one != two), len(first))
    return first[: first.rfind(" ", 0, length) + 1]
