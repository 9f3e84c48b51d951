"""Processes and what they cost: CPU seconds and peak memory of one and of the children that it waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cost", "Interval", "interval_of", "run"]

_MEBIBYTE = 1024 * 1024
_RESAMPLES = 10_000


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
    random = np.random.default_rng(seed)
    medians = np.median(random.choice(np.array(values), size=(_RESAMPLES, len(values))), axis=1)
    low, high = np.quantile(medians, [0.05, 0.95])
    return Interval(float(low), float(np.median(values)), float(high))
