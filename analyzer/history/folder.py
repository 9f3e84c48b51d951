"""A local folder as a place for bytes: every file is there whole or not at all. And whose name is whose there."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

__all__ = ["FolderBlobs", "NameClaim"]

_UNFINISHED = ".part"
_LEFT_AFTER_SECONDS = 3600.0
"""What is unfinished for so long was left by a process that was killed: to write a file takes a moment."""


class FolderBlobs:
    """Stores bytes under names with `/` between folders; what fails raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    async def read(self, name: str) -> bytes:
        """Return what is stored under a name; raises KeyError."""
        try:
            return await asyncio.to_thread((self._folder / name).read_bytes)
        except FileNotFoundError:
            raise KeyError(name) from None

    async def write(self, name: str, content: bytes) -> None:
        """Store bytes at once and wholly: they are on disk before they have their name."""
        await asyncio.to_thread(self._write, self._folder / name, content)

    async def list(self, prefix: str) -> tuple[str, ...]:
        """Return the names that begin with a prefix, in order; unfinished ones are none."""
        return await asyncio.to_thread(self._list, prefix)

    async def delete(self, name: str) -> None:
        """Let go of what is stored under a name, if anything is; a folder that gets empty goes too."""
        await asyncio.to_thread(self._delete, self._folder / name)

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}{_UNFINISHED}")
        try:
            with unfinished.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        _sweep(path.parent)

    def _list(self, prefix: str) -> tuple[str, ...]:
        within, _, _ = prefix.rpartition("/")
        found: list[str] = []
        for folder, _, names in os.walk(self._folder / within):
            inner = Path(folder).relative_to(self._folder).as_posix()
            found += [name if inner == "." else f"{inner}/{name}" for name in names if not name.endswith(_UNFINISHED)]
        return tuple(sorted(name for name in found if name.startswith(prefix)))

    def _delete(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        _sweep(path.parent)
        if path.parent != self._folder and path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()


class NameClaim:
    """The name under which one daemon writes to a folder; the system lets go of it when the process ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f".{name}.lock"
        self._file: IO[bytes] | None = None

    def take(self) -> bool:
        """Keep the name; False where another has it. A folder that cannot be locked is nobody else's."""
        if self._file is not None:
            return True
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._path.open("wb")
        except OSError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            return not isinstance(error, BlockingIOError)
        self._file = file
        return True

    def release(self) -> None:
        """Leave the name to others."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _sweep(folder: Path) -> None:
    """Let go of what processes left that were killed while they wrote."""
    with suppress(OSError):  # it is tried again with the next file
        for left in folder.glob(f".*{_UNFINISHED}"):
            if time.time() - left.stat().st_mtime > _LEFT_AFTER_SECONDS:
                left.unlink(missing_ok=True)
