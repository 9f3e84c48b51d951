"""Which calls are kept: independent strata at once, and a reservoir for what must not be missed."""

from __future__ import annotations

import random
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["ALWAYS_KEPT_A_SECOND", "Choice", "Reservoir", "Strata", "is_always_kept"]

ALWAYS_KEPT_A_SECOND = 200

Choice = tuple[float, Optional[tuple[tuple[str, float], ...]]]
"""Probability with which such a call is kept, and the strata that kept this one: (by, rate); None: it was certain."""

ALL: Choice = (1.0, None)

_CACHE_ENTRIES = 20_000
_SCALE = float(1 << 64)
_CONTENTION = frozenset(
    {
        "ConditionalCheckFailedException",
        "DuplicateItemException",
        "ReplicatedWriteConflictException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_CONTENTION_IN_TRANSACTION = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict", "DuplicateItem", None})


def is_always_kept(error: dict[str, Any]) -> bool:
    """Whether a failure is kept whatever the rates: all but failed conditions and conflicts, which are daily life."""
    code = error["code"]
    if code == "TransactionCanceledException":
        return not _CONTENTION_IN_TRANSACTION.issuperset(error.get("cancellation") or ())
    return code not in _CONTENTION


class Strata:
    """The three samples. Trace and key are chosen by hash, so that every process chooses the same ones."""

    def __init__(self, request_rate: float, trace_rate: float | None, key_rate: float | None, key: bytes) -> None:
        """Take rates from 0 to 1 (None: no such stratum) and the hash key that all samplers share."""
        self.request_rate = request_rate
        self.trace_rate = trace_rate
        self.key_rate = key_rate
        self.keeps_all = request_rate >= 1
        self.is_request_only = trace_rate is None and key_rate is None
        self._key = key
        self._fractions: dict[str, float] = {}
        self.reseed()

    def reseed(self) -> None:
        """Start a random sequence of our own: the application's must not notice us, nor a fork repeat its parent's."""
        self.random = random.Random().random  # noqa: S311 - a sample, not a secret

    def choose(self, trace: str | None, partitions: Collection[str]) -> Choice | None:
        """Return the choice of a call of this trace and these partition keys, None if no stratum keeps it."""
        kept: list[tuple[str, float]] = []
        missed = 1.0 - self.request_rate
        if self.random() < self.request_rate:
            kept.append(("request", self.request_rate))
        if trace is not None and self.trace_rate is not None:
            missed *= 1.0 - self.trace_rate
            if _fraction(trace, b"") < self.trace_rate:
                kept.append(("trace", self.trace_rate))
        elif partitions and self.key_rate is not None:
            rate = 1.0 - (1.0 - self.key_rate) ** len(partitions)
            missed *= 1.0 - rate
            known = self._fractions
            least = min([known.get(name) or self._partition_fraction(name) for name in partitions])
            if least < self.key_rate:
                kept.append(("key", rate))
        if missed <= 0:
            return ALL
        return (1.0 - missed, tuple(kept)) if kept else None

    def _partition_fraction(self, partition: str) -> float:
        if len(self._fractions) >= _CACHE_ENTRIES:
            self._fractions.clear()
        found = self._fractions[partition] = _fraction(partition, self._key)
        return found

    def probability(self, trace: str | None, partitions: Collection[str]) -> float:
        """Return the probability with which the strata would keep such a call."""
        missed = 1.0 - self.request_rate
        if trace is not None and self.trace_rate is not None:
            missed *= 1.0 - self.trace_rate
        elif partitions and self.key_rate is not None:
            missed *= (1.0 - self.key_rate) ** len(partitions)
        return 1.0 - missed


def _fraction(text: str, key: bytes) -> float:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big") / _SCALE


class Reservoir:
    """A uniform sample of the failures of one second. What the strata keep as well is never thrown away."""

    def __init__(self, size: int = ALWAYS_KEPT_A_SECOND) -> None:
        """Take how many a second are kept."""
        self._size = size
        self._random = random.Random()  # noqa: S311 - a sample, not a secret
        self._offered = 0
        self._sample: list[tuple[Any, Choice]] = []
        self._beside: list[tuple[Any, Choice]] = []
        self._lost = 0

    def offer(self, raw: Any, choice: Choice) -> None:
        """Take one failure, with the probability and the strata that keep it anyway."""
        self._offered += 1
        if len(self._sample) < self._size:
            self._sample.append((raw, choice))
            return
        place = self._random.randrange(self._offered)
        out = (raw, choice)
        if place < self._size:
            out, self._sample[place] = self._sample[place], out
        if out[1][1]:
            self._beside.append(out)

    def close(self) -> Iterator[tuple[Any, Choice]]:
        """Empty the reservoir: each failure kept, with the probability that strata and reservoir give together."""
        if not self._offered:
            return
        missed = 1.0 - min(1.0, self._size / self._offered)
        kept = self._sample + self._beside
        self._lost += self._offered - len(kept)
        self._offered, self._sample, self._beside = 0, [], []
        for raw, (probability, strata) in kept:
            yield raw, (1.0 - (1.0 - probability) * missed, strata)

    def take_lost(self) -> int:
        """Return how many failures were not kept since this was asked last."""
        lost, self._lost = self._lost, 0
        return lost
