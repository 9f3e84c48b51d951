"""What the user named on the command line: files that exist, a stretch of time, a contract."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.config import parse_duration
from analyzer.errors import UsageError, closest
from analyzer.model.instant import Instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STDIN", "Moment", "expand", "parse_moment", "place_stretch"]

STDIN = Path("-")
"""Stands for standard input."""

_MOST_NAMED = 5


class Moment(Struct, frozen=True):
    """A time, or how long before the end of the log."""

    text: str
    at: Instant | None = None
    before_end_ms: int | None = None

    def instant(self, end: Instant) -> Instant:
        """Return the time, given where the log ends."""
        return self.at if self.at is not None else end - (self.before_end_ms or 0)


def expand(names: Sequence[str]) -> tuple[Path, ...]:
    """Return the files that names and globs stand for, each once; raises UsageError with all that are not there."""
    found: dict[Path, None] = {}
    missing: list[str] = []
    for name in names:
        if name == "-" or Path(name).is_file():
            found[Path(name)] = None
            continue
        files = sorted(Path(match) for match in glob.glob(name, recursive=True) if Path(match).is_file())  # noqa: PTH207 -- absolute globs too
        found.update(dict.fromkeys(files))
        if not files:
            missing.append(_mend(name))
    if missing:
        rest = len(missing) - _MOST_NAMED
        raise UsageError("\n".join(missing[:_MOST_NAMED]) + (f"\nand {rest} more" if rest > 0 else ""))
    return tuple(found)


def _mend(name: str) -> str:
    path = Path(name)
    if path.is_dir():
        return f"{name} is a folder; name its files, such as '{path / '*.jsonl'}'"
    if path.exists():
        return f"{name} is neither a file nor a folder; what a command writes is read as -: COMMAND | dynascope ... -"
    if glob.has_magic(name):
        return f"no file fits {name}"
    if not path.parent.is_dir():
        return f"{name} does not exist: there is no folder {path.parent}"
    meant = closest(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    return f"{name} does not exist" + (f"; did you mean {path.parent / meant}?" if meant else "")


def parse_moment(text: str | None, option: str) -> Moment | None:
    """Read an RFC 3339 time, or a duration that counts back from the end of the log; raises UsageError."""
    if text is None:
        return None
    try:
        return Moment(text, before_end_ms=parse_duration(text))
    except ValueError:
        pass
    try:
        return Moment(text, at=parse_instant(text))
    except ValueError:
        raise UsageError(
            f"{option} {text}: write a time such as 2026-06-01T10:00:00Z, or how long before the end, such as 30m"
        ) from None


def place_stretch(
    since: Moment | None, until: Moment | None, end: Instant | None
) -> tuple[Instant | None, Instant | None]:
    """Return the stretch as instants, the end of the log being `end`; raises UsageError where nothing is left of it."""
    first = None if since is None else since.instant(end or 0)
    last = None if until is None else until.instant(end or 0)
    if since is not None and until is not None and first is not None and last is not None and first >= last:
        raise UsageError(f"--since {since.text} is not before --until {until.text}: nothing is left to look at")
    return first, last
