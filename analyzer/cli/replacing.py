"""Files that are written wholly or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["replace_file", "replace_file_by"]


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step: whoever reads it, or pulls the plug, finds the old one or the new one.

    Mode and owner stay, and so does a link that leads to it. Raises OSError; the file is then as it was.
    """
    replace_file_by(path, lambda file: file.write(content))


def replace_file_by(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Replace a file as `replace_file` does by what is written piece by piece."""
    place = path.resolve()
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}.", delete=False) as file:
        fresh = Path(file.name)
        try:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            _take_after(fresh, place)
            fresh.replace(place)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise


def _take_after(fresh: Path, place: Path) -> None:
    """Give a new file the mode and owner of the one that it takes the place of, else those of any new file."""
    if not place.exists():
        mask = os.umask(0)
        os.umask(mask)
        fresh.chmod(0o666 & ~mask)
        return
    shutil.copymode(place, fresh)
    there = place.stat()
    with suppress(PermissionError):  # only root gives files away
        os.chown(fresh, there.st_uid, there.st_gid)
