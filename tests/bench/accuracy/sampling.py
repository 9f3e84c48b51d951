"""What a sampler keeps of a log: by request, by key, by trace, or as the sampler does by itself."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.bench.accuracy.healthy import Record

__all__ = ["MODES", "sampled"]

MODES = ("request", "key", "trace", "default")
"""`default` is half of the rate by request and half by trace, as two strata at once."""

_KEPT_ALWAYS = ("Throttl", "ProvisionedThroughput", "Internal", "Validation", "Transport")


def sampled(records: Iterable[Record], mode: str, rate: float, seed: int) -> Iterator[Record]:
    """Yield what is kept, each with its inclusion probability and the strata that kept it."""
    draw = np.random.default_rng(seed)
    for record in records:
        if rate >= 1:
            yield record
            continue
        strata = _strata(record, mode, rate)
        chances = {"request": draw.random(), "key": _place(_key(record)), "trace": _place(record.get("trace_id", ""))}
        kept_by = [by for by, part in strata.items() if chances[by] < part]
        if kept_by or _is_notable(record):
            missed = float(np.prod([1 - part for part in strata.values()]))
            told = [{"by": by, "rate": strata[by]} for by in kept_by]
            yield record | {"sample_rate": 1.0 if _is_notable(record) else 1 - missed, "strata": told}


def _strata(record: Record, mode: str, rate: float) -> dict[str, float]:
    if mode == "default":
        return {"request": rate / 2, "trace" if "trace_id" in record else "key": rate / 2}
    if mode == "trace" and "trace_id" not in record:
        return {"request": rate}
    return {mode: rate}


def _is_notable(record: Record) -> bool:
    code = str(record.get("error", {}).get("code", ""))
    return code.startswith(_KEPT_ALWAYS) or any(
        str(t.get("code", "")).startswith(_KEPT_ALWAYS[:2]) for t in record.get("tries", ())
    )


def _key(record: Record) -> str:
    return f"{record.get('table')}{record.get('key')}"


def _place(text: str) -> float:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64
