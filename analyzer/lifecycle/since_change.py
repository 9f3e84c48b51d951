"""What was changed just before a finding began: the first question of whoever is on call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.lifecycle.way_back import is_of_caller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.finding import Change, Finding

__all__ = ["CHANGE_REACH_MS", "change_before", "with_changes"]

_NEAR_MS = 30 * 60_000
"""So long after a deploy or a change of capacity its effect is there, where it has one."""
_SLOW_MS = 2 * 60 * 60_000
"""An index is built, and a table finds its new limits, within some hours."""
CHANGE_REACH_MS = _SLOW_MS
"""No change is named that lies further back."""
_SLOW = frozenset({"index-created", "index-deleted", "billing-mode", "restore"})
_NO_CAUSE = frozenset({"insights"})
"""Looking changes nothing."""
_LESSER = frozenset({"scaling"})
"""What autoscaling does follows traffic more often than it leads: another change is named before it."""


def with_changes(findings: tuple[Finding, ...], changes: Iterable[Change]) -> tuple[Finding, ...]:
    """Give each finding the change just before it began; one that has it keeps it."""
    known = tuple(changes)
    return tuple(
        finding
        if finding.since_change is not None
        else msgspec.structs.replace(finding, since_change=change_before(finding, known))
        for finding in findings
    )


def change_before(finding: Finding, changes: Iterable[Change]) -> Change | None:
    """Return the last change of the finding's table, or of everything, before it was first seen; None without any.

    It lies at most 30 minutes back, two hours where what it does takes longer. A deploy mark without a table is of
    everything; one that names the finding's caller comes before all else.
    """
    began = finding.first_seen
    if began is None:
        return None
    near = [
        change
        for change in changes
        if change.table in {None, finding.table}
        and change.is_at(finding.account, finding.region)
        and change.what not in _NO_CAUSE
        and 0 <= began - change.time <= (_SLOW_MS if change.what in _SLOW else _NEAR_MS)
    ]
    return max(near, key=lambda change: _weight(change, finding), default=None)


def _weight(change: Change, finding: Finding) -> tuple[bool, bool, int]:
    return is_of_caller(change, finding.caller), change.what not in _LESSER, change.time
