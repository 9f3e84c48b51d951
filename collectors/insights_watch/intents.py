"""Intents on disk: written whole before a switch, held by a lock while its process lives, removed when undone."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from collectors.insights_watch.parse import encode_intent, name_of, read_intent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.model.target import Target
    from collectors.insights_watch.parse import Intent

__all__ = ["Intents"]

_FOLDER = "insights-watch"


class Intents:
    """The intents of one state folder. A lock ends with its process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """Hold an intent while its watch lasts; False where another process holds it."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / f"{name}.lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True

    def names(self) -> tuple[str, ...]:
        """Return the names of all intents."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.json")))

    def known(self, target: Target) -> Intent | None:
        """Return the intent of a target, None where there is none; raises MalformedError."""
        return self.read(name_of(target))

    def read(self, name: str) -> Intent | None:
        """Return an intent by name, None where there is none; raises MalformedError."""
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        return read_intent(content, str(path))

    def write(self, intent: Intent) -> None:
        """Write an intent so that it is on disk, whole, when this returns; raises OSError."""
        path = self._path(name_of(intent.target))
        temporary = path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode_intent(intent))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        self._settle()

    def remove(self, intent: Intent) -> None:
        """Remove an intent that was undone."""
        self._path(name_of(intent.target)).unlink(missing_ok=True)
        self._settle()

    def _settle(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
