"""Write the bench's logs, the same bytes every time: `python -m tests.bench.generate COUNT [--hard] [--output F]`."""

from __future__ import annotations

import argparse
import base64
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from tests.bench.workload import KEYS, SHARES, TABLES, line_templates, patterns, start_text, token

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["generate", "main"]

_CHUNK = 50_000
_PER_SECOND = 5_000
_EXPONENT = 1.1


def generate(count: int, *, hard: bool, sink: BinaryIO, seed: int = 1) -> None:
    """Write so many records, in order of time but for a second or so."""
    sink.writelines("".join(lines).encode() for lines in _chunks(count, hard=hard, seed=seed))


def _chunks(count: int, *, hard: bool, seed: int) -> Iterator[list[str]]:
    kinds = patterns(hard=hard)
    members = len(kinds) // TABLES
    templates = [line_templates(kind, hard=hard, seed=number) for number, kind in enumerate(kinds)]
    random = np.random.default_rng(seed)
    weights = np.cumsum(np.arange(1, KEYS + 1, dtype=float) ** -_EXPONENT)
    weights /= weights[-1]
    for begin in range(0, count, _CHUNK):
        size = min(_CHUNK, count - begin)
        keys = np.searchsorted(weights, random.random(size))
        pattern = (keys % TABLES) * members + random.choice(members, size=size, p=SHARES)
        seconds = np.maximum((np.arange(begin, begin + size) + random.normal(0, 300, size)) // _PER_SECOND, 0)
        columns = (keys, pattern, seconds.astype(int), random.integers(1000, size=size), _numbers(random, size))
        yield [
            templates[kind][position % len(templates[kind])] % _fill(begin + position, key, second, ms, drawn)
            for position, (key, kind, second, ms, drawn) in enumerate(zip(*(c.tolist() for c in columns), strict=True))
        ]


def _numbers(random: np.random.Generator, size: int) -> np.ndarray:
    """Draw (count, scanned, bytes, half-microseconds, owner) for each record."""
    count = random.integers(1, 26, size=size)
    scanned = count + random.integers(0, 200, size=size)
    latency = random.lognormal(1.5, 0.6, size=size) * 100
    return np.stack(
        (count, scanned, random.integers(200, 4000, size=size), latency.astype(int), random.integers(5000, size=size)),
        axis=1,
    )


_TOKENS: dict[int, str] = {}
_SECONDS: dict[int, str] = {}


def _fill(number: int, key: int, second: int, ms: int, drawn: list[int]) -> dict[str, object]:
    count, scanned, size, latency, owner = drawn
    text = _SECONDS.get(second)
    if text is None:
        _SECONDS.clear()
        text = _SECONDS[second] = start_text(second)
    written = 1 + size // 1024
    return {
        "key": key,
        "token": token(key),
        "binary": base64.b64encode(b"%09d" % key).decode(),
        "tenant": key % 40,
        "second": text,
        "ms": ms,
        "count": count,
        "scanned": scanned,
        "bytes": size,
        "more": "true" if count > 20 else "false",
        "latency": latency / 100,
        "owner": _TOKENS.get(owner) or _TOKENS.setdefault(owner, token(owner)),
        "moment": token(second + (1 << 35)),
        "owner_number": owner,
        "number": number,
        "event": token(number + (1 << 30)),
        "read": f"{(1 + size // 4096) / 2:g}",
        "write": written,
        "write2": 2 * written,
        "trace": number // 3 * 0x9E3779B97F4A7C15 % (1 << 96),
        "request": number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 200),
    }


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write to a file or to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    if options.output is None:
        generate(options.count, hard=options.hard, sink=sys.stdout.buffer)
        return
    with options.output.open("wb") as sink:
        generate(options.count, hard=options.hard, sink=sink)


if __name__ == "__main__":
    main()
