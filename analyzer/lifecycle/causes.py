"""One cause, one page: which finding explains which other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from analyzer.lifecycle.weight import weight_of
from analyzer.model.finding import Finding, Severity

__all__ = ["fold"]


class _Rule(Struct, frozen=True):
    """`cause` explains `effect` when both are of one table and the condition on the pair holds."""

    cause: str
    effect: str
    holds: Callable[[Finding, Finding], bool]


def _same_place(cause: Finding, effect: Finding) -> bool:
    return cause.index == effect.index and cause.direction == effect.direction


def _same_limit(cause: Finding, effect: Finding) -> bool:
    is_told = effect.cause in {"key-range", "unknown"}
    return _same_place(cause, effect) and is_told and cause.severity.rank >= Severity.HIGH.rank


def _heats_index(cause: Finding, effect: Finding) -> bool:
    return _same_limit(cause, effect) and cause.index is not None


def _pushes_back(cause: Finding, effect: Finding) -> bool:
    """Whether refusals are those of the index: told of it, or counted at its table, where nobody knows a limit."""
    is_told = cause.index == effect.index or (effect.index is None and effect.cause == "unknown")
    return is_told and effect.direction == cause.direction and cause.severity.rank >= Severity.HIGH.rank


def _same_index(cause: Finding, effect: Finding) -> bool:
    return cause.index == effect.index


def _same_key(cause: Finding, effect: Finding) -> bool:
    return _same_place(cause, effect) and cause.key is not None and cause.key == effect.key


def _lost_on_it(cause: Finding, _effect: Finding) -> bool:
    return bool(cause.evidence.get("failed_conditions"))


def _scans_it_full(cause: Finding, effect: Finding) -> bool:
    hot = cause.severity.rank >= Severity.HIGH.rank
    return hot and _same_place(cause, effect) and effect.cause != "key-range"


def _same_direction(cause: Finding, effect: Finding) -> bool:
    return cause.direction == effect.direction


def _hot_there(cause: Finding, effect: Finding) -> bool:
    return _same_place(cause, effect) and cause.severity.rank >= Severity.HIGH.rank


def _hot_key_of(cause: Finding, effect: Finding) -> bool:
    return _hot_there(cause, effect) and _same_key(cause, effect)


def _of_capacity(cause: Finding, effect: Finding) -> bool:
    return _same_place(cause, effect) and effect.cause in {"provisioned", "unknown"}


def _same_reads(cause: Finding, effect: Finding) -> bool:
    """Whether both are of the same requests, and the cause is as bad."""
    is_same = cause.fingerprint is not None and cause.fingerprint == effect.fingerprint
    return is_same and cause.caller == effect.caller and cause.severity.rank >= effect.severity.rank


def _in_all(cause: Finding, effect: Finding) -> bool:
    """Whether one is of all indexes of the table together, and the other of one of them."""
    return cause.index is None and effect.index is not None


def _same_skew(cause: Finding, effect: Finding) -> bool:
    return effect.severity is Severity.LOW and _same_key(cause, effect)


def _refuses_reads(cause: Finding, effect: Finding) -> bool:
    """Whether calls are refused as not valid because of the index that they name."""
    return _same_index(cause, effect) and cause.index is not None and effect.cause == "validation"


def _same_filter(cause: Finding, effect: Finding) -> bool:
    is_filter = effect.cause in {"filter", "discards"}
    return is_filter and cause.pattern is not None and cause.pattern == effect.pattern


def _fails_itself(cause: Finding, _effect: Finding) -> bool:
    return cause.severity.rank >= Severity.HIGH.rank


_RULES = (
    _Rule("hot-key", "gsi-back-pressure", _heats_index),
    _Rule("gsi-back-pressure", "throttling", _pushes_back),
    _Rule("hot-key", "throttling", _same_limit),
    _Rule("unexpected-scan", "throttling", _scans_it_full),
    _Rule("polling-read", "throttling", _scans_it_full),
    _Rule("unpaced-scan", "throttling", _scans_it_full),
    _Rule("autoscale-lag", "throttling", _of_capacity),
    _Rule("sub-minute-burst", "throttling", _of_capacity),
    _Rule("unpaced-bulk", "throttling", _same_direction),
    _Rule("hot-key", "silent-throttling", _hot_there),
    _Rule("throttling", "silent-throttling", _same_place),
    _Rule("service-fault", "retry-storm", _fails_itself),
    _Rule("gsi-back-pressure", "retry-storm", _same_direction),
    _Rule("hot-key", "retry-storm", _hot_there),
    _Rule("throttling", "retry-storm", _same_direction),
    _Rule("service-fault", "latency-shift", _fails_itself),
    _Rule("index-building", "missing-index", _same_index),
    _Rule("index-building", "request-errors", _refuses_reads),
    _Rule("missing-index", "request-errors", _refuses_reads),
    _Rule("gsi-consistent-read", "request-errors", _refuses_reads),
    _Rule("index-building", "gsi-lag", _same_index),
    _Rule("index-building", "write-amplification", _same_index),
    _Rule("unused-index", "unused-pattern", _same_index),
    _Rule("gsi-back-pressure", "gsi-lag", _same_index),
    _Rule("gsi-lag", "gsi-stale-read", _same_index),
    _Rule("gsi-stale-read", "conditional-contention", _lost_on_it),
    _Rule("stuck-lock", "conditional-contention", _same_key),
    _Rule("filter-heavy-query", "pattern-drift", _same_filter),
    _Rule("hot-key", "polling-read", _hot_key_of),
    _Rule("unexpected-scan", "polling-read", _same_reads),
    _Rule("unexpected-scan", "count-by-reading", _same_reads),
    _Rule("unexpected-scan", "filter-heavy-query", _same_reads),
    _Rule("low-cardinality-key", "hot-key", _same_skew),
    _Rule("write-amplification", "write-amplification", _in_all),
)


def fold(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Give each finding that another explains the id of that one; the first rule wins, then the weightiest cause."""
    weighed = sorted(findings, key=weight_of)
    return tuple(_explained(finding, weighed) for finding in findings)


def _explained(effect: Finding, findings: Sequence[Finding]) -> Finding:
    for rule in _RULES:
        if rule.effect != effect.detector:
            continue
        for cause in findings:
            if cause.detector == rule.cause and _one_table(cause, effect) and rule.holds(cause, effect):
                return msgspec.structs.replace(effect, caused_by=cause.id)
    return effect


def _one_table(cause: Finding, effect: Finding) -> bool:
    return (cause.account, cause.region, cause.table) == (effect.account, effect.region, effect.table)
