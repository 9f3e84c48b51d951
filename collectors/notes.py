"""Notes on disk of what a collector that writes to AWS must undo: whole before it writes, held while it lasts.

A note is removed when what it tells of was undone. One that is left behind says what a process that died has left.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from analyzer.errors import AbsentError, CollectError, DeniedError
from collectors.asking import member

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from analyzer.interfaces import AwsCaller
    from analyzer.model.target import Target
    from collectors.asking import Spot

__all__ = ["Note", "Notes", "Undone", "encode_note", "name_of", "own_account", "refuse_others", "saying_then"]


async def refuse_others(aws: AwsCaller, spot: Spot, target: Target, again: str) -> None:
    """Raise DeniedError where the credentials are not of the account that a note names, else CollectError."""
    found = await own_account(aws, spot)
    if found != target.account:
        hint = f"call `{again}` with credentials of {target.account}"
        raise DeniedError(f"{target} is of {target.account}, these credentials of {found}", hint=hint)


async def own_account(aws: AwsCaller, spot: Spot) -> str:
    """Return the account that calls are made with; raises CollectError."""
    answer = await aws.call("sts", "GetCallerIdentity", region=spot.region, account=spot.account)
    return member(answer, "Account", str, "GetCallerIdentity")


@contextmanager
def saying_then(what: str) -> Iterator[None]:
    """Let a failure say what is to be done when it is mended; what is not there any more needs nothing undone."""
    try:
        yield
    except AbsentError:
        return
    except CollectError as error:
        raise type(error)(str(error), hint=f"{error.hint}; then {what}", code=error.code) from error


class Note(Protocol):
    """A struct of msgspec that says what must be undone, and where."""

    @property
    def target(self) -> Target:
        """The table or index."""
        ...


N = TypeVar("N", bound=Note)


def name_of(target: Target) -> str:
    """Return the name of a target's note: the same for the same target, and fit for any file system."""
    text = "\x1f".join((target.account or "", target.region or "", target.table, target.index or ""))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def encode_note(note: Note) -> bytes:
    """Return a note as it is written."""
    return msgspec.json.format(msgspec.json.encode(note), indent=2) + b"\n"


class Undone(NamedTuple, Generic[N]):
    """Notes of which all was undone, and why that of others could not be."""

    undone: tuple[N, ...]
    errors: tuple[CollectError, ...]


class Notes(Generic[N]):
    """The notes of one folder; `read` makes one of its bytes and the name of its file, and raises MalformedError.

    A lock ends with its process, however that ends.
    """

    def __init__(self, folder: Path, read: Callable[[bytes, str], N]) -> None:
        self._folder = folder
        self._read = read

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """Hold a note while what it tells of lasts; False where another process holds it."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / f"{name}.lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True

    def names(self) -> tuple[str, ...]:
        """Return the names of all notes."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.json")))

    def read(self, name: str) -> N | None:
        """Return a note by name, None where there is none; raises MalformedError."""
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        return self._read(content, str(path))

    async def undo(self, how: Callable[[N], Awaitable[None]]) -> Undone[N]:
        """Undo what processes that died have left; what another process holds is its own to undo."""
        undone: list[N] = []
        errors: list[CollectError] = []
        for name in self.names():
            with self.hold(name) as is_ours:
                if not is_ours:
                    continue
                try:
                    note = self.read(name)
                    if note is not None:
                        await how(note)
                        undone.append(note)
                except CollectError as error:
                    errors.append(error)
        return Undone(tuple(undone), tuple(errors))

    def write(self, note: N) -> None:
        """Write a note so that it is on disk, whole and under its name, when this returns; raises OSError."""
        path = self._path(name_of(note.target))
        temporary = path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode_note(note))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        self._settle()

    def remove(self, note: N) -> None:
        """Remove a note: what it tells of was undone."""
        self._path(name_of(note.target)).unlink(missing_ok=True)
        self._settle()

    def _settle(self) -> None:
        """Put the folder on disk too: a name that is not there after a crash is a note that was never written."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
