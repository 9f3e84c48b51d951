"""What the three forms of a diagnosis have in common: its label, its times, its rows and what was not visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.lifecycle.weight import weight_of
from analyzer.model.finding import Confidence, Severity, Status
from analyzer.model.report import VerdictState
from analyzer.model.sight import GapReason
from analyzer.planning.headline import explained_by
from analyzer.render.words import before_words, clock, compact, gap_words, place, plain

if TYPE_CHECKING:
    from analyzer.model.finding import Change, Finding
    from analyzer.model.instant import Instant
    from analyzer.planning.compared import Compared
    from analyzer.planning.diagnosis import Diagnosis

__all__ = ["change_words", "compared_rows", "dark_words", "first_words", "other_words", "spent_words", "time_words"]

_HEADER = ("", "now", "1 h ago", "1 d ago", "7 d ago", "")
_MOST_ROWS = 7
_SHORT_ROWS = 5
_SHORT_SECONDS = 120
_MOST_OTHERS = 3


def first_words(diagnosis: Diagnosis) -> tuple[str, str]:
    """Return the label and the first line; what is below high has its severity for a label."""
    verdict, lead = diagnosis.report.verdict, diagnosis.lead
    state = verdict.state.value.replace("-", " ")
    label = state.upper()
    if verdict.state is not VerdictState.FAULT and lead is not None and diagnosis.kind not in {"clean", "cannot-tell"}:
        label = lead.severity.value.upper()
    return label, plain(verdict.text).removeprefix(f"{state}: ").removeprefix("clean ")


def time_words(diagnosis: Diagnosis) -> str:
    """Say of when it is: `as of 02:58:00, 2 min behind`, then the stretch, place and how sure."""
    report = diagnosis.report
    behind = diagnosis.behind_ms
    late = "" if behind is None else f", {_length(behind / 1000)} behind"
    words = [f"as of {clock(report.as_of)}{late}", f"UTC, {_length(report.window.seconds)} looked at"]
    words += [word for word in (report.region, report.account) if word]
    if diagnosis.lead is not None:
        words.append(diagnosis.lead.confidence.value)
    return plain(" · ".join(words))


def _length(seconds: float) -> str:
    """Write how long a stretch is: `20 s`, `30 min`."""
    return f"{round(seconds)} s" if seconds < _SHORT_SECONDS else f"{round(seconds / 60)} min"


def change_words(change: Change, began: Instant | None = None) -> str:
    """Write the change before a fault: `02:38 deploy of orders by ci: 1.4.2, 14 min 35 s before`."""
    of = "" if change.table is None else f" of {place(change.table, change.index)}"
    who = "" if change.who is None else f" by {change.who}"
    detail = "" if change.detail is None else f": {change.detail}"
    long = before_words(change, began)
    return plain(f"{clock(change.time)[:5]} {change.what}{of}{who}{detail}{long and f', {long}'}")


def compared_rows(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """Return the header and the rows that say most, those of the fault's direction first; nothing without a past."""
    lines = diagnosis.compared
    if not lines or all(line.usual is None for line in lines):
        return []
    direction = None if diagnosis.lead is None else diagnosis.lead.direction
    table = lines[0].place
    ordered = sorted(
        lines, key=lambda line: (line.direction is not direction, not line.has_risen, line.what.endswith("returned"))
    )
    most = _SHORT_ROWS if diagnosis.lead is not None else _MOST_ROWS
    return [_HEADER, *(_row(line, table) for line in ordered[:most])]


def _row(line: Compared, table: str) -> tuple[str, ...]:
    each = "" if line.what.startswith("units a ") else "/s"
    name = line.what if line.place == table else f"{line.what} of {line.place.partition('/')[2]}"
    values = (line.now, line.hour, line.day, line.week)
    told = tuple("?" if value is None else f"{compact(value)}{each}" for value in values)
    risen = "" if line.ratio is None or not line.has_risen else f"×{line.ratio:.3g}"
    return (plain(name), *told, risen)


def dark_words(diagnosis: Diagnosis) -> list[str]:
    """Say what was not visible: what was asked amiss first, then what may not be read, what is switched off last."""
    gaps = diagnosis.report.gaps
    order = {
        GapReason.MISUSED: -1,
        GapReason.DENIED: 0,
        GapReason.BUDGET: 1,
        GapReason.LATE: 2,
        GapReason.NOT_ENABLED: 9,
    }
    return list(dict.fromkeys(gap_words(gap) for gap in sorted(gaps, key=lambda gap: order.get(gap.reason, 5))))


def other_words(diagnosis: Diagnosis) -> list[str]:
    """Name what else is high or critical, and stands in no other line: first what the first line does not explain.

    What is not certain says so: `HIGH hot-key of orders, likely: …`.
    """
    report, lead = diagnosis.report, diagnosis.lead
    told = " ".join((report.verdict.text, *diagnosis.facts))
    explained = () if lead is None else explained_by(report, lead)
    grave = [one for one in report.findings if one is not lead and one.severity.rank >= Severity.HIGH.rank]
    grave = [one for one in grave if one.status not in {Status.SNOOZED, Status.CLOSED} and one.summary not in told]
    grave.sort(key=lambda one: (one in explained, weight_of(one)))
    named = [_other(one) for one in grave[:_MOST_OTHERS]]
    more = len(grave) - _MOST_OTHERS
    return [*named, *([f"and {more} more that are high or critical: --format json lists them"] if more > 0 else [])]


def _other(finding: Finding) -> str:
    sure = "" if finding.confidence is Confidence.CERTAIN else f", {finding.confidence.value}"
    where = place(finding.table, finding.index)
    return plain(f"{finding.severity.value.upper()} {finding.detector} of {where}{sure}: {finding.summary}")


def spent_words(diagnosis: Diagnosis) -> str:
    """Say what the look took."""
    spent = diagnosis.spent
    rounds = "1 round" if spent.rounds == 1 else f"{spent.rounds} rounds"
    return f"{spent.calls} AWS calls in {rounds} that wait for one another, {spent.usd:.4f} dollars at list price"
