"""Rules over a table: who owns it, what it can be rebuilt from, and whether names mean anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.faults import did_you_mean
from analyzer.contract.scope import WARN, Objection, Scope, of_pattern, of_table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["no_owner", "no_rebuild", "unknown_caller", "unknown_entity"]


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
    """Find callers that are almost one of the contract's: a typo; others need no entry there."""
    known = [caller.name for caller in scope.contract.callers]
    for pattern in scope.table.patterns:
        for name in (name for name in pattern.callers if name not in known):
            mend = did_you_mean(name, known)
            if mend.startswith("did you mean"):
                yield of_pattern(WARN, pattern, f"{name!r} is none of the callers", mend)
