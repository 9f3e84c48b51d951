"""What takes long is done beside the loop: in a thread of its own, or one after the other where they share a state.

Threads of Python take turns, so that a loop that only waits and answers is asked again after milliseconds. What would
keep the turn for seconds is the collector of cyclic garbage, which looks at every object that there is: see `Sweeping`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["InTurn", "Sweeping", "beside", "take_short_turns"]

T = TypeVar("T")
P = ParamSpec("P")

_TURN_SECONDS = 0.001
"""So long a thread keeps its turn while another waits. Python's own 5 ms are felt: an answer takes several turns."""

_SWEEP_SECONDS = 3600.0
_LOOK_SECONDS = 60.0
_MUCH = 200_000
"""Objects, some 30 MB: connections that came and went leave cycles, which nobody frees while they are set aside."""


def take_short_turns() -> None:
    """Let the threads of this process take turns more often."""
    sys.setswitchinterval(_TURN_SECONDS)


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Do something that may take for ever beside the loop; the end of the process does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(settle_it: Callable[..., None], value: object) -> None:
        if not done.done():
            settle_it(value)

    def run() -> None:
        told: tuple[Callable[..., None], object]
        try:
            told = done.set_result, work()
        except BaseException as bug:  # noqa: BLE001 -- it is raised where it is awaited
            told = done.set_exception, _raisable(bug)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, *told)

    threading.Thread(target=run, daemon=True).start()
    return done


def _raisable(bug: BaseException) -> BaseException:
    """Return what a future takes: it refuses the end of an iterator, and whoever awaits it would wait for ever."""
    return RuntimeError(f"{type(bug).__name__} was raised") if isinstance(bug, StopIteration) else bug


def _raising(work: Callable[[], T]) -> Callable[[], T]:
    def do() -> T:
        try:
            return work()
        except StopIteration as bug:
            raise _raisable(bug) from bug

    return do


class InTurn:
    """Does what it is given one after the other, in one thread: what it works on belongs to that thread.

    Who is cancelled while something waits for its turn takes it back; what has begun is done to its end.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "dynascope-watch")

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something when its turn has come, and return what it returns."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, _raising(partial(work, *args, **kwargs)))

    def close(self) -> None:
        """Take nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class Sweeping:
    """Keeps the collector of cyclic garbage from what a judgement makes: a million objects, and no cycle among them.

    It would look at all of them again and again while they come, and nothing else runs meanwhile. What is there
    afterwards is set aside, and looked at once an hour, or when it has more than doubled, in case cycles are among it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._swept = self._looked = clock()
        self._kept = 0
        self._resting = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """Collect nothing until this is left, by whoever is in it last."""
        with self._lock:
            self._resting += 1
            gc.disable()
        try:
            yield
        finally:
            with self._lock:
                self._resting -= 1
                if not self._resting:
                    self._set_aside()
                    gc.enable()

    async def beside(self, work: Callable[[], T]) -> T:
        """Do something beside the loop, and collect nothing meanwhile; the end of the process does not wait for it."""

        def undisturbed() -> T:
            with self.resting():
                return work()

        return await beside(undisturbed)

    def _set_aside(self) -> None:
        now = self._clock()
        if now - self._swept >= _SWEEP_SECONDS or self._has_grown(now):
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._swept, self._kept = now, gc.get_freeze_count()
        gc.freeze()

    def _has_grown(self, now: float) -> bool:
        """Whether much more is set aside than after the last sweep; counting takes milliseconds, so once a minute."""
        if now - self._looked < _LOOK_SECONDS:
            return False
        self._looked = now
        return gc.get_freeze_count() > 2 * self._kept + _MUCH
