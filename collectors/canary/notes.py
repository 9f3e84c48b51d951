"""Notes on disk of what the canary may leave: whole before an item is written, locked while its process lives."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from collectors.canary.parse import encode_left, name_of, read_left

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from collectors.canary.parse import Left

__all__ = ["Notes"]

_FOLDER = "canary"


class Notes:
    """The notes of one state folder. A lock ends with its process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """Hold a note while its run lasts; False where another process holds it."""
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

    def read(self, name: str) -> Left | None:
        """Return a note by name, None where there is none; raises MalformedError."""
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        return read_left(content, str(path))

    def write(self, left: Left) -> None:
        """Write a note so that it is on disk, whole, when this returns; raises OSError."""
        path = self._path(name_of(left.target))
        temporary = path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode_left(left))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)

    def remove(self, left: Left) -> None:
        """Remove a note: nothing is left."""
        self._path(name_of(left.target)).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
