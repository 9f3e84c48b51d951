"""What is said of one log, and how much of it is true: the planted fault, what follows from it, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from analyzer.contract.load import contract_from
from analyzer.detectors import DETECTORS
from analyzer.model.batch import Batch
from analyzer.model.finding import Severity
from analyzer.model.observations import Observations
from analyzer.model.sight import SourceName
from analyzer.model.table import TableSnapshot
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.pipeline import Walk
from analyzer.requests.digest import Digest
from collectors.table_catalog.parse import parse_table
from tests.bench.accuracy.faults import FAULTS, LENGTH_MS, ONSET_MS
from tests.bench.accuracy.healthy import DAY_MS, START_MS, TRUE_OF_ANY, healthy_day
from tests.bench.accuracy.patterns import contract_document, table_documents
from tests.bench.accuracy.recorded import RECORDED, healthy_metrics
from tests.bench.accuracy.sampling import MODES, sampled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from analyzer.model.finding import Finding
    from analyzer.model.report import Report
    from tests.bench.accuracy.healthy import Record

__all__ = ["SAMPLINGS", "Found", "Healthy", "found_in", "judge_day", "judge_fault", "judge_quiet", "judge_recorded"]

SAMPLINGS = (("request", 1.0), *((mode, rate) for rate in (0.1, 0.01) for mode in MODES))

_WINDOW_MS = 300_000
_SEQUENCES = frozenset(
    {
        "limit-before-filter",
        "empty-page-stop",
        "missing-pagination",
        "n-plus-one",
        "unprocessed-dropped",
        "gsi-stale-read",
        "gsi-lag",
        "stuck-lock",
        "polling-read",
        "item-growth",
        "queue-like-table",
        "unconditional-write",
    }
)


class Healthy(NamedTuple):
    """What was said of a healthy day: high or worse, medium, of sequences, and what of it is not true."""

    high: tuple[str, ...]
    medium: tuple[str, ...]
    sequences: tuple[str, ...]
    wrong: tuple[str, ...]


class Found(NamedTuple):
    """Whether a planted fault was found, how many windows after it began, and what was said that is not true."""

    is_found: bool
    windows: float | None
    wrong: tuple[str, ...] = ()


def judge_day(seed: int) -> list[Healthy]:
    """Judge one healthy day as each sampling saw it."""
    records = healthy_day(seed)
    return [_said(_report(list(sampled(records, mode, rate, seed)), DAY_MS), TRUE_OF_ANY) for mode, rate in SAMPLINGS]


def judge_quiet(seed: int) -> Healthy:
    """Judge metrics of a table that is well; nothing that is medium or worse is true of them."""
    return _said(healthy_metrics(seed), frozenset())


def judge_fault(number: int, seed: int, most_rate: float = 1.0) -> list[Found]:
    """Judge ten minutes with a fault in their second half, as each sampling saw them that leaves it to be seen.

    `most_rate` leaves out samplings that keep more.
    """
    fault = FAULTS[number]
    records = fault.log(seed)
    reports = (
        _report(list(sampled(records, mode, rate, seed)), LENGTH_MS)
        for mode, rate in fault.samplings
        if rate <= most_rate
    )
    planted = (fault.detector, fault.table)
    return [found_in(report.findings, planted, ONSET_MS, fault.follows, TRUE_OF_ANY) for report in reports]


def judge_recorded(number: int, seed: int) -> Found:
    """Judge one draw of a fault that stands in metrics, or takes a contract or an index of its own."""
    fault = RECORDED[number]
    report, onset = fault.judged(seed)
    return found_in(report.findings, (fault.detector, fault.table), onset, fault.follows)


def found_in(
    findings: Sequence[Finding],
    planted: tuple[str, str],
    onset: int,
    follows: AbstractSet[tuple[str, str]] = frozenset(),
    true: AbstractSet[tuple[str, str]] = frozenset(),
) -> Found:
    """Return whether the planted fault (detector, table) is among findings, and which others are wrong.

    Wrong is each that is medium or worse, at any table, unless it follows from the fault or is true of any log; what
    only the pipeline lays to the fault is no better for it. Of one fault one finding is right: a second is wrong.
    """
    hits = [finding for finding in findings if _place(finding) == planted]
    others = [finding for finding in findings if _place(finding) not in {planted, *follows}]
    wrong = _names(_untrue([*hits[1:], *others], true))
    if not hits:
        return Found(is_found=False, windows=None, wrong=wrong)
    seen = [f.last_seen if f.first_seen is None or f.first_seen < onset else f.first_seen for f in hits]
    first = min(time for time in seen if time is not None)
    return Found(is_found=True, windows=max(0.0, (first - onset) / _WINDOW_MS), wrong=wrong)


def _place(finding: Finding) -> tuple[str, str]:
    return finding.detector, finding.table


def _untrue(findings: Sequence[Finding], true: AbstractSet[tuple[str, str]]) -> Iterator[Finding]:
    """Yield what is medium or worse, but for what is true, which is so up to medium."""
    for finding in findings:
        is_true = _place(finding) in true and finding.severity.rank <= Severity.MEDIUM.rank
        if finding.severity.rank >= Severity.MEDIUM.rank and not is_true:
            yield finding


def _names(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(" on ".join(_place(finding)) for finding in findings)


def _said(report: Report, true: AbstractSet[tuple[str, str]]) -> Healthy:
    findings = report.findings
    return Healthy(
        high=_names(f for f in findings if f.severity.rank >= Severity.HIGH.rank),
        medium=_names(f for f in findings if f.severity is Severity.MEDIUM),
        sequences=_names(f for f in findings if f.detector in _SEQUENCES),
        wrong=_names(_untrue(findings, true)),
    )


def _report(records: Sequence[Record], length_ms: int) -> Report:
    stretch = Window(START_MS, START_MS + length_ms)
    tables = tuple(
        TableSnapshot(target=Target(None, None, document["TableName"]), table=parse_table(document))
        for document in table_documents()
    )
    batch = Batch(window=stretch, tables=tables)
    beside = Observations(
        window=stretch, batches=(batch,), sources=frozenset({SourceName.REQUEST_LOG, SourceName.TABLE_CATALOG})
    )
    contract = contract_from(contract_document(), "shop")
    digest = Digest(contract.lexicon())
    walk = Walk(contract, tuple(detector() for detector in DETECTORS), window_ms=_WINDOW_MS, beside=beside)
    lines = [msgspec.json.encode({k: v for k, v in record.items() if v is not None}) for record in records]
    for start in range(0, len(lines), 2000):
        digest.update(b"\n".join(lines[start : start + 2000]) + b"\n")
        span = digest.span()
        if span is not None:
            walk.advance(digest, span.end - 120_000)
    return walk.finish(digest, window=stretch)
