"""The stable id of a finding: the same fault in the next window has the same id.

It is made of the place, the detector and the subject that the detector names, never of cause, caller or severity, which
become known later. The hash is keyed with the salt where there is one; without, whoever guesses a key can tell from the
id that it was the right one.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from analyzer.model.finding import Finding

__all__ = ["identify"]

_SEPARATOR = "\x1f"


def identify(finding: Finding, secret: bytes = b"") -> Finding:
    """Return the finding with its id (12 hex digits) and the link to its detector's page."""
    place = (finding.account, finding.region, finding.table, finding.index, finding.detector, finding.subject)
    text = _SEPARATOR.join(part or "" for part in place)
    digest = blake2b(text.encode(), key=secret[:64], digest_size=6).hexdigest()
    return msgspec.structs.replace(finding, id=digest, runbook=f"/docs/detectors/{finding.detector}")
