"""Processes and what they cost: CPU seconds and peak memory of one and of the children that it waited for.

The peak of a child begins with that of the process that starts it: this one has to stay small, without numpy.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cost", "Interval", "interval_of", "run"]

_MEBIBYTE = 1024 * 1024
_RESAMPLES = 4_000


class Cost(NamedTuple):
    """What a process cost: `output` is what it printed."""

    cpu_seconds: float
    peak_mebibytes: float
    exit_code: int
    output: str


class Interval(NamedTuple):
    """A median with its bootstrap 90 % interval."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def run(command: Sequence[str], source: Sequence[str] | None = None) -> Cost:
    """Run a process, with the output of another one as its input."""
    feeder = None if source is None else subprocess.Popen(source, stdout=subprocess.PIPE)
    process = subprocess.Popen(command, stdin=feeder.stdout if feeder else subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read().decode()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if feeder is not None:
        assert feeder.stdout is not None
        feeder.stdout.close()
        feeder.wait()
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / _MEBIBYTE, process.returncode, output)


def interval_of(values: Sequence[float], seed: int = 1) -> Interval:
    """Return the median of some values with its bootstrap 90 % interval."""
    draw = random.Random(seed)
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return Interval(medians[_RESAMPLES // 20], median(values), medians[-_RESAMPLES // 20])
