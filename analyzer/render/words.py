"""Numbers, times, places and evidence in words: what text and markdown have in common."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from analyzer.detectors.words import number as in_words
from analyzer.detectors.words import percent
from analyzer.lifecycle.weight import grouped as fold
from analyzer.model.finding import Status
from analyzer.model.instant import format_instant
from analyzer.model.report import Mode, PatternKind, VerdictState
from analyzer.model.sight import SkipReason
from analyzer.render.needs import needs_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.model.finding import Change, Finding, KeyShown, Victim
    from analyzer.model.instant import Instant
    from analyzer.model.report import KeyLine, PatternLine, Report
    from analyzer.model.sight import Gap, Skipped
    from analyzer.model.window import Window

__all__ = [
    "COLD",
    "LONGEST_NAME",
    "LONGEST_TEXT",
    "before_words",
    "clock",
    "compact",
    "copied",
    "count",
    "elsewhere",
    "evidence_words",
    "fold",
    "gap_words",
    "head_words",
    "key_words",
    "life_words",
    "milliseconds",
    "pattern_name",
    "place",
    "plain",
    "readable",
    "share",
    "short",
    "skipped_words",
    "stretch",
    "stretch_words",
    "verdict_words",
    "warm_keys",
    "who_words",
    "why_words",
]

COLD = 0.01
"""Heat below which a key is not worth a line."""

LONGEST_NAME = 100
"""Characters of a name that a page shows: whole names stand in JSON. AWS allows 255, applications anything."""
LONGEST_TEXT = 2_000
"""Characters of a sentence, a cell or a line: a name with spaces in it may be as long as a record."""

_LONG_WORD = re.compile(rf"\S{{{LONGEST_NAME + 1},}}")
_MOST_KEYS = 5
_SHORT_SECONDS = 120
_SKIPS = {
    SkipReason.MISSING_SIGHT: "needs",
    SkipReason.TOO_LITTLE: "too little traffic to judge",
    SkipReason.NOT_COVERED: "the stretch is not covered",
}


def plain(text: str) -> str:
    """Return a text without control characters: what is read from a log must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def short(text: str, most: int = LONGEST_NAME) -> str:
    """Return a name cut in its middle to so many characters: both ends tell names of one stack apart."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def readable(text: str) -> str:
    """Return a text for a page: without control characters, its words and itself no longer than anybody reads."""
    return plain(short(_LONG_WORD.sub(lambda found: short(found[0]), text), LONGEST_TEXT))


def copied(line: str) -> str:
    """Return a line that is there to be copied: its words stay whole, as far as anybody's lines go."""
    return plain(short(line, LONGEST_TEXT))


def count(number: float | None) -> str:
    """Write a number as people do: thousands apart, no more digits than tell something; `?` for unknown."""
    if number is None or not math.isfinite(number):
        return "?"
    return in_words(number)


def compact(number: float | None) -> str:
    """Write a number in five characters for a column: `812`, `1.2k`, `3.4M`; `?` for unknown."""
    if number is None or not math.isfinite(number):
        return "?"
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{name}"
    return f"{number:.3g}"


def share(part: float | None) -> str:
    """Write a share of 0 to 1 as a percentage; `?` for unknown."""
    if part is None or not math.isfinite(part):
        return "?"
    return percent(part)


def milliseconds(number: float | None) -> str:
    """Write the upper bound of a latency; `?` for unknown."""
    if number is None:
        return "?"
    return f"≤ {count(number)} ms" if number < 10_000 else f"≤ {count(number / 1000)} s"  # noqa: PLR2004 -- ten seconds


def clock(instant: Instant) -> str:
    """Write the time of day in UTC to the second."""
    return format_instant(instant)[11:19]


def life_words(finding: Finding) -> str:
    """Say how a finding stands and since when, of one that is closed from when to when."""
    if finding.first_seen is None:
        return finding.status.value
    if finding.status is Status.CLOSED and finding.last_seen is not None:
        return f"closed, {clock(finding.first_seen)}–{clock(finding.last_seen)}"
    return f"{finding.status.value} since {clock(finding.first_seen)}"


def before_words(change: Change | None, began: Instant | None) -> str:
    """Say how long before a fault began a change was made: `14 min 35 s before`; nothing where that is not known."""
    if change is None or began is None or began < change.time:
        return ""
    seconds = (began - change.time) // 1000
    minutes, hours = seconds // 60, seconds // 3600
    if seconds < _SHORT_SECONDS:
        return f"{seconds} s before"
    return f"{minutes} min {seconds % 60} s before" if not hours else f"{hours} h {minutes % 60} min before"


def stretch_words(finding: Finding) -> str:
    """Say from when to when a finding held in what was read: a file has an end, and nothing in it is open now."""
    if finding.first_seen is None or finding.last_seen is None:
        return life_words(finding)
    first, last = clock(finding.first_seen), clock(finding.last_seen)
    life = "snoozed, " if finding.status is Status.SNOOZED else ""
    if first == last:
        return f"{life}at {first}" if finding.status is Status.CLOSED else f"{life}from {first} on"
    return f"{life}from {first} to {last}"


def head_words(report: Report) -> list[str]:
    """Say when and where, and of a fault how sure: the line below the verdict. Where nothing was read, no time."""
    words = [stretch(report.window) if report.window.end > report.window.start else None]
    words += [report.region, report.account]
    if report.verdict.state is VerdictState.FAULT:
        words.append(report.verdict.confidence.value)
    if report.mode is Mode.OBSERVE:
        end = "" if report.observing_until is None else f" until {format_instant(report.observing_until)[:16]}Z"
        words.append(f"observing{end}: nothing pages")
    return [plain(word) for word in words if word]


def verdict_words(report: Report) -> tuple[str, str]:
    """Return the state in capitals, and the sentence without saying the state again; of many places, in which."""
    state = report.verdict.state.value.replace("-", " ")
    text = plain(report.verdict.text).removeprefix(f"{state}: ").removeprefix(f"{state} ")
    lead = next((one for one in report.findings if one.id and one.id == report.verdict.finding), None)
    where = "" if lead is None else elsewhere(report, lead.account, lead.region).strip()
    return state.upper(), f"{text} ({where})" if where else text


def stretch(window: Window) -> str:
    """Write a window: `2026-06-01 10:00:00–10:03:00 UTC`, the second date only where it differs."""
    start, end = format_instant(window.start), format_instant(window.end)
    last = end[11:19] if end[:10] == start[:10] else f"{end[:10]} {end[11:19]}"
    return f"{start[:10]} {start[11:19]}–{last} UTC"


def place(table: str | None, index: str | None) -> str:
    """Write `table` or `table/index`; `everywhere` without a table, and where the log names none, that."""
    if table is None:
        return "everywhere"
    if not table:
        return "an unnamed table"
    return plain(table if index is None else f"{table}/{index}")


def elsewhere(report: Report, account: str | None, region: str | None) -> str:
    """Write ` in eu-west-1 of 111122223333`, of either what the line below the verdict does not say already."""
    at = f" in {region}" if region not in {None, report.region} else ""
    of = f" of {account}" if account not in {None, report.account} else ""
    return plain(at + of)


def key_words(key: KeyShown | None) -> str:
    """Write a key: the value alone where it has one attribute, else `PK=… SK=…`; `(a key)` where it is not known."""
    if not key:
        return "(a key)"
    if len(key) == 1:
        return plain(str(next(iter(key.values()))))
    return plain(" ".join(f"{name}={value}" for name, value in key.items()))


def who_words(finding: Finding) -> str | None:
    """Say who does most of it and who suffers; None where nobody is known."""
    does = _actor(finding.caller, finding.pattern)
    others = dict.fromkeys(_victim(v) for v in finding.victims if (v.caller, v.pattern) != _actor_pair(finding))
    hurts = ", ".join(name for name in others if name)
    if does and hurts:
        return f"{does}; hurts {hurts}"
    return does or (f"not known; hurts {hurts}" if hurts else None)


def why_words(finding: Finding) -> str:
    """Say the reason of a verdict where its sentence does not end in it already."""
    return "" if not finding.because or finding.summary.endswith(finding.because) else finding.because


def _actor_pair(finding: Finding) -> tuple[str | None, str | None]:
    return finding.caller, finding.pattern


def _victim(victim: Victim) -> str:
    return _actor(victim.caller, victim.pattern) or ""


def _actor(caller: str | None, pattern: str | None) -> str | None:
    words = [plain(word) for word in (caller, pattern) if word]
    return f"{words[0]} ({words[1]})" if caller and pattern else (words[0] if words else None)


def evidence_words(evidence: Mapping[str, float | str | None]) -> tuple[str, ...]:
    """Write each number with its name and bounds: `share 41% [38%–44%]`; bounds equal to it are left out."""
    bounds = {f"{name}{end}" for name in evidence for end in ("_low", "_high")}
    return tuple(_one_evidence(name, evidence) for name in evidence if name not in bounds)


def _one_evidence(name: str, evidence: Mapping[str, float | str | None]) -> str:
    value, low, high = evidence[name], evidence.get(f"{name}_low"), evidence.get(f"{name}_high")
    label = name.removesuffix("_ms").removesuffix("_usd").removesuffix("_seconds").replace("_", " ")
    if value is None:
        return f"{label} not known"
    if isinstance(value, str):
        return f"{label} {plain(value)}"
    shown = _number(name, value)
    bounds = [_number(name, bound) for bound in (low, high) if isinstance(bound, int | float)]
    is_told = len(bounds) == len((low, high)) and set(bounds) != {shown}  # bounds that look like it say nothing
    return f"{label} {shown} [{bounds[0]}–{bounds[1]}]" if is_told else f"{label} {shown}"


def _number(name: str, value: float) -> str:
    last = name.rpartition("_")[2]
    if "share" in name.split("_"):
        return share(value)
    if last == "usd":
        return f"${count(round(value, 2))}"
    return count(value) + (f" {last}" if last == "ms" else " s" if last == "seconds" else "")


def warm_keys(keys: Sequence[KeyLine]) -> tuple[KeyLine, ...]:
    """Return the few hottest keys that are not cold, the hottest first."""
    warm = sorted((line for line in keys if line.heat >= COLD), key=lambda line: -line.heat)
    return tuple(warm[:_MOST_KEYS])


def pattern_name(line: PatternLine) -> str:
    """Write what a row of the patterns table is about."""
    if line.kind is PatternKind.DECLARED:
        return plain(line.pattern or "?")
    if line.kind is PatternKind.AMBIGUOUS:
        return plain(f"ambiguous: {' or '.join(line.candidates)}") if line.candidates else "ambiguous"
    if line.kind is PatternKind.OTHER:
        return "(all others)"
    return plain(f"{line.kind.value}: {line.text or line.fingerprint or '?'}")


def gap_words(gap: Gap, report: Report | None = None) -> str:
    """Say in one line what could not be looked at, and how to mend it; of a report also in which account and region."""
    at = "" if gap.table is None else f" of {place(gap.table, gap.index)}"
    where = "" if report is None else elsewhere(report, gap.account, gap.region)
    at += "" if where in gap.detail else where  # some say it in AWS's own words
    hint = "" if gap.hint is None else f"; {plain(gap.hint)}"
    return f"{gap.source.value}{at}: {gap.reason.value.replace('-', ' ')}, {plain(gap.detail)}{hint}"


def skipped_words(report: Report) -> tuple[str, ...]:
    """Say which detectors did not run and why, those with one reason together."""
    groups: dict[str, list[Skipped]] = {}
    for entry in report.skipped:
        needs = f" {needs_words(entry.needs)}" if entry.reason is SkipReason.MISSING_SIGHT else ""
        groups.setdefault(_SKIPS[entry.reason] + needs, []).append(entry)
    return tuple(
        f"{', '.join(dict.fromkeys(entry.detector for entry in entries))} "
        f"on {_some(list(dict.fromkeys(_skipped_place(report, entry) for entry in entries)))}: {why}"
        for why, entries in groups.items()
    )


def _skipped_place(report: Report, entry: Skipped) -> str:
    return place(entry.table, entry.index) + elsewhere(report, entry.account, entry.region)


def _some(names: Sequence[str], most: int = 3) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
