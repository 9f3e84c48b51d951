"""Names of the files of history: kind, date, the stretch that a file is of, and the daemon that wrote it.

`kind=requests/date=2026-11-30/20261130T0912-a1b2c3d4.parquet`: a minute; without the minute an hour, without the hour a
day. Behind the daemon, what came late has the number of its batch, and what was made a second time has a hash. Several
daemons may write side by side.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from analyzer.history.columns import Kind
from analyzer.model.instant import MINUTE_MS, Instant, to_instant, to_moment
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["DAY_MS", "HOUR_MS", "LATE", "FileName", "days_of", "mark_of"]

HOUR_MS = 3_600_000
DAY_MS = 86_400_000
LATE = "late"
"""What stands before the number of a batch that came late; no hash begins so."""
_NAME = re.compile(
    r"kind=(?P<kind>[a-z_]+)/date=[0-9-]{10}/"
    r"(?P<time>\d{8}(?:T\d{2}(?:\d{2})?)?)-(?P<daemon>[a-z0-9]{1,32})(?:-(?P<mark>[0-9a-f]{8}|late\d{1,15}))?\.parquet"
)
_FORMS = {MINUTE_MS: "%Y%m%dT%H%M", HOUR_MS: "%Y%m%dT%H", DAY_MS: "%Y%m%d"}
_LENGTHS = {13: MINUTE_MS, 11: HOUR_MS, 8: DAY_MS}


class FileName(NamedTuple):
    """What a name tells: `length_ms` is that of a minute, an hour or a day, `mark` tells files of one stretch apart."""

    kind: Kind
    start: Instant
    length_ms: int
    daemon: str
    mark: str = ""

    @classmethod
    def parse(cls, path: str) -> FileName | None:
        """Read a name; None where it is not one of ours."""
        found = _NAME.fullmatch(path)
        if found is None:
            return None
        length = _LENGTHS[len(found["time"])]
        try:
            kind = Kind(found["kind"])
            moment = datetime.strptime(found["time"], _FORMS[length]).replace(tzinfo=UTC)
        except ValueError:
            return None
        name = cls(kind, to_instant(moment), length, found["daemon"], found["mark"] or "")
        return name if str(name) == path else None  # a copy in the folder of another day is none

    @property
    def window(self) -> Window:
        """The stretch that the file is of."""
        return Window(self.start, self.start + self.length_ms)

    @property
    def late(self) -> int:
        """The number of a batch that came late; 0 where the file is none."""
        return int(self.mark.removeprefix(LATE)) if self.mark.startswith(LATE) else 0

    @property
    def leaf(self) -> str:
        """The name within its folder: files of one stretch have the same one whatever their kind."""
        time = to_moment(self.start).strftime(_FORMS[self.length_ms])
        return f"{time}-{self.daemon}{f'-{self.mark}' if self.mark else ''}.parquet"

    def __str__(self) -> str:
        return f"{_folder(self.kind, self.start)}{self.leaf}"


def _folder(kind: Kind, start: Instant) -> str:
    return f"kind={kind.value}/date={to_moment(start):%Y-%m-%d}/"


def days_of(kind: Kind, window: Window) -> list[str]:
    """Return the folders of the days that a window touches."""
    first = window.start - window.start % DAY_MS
    return [_folder(kind, start) for start in range(first, window.end, DAY_MS)]


def mark_of(contents: Iterable[bytes]) -> str:
    """Return what tells files of one stretch apart: the same contents have the same mark."""
    digest = blake2b(digest_size=4)
    for content in contents:
        digest.update(content)
    return digest.hexdigest()
