"""The file of lives beside a loop: nothing waits for the disk, what fails is said once, and the daemon goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from analyzer.history.life import FILE_NAME, LOST_HINT, LifeError, LifeFile, lost_snoozes
from analyzer.model.instant import format_instant
from analyzer.model.life import Memory
from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

    from analyzer.model.finding import Finding
    from analyzer.model.instant import Instant
    from analyzer.model.life import Life, Snooze

__all__ = ["LifeKeeper"]


class LifeKeeper:
    """Keeps the lives of findings and their snoozes in the state folder; raises LifeError where it cannot be opened."""

    def __init__(self, folder: Path, log: FilteringBoundLogger) -> None:
        self._file = LifeFile.open(folder / FILE_NAME)
        self.began: Instant = 0
        self._log = log
        self._snoozes: tuple[Snooze, ...] = ()
        self._failing: dict[str, str] = {}
        if self._file.torn is not None:
            log.error("lives set aside: snoozes are forgotten", file=str(self._file.path), because=self._file.torn)
        elif (lost := self.lost()) is not None:
            log.error("lives were set aside: snoozes are forgotten", because=lost, mend=LOST_HINT)

    def lost(self) -> str | None:
        """Say that snoozes were lost with a damaged file, for as long as it lies there; None where none does."""
        return lost_snoozes(self._file.path)

    def gaps(self) -> tuple[Gap, ...]:
        """Return what is not known any more of what people said."""
        lost = self.lost()
        return () if lost is None else (Gap(SourceName.HISTORY, GapReason.MALFORMED, lost, LOST_HINT),)

    def begin(self, at: Instant) -> None:
        """Note when this install began, where nobody has; raises LifeError."""
        self.began = self._file.begin(at)

    async def memory(self, at: Instant) -> Memory:
        """Return the snoozes that stand; where they cannot be read, those that were read last."""
        try:
            self._snoozes = await asyncio.to_thread(self._file.snoozes, at)
        except LifeError as error:
            self._tell("snoozes cannot be read", error)
        else:
            self._tell("snoozes cannot be read", None)
        return Memory(self._snoozes, self.began)

    async def note(self, findings: Iterable[Finding], at: Instant) -> None:
        """Carry on the lives of all findings that there are now."""
        try:
            await asyncio.to_thread(self._file.note, findings, at)
        except LifeError as error:
            self._tell("lives of findings cannot be written", error)
        else:
            self._tell("lives of findings cannot be written", None)

    async def known(self) -> Collection[str]:
        """Return the ids of all findings that there are and were; raises LifeError."""
        return frozenset(await asyncio.to_thread(self._file.identities))

    async def listed(self, at: Instant) -> tuple[tuple[Snooze, Life | None], ...]:
        """Return the snoozes that stand, each with the life of its finding; raises LifeError."""
        return await asyncio.to_thread(self._file.listed, at)

    async def add(self, snooze: Snooze) -> None:
        """Keep a snooze, in place of one of the same finding; raises LifeError."""
        await asyncio.to_thread(self._file.snooze, snooze)
        self._log.info("snoozed", finding=snooze.id, until=format_instant(snooze.until))

    async def end(self, identity: str) -> bool:
        """End a snooze, and return whether there was one; raises LifeError."""
        return await asyncio.to_thread(self._file.end, identity)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _tell(self, what: str, error: LifeError | None) -> None:
        """Say once that something fails, and once that it works again."""
        before, now = self._failing.pop(what, None), None if error is None else str(error)
        if now is not None:
            self._failing[what] = now
        if now is not None and before is None:
            self._log.error(what, because=now)
        if now is None and before is not None:
            self._log.info("mended", what=what)
