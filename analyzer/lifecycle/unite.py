"""One finding for a fault that many windows of a log showed: at its worst, from first to last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.lifecycle.weight import amount_of
from analyzer.model.finding import Severity

if TYPE_CHECKING:
    from analyzer.model.finding import Finding

__all__ = ["unite"]

_TELL_AHEAD = frozenset({"gsi-back-pressure", "hot-key"})
"""Low of these says how much room is left: the fault begins where that is used up."""


def unite(findings: tuple[Finding, ...], more: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Add findings to those already known, by id; the worse one speaks, and the span covers both."""
    united = {finding.id: finding for finding in findings}
    for finding in more:
        known = united.get(finding.id)
        united[finding.id] = finding if known is None else _worse(known, finding)
    return tuple(united.values())


def _worse(known: Finding, new: Finding) -> Finding:
    is_worse = (new.severity.rank, amount_of(new)) > (known.severity.rank, amount_of(known))
    worse = new if is_worse else known
    both = [one for one in (known, new) if not _is_ahead(one, worse)]
    firsts = [one.first_seen for one in both if one.first_seen is not None]
    lasts = [one.last_seen for one in both if one.last_seen is not None]
    return msgspec.structs.replace(
        worse,
        status=new.status,
        first_seen=min(firsts, default=None),
        last_seen=max(lasts, default=None),
        caused_by=new.caused_by or known.caused_by,
    )


def _is_ahead(finding: Finding, worst: Finding) -> bool:
    """Whether a finding only said that there is little room, where the worst of its kind is a fault."""
    return finding.detector in _TELL_AHEAD and finding.severity is Severity.LOW and worst.severity is not Severity.LOW
