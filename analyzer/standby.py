"""Two daemons on the same tables: one reads AWS, the other waits until it falls silent, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
import uuid
from typing import TYPE_CHECKING

from analyzer.errors import CollectError, UnsupportedError
from analyzer.exporters.standing import Standing
from analyzer.lease import FREE, MEND, UNREACHED, DayCost, LeaseConfig, Seen, is_held, looked, may_take, next_lease

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from analyzer.lease_places import LeasePlace

__all__ = ["Standby", "steady_ms"]

_GIVE_BACK_SECONDS = 2.0


def steady_ms() -> int:
    """Return milliseconds of a clock that nobody sets; where there is one, of one that goes on while machines sleep."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


class Standby:
    """Keeps a lease, or waits for it; AWS may be read while `is_open`.

    `spent` says what reading cost today, `inherit` takes over what the holder before had spent.
    """

    def __init__(
        self,
        place: LeasePlace,
        config: LeaseConfig,
        log: FilteringBoundLogger,
        *,
        spent: Callable[[], DayCost] = DayCost,
        inherit: Callable[[DayCost], None] = lambda _: None,
        clock: Callable[[], int] = steady_ms,
    ) -> None:
        self.me = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._place = place
        self._config = config
        self._log = log
        self._spent = spent
        self._inherit = inherit
        self._clock = clock
        self._seen: Seen | None = None
        self._renewed_at: int | None = None
        self._stood: tuple[bool, bool] | None = None
        self._complaint: str | None = None
        self._answered_at = clock()
        self._changed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the lease is held at this moment: also where nobody could renew it, it ends by itself."""
        return is_held(self._renewed_at, self._clock(), self._config.lease_ms)

    @property
    def is_ours(self) -> bool | None:
        """Whether the lease is held here; False where another daemon holds it, None where nobody is known to."""
        if self.is_open:
            return True
        lease = None if self._seen is None else self._seen.lease
        return None if lease is None or lease.holder in {FREE.holder, self.me} else False

    @property
    def trouble(self) -> str | None:
        """Why the lease cannot be reached, so that nobody is known to read AWS; None where it can, or is held yet.

        A place that hangs, as a disk of the network does, is out of reach too.
        """
        if self.is_open:
            return None
        is_silent = self._clock() - self._answered_at > self._config.lease_ms + self._config.renew_ms
        return self._complaint or ("no answer" if is_silent else None)

    @property
    def standing(self) -> Standing:
        """How this daemon stands at this moment."""
        if self.is_open:
            return Standing.READS
        return Standing.WAITS if self.trouble is None else Standing.UNKNOWN

    def permit(self) -> None:
        """Let a call through; raises UnsupportedError while another daemon reads, or nobody is known to."""
        if self.is_open:
            return
        if self.trouble is not None:
            raise UnsupportedError(f"{UNREACHED}: {self.trouble}", hint=MEND)
        hint = "nothing is wrong: it takes over when the other falls silent"
        raise UnsupportedError("standby: another daemon holds the lease, and reads AWS", hint=hint)

    async def opened(self) -> None:
        """Wait until the lease is held."""
        while not self.is_open:
            self._changed.clear()
            await self._changed.wait()

    async def run(self) -> None:
        """Keep the lease, or look at it, until cancelled; then give it back, so that another begins at once."""
        try:
            while True:
                await self._step()
                pause = self._config.renew_ms if self.is_open else self._config.look_ms
                await asyncio.sleep(pause / 1000)
        finally:
            with contextlib.suppress(CollectError, TimeoutError):
                await asyncio.wait_for(self._give_back(), _GIVE_BACK_SECONDS)

    async def _step(self) -> None:
        began = self._clock()
        try:
            lease, version = await self._place.read()
            now = self._clock()
            seen = self._seen = looked(self._seen, lease, version, now)
            if may_take(self.me, seen, now):
                await self._write(seen, began)
            else:
                self._renewed_at = None
            self._answered_at = self._clock()
            self._complain(None)
        except CollectError as error:
            self._complain(f"{error}; {error.hint}")
        self._tell()

    async def _write(self, seen: Seen, began: int) -> None:
        is_new = seen.lease is None or seen.lease.holder != self.me
        if is_new and seen.lease is not None:
            self._inherit(seen.lease.spent)
        wanted = next_lease(self.me, seen.lease, self._config.lease_ms, self._spent())
        self._renewed_at = began if await self._place.write(wanted, seen.version) else None

    async def _give_back(self) -> None:
        if not self.is_open:
            return
        self._renewed_at = None
        lease, version = await self._place.read()
        if lease is not None and lease.holder == self.me:
            given = next_lease(FREE.holder, lease, self._config.lease_ms, self._spent())
            await self._place.write(given, version)

    def _tell(self) -> None:
        """Say when the lease comes and goes, and let who waits for it go on."""
        is_open = self.is_open
        stands = (is_open, self.trouble is not None)
        if stands != self._stood:
            holder = None if self._seen is None or self._seen.lease is None else self._seen.lease.holder
            if is_open:
                self._log.info("holds the lease, and reads AWS", lease=self.me)
            elif self.trouble is not None:
                self._log.error("reads AWS no more: the lease cannot be renewed", because=self.trouble)
            else:
                self._log.info("standby: another daemon reads AWS", lease=holder)
        self._stood = stands
        if is_open:
            self._changed.set()

    def _complain(self, what: str | None) -> None:
        """Say once that the lease cannot be reached, and once that it can."""
        if what is not None and self._complaint is None:
            self._log.error("the lease cannot be reached", because=what)
        if what is None and self._complaint is not None:
            self._log.info("the lease is reached again")
        self._complaint = what
