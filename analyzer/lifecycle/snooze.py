"""Snoozes: findings that somebody knows of, and wants to hear of again on a day that is named. They are values."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from analyzer.errors import closest
from analyzer.model.finding import Finding, Status
from analyzer.model.instant import DATE_LENGTH, DAY_MS, date_of, format_instant, parse_instant
from analyzer.model.life import LONGEST_DAYS, Snooze

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from analyzer.model.instant import Instant

__all__ = ["LONGEST_DAYS", "hush", "snooze_of", "unknown", "until_of", "until_words", "with_effects"]

_LONGEST_TEXT = 200
_NAMED = 3
_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": DAY_MS, "w": 7 * DAY_MS}
_LONG = re.compile(r"(\d{1,6})([mhdw])")
_NO_ORPHANS: Mapping[str, str] = MappingProxyType({})


def hush(
    findings: tuple[Finding, ...], snoozes: Iterable[Snooze], at: Instant, orphans: Mapping[str, str] = _NO_ORPHANS
) -> tuple[Finding, ...]:
    """Snooze the findings that somebody snoozed, and with a cause what it explains.

    `orphans` are findings whose cause has just closed, by id, each with the id of that cause.
    """
    standing = {one.id: one for one in snoozes if at < one.until}
    if not standing:
        return findings
    return with_effects(tuple(_hushed(finding, standing, orphans.get(finding.id)) for finding in findings))


def _hushed(finding: Finding, standing: Mapping[str, Snooze], gone: str | None) -> Finding:
    snooze = standing.get(finding.id)
    if snooze is None and gone in standing:
        because = f"snoozed with {gone}, which explained it"
        return msgspec.structs.replace(finding, status=Status.SNOOZED, because=because, caused_by=gone)
    if snooze is None:
        return finding
    by = f" by {snooze.who}" if snooze.who else ""
    because = f"snoozed until {until_words(snooze.until)}{by}: {snooze.reason}"
    return msgspec.structs.replace(finding, status=Status.SNOOZED, because=because)


def with_effects(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Snooze what a snoozed finding explains, and what that explains; an effect that is worse than its cause stays."""
    known = {finding.id: finding for finding in findings}
    quiet: dict[str, Finding] = {}
    for finding in findings:
        cause = _snoozed_cause(finding, known)
        if cause is not None:
            because = f"snoozed with {cause.id}, which explains it"
            quiet[finding.id] = msgspec.structs.replace(finding, status=Status.SNOOZED, because=because)
    return tuple(quiet.get(finding.id, finding) for finding in findings)


def _snoozed_cause(finding: Finding, known: dict[str, Finding]) -> Finding | None:
    """Return the nearest cause that is snoozed, where nothing on the way to it is worse than it."""
    if finding.status is Status.SNOOZED:
        return None
    seen, worst, cause = {finding.id}, finding.severity.rank, known.get(finding.caused_by or "")
    while cause is not None and cause.id not in seen:
        if cause.status is Status.SNOOZED:
            return cause if worst <= cause.severity.rank else None
        seen.add(cause.id)
        worst = max(worst, cause.severity.rank)
        cause = known.get(cause.caused_by or "")
    return None


def until_words(until: Instant) -> str:
    """Write the end of a snooze: `the end of 2027-03-31 UTC` for one that ends with a day, else the time."""
    return format_instant(until) if until % DAY_MS else f"the end of {date_of(until - 1)} UTC"


def until_of(text: str, now: Instant) -> Instant:
    """Read the end of a snooze: a day, which counts whole (UTC), a time of RFC 3339, or how long (`4h`, `1d`, `2w`).

    Raises ValueError for what is none of them, for what has passed, and for more than a year ahead.
    """
    long = _LONG.fullmatch(text)
    try:
        until = now + int(long[1]) * _UNITS_MS[long[2]] if long else parse_instant(text) + _rest_of_day(text)
    except (ValueError, OverflowError):
        raise ValueError(
            "until is a day such as 2027-03-31, a time such as 2027-03-31T09:00:00Z, or how long, such as 4h or 1d: "
            f"{text[:40]!r}"
        ) from None
    if until <= now:
        raise ValueError(f"until {text} has passed: name a day to come")
    if until > now + LONGEST_DAYS * DAY_MS:
        raise ValueError(f"until {text} is more than {LONGEST_DAYS} days ahead: name a nearer day")
    return until


def _rest_of_day(text: str) -> int:
    return DAY_MS if len(text) == DATE_LENGTH else 0


def snooze_of(told: tuple[str, str, str, str | None], known: Collection[str], now: Instant) -> Snooze:
    """Make a snooze of an id, its end, the reason and who says so; `known` are the ids that there are.

    Raises ValueError with what is wrong, fit for whoever said it.
    """
    identity, until, reason, who = told
    for name, text in (("reason", reason), ("who", who)):
        if text is not None and not _is_line(text):
            raise ValueError(f"{name} is a line of 1 to {_LONGEST_TEXT} characters")
    if identity not in known:
        raise ValueError(unknown(identity, known))
    return Snooze(id=identity, until=until_of(until, now), reason=reason, who=who, at=now)


def unknown(identity: str, known: Collection[str], what: str = "finding") -> str:
    """Say that there is no such finding, and name the one that was probably meant."""
    said = f"no {what} has the id {identity[:40]!r}"
    if not known:
        return f"{said}: none is known"
    near = next((one for one in sorted(known) if identity and one.startswith(identity)), None)
    near = near or closest(identity, known)
    if near is not None:
        return f"{said}; did you mean {near}?"
    some = ", ".join(sorted(known)[:_NAMED])
    return f"{said}; there are {some}{'' if len(known) <= _NAMED else f' and {len(known) - _NAMED} more'}"


def _is_line(text: str) -> bool:
    return bool(text.strip()) and len(text) <= _LONGEST_TEXT and text.isprintable()
