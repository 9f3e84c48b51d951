"""A Limit together with a filter: DynamoDB counts the limit before it filters, so that pages come short or empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.page_advice import ask_stopper, encode_filter, follow_pages
from analyzer.detectors.reading import declared_of, one_key, rows_of_shape
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.paging import pagings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic
    from analyzer.traffic.paging import Paging

__all__ = ["LimitBeforeFilter"]


class LimitBeforeFilter(Struct, frozen=True):
    """Judges filtered reads whose limit was used up by what the filter threw away, and that nobody read on."""

    left_share: Share = 0.5
    short_share: Share = 0.5
    sure_pages: Whole = 3

    name: ClassVar[str] = "limit-before-filter"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (
        frozenset({Sight.REQUEST_SEQUENCES, Sight.REQUEST_COUNTS, Sight.REQUEST_FILTERS}),
    )
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and shape."""
        if traffic.calls is None:
            return
        for paging in pagings(traffic.calls, traffic.target, traffic.window.end):
            allowed = self._allowed(paging, traffic)
            short = [call for call in paging.left if is_short(call, allowed)]
            if short and len(short) / (len(paging.left) + paging.followed) >= self.left_share:
                yield self._finding(paging, short, traffic)

    def _allowed(self, paging: Paging, traffic: Traffic) -> float:
        """Return which part of a limit may be missing before a page is short."""
        rows = rows_of_shape(traffic, paging.shape, paging.caller)
        declared = declared_of(rows[0], traffic) if rows else None
        limit = declared.discards_at_most if declared is not None else None
        return self.short_share if limit is None else max(limit, self.short_share)

    def _finding(self, paging: Paging, short: list[Call], traffic: Traffic) -> Finding:
        shape, caller = paging.shape, paging.caller
        empty = sum(call.count == 0 for call in short)
        returned = sum(call.count for call in short if call.count is not None)
        examined = sum(call.scanned for call in short if call.scanned is not None)
        rows = rows_of_shape(traffic, shape, caller)
        filtered = ", ".join(shape.filter_attributes) or "its filter"
        is_sure = len(short) >= self.sure_pages
        key = one_key(short, traffic)
        return finding(
            self.name,
            traffic,
            Severity.HIGH if empty else Severity.MEDIUM,
            f"{who(caller)} stops at {number(len(short))} pages of {traffic.target}, {number(empty)} of them empty,"
            f" although there was more: Limit {short[0].limit} counts items before the filter on {filtered}, which let"
            f" {number(returned)} of {number(examined)} through",
            confidence=Confidence.CERTAIN if is_sure else Confidence.LIKELY,
            because=None if is_sure else f"only {len(short)} such pages were seen to their end",
            subject=shape.fingerprint,
            key=key,
            fingerprint=shape.fingerprint,
            caller=caller,
            pattern=rows[0].attribution.pattern if rows else None,
            direction=Direction.READ,
            evidence={
                "short_pages_left": len(short),
                "empty_pages_left": empty,
                "left_share": round(paging.left_share, 4),
                "limit": short[0].limit,
                "items_examined": examined,
                "items_returned": returned,
                "filter_attributes": filtered,
                "passed_share": percent(returned / examined),
            },
            advice=(
                ask_stopper(caller),
                follow_pages(caller, shape, "a short or empty page is not the end"),
                *encode_filter(shape),
            ),
        )


def is_short(call: Call, allowed: float) -> bool:
    """Whether a page's limit was used up, and its filter threw away so much that its reader got far less."""
    if call.limit is None or call.count is None or call.scanned is None or not call.shape.filter:
        return False
    return call.scanned >= call.limit and call.count < (1 - allowed) * call.limit
