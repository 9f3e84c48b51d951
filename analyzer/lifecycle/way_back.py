"""The way back: where a deploy of the caller stands shortly before a fault began, advice to mend the caller says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from analyzer.model.instant import format_instant

if TYPE_CHECKING:
    from analyzer.model.finding import Advice, Change, Finding
    from analyzer.model.instant import Instant

__all__ = ["is_of_caller", "with_way_back"]

_NEAR_MS = 15 * 60_000
"""A rollout reaches all of a service within so long; of what began later a deploy is named, and no more."""
_DEPLOY = "deploy"
_ACTION = "fix-caller"
_ROLL_BACK = "roll back the deploy of"


def with_way_back(finding: Finding, change: Change | None = None, began: Instant | None = None) -> Finding:
    """Return a finding whose advice to mend its caller begins with the deploy to roll back; another one as it is.

    `change` and `began` are what is known better than by the finding itself. Done twice it is as done once.
    """
    change = change or finding.since_change
    began = finding.first_seen if began is None else began
    if change is None or began is None or finding.caller is None:
        return finding
    is_near = 0 <= began - change.time <= _NEAR_MS
    if change.what != _DEPLOY or not is_near or not is_of_caller(change, finding.caller):
        return finding
    way = _words(change, finding.caller)
    advice = tuple(_told(one, way, finding.caller) for one in finding.advice)
    return msgspec.structs.replace(finding, advice=advice)


def is_of_caller(change: Change, caller: str | None) -> bool:
    """Whether what a change says of itself names a caller as a word of its own."""
    return caller is not None and bool(_name(caller).search(f"{change.detail or ''} {change.who or ''}"))


def _name(caller: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(caller)}(?![\w-])", re.IGNORECASE)


def _words(change: Change, caller: str) -> str:
    version = " ".join(_name(caller).sub("", change.detail or "").split()).strip(" :,@/")
    return f"{_ROLL_BACK} {caller} at {format_instant(change.time)[11:19]}{version and f' ({version})'}"


def _told(advice: Advice, way: str, caller: str) -> Advice:
    if advice.action != _ACTION or _ROLL_BACK in advice.text:
        return advice
    asked = f"Ask the owner of {caller} "
    rest = advice.text.removeprefix(asked)
    to = f"Ask its owner to {way}"
    return msgspec.structs.replace(advice, text=f"{to}; else {'' if rest != advice.text else 'do this: '}{rest}")
