"""Rules over a table: who owns it, what it can be rebuilt from, and whether names mean anything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.contract.faults import did_you_mean
from analyzer.contract.scope import WARN, Objection, Scope, of_pattern, of_table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["edit_distance", "no_owner", "no_rebuild", "unknown_caller", "unknown_entity"]

_NUMBER = re.compile(r"[-_.]?v?\d+")
_SHORT = 5
_MOST_EDITS = 2


def no_owner(scope: Scope) -> Iterator[Objection]:
    """Ask for the owner: a finding has to reach somebody."""
    if scope.table.owner is None:
        yield of_table(WARN, scope.table, "nobody owns it", "name a team: owner: case-platform")


def no_rebuild(scope: Scope) -> Iterator[Objection]:
    """Ask how a projection is rebuilt; without an answer it is a source of truth by accident."""
    if scope.table.source_of_truth is False and scope.table.rebuild is None:
        mend = "say from what and how long: rebuild: replay the stream, 2 h"
        yield of_table(WARN, scope.table, "it is a projection, and nothing says how to rebuild it", mend)


def unknown_entity(scope: Scope) -> Iterator[Objection]:
    """Find entities that the table does not list, where it lists any."""
    known = [entity.name for entity in scope.table.entities]
    for pattern in scope.table.patterns:
        if known and pattern.entity is not None and pattern.entity not in known:
            message = f"{pattern.entity!r} is no entity of {scope.table.name}"
            yield of_pattern(WARN, pattern, message, did_you_mean(pattern.entity, known))


def unknown_caller(scope: Scope) -> Iterator[Objection]:
    """Find callers that are almost one of the contract's: a typo; others need no entry there.

    A caller is matched by the name of its entry: what that entry lists as a service is never seen under its own name.
    """
    known = [caller.name for caller in scope.contract.callers]
    services = {service: caller.name for caller in scope.contract.callers for service in caller.services}
    for pattern in scope.table.patterns:
        for name in (name for name in pattern.callers if name not in known):
            if name in services:
                mend = f"write {services[name]}, whose service it is"
                yield of_pattern(WARN, pattern, f"{name!r} is none of the callers", mend)
                continue
            meant = next((other for other in known if _is_typo(name, other)), None)
            if meant is not None:
                yield of_pattern(WARN, pattern, f"{name!r} is none of the callers", f"did you mean {meant}?")


def _is_typo(name: str, other: str) -> bool:
    """Whether at most two characters set two names apart, one where they are short; numbers are no typo: `api-1`."""
    one, two = name.lower(), other.lower()
    if one != two and _NUMBER.sub("", one) == _NUMBER.sub("", two):
        return False
    return edit_distance(one, two) <= (1 if min(len(one), len(two)) <= _SHORT else _MOST_EDITS)


def edit_distance(one: str, two: str) -> int:
    """Count the characters to insert, delete, replace or swap with their neighbour (Damerau, 1964)."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for at, left in enumerate(one, 1):
        last, before, row = before, row, [at]
        for column, right in enumerate(two, 1):
            best = min(before[column] + 1, row[column - 1] + 1, before[column - 1] + (left != right))
            if at > 1 and column > 1 and left == two[column - 2] and one[at - 2] == right:
                best = min(best, last[column - 2] + 1)
            row.append(best)
    return row[-1]
