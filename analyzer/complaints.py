"""What somebody has to mend at the request log: said once, and once more when it is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.sight import GapReason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from structlog.typing import FilteringBoundLogger

    from analyzer.model.batch import StreamStatus
    from analyzer.model.sight import Gap

__all__ = ["Complaints"]


class Complaints:
    """Remembers what was complained of."""

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._standing: dict[str, str] = {}
        self._bad_lines: frozenset[str] = frozenset()

    def tell(self, status: StreamStatus, gaps: Iterable[Gap] = ()) -> None:
        """Say what is new, and what is mended."""
        standing = dict.fromkeys(status.missing, "the request log is not there")
        standing |= {gap.detail: "the request log cannot be read" for gap in status.gaps if gap.end is None}
        if status.skipped:
            standing["request_log.files"] = "more request logs than are tailed at once"
        standing |= {gap.detail: "keys do not meet" for gap in gaps if gap.reason is GapReason.INCONSISTENT}
        before, self._standing = self._standing, standing
        for what in sorted(standing.keys() - before.keys()):
            self._log.warning(standing[what], what=what)
        for what in sorted(before.keys() - standing.keys()):
            self._log.info("mended", what=what, was=before[what])

    def tell_bad_lines(self, reasons: Iterable[str]) -> None:
        """Say why lines were bad, each reason when it is new."""
        before, self._bad_lines = self._bad_lines, frozenset(reasons)
        for reason in sorted(self._bad_lines - before):
            self._log.warning("bad line in the request log", because=reason)
