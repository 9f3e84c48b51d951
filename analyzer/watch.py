"""What the daemon knows: everything counted, the findings alive, where reading stands. Nothing here waits or writes.

A `Watch` belongs to one thread. What takes long is done beside it by `conclude.conclude` and `exposing.expose`: they
get values that reading on does not change, change nothing, and return values that are handed back to the watch.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.checkpoint import NOTHING_BESIDE, Beside, Checkpoint
from analyzer.closing import NOTHING_OWED, Closed, Closing, kept_from
from analyzer.collected import NOTHING, Collected
from analyzer.conclude import Aside, Evidence, Judged, Portion
from analyzer.correlator.attributor import Attributor
from analyzer.exporters.assemble import RECORD_COUNTERS, Health, Kept, Ledger, add_to
from analyzer.exporters.exemplars import Exemplars
from analyzer.exporters.from_counts import Carried, count_cells
from analyzer.exporters.series import SeriesTable
from analyzer.exposing import Rendering, View, labels_of
from analyzer.homes import Homes
from analyzer.lifecycle.advance import State
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.life import NO_MEMORY, Memory
from analyzer.model.observations import Observations
from analyzer.model.sight import SourceName
from analyzer.model.window import Window
from analyzer.pipeline import live_window
from analyzer.reach import Part, Progress, late_parts, missed_parts
from analyzer.requests.digest import Digest
from analyzer.restate import Namer, restated_cells
from analyzer.salts import Salts
from analyzer.shortfalls import Shortfalls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.batch import Batch, Block, Position, StreamStatus
    from analyzer.model.calls import CallBook
    from analyzer.model.counts import Cell, Counts
    from analyzer.model.report import Report
    from analyzer.model.sight import Gap
    from analyzer.model.traffic import Traffic
    from analyzer.setup import Setup

__all__ = ["Tally", "Watch"]

_HOUR_MS = 3_600_000
_SETTLED_MS = 300_000
"""The least that is judged of CloudWatch: five of its minutes."""
_STALE_MS = 1_800_000
"""What CloudWatch covered so long ago says nothing of now."""
_CALLS_MS = 1_800_000
"""How long calls are kept: locks are told as stuck after 15 minutes."""


class Tally(Struct, frozen=True):
    """What was counted so far: a value that reading on does not change. `newest` is the end of the newest slice."""

    records: dict[str, int]
    dropped: dict[str, int]
    last_read_ms: Instant | None
    newest: Instant | None

    def delay_seconds(self, now: Instant) -> float | None:
        """Return the age of the newest slice that was read, None before the first record."""
        return None if self.newest is None else max(0, now - self.newest) / 1000


class Watch:
    """Goes on from a checkpoint, or from nothing."""

    def __init__(self, setup: Setup, checkpoint: Checkpoint | None) -> None:
        self.setup = setup
        self.positions: dict[str, Position] = {}
        self.last_read_ms: Instant | None = None
        self._digest = Digest(setup.lexicon, setup.limits, collect=setup.collect, calls_horizon_ms=_CALLS_MS)
        self._attribute = Attributor(setup.contract)
        self._findings = State()
        self._aside = Aside()
        self._ledger = Ledger()
        self._exemplars = Exemplars()
        self._salts = Salts()
        self._homes = Homes()
        self._progress = Progress()
        self._patterns: dict[str, str] = {}
        self._restated: dict[Cell, Cell] = {}
        self._restated_from: Instant | None = None
        self._totals: Counts | None = None
        self._report: Report | None = None
        if checkpoint is not None:
            self._resume(checkpoint)
        saved_at, owed = (None, NOTHING_OWED) if checkpoint is None else (checkpoint.saved_at, checkpoint.owed)
        self.closing = Closing(saved_at, setup.window_ms, owed, self._digest.changes())
        self._shortfalls = Shortfalls(self.records())

    def _resume(self, checkpoint: Checkpoint) -> None:
        self.positions = {position.path: position for position in checkpoint.positions}
        self._digest = _restored(checkpoint.digest, self.setup)
        self._findings = checkpoint.findings
        self._ledger = Ledger(checkpoint.carried, checkpoint.kept)
        self._totals = self._digest.totals()
        if checkpoint.contract == self.setup.contract_id:
            self._patterns, self._restated = checkpoint.patterns, dict(checkpoint.restated)
        else:
            self._carry_over(checkpoint.patterns)

    def take(self, block: Block, now: Instant) -> None:
        """Count a block, and with it the position behind it."""
        if block.lines:
            self._digest.update(block.lines, now)
            self._exemplars.look(block.lines)
            self._salts.look(block.lines, now)
            self.last_read_ms = now
        if block.overlong:
            self._digest.read.count_overlong(block.overlong)
        for reason, count in block.bad.items():
            self._digest.read.count_bad(reason, count)
        if block.position is not None:
            self.positions[block.position.path] = block.position

    @property
    def digest(self) -> Digest:
        """What was counted; it changes as more is read."""
        return self._digest

    @property
    def hour(self) -> tuple[Traffic, ...]:
        """The traffic of the last hour, as it was judged within the last minute."""
        return () if self._aside.span is None else self._aside.span.report.traffic

    def namer(self) -> Namer:
        """Return what names the pattern of a cell."""
        return Namer(self.setup.contract, self._patterns, self._restated)

    def forget(self, now: Instant) -> None:
        """Fold slices over an hour old into the totals; what comes for them from now on is late."""
        self._digest.forget_before(self.closing.let_go(kept_from(now, max(_HOUR_MS, self.setup.window_ms))))

    def close_minutes(self, end: Instant) -> tuple[Closed, ...]:
        """Return the minutes that history is to be told of, before `gather` lets slices go."""
        return self.closing.close(self._digest.changes(), end, self._counted)

    def _counted(self, window: Window) -> Counts:
        """Return the counts of a window, at home and in words of the present contract."""
        counts = self._restate(self._digest.result(window))
        return self._homes.of(Observations(window=window, counts=counts)).counts or counts

    def dropped(self) -> dict[str, int]:
        """Return how often there was no room for something, by what it was."""
        return {"table-places": self._homes.dropped, "table-reaches": self._progress.dropped}

    def calls(self) -> CallBook:
        """Return the calls that are kept."""
        return self._digest.calls()

    def records(self) -> dict[str, int]:
        """Return the counters of records; a line that is too long is a bad one."""
        return {name: int(getattr(self._digest.read, name)) for name in RECORD_COUNTERS}

    def bad_lines(self) -> tuple[str, ...]:
        """Return why lines were bad, without anything that they held."""
        return tuple(self._digest.read.samples)

    def gather(
        self,
        end: Instant,
        status: StreamStatus,
        collected: Collected = NOTHING,
        memory: Memory = NO_MEMORY,
        history: History = EMPTY,
        holes: tuple[Gap, ...] = (),
    ) -> Evidence:
        """Collect what the window that ends here holds, and what it lacks; slices over an hour old are folded away.

        `holes` are those of history.
        """
        setup = self.setup
        span = self._digest.span()
        is_young = span is not None and span.start < end
        first = span.start if span is not None and is_young else 0
        window = live_window(first, end, setup.window_ms)
        self._forget_restated(window)
        counted = {**self.records(), "lost": status.lost, "damaged": status.damaged}
        self._shortfalls.note(end, counted, self._digest.take_ahead_seconds())
        is_behind = status.pending_bytes > 0 and span is not None and span.end < end
        gaps = self._shortfalls.gaps(window, status, is_behind=is_behind)
        gaps += (*self._salts.gaps(window, None if setup.salt is None else setup.salt.id), *holes)
        self._findings = _none_later_than(end, self._findings)
        self.forget(end)
        self._homes.learn(collected.batches, collected.generation)
        totals = self._digest.totals()
        self._homes.learn_account(totals)
        settled, late, missed = self._settled(end, collected)
        return Evidence(
            observations=self._observe(window, collected.timeless(), gaps),
            settled=settled,
            late=late,
            missed=missed,
            span=self._span(first, end, collected),
            aside=self._aside,
            totals=totals,
            findings=self._findings,
            setup=setup,
            attribute=self._attribute,
            memory=memory,
            history=history,
        )

    def _settled(
        self, end: Instant, collected: Collected
    ) -> tuple[Observations | None, tuple[Portion, ...], tuple[Portion, ...]]:
        """Return what CloudWatch covers, where polls brought anything: of all tables, of late ones, of the past."""
        if collected.is_standby:
            self._progress.forget()
        is_new = collected.generation != self._aside.generation
        self._aside = msgspec.structs.replace(self._aside, generation=collected.generation)
        self._forget_settled(end, collected)
        stretch = collected.settled(max(self.setup.window_ms, _SETTLED_MS))
        if not is_new or stretch is None or end - stretch.end > _STALE_MS:
            return None, (), ()
        reaches = collected.reaches(*self._place())
        late = late_parts(reaches, stretch, end - _STALE_MS)
        on_time = frozenset(table for table, reached in reaches.items() if reached >= stretch.end)
        missed = self._progress.take((Part(stretch, on_time), *late), end - _HOUR_MS)
        return (
            self._observe(stretch, collected.without(reaches.keys() - on_time), collected.blind_spots()),
            tuple(self._portion(part, collected) for part in late),
            tuple(self._portion(part, collected) for part in missed_parts(missed, stretch.end - stretch.start)),
        )

    def _portion(self, part: Part, collected: Collected) -> Portion:
        return Portion(self._observe(part.window, collected.only(part.tables)), part.tables)

    def _span(self, first: Instant, end: Instant, collected: Collected) -> Observations | None:
        """Return the last hour, once a minute."""
        if end // MINUTE_MS == self._aside.minute:
            return None
        self._aside = msgspec.structs.replace(self._aside, minute=end // MINUTE_MS)
        begin = max(first, end - _HOUR_MS) if first else end - _HOUR_MS
        return self._observe(Window(begin, end), collected.batches)

    def _forget_settled(self, end: Instant, collected: Collected) -> None:
        """Let go of a judgement that says nothing of now: CloudWatch covered it too long ago, or another reads it."""
        known = self._aside.settled
        if known is not None and (collected.is_standby or end - known.report.window.end > _STALE_MS):
            self._aside = msgspec.structs.replace(self._aside, settled=None, late=())

    def _place(self) -> tuple[str | None, str | None]:
        """Return the account and region of what names none."""
        return self.setup.account or self._homes.account, self.setup.region

    def _observe(self, window: Window, batches: tuple[Batch, ...], gaps: tuple[Gap, ...] = ()) -> Observations:
        setup = self.setup
        account, region = self._place()
        log = frozenset() if setup.request_log.is_empty else frozenset({SourceName.REQUEST_LOG})
        observed = Observations(
            window=window,
            counts=self._restate(self._digest.result(window)),
            batches=batches,
            gaps=gaps,
            sources=log | setup.sources,
            account=account,
            region=region,
            hours=self._digest.hours(),
            calls=self._digest.calls(),
            prices=setup.prices,
        )
        return self._homes.of(observed)

    def take_over(self, judged: Judged) -> None:
        """Go on from what was concluded."""
        self._findings, self._report, self._totals = judged.findings, judged.report, judged.totals
        self._aside = judged.aside
        gaps: Counter[tuple[str, ...]] = Counter((gap.source.value, gap.reason.value) for gap in judged.report.gaps)
        self._keep(add_to(self._ledger.kept, "dynascope_gaps_total", gaps))

    def view(self, health: Health, *, of_analysis: bool = False) -> View:
        """Return what a rendering is to show."""
        ledger = msgspec.structs.replace(self._ledger, exemplars=self._exemplars.known())
        known = self._totals, self._report, ledger, self._patterns, self._restated, self.setup
        return View(health, *known, of_analysis, self.hour)

    def remember(self, rendering: Rendering) -> None:
        """Keep what a rendering found out."""
        self._patterns = rendering.patterns
        self._keep(rendering.kept)

    def _keep(self, kept: Kept) -> None:
        self._ledger = msgspec.structs.replace(self._ledger, kept=kept)

    def tally(self) -> Tally:
        """Return what was counted so far."""
        span = self._digest.span()
        return Tally(self.records(), self.dropped(), self.last_read_ms, None if span is None else span.end)

    def checkpoint(
        self, now: Instant, paths: Iterable[str], beside: Beside = NOTHING_BESIDE, unwritten: tuple[Instant, ...] = ()
    ) -> Checkpoint:
        """Return the state between two blocks, without names that are no longer tailed; `unwritten` by history."""
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
            restated=tuple(self._restated.items()),
            beside=beside,
            owed=self.closing.owed(unwritten, self._digest.changes()),
        )

    def adopt(self, setup: Setup) -> None:
        """Go on under another configuration; counters stay where they are, whatever the new contract calls them."""
        before, self.setup = self.setup, setup
        self._aside = Aside()
        is_same_contract = setup.contract_id == before.contract_id
        told = self._digest.changes()
        if not is_same_contract or setup.limits != before.limits:
            self._digest = _restored(self._digest.snapshot(), setup)
        self.closing.adopt(self._digest.changes(), setup.window_ms, told)
        if is_same_contract:
            return
        patterns, self._patterns = self._patterns, {}
        self._attribute = Attributor(setup.contract)
        self._totals = self._digest.totals()
        self._carry_over(patterns)

    def _carry_over(self, patterns: dict[str, str]) -> None:
        """Make the counters under the present contract stand where they stood under these names of patterns."""
        if self._totals is None:
            return
        self._restated, self._restated_from = restated_cells(self._totals.cells, self.setup.lexicon), None
        before, after = SeriesTable(), SeriesTable()
        namer, place_of = Namer(self.setup.contract, {}, self._restated), labels_of(self.setup)
        count_cells(before, self._totals, lambda cell: patterns.get(Namer.name(cell)) or namer(cell), place_of)
        self._ledger.carried.apply(before)
        count_cells(after, self._totals, namer, place_of)
        self._patterns = namer.patterns
        self._ledger = msgspec.structs.replace(self._ledger, carried=Carried.between(before, after))

    def _forget_restated(self, window: Window) -> None:
        """Take cells at their word again when a window holds nothing from before their contract came."""
        if self._restated_from is None:
            self._restated_from = window.end
        if window.start >= self._restated_from:
            self._restated = {}

    def _restate(self, counts: Counts) -> Counts:
        """Say what was counted under an earlier contract in words of the present one."""
        if not self._restated:
            return counts
        return msgspec.structs.replace(counts, cells=tuple(self._restated.get(cell, cell) for cell in counts.cells))


def _none_later_than(at: Instant, state: State) -> State:
    """Return findings that were last seen no later than now: the clock may have been set back."""
    if all(finding.last_seen is None or finding.last_seen <= at for finding in state.alive.values()):
        return state
    alive = {
        name: msgspec.structs.replace(finding, last_seen=min(finding.last_seen or at, at))
        for name, finding in state.alive.items()
    }
    return msgspec.structs.replace(state, alive=alive)


def _restored(snapshot: bytes, setup: Setup) -> Digest:
    return Digest.restore(snapshot, setup.lexicon, setup.limits, collect=setup.collect, calls_horizon_ms=_CALLS_MS)
