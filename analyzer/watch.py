"""What the daemon knows: everything counted, the findings alive, where reading stands. Nothing here waits or writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.checkpoint import Checkpoint
from analyzer.correlator.attribute import attribute
from analyzer.exporters.assemble import RECORD_COUNTERS, Health, Ledger, assemble
from analyzer.exporters.exemplars import Exemplars
from analyzer.exporters.from_counts import Carried, count_cells, target_labels
from analyzer.exporters.prometheus import Exposition, render
from analyzer.exporters.series import SeriesTable
from analyzer.lifecycle.advance import State, advance
from analyzer.model.counts import Counts
from analyzer.model.instant import slice_of
from analyzer.model.observations import Observations
from analyzer.model.report import Report
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from analyzer.pipeline import analyze
from analyzer.requests.digest import Digest
from analyzer.restate import restate
from analyzer.shortfalls import Shortfalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from analyzer.model.batch import Block, Position
    from analyzer.model.counts import Cell
    from analyzer.model.instant import Instant
    from analyzer.setup import Setup
    from collectors.request_log.collector import StreamStatus

__all__ = ["Evidence", "Judged", "Watch"]

_HOUR_MS = 3_600_000


class Evidence(Struct, frozen=True):
    """What one judgement rests on: values that reading on does not change."""

    observations: Observations
    totals: Counts


class Judged(Struct, frozen=True):
    """What one judgement concluded; `events` is the report with only what opened or closed."""

    report: Report
    events: Report


class Watch:
    """Goes on from a checkpoint, or from nothing."""

    def __init__(self, setup: Setup, checkpoint: Checkpoint | None) -> None:
        self.setup = setup
        self.positions: dict[str, Position] = {}
        self.last_read: Instant | None = None
        self._digest = Digest(setup.lexicon, setup.limits)
        self._findings = State()
        self._ledger = Ledger(Carried(), {}, Exemplars())
        self._shortfalls = Shortfalls()
        self._patterns: dict[str, str] = {}
        self._restated: dict[Cell, Cell] = {}
        self._totals: Counts | None = None
        self._report: Report | None = None
        if checkpoint is not None:
            self._resume(checkpoint)

    def _resume(self, checkpoint: Checkpoint) -> None:
        self.positions = {position.path: position for position in checkpoint.positions}
        self._digest = Digest.restore(checkpoint.digest, self.setup.lexicon, self.setup.limits)
        self._findings = checkpoint.findings
        self._ledger = Ledger(checkpoint.carried, checkpoint.kept, Exemplars())
        self._totals = self._digest.totals()
        if checkpoint.contract == self.setup.contract_id:
            self._patterns = checkpoint.patterns
        else:
            self._carry_over(checkpoint.patterns)

    def take(self, block: Block, now: Instant) -> None:
        """Count a block, and with it the position behind it."""
        if block.lines:
            self._digest.update(block.lines, now)
            self._ledger.exemplars.look(block.lines)
            self.last_read = now
        for _ in range(block.overlong):
            self._digest.read.overlong += 1
            self._digest.read.count_bad("line is too long")
        if block.position is not None:
            self.positions[block.position.path] = block.position

    def forget(self, now: Instant) -> None:
        """Fold slices over an hour old into the totals; what comes for them from now on is late."""
        self._digest.forget_before(slice_of(now) - max(_HOUR_MS, self.setup.window_ms))

    def records(self) -> dict[str, int]:
        """Return the counters of records; a line that is too long is a bad one."""
        return {name: int(getattr(self._digest.read, name)) for name in RECORD_COUNTERS}

    def bad_lines(self) -> tuple[str, ...]:
        """Return why lines were bad, without anything that they held."""
        return tuple(self._digest.read.samples)

    def gather(self, end: Instant, status: StreamStatus) -> Evidence:
        """Collect what the window that ends here holds, and what it lacks; slices over an hour old are folded away."""
        setup = self.setup
        window = Window(end - setup.window_ms, end)
        kept = {"lost": status.lost, "damaged": status.damaged, "skipped": status.skipped}
        self._shortfalls.note(end, {**self.records(), **kept})
        span = self._digest.span()
        is_behind = status.pending_bytes > 0 and span is not None and span.end < end
        gaps = self._shortfalls.gaps(window, status.missing, status.pending_bytes if is_behind else 0)
        self.forget(end)
        observations = Observations(
            window=window,
            counts=self._restate(self._digest.result(window)),
            gaps=gaps,
            sources=frozenset({SourceName.REQUEST_LOG}),
            account=setup.account,
            region=setup.region,
            hours=self._digest.hours(),
        )
        return Evidence(observations, self._digest.totals())

    def conclude(self, evidence: Evidence) -> Judged:
        """Judge, and carry the findings on."""
        setup = self.setup
        report = analyze(evidence.observations, setup.contract, setup.detectors)
        self._findings, report, events = advance(self._findings, report, report.as_of, setup.close_after_ms)
        self._report, self._totals = report, evidence.totals
        series = self._ledger.kept.setdefault("dynascope_gaps_total", {})
        for gap in report.gaps:
            labels = (gap.source.value, gap.reason.value)
            series[labels] = series.get(labels, 0.0) + 1
        told = msgspec.structs.replace(report, findings=tuple(event.finding for event in events))
        return Judged(report, told)

    def delay_seconds(self, now: Instant) -> float | None:
        """Return the age of the newest slice that was read, None before the first record."""
        span = self._digest.span()
        return None if span is None else max(0, now - span.end) / 1000

    def expose(self, health: Health) -> Exposition:
        """Render the metrics of what was concluded last."""
        table = assemble(health, self._totals, self._report, self._ledger, self._pattern_of, self._place_of())
        return render(table)

    def checkpoint(self, now: Instant, paths: Iterable[str]) -> Checkpoint:
        """Return the state between two blocks; positions of names that are no longer tailed are left out."""
        tailed = frozenset(paths)
        return Checkpoint(
            saved_at=now,
            positions=tuple(position for path, position in self.positions.items() if path in tailed),
            digest=self._digest.snapshot(),
            findings=self._findings,
            carried=self._ledger.carried,
            kept=self._ledger.kept,
            contract=self.setup.contract_id,
            patterns=self._patterns,
        )

    def adopt(self, setup: Setup) -> None:
        """Go on under another configuration; counters stay where they are, whatever the new contract calls them."""
        is_same_contract = setup.contract_id == self.setup.contract_id
        self.setup = setup
        if is_same_contract:
            return
        before, self._patterns = self._patterns, {}
        self._digest = Digest.restore(self._digest.snapshot(), setup.lexicon, setup.limits)
        self._totals = self._digest.totals()
        self._carry_over(before)

    def _carry_over(self, patterns: dict[str, str]) -> None:
        """Make the counters under the present contract stand where they stood under these names of patterns."""
        if self._totals is None:
            return
        self._restated = {cell: restate(cell, self.setup.lexicon) for cell in self._totals.cells}
        before, after = SeriesTable(), SeriesTable()
        place_of = self._place_of()
        count_cells(before, self._totals, lambda cell: patterns.get(_name(cell)) or self._pattern_of(cell), place_of)
        self._ledger.carried.apply(before)
        count_cells(after, self._totals, self._pattern_of, place_of)
        self._ledger.carried = Carried.between(before, after)

    def _pattern_of(self, cell: Cell) -> str:
        name = _name(cell)
        if name not in self._patterns:
            said = self._restated.get(cell, cell)
            found = attribute(said.shape, said.target, said.caller, self.setup.contract)
            self._patterns[name] = found.label
        return self._patterns[name]

    def _restate(self, counts: Counts) -> Counts:
        """Say what was counted under an earlier contract in words of the present one."""
        if not self._restated:
            return counts
        return msgspec.structs.replace(counts, cells=tuple(self._restated.get(cell, cell) for cell in counts.cells))

    def _place_of(self) -> Callable[..., tuple[str, ...]]:
        return partial(target_labels, account=self.setup.account, region=self.setup.region)


def _name(cell: Cell) -> str:
    """Name what a cell's pattern depends on."""
    target = cell.target
    return "\x1f".join((cell.shape.fingerprint, cell.caller or "", *target.order()))
