"""Refused calls: validation, access, missing tables, keys that cannot be used. The request is wrong, not the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, percent, who
from analyzer.model.finding import Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.measure import evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.traffic import PatternTraffic, Refused, Traffic

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

_OWN = ("index", "item size", "consistent read", "item collection", "exceeded the maximum allowed size")
"""Words of messages that have detectors of their own."""

_FIX = {
    "validation": "Read the message of the error: the request itself is wrong, and a retry cannot mend it",
    "access": "Grant the missing permission, or renew the credentials",
    "missing-table": "Check table name and region: the table is not there",
    "key-unusable": "Look at the KMS key that encrypts the table: it is disabled, gone, or not granted",
}


class RequestErrors(Struct, frozen=True):
    """Judges one error of one shape and caller."""

    share: Share = 0.01
    least_calls: Whole = 5
    failing_share: Share = 0.5

    name: ClassVar[str] = "request-errors"
    horizon: ClassVar[Horizon] = Horizon.WINDOW
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CHANGES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a shape, caller and class of error."""
        for refused in traffic.refusals:
            kind = _CLASSES.get(refused.code)
            row = traffic.rows[refused.row]
            if kind is None or any(word in refused.message.lower() for word in _OWN):
                continue
            share = refused.calls.value / max(row.requests.value, 1.0)
            if refused.calls.value >= self.least_calls and share >= self.share:
                yield self._finding(refused, row, kind, share, traffic)

    def _finding(self, refused: Refused, row: PatternTraffic, kind: str, share: float, traffic: Traffic) -> Finding:
        said = f": {refused.message}" if refused.message else ""
        return finding(
            self.name,
            traffic,
            Severity.HIGH if share >= self.failing_share else Severity.MEDIUM,
            f"{counted(refused.calls, 'call')} of {who(row.caller)} to {traffic.target} ({percent(share)} of its"
            f" {row.shape.operation}) were refused as {refused.code}{said}",
            subject=f"{row.shape.fingerprint}:{row.caller or ''}:{refused.code}",
            pattern=row.attribution.pattern,
            fingerprint=row.shape.fingerprint,
            caller=row.caller,
            cause=kind,
            evidence={
                **evidence_of(refused_calls=refused.calls, requests=row.requests),
                "refused_share": round(share, 5),
                "code": refused.code,
            },
            advice=(
                advise("fix-caller", _FIX[kind], effect="the calls succeed, and stop being retried", takes="a deploy"),
            ),
        )
