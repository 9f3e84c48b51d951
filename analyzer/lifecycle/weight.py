"""The one order of findings: which is told first, on every screen and in every verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.finding import Confidence, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.model.finding import Finding

__all__ = ["Weight", "amount_of", "by_weight", "grouped", "weight_of"]

Weight = tuple[int, bool, int, bool, float, str, str, str, str, str, str, str, str]

_SURE = list(Confidence)
_AMOUNTS = (
    "heat",
    "throttled_tries",
    "refused_calls",
    "throttle_events",
    "units_a_second",
    "read_units",
    "write_units",
    "requests",
    "latency_ms",
    "age_ms",
)
"""Evidence that tells how much of it there is; of a finding the first that it has."""


def weight_of(finding: Finding) -> Weight:
    """Return what findings are sorted by: severity, how sure, who names a caller, how much; then by what is printed.

    What is snoozed or closed comes after others as bad. The id ends it, for two that read the same word by word: it
    is made with a salt, and where that is random the order of what reads differently must not depend on it.
    """
    return (
        -finding.severity.rank,
        finding.status in {Status.CLOSED, Status.SNOOZED},
        _SURE.index(finding.confidence),
        finding.caller is None,
        -amount_of(finding),
        finding.detector,
        finding.table,
        finding.index or "",
        finding.direction or "",
        finding.caller or "",
        finding.pattern or "",
        finding.summary,
        finding.id,
    )


def amount_of(finding: Finding) -> float:
    """Return how much of it there is: heat, refusals, units or requests; 0 where no number tells."""
    for name in _AMOUNTS:
        value = finding.evidence.get(name)
        if isinstance(value, (int, float)):
            return float(value)
    return 0.0


def by_weight(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Order findings: causes before what they explain, those with the worst group first."""
    groups = grouped(findings)
    places = {id(one): place for place, (root, effects) in enumerate(groups) for one in (root, *effects)}
    return tuple(sorted(findings, key=lambda one: (one.caused_by is not None, places[id(one)], weight_of(one))))


def grouped(findings: Sequence[Finding]) -> tuple[tuple[Finding, tuple[Finding, ...]], ...]:
    """Put each finding under the one that explains it in the end; the worst first, causes with all they explain.

    A group is as bad as the worst in it, and else stands where its cause would. A cause that is not among the
    findings, or a ring of causes, leaves the finding on its own.
    """
    by_id = {finding.id: finding for finding in findings if finding.id}
    under: dict[int, list[Finding]] = {}
    for finding in findings:
        under.setdefault(id(_root(finding, by_id)), []).append(finding)
    depth = {id(finding): len(_chain(finding, by_id)) for finding in findings}
    roots = [finding for finding in findings if _root(finding, by_id) is finding]
    groups = [
        (root, tuple(f for f in sorted(under[id(root)], key=lambda f: (depth[id(f)], weight_of(f))) if f is not root))
        for root in roots
    ]
    return tuple(sorted(groups, key=_group_weight))


def _group_weight(group: tuple[Finding, tuple[Finding, ...]]) -> tuple[tuple[int, bool], Weight]:
    root, effects = group
    return min((-one.severity.rank, weight_of(one)[1]) for one in (root, *effects)), weight_of(root)


def _chain(finding: Finding, by_id: Mapping[str, Finding]) -> list[Finding]:
    """Return a finding, its cause, its cause's cause and so on; the finding alone where they go in a ring."""
    chain = [finding]
    while (cause := chain[-1].caused_by) is not None and cause in by_id:
        if any(by_id[cause] is known for known in chain):
            return [finding]
        chain.append(by_id[cause])
    return chain


def _root(finding: Finding, by_id: Mapping[str, Finding]) -> Finding:
    return _chain(finding, by_id)[-1]
