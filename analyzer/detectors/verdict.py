"""How a detector states a finding about the target whose traffic it judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.sight import SourceName

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["SAMPLED", "finding"]

SAMPLED = "the request log is sampled: numbers are estimates within their bounds"
"""What is to be borne in mind of all that a sampled log tells; it is no reason for a verdict."""


def finding(
    detector: str,
    traffic: Traffic,
    severity: Severity,
    summary: str,
    *,
    confidence: Confidence = Confidence.CERTAIN,
    **fields: Any,  # noqa: ANN401 -- the fields of Finding, checked by Finding
) -> Finding:
    """State a finding at the place of `traffic` (`index` names a local one), on the request log unless told otherwise.

    Of a sampled log that is its caveat, unless it has another.
    """
    target = traffic.target
    fields.setdefault("sources", (SourceName.REQUEST_LOG.value,))
    if traffic.sampled:
        fields.setdefault("caveat", SAMPLED)
    return Finding(
        detector=detector,
        severity=severity,
        confidence=confidence,
        account=target.account,
        region=target.region,
        table=target.table,
        index=fields.pop("index", target.index),
        summary=summary,
        **fields,
    )
