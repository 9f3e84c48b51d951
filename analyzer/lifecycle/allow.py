"""Findings that the contract accepts, until a day that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.model.finding import Finding, Status
from analyzer.model.instant import date_of
from analyzer.model.target import Target

if TYPE_CHECKING:
    from analyzer.contract.model import Contract
    from analyzer.model.instant import Instant

__all__ = ["accept"]


def accept(findings: tuple[Finding, ...], contract: Contract, at: Instant) -> tuple[Finding, ...]:
    """Snooze the findings that the pattern they name allows; the last day of an allowance counts.

    What was allowed and is no more is told again, and says since when.
    """
    today = date_of(at)
    return tuple(_accepted(finding, contract, today) for finding in findings)


def _accepted(finding: Finding, contract: Contract, today: str) -> Finding:
    target = Target(finding.account, finding.region, finding.table, finding.index)
    pattern = contract.pattern(target, finding.pattern) if finding.pattern is not None else None
    known = [one for one in (pattern.allow if pattern is not None else ()) if one.detector == finding.detector]
    if not known:
        return finding
    last = max(known, key=lambda one: one.until)
    if today <= last.until:
        because = f"accepted until {last.until}: {last.reason}"
        return msgspec.structs.replace(finding, status=Status.SNOOZED, because=because)
    ended = f"the allowance of {last.detector} on {finding.pattern} ended on {last.until}"
    because = ended if finding.because is None else f"{finding.because}; {ended}"
    return msgspec.structs.replace(finding, because=because)
