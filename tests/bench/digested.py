"""The bench's question, answered by the digest alone: `python -m tests.bench.digested FILE CONTRACT`; prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.contract.load import load_contract
from analyzer.model.counts import Count, KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.instant import MINUTE_MS, format_instant
from analyzer.model.window import Window
from analyzer.requests.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["answer", "blocks_of"]

_BLOCK = 256 * 1024


def blocks_of(path: Path) -> Iterator[bytes]:
    """Read a file in blocks of whole lines."""
    rest = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            lines, _, tail = block.rpartition(b"\n")
            yield rest + lines
            rest = tail
    yield rest


def answer(path: Path, contract: Path) -> dict[str, Any]:
    """Return what `duck.ask` returns, but for each key the bounds of its read units."""
    digest = Digest(load_contract([contract]).lexicon())
    for block in blocks_of(path):
        digest.update(block)
    span = digest.span()
    counts: dict[str, dict[str, list[int]]] = {}
    for start in range(span.start, span.end, MINUTE_MS) if span else ():
        result = digest.result(Window(start, start + MINUTE_MS))
        for cell, requests in zip(result.cells, result.values[:, Count.REQUESTS].tolist(), strict=True):
            if requests:
                name = f"{cell.shape.operation} {cell.target.table} {cell.target.index or ''}"
                counts.setdefault(name, {}).setdefault(format_instant(start)[:16], []).append(requests)
    for minutes in counts.values():
        for listed in minutes.values():
            listed.sort()
    keys = [
        [heavy.target.table, key.name.partition, key.low / 2, key.high / 2]
        for heavy in digest.totals().keys
        if heavy.direction is Direction.READ and heavy.target.index is None
        for key in heavy.keys
        if key.name.level is KeyLevel.PARTITION
    ]
    return {"counts": counts, "keys": keys}


if __name__ == "__main__":
    print(json.dumps(answer(Path(sys.argv[1]), Path(sys.argv[2]))))
