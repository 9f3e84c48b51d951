"""The times of a block's records become seconds, by the thousand."""

from __future__ import annotations

import re
from operator import itemgetter

import numpy as np

from analyzer.model.instant import parse_instant

__all__ = ["Clock"]

_MOST_SECONDS = 8192
_FRONT = itemgetter(slice(0, 19))
_LAST = itemgetter(slice(-1, None))
_PLAIN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
_UTC = {"Z"}
_USUAL = {24}
"""Characters of a time as samplers write it, `2026-11-30T10:00:00.000Z`."""

_SECONDS_AT = 17
_ZERO, _DOT, _Z = ord("0"), ord("."), ord("Z")


class Clock(dict[str, int]):
    """A bounded memory of seconds by their text; -1 stands for what is no time."""

    def __missing__(self, front: str) -> int:
        """Read the second of a time whose first 19 characters were not met before."""
        if _PLAIN.fullmatch(front) is None:
            return -1
        second = _second(front + "Z")
        if len(self) >= _MOST_SECONDS:
            self.clear()
        self[front] = second
        return second

    def seconds(self, times: list[str]) -> np.ndarray:
        """Return the second since the epoch of each time, -1 of what is none."""
        within = self._within_a_minute(times)
        if within is not None:
            return within
        seconds = np.fromiter(map(self.__getitem__, map(_FRONT, times)), np.int64, len(times))
        if seconds.min(initial=0) < 0 or set(map(_LAST, times)) != _UTC:
            for at, time in enumerate(times):
                if seconds[at] < 0 or time[-1] != "Z":
                    seconds[at] = _second(time)
        return seconds

    def _within_a_minute(self, times: list[str]) -> np.ndarray | None:
        """Return the same of times that are written the usual way and lie in one minute; None of others."""
        if set(map(len, times)) != _USUAL:
            return None
        text = np.frombuffer("".join(times).encode("ascii", "replace"), dtype=np.uint8).reshape(len(times), -1)
        first = self[f"{times[0][:_SECONDS_AT]}00"]
        tens, ones = text[:, _SECONDS_AT] - _ZERO, text[:, _SECONDS_AT + 1] - _ZERO
        is_usual = (
            first >= 0
            and (text[:, :_SECONDS_AT] == text[0, :_SECONDS_AT]).all()
            and (text[:, _SECONDS_AT + 2] == _DOT).all()
            and (text[:, -1] == _Z).all()
            and tens.max() <= 5  # noqa: PLR2004 -- what is no digit is more, for these are bytes
            and ones.max() <= 9  # noqa: PLR2004 -- same
        )
        if not is_usual:
            return None
        seconds: np.ndarray = first + 10 * tens.astype(np.int64) + ones
        return seconds


def _second(time: str) -> int:
    """Read a time of any RFC 3339 spelling; times before 1970 count as none."""
    try:
        return max(-1, parse_instant(time.upper()) // 1000)
    except (ValueError, OverflowError):
        return -1
