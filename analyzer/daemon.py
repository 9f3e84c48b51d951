"""The daemon: reads, judges every slice, shows, and writes down where it stands. One process, one event loop.

The loop only waits and answers. What is known, the watch, belongs to one thread, which does one thing after the other:
take a block with the position behind it, gather what is to be judged, take over what was concluded, write a snapshot.
So a checkpoint always holds positions and counts that belong together. Judging and rendering happen beside both, one
at a time: they get values that reading on does not change, and change nothing (docs/decisions/0022).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from analyzer.beside import InTurn, Sweeping, beside, take_short_turns
from analyzer.checkpoint import Beside, StateFolder, Torn
from analyzer.collected import Collected
from analyzer.complaints import Complaints
from analyzer.conclude import GivenUpError, conclude
from analyzer.errors import DynascopeError
from analyzer.exporters.address import is_loopback
from analyzer.exporters.marks import Marks
from analyzer.exporters.server import Server
from analyzer.exposing import expose
from analyzer.health import health_of
from analyzer.interfaces import Stream
from analyzer.life_keeper import LifeKeeper
from analyzer.lifecycle.observing import is_observing, observing_until
from analyzer.maps import Maps
from analyzer.model.batch import Position
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import SLICE_MS, Instant, format_instant, slice_of
from analyzer.model.report import Report
from analyzer.model.window import Window
from analyzer.polling import NOTHING_POLLED, Polled
from analyzer.reloading import through_reload, try_loading
from analyzer.watch import Watch
from collectors.request_log.config import RequestLogConfig
from collectors.request_log.opening import open_streams

if TYPE_CHECKING:
    from analyzer.conclude import Judged
    from analyzer.exporters.assemble import Health
    from analyzer.exposing import Rendering
    from analyzer.history_keeper import HistoryKeeper
    from analyzer.setup import Setup

__all__ = ["Daemon", "OpenStream", "Outlets"]

T = TypeVar("T")

OpenStream = Callable[[RequestLogConfig, Iterable[Position], Callable[[], Instant], Instant | None], Stream]
"""Makes a stream of what to read, where it was left, a clock, and when it was left."""

_DRAIN_SECONDS = 1.5
"""Of the five that an end may take; what is left unread then is read after the restart."""
_CATCH_UP_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 0.05
_SOON_SECONDS = 1.0


def _now() -> Instant:
    return time.time_ns() // 1_000_000


class Outlets(Struct, frozen=True):
    """Where a daemon speaks: `tell` gets a report that holds what just opened or closed, keys and all.

    `unprinted` counts those of which nobody took the text.
    """

    server: Server
    state: StateFolder
    log: FilteringBoundLogger
    tell: Callable[[Report], None]
    clock: Callable[[], Instant] = _now
    unprinted: Callable[[], int] = int


class Daemon:
    """Runs until it is told to stop; `load` reads configuration and contract again."""

    def __init__(
        self,
        setup: Setup,
        outlets: Outlets,
        load: Callable[[], Setup],
        open_stream: OpenStream = open_streams,
        polled: Polled = NOTHING_POLLED,
        history: HistoryKeeper | None = None,
    ) -> None:
        self._setup = setup
        self._polled = polled
        self._history = history
        self._out = outlets
        self._load = load
        self._new_stream = open_stream
        self._watch: Watch
        self._stream: Stream
        self._life: LifeKeeper
        self._stop = asyncio.Event()
        self._is_reload_wanted = asyncio.Event()
        self._steady = asyncio.Lock()
        self._is_config_valid = True
        self._is_state_written = True
        self._is_first = True
        self._checkpoint_ms: Instant | None = None
        self._analysis_seconds: float | None = None
        self._complaints = Complaints(outlets.log)
        self._turn, self._disk = InTurn(), InTurn()
        self._sweeping = Sweeping()
        self._known_health: Health | None = None
        self._maps = outlets.server.screen.atlas = Maps(self._ask, lambda: self._known_health)

    async def _ask(self, question: Callable[[Watch], T]) -> T:
        """Ask the watch, in its thread; what is answered must not change with it."""

        def ask() -> T:
            with self._sweeping.resting():
                return question(self._watch)

        return await self._turn.do(ask)

    async def run(self) -> None:
        """Work until `stop`; raises what went wrong at the start, and bugs."""
        take_short_turns()
        self._listen_to_signals()
        with self._sweeping.resting():
            self._resume()
        try:
            await self._show()
            await self._listen()
            self._life.begin(self._out.clock() if self._is_first else 0)  # who cannot listen observes nothing yet
            self._complaints.tell(self._stream.status())
            await self._show()
            self._say_mode()
            await self._work()
        finally:
            await self._out.server.stop()
            self._turn.close()
            self._disk.close()
            self._stream.close()
            self._life.close()
            self._out.state.release()

    async def _listen(self) -> None:
        host, access = self._setup.listen_host, self._setup.access
        self._out.server.admit(access)
        port = await self._out.server.start(host, self._setup.listen_port)
        scheme = "http" if access.tls is None else "https"
        self._out.log.info("listening", address=f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")
        if access.token is not None and access.tls is None and not is_loopback(host):
            self._out.log.warning("tokens are sent in clear: set `tls`, or let a proxy in front speak HTTPS")

    def _say_mode(self) -> None:
        until = observing_until(self._setup.mode, self._life.began, self._setup.observe_for_ms)
        if is_observing(until, self._out.clock()):
            told = "`mode: page` is set" if until is None else format_instant(until)
            self._out.log.info("observing: nothing pages", until=told)

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.stop)
        loop.add_signal_handler(signal.SIGINT, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._is_reload_wanted.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # one that came during the start is taken now

    def stop(self) -> None:
        """End after what was written so far is read and noted down."""
        self._out.log.info("stopping")
        self._stop.set()

    async def _work(self) -> None:
        await self._write_state()
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._read())
            works = (self._judge_slices, self._keep_state, self._reload, self._polled.polls.run, self._keep_history)
            others = [group.create_task(work()) for work in works]
            await self._stop.wait()
            self._stream.stop()
            await asyncio.wait({reading}, timeout=_DRAIN_SECONDS)
            for task in (reading, *others):
                task.cancel()
        await self._write_state()
        self._out.log.info("stopped", **await self._ask(Watch.records))

    def _resume(self) -> None:
        setup, out = self._setup, self._out
        try:
            out.state.claim()
        except OSError as error:
            raise DynascopeError(f"cannot make the state folder {setup.state}: {error.strerror}") from None

        def restore(checkpoint: object) -> None:
            self._watch = Watch(setup, checkpoint)  # type: ignore[arg-type] # a Checkpoint, by StateFolder.read

        self._life = LifeKeeper(setup.state, out.log)
        out.server.snoozes.keeper = self._life
        found = out.state.read(restore)
        if isinstance(found, Torn):
            out.log.error("state set aside: counters begin at zero", file=found.path, because=found.because)
        if found is None or isinstance(found, Torn):
            self._watch = Watch(setup, None)
        else:
            out.log.info("going on from", saved_at=format_instant(found.saved_at), files=len(found.positions))
            self._checkpoint_ms = found.saved_at
            self._out.server.marks = Marks(found.beside.marks)
            self._polled.resume_budget(found.beside.budget)
        self._is_first = found is None
        self._watch.forget(out.clock())
        self._stream = self._open_stream(tuple(self._watch.positions.values()))
        self._watch.positions |= {position.path: position for position in self._stream.begin()}

    def _open_stream(self, positions: tuple[Position, ...]) -> Stream:
        return self._new_stream(self._setup.request_log, positions, self._out.clock, self._checkpoint_ms)

    async def _read(self) -> None:
        while True:
            async for block in self._stream.blocks():
                await self._turn.do(self._watch.take, block, self._out.clock())
            if self._stop.is_set():
                return
            self._stream.close()  # it was told to end because other files are to be read now
            self._stream = self._open_stream(await self._ask(lambda watch: tuple(watch.positions.values())))

    async def _judge_slices(self) -> None:
        """Judge the newest whole slice that has settled, as soon as it has; the first when reading has caught up."""
        tries = int(_CATCH_UP_SECONDS / _LOOK_AGAIN_SECONDS)
        while tries and self._watch.last_read_ms is None and not await self._pause(_LOOK_AGAIN_SECONDS):
            tries -= 1
        while tries and self._stream.status().pending_bytes and not await self._pause(_LOOK_AGAIN_SECONDS):
            tries -= 1
        judged: Instant | None = None
        while not self._stop.is_set():
            now = self._out.clock()
            end = slice_of(now - self._setup.settle_ms)
            if end != judged:  # before it, where the clock was set back
                with contextlib.suppress(GivenUpError):  # it is to stop: what was read is judged after the restart
                    await self._judge(end)
                judged = end
            wait_ms = end + SLICE_MS + self._setup.settle_ms - self._out.clock()
            is_likely = 0 < wait_ms <= SLICE_MS  # not where judging took long, or the clock was set back meanwhile
            await self._pause((wait_ms if is_likely else 1) / 1000)

    async def _judge(self, end: Instant) -> None:
        async with self._steady, contextlib.AsyncExitStack() as whatever_comes:
            started = time.perf_counter()
            status = self._stream.status()
            memory = await self._life.memory(end)
            past = await self._close_minutes(end)
            holes = (*self._life.gaps(), *(() if self._history is None else self._history.gaps(end)))
            gathered = end, status, self._collected(end), memory, past, holes
            evidence = await self._ask(lambda watch: watch.gather(*gathered))
            evidence = replace(evidence, is_over=self._stop.is_set)
            judged = await self._sweeping.beside(lambda: conclude(evidence))
            if judged.events.findings:
                whatever_comes.push_async_callback(asyncio.to_thread, self._out.tell, judged.events)
            await self._ask(lambda watch: self._take_in(watch, judged))
            self._analysis_seconds = time.perf_counter() - started
            rendering = await self._render(of_analysis=True)
            self._out.server.publish(rendering.exposition)
            await self._out.server.export(judged.report)
        await self._life.note(judged.report.findings, judged.report.as_of)
        if self._history is not None:
            snapshots = (one for batch in evidence.observations.batches for one in batch.tables)
            book = await self._ask(Watch.calls)
            self._history.look(end, judged.report.findings, snapshots, lambda: book)
        self._complaints.tell(status, evidence.observations.gaps)
        for gap in judged.report.gaps:
            self._out.log.debug("gap", reason=gap.reason.value, detail=gap.detail)
        self._complaints.tell_bad_lines(await self._ask(Watch.bad_lines))

    def _take_in(self, watch: Watch, judged: Judged) -> None:
        watch.take_over(judged)
        self._maps.note(judged.report)

    async def _render(self, *, of_analysis: bool = False) -> Rendering:
        """Render the metrics as things stand."""
        health = self._known_health = await self._health()
        view = await self._ask(lambda watch: watch.view(health, of_analysis=of_analysis))
        rendering = await self._sweeping.beside(lambda: expose(view))
        await self._ask(lambda watch: watch.remember(rendering))
        return rendering

    async def _close_minutes(self, end: Instant) -> History:
        """Hand the minutes that have closed to history, and return what it knows of the past."""
        if self._history is None:
            return EMPTY
        closed, lost = await self._ask(lambda watch: (watch.close_minutes(end), watch.closing.take_lost()))
        self._history.take(closed, lost)
        return self._history.past

    async def _keep_history(self) -> None:
        if self._history is not None:
            await self._history.run(self._out.clock, self._watch.closing.known_late)

    def _collected(self, end: Instant) -> Collected:
        """Return what polls brought and people marked."""
        polls, marks = self._polled.polls, self._out.server.marks
        marked = marks.batch(Window(end, end))
        batches = polls.batches(self._out.clock())
        told = (*batches, marked) if marked.changes else batches
        return Collected(told, polls.generation, is_standby=polls.holds_lease is False)

    async def _health(self) -> Health:
        began = self._life.began
        known = await self._ask(Watch.tally)
        now, setup = self._out.clock(), self._setup
        return health_of(
            known,
            self._stream.status(),
            now,
            is_config_valid=self._is_config_valid,
            written_ms=self._checkpoint_ms,
            analysis_seconds=self._analysis_seconds,
            reads_log=not setup.request_log.is_empty,
            polled=self._polled.polls.health(now),
            spent=self._polled.spent(),
            holds_lease=self._polled.polls.holds_lease,
            is_observing=is_observing(observing_until(setup.mode, began, setup.observe_for_ms), now),
            marks_dropped=self._out.server.marks.dropped,
            dropped={"printed-findings": self._out.unprinted(), **self._out.server.dropped()},
            history=None if self._history is None else self._history.health(),
        )

    async def _show(self) -> None:
        self._out.server.publish((await self._render()).exposition)

    async def _keep_state(self) -> None:
        """Write state ever so often, and soon after money was spent: who is killed goes on with what is left of it."""
        every = self._setup.checkpoint_every_ms / 1000
        step, waited, kept = min(every, _SOON_SECONDS), 0.0, self._polled.spent()
        while not await self._pause(step):
            waited += step
            spent = self._polled.spent()
            if waited >= every or spent != kept:
                waited, kept = 0.0, spent
                await self._write_state()

    async def _write_state(self) -> None:
        async with self._steady:
            now = self._out.clock()
            unwritten = () if self._history is None else self._history.unwritten
            paths = self._stream.paths()  # of now: no block that is taken in later is among what is written
            known = partial(Watch.checkpoint, now=now, paths=paths, beside=self._beside(), unwritten=unwritten)
            content = await self._ask(lambda watch: self._out.state.encode(known(watch)))
            failure = await self._disk.do(self._out.state.try_writing, content)
        if failure is None:
            self._checkpoint_ms = now
        if failure is not None and self._is_state_written:
            self._out.log.error("cannot write state: a restart would go on from the last one", because=failure)
        if failure is None and not self._is_state_written:
            self._out.log.info("state is written again")
        self._is_state_written = self._out.server.marks.is_written = failure is None

    def _beside(self) -> Beside:
        return Beside(self._out.server.marks.known(), self._polled.keep_budget())

    async def _reload(self) -> None:
        while True:
            await self._is_reload_wanted.wait()
            self._is_reload_wanted.clear()
            setup, faults = await beside(lambda: try_loading(self._load))
            async with self._steady:
                await self._take_over(setup, faults)
                await self._show()

    async def _take_over(self, setup: Setup | None, faults: Iterable[dict[str, str | int | None]]) -> None:
        """Take configuration and contract anew; where they are faulty, say so and keep the old ones."""
        for fault in faults:
            self._out.log.error("faulty, so the old one is kept", **fault)
        self._is_config_valid = setup is not None
        if setup is not None:
            await self._adopt(setup)

    async def _adopt(self, setup: Setup) -> None:
        before = self._setup
        self._setup = setup = through_reload(before, setup, self._out.log)
        await self._ask(lambda watch: watch.adopt(setup))
        if self._history is not None:
            self._history.adopt(setup.contract)
        self._out.server.look(setup.policy, setup.salt)
        self._out.server.admit(setup.access)
        if before.request_log != setup.request_log:
            self._stream.stop()
        self._out.log.info("configuration and contract reloaded")

    async def _pause(self, seconds: float) -> bool:
        """Wait; return at once, and True, when it is time to stop."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)
        return self._stop.is_set()
