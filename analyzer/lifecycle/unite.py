"""One finding for a fault that many windows of a log showed: at its worst, from first to last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.lifecycle.weight import amount_of

if TYPE_CHECKING:
    from analyzer.model.finding import Finding

__all__ = ["unite"]


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
    firsts = [time for time in (known.first_seen, new.first_seen) if time is not None]
    lasts = [time for time in (known.last_seen, new.last_seen) if time is not None]
    return msgspec.structs.replace(
        worse,
        status=new.status,
        first_seen=min(firsts, default=None),
        last_seen=max(lasts, default=None),
        caused_by=new.caused_by or known.caused_by,
    )
