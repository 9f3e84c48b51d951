"""A lock that is asked for and never given back: its owner is gone."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, quoted
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, number, who
from analyzer.detectors.writing import key_named, look_at, row_of, time_words
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals, Severity, Victim
from analyzer.model.instant import format_instant
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.locks import HeldLock, held_locks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.finding import KeyShown
    from analyzer.model.traffic import Traffic

__all__ = ["StuckLock"]

_EQUAL = re.compile(r"(?<![\w.#-])([\w-]+) = [?:]")
"""An attribute that a condition compares with a value: that says who holds the lock."""
_UNNAMED = "HOLDER_ATTRIBUTE"


class StuckLock(Struct, frozen=True):
    """Judges keys at which attempts fail on their condition, and that nothing writes or deletes meanwhile."""

    seconds: Whole = 900
    least_attempts: Whole = 3
    most_locks: Whole = 10

    name: ClassVar[str] = "stuck-lock"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.TABLE, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a key, those that stand longest; what is neither a lock nor waited for is none."""
        if traffic.calls is None or traffic.target.index is not None:
            return
        held = held_locks(traffic, traffic.calls, seconds=self.seconds, at_least=self.least_attempts)
        for lock in [one for one in held if one.is_lock or one.is_waited_for][: self.most_locks]:
            yield self._finding(lock, traffic)

    def _finding(self, lock: HeldLock, traffic: Traffic) -> Finding:
        callers = Counter(call.caller for call in lock.failures).most_common()
        last = lock.failures[-1]
        key = key_named(lock.name, last.shape, traffic)
        row = row_of(last.shape, last.caller, traffic.rows)
        taken = lock.taken
        others = f" and {counted(len(callers) - 1, 'other')}" if len(callers) > 1 else ""
        since = (
            "it was taken before all that is known"
            if taken is None
            else f"the last that wrote it was {who(taken.caller)} at {format_instant(taken.time)}"
        )
        return finding(
            self.name,
            traffic,
            Severity.MEDIUM if lock.is_lock else Severity.LOW,
            f"{number(len(lock.failures))} attempts of {who(callers[0][0])}{others} to take {{key}} in {traffic.target}"
            f" failed over {time_words(lock.seconds)}, and nothing wrote or deleted it meanwhile: {since}",
            confidence=Confidence.LIKELY if lock.is_lock else Confidence.POSSIBLE,
            because="its owner may still be at work: a lock without an expiry does not tell"
            if lock.is_lock
            else "nothing names it a lock: it may be an item that is made once, and asked for again and again",
            subject=f"{lock.name.partition}\t{lock.name.sort or ''}",
            key=key,
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=last.fingerprint,
            caller=callers[0][0],
            victims=tuple(Victim(caller, None) for caller, _ in callers),
            direction=Direction.WRITE,
            evidence={
                "attempts": len(lock.failures),
                "failing_seconds": round(lock.seconds),
                "lock_age_seconds": None if lock.age_seconds is None else round(lock.age_seconds),
                "last_writer": None if taken is None else taken.caller,
                "condition": last.condition,
                "threshold_seconds": self.seconds,
            },
            advice=tuple(_advice(lock, key, traffic)),
            self_heals=_heals(lock),
        )


def _heals(lock: HeldLock) -> SelfHeals:
    if "<" in (lock.failures[-1].condition or ""):
        return SelfHeals(
            "unknown", "its condition has an expiry, which may lie far ahead, or be renewed by a dead loop"
        )
    return SelfHeals("no", "without an expiry in its condition nobody but its owner can give it back")


def _release(held: str | None, traffic: Traffic) -> str:
    """Write the call that gives a lock back while the attribute that says who holds it is still what was seen."""
    names = quoted(json.dumps({"#held": held or _UNNAMED}, ensure_ascii=False, separators=(",", ":")))
    return (
        f"dynamodb delete-item --table-name {quoted(traffic.target.table)} --key file://key.json"
        f" --condition-expression '#held = :seen' --expression-attribute-names {names}"
        " --expression-attribute-values file://seen.json"
    )


def _advice(lock: HeldLock, key: KeyShown | None, traffic: Traffic) -> Iterator[Advice]:
    held = _EQUAL.search(lock.failures[-1].condition or "")
    attribute = None if held is None else held[1]
    unnamed = f"; {_UNNAMED} stands for the attribute that says who holds it"
    is_terraform = traffic.place.library == "Terraform"
    yield advise(
        "check-client",
        "Look at who holds {key} and since when, and whether that run is still alive",
        effect="tells whether it may be taken away",
        command=look_at(key, traffic),
        takes="minutes",
    )
    yield advise(
        "release-lock",
        "Once its owner is known to be gone, give {key} back, on the condition that it is still what was seen"
        + (": `terraform force-unlock` with the ID that the item shows" if is_terraform else "")
        + (unnamed if attribute is None and not is_terraform else ""),
        effect="the next attempt takes it",
        command=None if is_terraform else aws(traffic.target, _release(attribute, traffic), changes=True),
        risk=Risk.HIGH,
        reversible=False,
        takes="seconds",
    )
    if not is_terraform:
        yield advise(
            "use-conditional-write",
            "Give the lock an expiry that its owner moves on while it works, and others may take after",
            effect="a lock whose owner is gone frees itself",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet='ConditionExpression="attribute_not_exists(#key) OR expires_at < :now"  # renewed by the owner',
        )
