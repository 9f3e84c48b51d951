"""The one file that a restart goes on from: positions in the logs and everything counted up to them, together."""

from __future__ import annotations

import fcntl
import os
import zlib
from typing import IO, TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.closing import NOTHING_OWED, Owed
from analyzer.errors import DynascopeError, UsageError
from analyzer.exporters.from_counts import Carried
from analyzer.lifecycle.advance import State
from analyzer.model.batch import Position
from analyzer.model.counts import Cell
from analyzer.model.finding import Change
from analyzer.model.instant import Instant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["SCHEMA", "Checkpoint", "NewerStateError", "StateFolder", "Torn"]

SCHEMA = 1
"""Version of the state file; an older one is read, a newer one is refused."""

_MAGIC = b"dynascope-state"
_CORRUPT = "daemon.state.corrupt"


class Beside(Struct, frozen=True):
    """What is remembered that no log holds: marks of changes, and what reading from AWS took, in the budget's form."""

    marks: tuple[Change, ...] = ()
    budget: dict[str, Any] = {}


NOTHING_BESIDE = Beside()


class Checkpoint(Struct, frozen=True, kw_only=True):
    """The state of a daemon between two blocks.

    `digest` is what the digest wrote itself. `kept` holds counters that are not the digest's, by metric and labels.
    `contract` tells the contract apart under which `carried`, `patterns` (what each cell was called) and
    `restated` hold: cells of the digest that were counted under an earlier one, with what this one says of them.
    `owed` is what history has still to be told.
    """

    saved_at: Instant
    positions: tuple[Position, ...]
    digest: bytes
    findings: State
    carried: Carried
    kept: dict[str, dict[tuple[str, ...], float]]
    contract: str
    patterns: dict[str, str] = {}
    restated: tuple[tuple[Cell, Cell], ...] = ()
    beside: Beside = NOTHING_BESIDE
    owed: Owed = NOTHING_OWED


class NewerStateError(DynascopeError):
    """The state was written by a newer version."""


class Torn(Struct, frozen=True):
    """A state file that cannot be read; it was set aside."""

    path: str
    because: str


class StateFolder:
    """A folder that one daemon owns; the file in it is replaced whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "daemon.state"
        self._folder = folder
        self._lock: IO[bytes] | None = None

    def claim(self) -> None:
        """Make the folder and keep other daemons out of it; raises UsageError, or OSError where it cannot be made."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (self._folder / "lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise UsageError(f"another daemon uses {self._folder}: stop it, or give this one its own `state`") from None
        self._lock = lock

    def release(self) -> None:
        """Let other daemons in."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self, check: Callable[[Checkpoint], None] = lambda _: None) -> Checkpoint | Torn | None:
        """Return the last state, None where there is none; a torn one is set aside.

        `check` may refuse what the file holds with ValueError. Raises NewerStateError.
        """
        try:
            with open(self.path, "rb", opener=_without_waiting) as file:
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            mend = "mend that, or move it away to begin anew"
            raise UsageError(f"cannot read {self.path}: {error.strerror}; {mend}") from None
        try:
            checkpoint = _decode(content, self.path)
            check(checkpoint)
        except (ValueError, msgspec.DecodeError) as error:
            return self._set_aside(str(error))
        return checkpoint

    def _set_aside(self, because: str) -> Torn:
        aside = self._folder / _CORRUPT
        try:
            self.path.replace(aside)
        except OSError as error:
            raise UsageError(f"cannot set {self.path} aside: {error.strerror}; mend its permissions") from None
        return Torn(str(aside), because)

    @staticmethod
    def encode(checkpoint: Checkpoint) -> bytes:
        """Return what the file is to hold: a line with version, length and checksum, then the state."""
        body = msgspec.msgpack.encode(checkpoint)
        return b"%s %d %d %d\n%s" % (_MAGIC, SCHEMA, len(body), zlib.crc32(body), body)

    def write(self, content: bytes) -> None:
        """Replace the state: the old one stays until the new one is on disk. Raises OSError."""
        temporary = self.path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def try_writing(self, content: bytes) -> str | None:
        """Replace the state; return why it could not be written, None where it was."""
        try:
            self.write(content)
        except OSError as error:
            return error.strerror or type(error).__name__
        return None


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe in its place would wait for its other end for ever."""
    return os.open(path, flags | os.O_NONBLOCK)


def _decode(content: bytes, path: Path) -> Checkpoint:
    head, _, body = content.partition(b"\n")
    words = head.split(b" ")
    if len(words) < 2 or words[0] != _MAGIC or not words[1].isdigit():  # noqa: PLR2004 -- magic and version
        raise ValueError("it does not begin like a state file")
    schema = int(words[1])
    if schema > SCHEMA:
        raise NewerStateError(
            f"{path} has schema {schema}, this version reads up to {SCHEMA}: "
            "run the newer version again, or move the file away to begin anew"
        )
    if words[2:] != [b"%d" % len(body), b"%d" % zlib.crc32(body)]:
        raise ValueError("it is torn: length or checksum differ")
    return msgspec.msgpack.decode(body, type=Checkpoint)
