"""Logs digested by several processes: parts adjacent in time, each with a digest of its own, merged in order."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.cli.judging import Stretch, new_digest
from analyzer.cli.reading import LogFile, read_blocks
from analyzer.config_structs import build_struct
from analyzer.requests.digest import Digest
from analyzer.requests.digest_limits import DigestLimits
from analyzer.requests.grammar import build_parsers
from analyzer.setup import salt_of
from collectors.request_log.unpacking import is_packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from analyzer.config import Settings
    from analyzer.contract.model import Contract

__all__ = ["digest_parts", "parts_of", "start_method"]

_SMALLEST_PART = 4 * 1024 * 1024


class Part(Struct, frozen=True):
    """What one process made of one part."""

    snapshot: bytes
    breaks_off: str | None
    bad: dict[str, int]
    others: int


def parts_of(logs: Sequence[LogFile], jobs: int) -> tuple[LogFile, ...]:
    """Cut plain files into parts of about equal size, one a process; packed ones stay whole."""
    sizes = [log.path.stat().st_size for log in logs]
    size = max(_SMALLEST_PART, -(-sum(sizes) // jobs))
    parts: list[LogFile] = []
    for log, whole in zip(logs, sizes, strict=True):
        if whole <= size or log.decoder is not None or _is_packed(log):
            parts.append(log)
        else:
            parts += [LogFile(log.path, start, min(start + size, whole)) for start in range(0, whole, size)]
    return tuple(parts)


def _is_packed(log: LogFile) -> bool:
    with log.path.open("rb") as file:
        return is_packed(file.read(4))


def digest_parts(
    logs: Sequence[LogFile],
    read: tuple[Settings, Contract],
    stretch: Stretch,
    jobs: int,
    seen: Callable[[int], None] | None,
) -> Iterator[tuple[str, Digest]]:
    """Yield the digest of each part with the name of its log, in the order of the logs."""
    settings, contract = read
    lexicon = contract.lexicon(salt_of(settings))
    limits = build_struct(settings, "limits", DigestLimits)
    parts = parts_of(logs, jobs)
    by_name = {log.name: log for log in logs}
    method = start_method()
    if method == "fork":
        build_parsers()  # once, for all copies of this process
    gc.freeze()  # what is here stays; a copy that looks through it for garbage copies the memory too
    pool = ProcessPoolExecutor(jobs, mp_context=get_context(method), initializer=_leave_interrupts_to_the_parent)
    try:
        digested = pool.map(partial(_digest, settings=settings, contract=contract, stretch=stretch), parts)
        for log, part in zip(parts, digested, strict=True):
            if log.decoder is not None:
                by_name[log.name].bad, by_name[log.name].others = part.bad, part.others
            if part.breaks_off is not None:
                by_name[log.name].breaks_off = part.breaks_off
            if seen is not None:
                seen((log.stop or log.path.stat().st_size) - log.start)
            yield log.name, Digest.restore(part.snapshot, lexicon, limits)
    finally:
        gc.unfreeze()
        for child in active_children():
            child.terminate()
        pool.shutdown(cancel_futures=True)


def start_method() -> str:
    """Say how to start processes: as copies of this one, which import nothing anew, where no thread can hold a lock."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _digest(log: LogFile, settings: Settings, contract: Contract, stretch: Stretch) -> Part:
    digest = new_digest(settings, contract)
    for block in read_blocks(log, stretch.since, stretch.until):
        digest.update(block)
    return Part(digest.snapshot(), log.breaks_off, log.bad, log.others)
