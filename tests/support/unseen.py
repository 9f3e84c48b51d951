"""Incidents as data: what a recording's report has to hold, what it must not hold, and what nobody may advise.

    Incident("a day as partition key", day_as_key, must=(Want("hot-key", "high", cause="time-bucket"),), at_most="high")

A severity is met within one step. `alarms` are the detectors that alone may be high or critical and stand for
themselves; what they explain may be as bad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.model.report import VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report
    from tests.support.recordings import Recorded

__all__ = ["Incident", "Want", "want", "wrongs"]

_LEVELS = ("low", "medium", "high", "critical")
_ALARMING = 2


class Want(NamedTuple):
    """A finding by its detector, its severity within one step, and whatever other fields are named."""

    detector: str
    severity: str
    fields: dict[str, Any]

    def fits(self, finding: Finding) -> bool:
        """Whether a finding is this one."""
        step = abs(_level(finding) - _LEVELS.index(self.severity))
        named = all(_plain(getattr(finding, name)) == value for name, value in self.fields.items())
        return finding.detector == self.detector and step <= 1 and named


def want(detector: str, severity: str, **fields: Any) -> Want:
    """Name a finding that a report has to hold."""
    return Want(detector, severity, fields)


class Incident(NamedTuple):
    """One recording and what a right report says of it; `root` alone may stand unexplained at high or critical."""

    name: str
    recorded: Callable[[], Recorded]
    must: tuple[Want, ...] = ()
    root: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    quiet_above: str | None = None
    forbidden: tuple[str, ...] = ()
    heals: str | None = None
    secrets: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


def wrongs(report: Report, incident: Incident) -> list[str]:
    """Return what is wrong with a report, in words; nothing where it is right."""
    return [*_missing(report, incident), *_too_much(report, incident), *_harmful(report, incident)]


def _missing(report: Report, incident: Incident) -> Iterator[str]:
    for wanted in incident.must:
        if not any(wanted.fits(one) for one in report.findings):
            yield f"not told: {wanted.detector} {wanted.severity} {wanted.fields}"
    roots = [one for one in report.findings if one.detector in incident.root]
    if incident.heals is not None and not any(
        one.self_heals and one.self_heals.answer == incident.heals for one in roots
    ):
        yield f"no root heals: {incident.heals}"


def _too_much(report: Report, incident: Incident) -> Iterator[str]:
    ids = {one.id for one in report.findings}
    for one in report.findings:
        told = f"{one.severity} {one.detector} of {one.table}/{one.index}: {one.summary}"
        if one.detector in incident.never:
            yield f"must not be told: {told}"
        if _level(one) >= _ALARMING and one.detector not in incident.root and one.caused_by not in ids:
            yield f"stands beside its cause: {told}"
        if incident.quiet_above is not None and _level(one) > _LEVELS.index(incident.quiet_above):
            yield f"too loud: {told}"
        yield from (f"a key in words: {secret}: {told}" for secret in incident.secrets if secret in one.summary)
    if not incident.root and report.verdict.state is VerdictState.FAULT:
        yield f"a fault of a healthy table: {report.verdict.text}"


def _harmful(report: Report, incident: Incident) -> Iterator[str]:
    for one in report.findings:
        for advice in one.advice:
            words = f"{advice.action} of {one.detector} ({one.table}/{one.index})"
            if advice.action in incident.forbidden:
                yield f"forbidden: {words}"
            if one.cause == "key-range" and advice.action.startswith("raise-"):
                yield f"capacity for one key range: {words}"
            if any(secret in advice.text for secret in incident.secrets):
                yield f"a key in an advice: {words}"
        if one.advice and one.advice[0].risk.value != "none":
            yield f"the first advice changes production: {one.advice[0].action} of {one.detector}"


def _level(finding: Finding) -> int:
    return _LEVELS.index(finding.severity.value)


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)
