"""Refused calls: validation, access, missing tables, keys that cannot be used. The request is wrong, not the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, quoted
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, percent, who
from analyzer.model.finding import Advice, Change, Confidence, Direction, Finding, Risk, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.index_refusals import is_of_index
from analyzer.traffic.measure import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Refused, Traffic

__all__ = ["RequestErrors"]

_CLASSES = {
    "ValidationException": "validation",
    "SerializationException": "validation",
    "AccessDeniedException": "access",
    "UnrecognizedClientException": "access",
    "ExpiredTokenException": "access",
    "InvalidSignatureException": "access",
    "MissingAuthenticationTokenException": "access",
    "ResourceNotFoundException": "missing-table",
    "KMSAccessDeniedException": "key-unusable",
    "KMSDisabledException": "key-unusable",
    "KMSInvalidStateException": "key-unusable",
    "KMSNotFoundException": "key-unusable",
    "InaccessibleEncryptionCredentialsException": "key-unusable",
}
"""Errors that no retry mends, by what is wrong (API Reference, "Common errors", and those of its operations)."""

_OWN = (
    "specified index",
    "index not found",
    "item size",
    "maximum allowed size",
    "consistent read",
    "item collection",
)
"""Words of messages that have detectors of their own: missing-index, item-too-large, gsi-consistent-read, and so on."""

_LOOK = {
    "validation": "Read the message of the error: the request itself is wrong, and a retry cannot mend it",
    "access": "Look which principal was refused what: the message of the error names both",
    "missing-table": "Check table name and region: the table is not there",
    "key-unusable": "Look at the KMS key that encrypts the table: it is disabled, gone, or not granted",
}
_FIX = {
    "validation": "Correct the request, or roll the caller back to the one that was accepted",
    "access": "Grant the missing permission, or renew the credentials",
    "missing-table": "Correct the name or the region that the caller asks, or restore the table",
    "key-unusable": "Enable the key again, or grant it to the caller's role",
}


_SUSPECTS = frozenset({"deploy", "index-deleted", "restore", "ttl", "replica"})
"""Changes that may break a request; those of capacity and scaling do not."""

_CHANGE_MS = 3_600_000
"""How long after a change what is new is laid to it."""


class RequestErrors(Struct, frozen=True):
    """Judges one error of one shape."""

    share: Share = 0.01
    least_calls: Whole = 5
    failing_share: Share = 0.5

    name: ClassVar[str] = "request-errors"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CHANGES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape and code, of the caller that meets it most."""
        worst: dict[tuple[str, str], tuple[Refused, float]] = {}
        for refused in traffic.refusals:
            row = traffic.rows[refused.row]
            is_others = any(word in refused.message.lower() for word in _OWN) or is_of_index(refused, traffic)
            if refused.code not in _CLASSES or is_others or refused.calls.value < self.least_calls:
                continue
            share = refused.calls.value / row.requests.value
            name = (row.shape.fingerprint, refused.code)
            if name not in worst or share > worst[name][1]:
                worst[name] = (refused, share)
        for refused, share in worst.values():
            change = None if share >= self.share else _change_before(refused, traffic)
            if share >= self.share or change is not None:
                yield self._finding(refused, share, change, traffic)

    def _finding(self, refused: Refused, share: float, change: Change | None, traffic: Traffic) -> Finding:
        row = traffic.rows[refused.row]
        kind = _CLASSES[refused.code]
        of = f"of {who(row.caller)} to {traffic.target} ({percent(share)} of its {row.shape.operation})"
        said = f": {refused.message}" if refused.message else ""
        since = "" if change is None else f", new since a change ({change.what})"
        return finding(
            self.name,
            traffic,
            Severity.HIGH if share >= self.failing_share else Severity.MEDIUM,
            f"{counted(refused.calls, f'call {of} was', f'calls {of} were')} refused as {refused.code}{since}{said}",
            confidence=Confidence.CERTAIN if change is None else Confidence.LIKELY,
            subject=f"{row.shape.fingerprint}:{refused.code}",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            cause=kind,
            direction=Direction.WRITE if row.shape.writes else Direction.READ,
            evidence={
                **evidence_of(refused_calls=refused.calls, requests=row.requests),
                "refused_share": round(share, 5),
                "code": refused.code,
            },
            advice=tuple(_advice(kind, traffic)),
        )


def _change_before(refused: Refused, traffic: Traffic) -> Change | None:
    """Return the change after which an error is new: the calls before it that are known had none of its kind."""
    end = traffic.window.end
    changes = [one for one in traffic.changes if one.what in _SUSPECTS and end - _CHANGE_MS <= one.time < end]
    if not changes or traffic.calls is None:
        return None
    change = max(changes, key=lambda one: one.time)
    fingerprint = traffic.rows[refused.row].shape.fingerprint
    before = [one for one in traffic.calls.of(traffic.target) if one.time < change.time]
    asked = [one for one in before if one.fingerprint == fingerprint]
    return change if asked and not any(one.error == refused.code for one in asked) else None


def _advice(kind: str, traffic: Traffic) -> Iterator[Advice]:
    table = quoted(traffic.target.table)
    looks = {
        "missing-table": aws(traffic.target, "dynamodb list-tables"),
        "key-unusable": aws(
            traffic.target, f"dynamodb describe-table --table-name {table} --query Table.SSEDescription"
        ),
    }
    yield advise(
        "check-client", _LOOK[kind], effect="tells what is to be mended", command=looks.get(kind), takes="minutes"
    )
    yield advise(
        "fix-caller",
        _FIX[kind],
        effect="the calls succeed, and stop being retried",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )
