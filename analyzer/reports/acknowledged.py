"""Triage: what a team has acknowledged stays out of the next report until it moves by another margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.errors import CollectError, UsageError, because
from analyzer.history.files import HistoryError
from analyzer.lifecycle.snooze import unknown
from analyzer.model.instant import Instant
from analyzer.reports.week_values import Quieted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.interfaces import BlobStore
    from analyzer.reports.week_values import Item

__all__ = ["MARGIN", "Acknowledgement", "acknowledge", "apart", "has_moved", "load_acknowledged", "take_back"]

MARGIN = 1.5
"""As drift has it: less than half as much again is no news."""
_FOLDER = "acknowledged/"
_SEVERITY = "severity"
_LONGEST_TEXT = 200


class Acknowledgement(Struct, frozen=True, kw_only=True):
    """Somebody knows of an item, as it was: `measures` are its levels in the week in which that was said."""

    v: int = 1
    id: str
    at: Instant
    week: str
    reason: str
    who: str | None = None
    measures: dict[str, float] = {}


def has_moved(before: Acknowledgement, item: Item) -> bool:
    """Whether an item is news again: a level left another margin behind it, a new side moved, or it got worse."""
    for name, now in item.measures.items():
        then = before.measures.get(name)
        if then is None:
            return True
        if name == _SEVERITY:
            if now > then:
                return True
        elif (now <= 0) != (then <= 0) or (then > 0 and not then / MARGIN < now < then * MARGIN):
            return True
    return False


def apart(items: Iterable[Item], known: Sequence[Acknowledgement]) -> tuple[tuple[Item, ...], tuple[Quieted, ...]]:
    """Return the items that are news, and those that somebody knows of."""
    by_id = {one.id: one for one in known}
    news, quiet = [], []
    for item in items:
        said = by_id.get(item.id)
        if said is None or has_moved(said, item):
            news.append(item)
        else:
            quiet.append(
                Quieted(id=item.id, summary=item.summary, reason=said.reason, who=said.who, acknowledged_at=said.at)
            )
    return tuple(news), tuple(quiet)


async def load_acknowledged(store: BlobStore) -> tuple[tuple[Acknowledgement, ...], int]:
    """Return what was acknowledged, the newest last, and how many files could not be read; raises HistoryError."""
    found, torn = [], 0
    try:
        for name in await store.list(_FOLDER):
            try:
                found.append(msgspec.json.decode(await store.read(name), type=Acknowledgement))
            except KeyError:  # it was taken back since it was listed
                continue
            except msgspec.MsgspecError:
                torn += 1
    except (OSError, CollectError) as error:
        raise HistoryError(f"cannot read what was acknowledged: {because(error)}") from None
    return tuple(sorted(found, key=lambda one: one.at)), torn


async def acknowledge(
    store: BlobStore, items: Sequence[Item], identity: str, said: tuple[str, str | None], at: tuple[str, Instant]
) -> Item:
    """Keep that somebody knows of an item of a week; raises UsageError where the week has no such item, HistoryError.

    `said` is the reason and who says so, `at` the week and now.
    """
    reason, who = said
    for text in (reason, who):
        if text is not None and not (text.strip() and len(text) <= _LONGEST_TEXT and text.isprintable()):
            raise UsageError(f"--reason and --who are lines of 1 to {_LONGEST_TEXT} characters")
    item = next((one for one in items if one.id == identity), None)
    if item is None:
        raise UsageError(f"in {at[0]} {unknown(identity, {one.id for one in items}, 'item')}")
    kept = Acknowledgement(id=identity, at=at[1], week=at[0], reason=reason, who=who, measures=item.measures)
    try:
        await store.write(f"{_FOLDER}{identity}.json", msgspec.json.encode(kept))
    except (OSError, CollectError) as error:
        raise HistoryError(f"cannot keep it: {because(error)}") from None
    return item


async def take_back(store: BlobStore, identity: str) -> None:
    """Let go of an acknowledgement; raises UsageError where there is none, HistoryError."""
    known, _ = await load_acknowledged(store)
    if identity not in {one.id for one in known}:
        raise UsageError(unknown(identity, {one.id for one in known}, "acknowledgement"))
    try:
        await store.delete(f"{_FOLDER}{identity}.json")
    except (OSError, CollectError) as error:
        raise HistoryError(f"cannot take it back: {because(error)}") from None
