"""The one function that is the product: what was observed, joined with what was declared, becomes a report.

Pure: no input or output, no clock, no logger. The daemon, `analyze`, `replay` and every test call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from analyzer.correlator.attributor import Attributor
from analyzer.detectors.money import with_price
from analyzer.lifecycle.allow import accept
from analyzer.lifecycle.causes import fold
from analyzer.lifecycle.identity import identify
from analyzer.lifecycle.since_change import with_changes
from analyzer.lifecycle.unite import unite
from analyzer.lifecycle.verdict import verdict_of
from analyzer.lifecycle.weight import by_weight
from analyzer.lifecycle.worst import of_worst_window
from analyzer.model.calls import DeferredBook
from analyzer.model.counts import Count
from analyzer.model.finding import Status
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import SLICE_MS, Instant
from analyzer.model.observations import Observations
from analyzer.model.report import Report
from analyzer.model.sight import Horizon, Skipped, SkipReason, SourceName
from analyzer.model.window import Window
from analyzer.requests.stretches import APART_MS, Stretches
from analyzer.traffic.heaviest import Heaviest
from analyzer.traffic.join import join
from analyzer.traffic.lines import coverage_gaps, coverage_lines, key_lines, pattern_lines, statement_gaps
from analyzer.traffic.sights import sight_states
from analyzer.traffic.ticks import metric_ends, metric_starts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from analyzer.contract.model import Contract
    from analyzer.interfaces import Detector
    from analyzer.model.batch import Batch
    from analyzer.model.counts import Counts
    from analyzer.model.finding import Finding
    from analyzer.model.sight import Gap, Sight
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic
    from analyzer.requests.digest import Digest

__all__ = ["Walk", "analyze", "live_window", "of_horizon"]

_MOST_RESTS = 1000
"""Ends of stretches before a long rest that are remembered: more than a core has strays."""

_LOG_ALONE = Observations(window=Window(0, 0), sources=frozenset({SourceName.REQUEST_LOG}))


def analyze(
    observations: Observations,
    contract: Contract | Attributor,
    detectors: Sequence[Detector],
    history: History = EMPTY,
    *,
    secret: bytes = b"",
) -> Report:
    """Judge one window: join requests with the contract, run every detector on every target, conclude.

    All detectors that are given are run, whatever their horizon: who hands over a window leaves out those that look
    further (`of_horizon`). Whoever calls again and again hands over an `Attributor`, which remembers. `secret` keys the
    ids of findings.
    """
    attribute = contract if isinstance(contract, Attributor) else Attributor(contract)
    judged = _judge(observations, attribute, detectors, history, secret)
    return _report(observations, judged.traffic, judged.findings, judged.skipped)


class _Judged(NamedTuple):
    """What the detectors made of a window."""

    traffic: tuple[Traffic, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]


def _judge(
    observations: Observations,
    attribute: Attributor,
    detectors: Sequence[Detector],
    history: History,
    secret: bytes,
    only: Collection[str] | None = None,
) -> _Judged:
    traffic = join(observations, attribute, attribute.contract, history, attribute.template, only=only)
    found, skipped = _detect(traffic, detectors)
    findings = fold(tuple(identify(finding, secret) for finding in found))
    return _Judged(traffic, accept(findings, attribute.contract, observations.window.end), skipped)


def of_horizon(detectors: Iterable[Detector], horizon: Horizon) -> tuple[Detector, ...]:
    """Return the detectors that look so far."""
    return tuple(detector for detector in detectors if detector.horizon is horizon)


def live_window(first: Instant, end: Instant, window_ms: int) -> Window:
    """Return the window that ends at `end`; it begins no earlier than the first slice that was read."""
    return Window(max(first, end - window_ms), end)


def _detect(
    traffic: tuple[Traffic, ...], detectors: Sequence[Detector]
) -> tuple[tuple[Finding, ...], tuple[Skipped, ...]]:
    """Run the detectors whose needs are met; the others are skipped, by name and with what they lack."""
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    for one in traffic:
        for detector in detectors:
            if not any(needed <= one.sights for needed in detector.needs):
                skipped.append(_skip(detector, one))
                continue
            for outcome in detector.detect(one):
                if isinstance(outcome, Skipped):
                    skipped.append(_placed(outcome, one))
                else:
                    findings.append(with_price(outcome, one))
    return tuple(findings), tuple(skipped)


def _skip(detector: Detector, traffic: Traffic) -> Skipped:
    """Name what the alternative that lacks least still needs; of two that lack as much, the one that is partly met."""

    def distance(needed: frozenset[Sight]) -> tuple[int, int, list[Sight]]:
        lack = needed - traffic.sights
        return len(lack), -len(needed & traffic.sights), sorted(lack)

    missing = min(detector.needs, key=distance) - traffic.sights
    target = traffic.target
    needs = tuple(sorted(missing))
    return _placed(Skipped(detector.name, target.table, target.index, SkipReason.MISSING_SIGHT, needs), traffic)


def _placed(skipped: Skipped, traffic: Traffic) -> Skipped:
    """Say in which account and region it was: detectors name the table alone."""
    return msgspec.structs.replace(skipped, account=traffic.target.account, region=traffic.target.region)


def _gaps(batch: Batch) -> Iterable[Gap]:
    """Yield the gaps of a batch, with the account and region that it asked."""
    for gap in batch.gaps:
        account, region = gap.account or batch.account, gap.region or batch.region
        yield gap if account is region is None else msgspec.structs.replace(gap, account=account, region=region)


def _report(
    observations: Observations,
    traffic: tuple[Traffic, ...],
    findings: tuple[Finding, ...],
    skipped: tuple[Skipped, ...],
) -> Report:
    lines = pattern_lines(traffic)
    coverage = coverage_lines(traffic)
    told = (*observations.gaps, *(gap for batch in observations.batches for gap in _gaps(batch)))
    gaps = (*told, *coverage_gaps(coverage, observations.window), *statement_gaps(traffic, told))
    ordered = by_weight(findings)
    return Report(
        window=observations.window,
        as_of=observations.window.end,
        region=observations.region or _shared(one.target.region for one in traffic),
        account=observations.account or _shared(one.target.account for one in traffic),
        verdict=verdict_of(ordered, gaps, lines, skipped, traffic),
        findings=ordered,
        skipped=skipped,
        gaps=gaps,
        sight=tuple(state for one in traffic for state in sight_states(one.target, one.sights)),
        changes=tuple(change for batch in observations.batches for change in batch.placed_changes()),
        patterns=lines,
        keys=key_lines(traffic),
        coverage=coverage,
        traffic=traffic,
    )


def _shared(names: Iterable[str | None]) -> str | None:
    """Return the one name that all have; None where they differ or are not known."""
    known = set(names)
    return known.pop() if len(known) == 1 else None


class Walk:
    """Walks a request log window by window, as the daemon would have lived it, and unites the findings by id.

    The caller feeds a digest and calls `advance` as it goes, so that memory follows the window and not the log; slices
    without a request are skipped. `beside` is what was collected beside the log: windows end where its metrics say
    something too. Of very many tables only the heaviest are judged, and a gap says so.
    `finish` judges what looks at all of it, and concludes for the whole stretch.
    """

    def __init__(
        self,
        contract: Contract,
        detectors: Sequence[Detector],
        *,
        window_ms: int,
        history: History = EMPTY,
        secret: bytes = b"",
        beside: Observations = _LOG_ALONE,
    ) -> None:
        self._beside = beside
        self._ticks = tuple(metric_ends(beside.batches, window_ms))
        self._starts = metric_starts(beside.batches)
        self._attribute = Attributor(contract)
        self._secret = secret
        self._detectors = tuple(detectors)
        self._window_ms = window_ms
        self._history = history
        self._judged: Instant | None = None
        self._rests: list[Instant] = []
        self._stretches = Stretches()
        self._first: Instant | None = None
        self._findings: tuple[Finding, ...] = ()
        self._skipped: dict[Skipped, None] = {}
        self._was_judged: set[tuple[str, Target]] = set()
        self._heaviest = Heaviest()

    def advance(self, digest: Digest, until: Instant) -> None:
        """Judge every window that ends at or before `until` and has not been judged, then forget what lies behind."""
        self._stretches.take(digest)
        ends = sorted({*(start + SLICE_MS for start in digest.slices()), *self._ticks})
        for end in ends:
            if end > until:
                break
            if self._judged is None or end > self._judged:
                self._judge(digest, end)
        if self._judged is not None:
            digest.forget_before(self._judged - self._window_ms)
            self._stretches.forget_before(self._judged - self._window_ms)

    def _judge(self, digest: Digest, end: Instant) -> None:
        if self._first is None:
            self._first = min([end - SLICE_MS, *(batch.window.start for batch in self._beside.batches)])
        window = live_window(self._first, end, self._window_ms)
        counts = digest.result(window)
        self._heaviest.take(counts)
        observed = self._observe(digest, window, counts)
        self._take(observed, of_horizon(self._detectors, Horizon.WINDOW), end - SLICE_MS, end)
        if self._judged is not None and end - self._judged > APART_MS and len(self._rests) < _MOST_RESTS:
            self._rests.append(self._judged)
        self._judged = end

    def _take(self, observed: Observations, detectors: Sequence[Detector], first: Instant, last: Instant) -> _Judged:
        """Judge, and unite what was found with what is known."""
        judged = _judge(observed, self._attribute, detectors, self._history, self._secret, self._heaviest.tables)
        seen = (
            msgspec.structs.replace(f, first_seen=f.first_seen or self._began(f, first, last), last_seen=last)
            for f in judged.findings
        )
        self._findings = unite(self._findings, tuple(seen))
        self._note_skipped(judged, detectors)
        return judged

    def _began(self, finding: Finding, first: Instant, last: Instant) -> Instant:
        """Return when what a window shows first began: metrics alone tell no time within their period."""
        is_of_log = SourceName.REQUEST_LOG in finding.sources
        return first if is_of_log else min(first, self._starts.get(last, first))

    def _note_skipped(self, judged: _Judged, detectors: Sequence[Detector]) -> None:
        """Remember what was skipped; a detector that judged a target in any window was not skipped there."""
        self._skipped.update(dict.fromkeys(judged.skipped))
        skipped = {(one.detector, one.target) for one in judged.skipped}
        for detector in detectors:
            asked = {(detector.name, one.target) for one in judged.traffic}
            self._was_judged |= asked - skipped

    def _observe(self, digest: Digest, window: Window, counts: Counts) -> Observations:
        return msgspec.structs.replace(
            self._beside,
            window=window,
            counts=counts,
            hours=digest.hours(),
            calls=DeferredBook(digest.calls),
        )

    def span(self, digest: Digest) -> Window | None:
        """Return the stretch of all that was read but for requests whose clock was wrong; None of nothing."""
        self._stretches.take(digest)
        core, _ = self._stretches.core(int(digest.totals().values[:, Count.REQUESTS].sum()))
        return core or digest.span()

    def finish(
        self,
        digest: Digest,
        *,
        window: Window | None = None,
        gaps: tuple[Gap, ...] = (),
        history: History | None = None,
    ) -> Report:
        """Judge what is left and conclude for all that was read, with every finding at its worst.

        `history` stands in for that of the beginning where the past could only be read once the end was known.
        """
        self._history = self._history if history is None else history
        span = digest.span()
        ends = [*self._ticks[-1:], *((span.end,) if span is not None else ())]
        if ends:
            self.advance(digest, max(ends))
        whole = digest.totals()
        self._stretches.take(digest)
        core, outside = self._stretches.core(int(whole.values[:, Count.REQUESTS].sum()))
        stretch = window or core or whole.window
        outside = outside if window is None else self._stretches.beyond(window)
        observed = msgspec.structs.replace(
            self._beside, window=stretch, counts=whole, hours=digest.hours(), gaps=gaps, calls=digest.calls()
        )
        judged = self._take(observed, of_horizon(self._detectors, Horizon.SPAN), stretch.start, stretch.end)
        skipped = (s for s in self._skipped if (s.detector, s.target) not in self._was_judged)
        changes = (change for batch in observed.batches for change in batch.placed_changes())
        of_window = {one.name for one in of_horizon(self._detectors, Horizon.WINDOW)}
        findings = of_worst_window(self._ended(stretch.end), of_window, self._window_ms)
        findings = with_changes(fold(findings), changes)
        if self._heaviest.tables is None:
            report = _report(observed, judged.traffic, findings, tuple(skipped))
            return msgspec.structs.replace(report, outside=outside)
        attribute = self._attribute
        traffic = join(observed, attribute, attribute.contract, self._history, attribute.template)
        observed = msgspec.structs.replace(observed, gaps=(*self._heaviest.gaps(stretch), *gaps))
        return msgspec.structs.replace(_report(observed, traffic, findings, tuple(skipped)), outside=outside)

    def _ended(self, end: Instant) -> tuple[Finding, ...]:
        """Return the findings, closed where neither the last window nor the whole stretch shows them at its end."""
        last = max((rest for rest in (*self._rests, self._judged or 0) if rest <= end), default=self._judged)
        return tuple(
            f if f.last_seen in {last, self._judged, end} else msgspec.structs.replace(f, status=Status.CLOSED)
            for f in self._findings
        )
