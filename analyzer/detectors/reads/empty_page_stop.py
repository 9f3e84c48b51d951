"""A caller that takes an empty page for the end, although its answer said that there was more."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.page_advice import ask_stopper, encode_filter, follow_pages
from analyzer.detectors.reading import one_key, rows_of_shape
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, who
from analyzer.model.finding import Confidence, Direction, Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.paging import pagings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic
    from analyzer.traffic.paging import Paging

__all__ = ["EmptyPageStop"]


class EmptyPageStop(Struct, frozen=True):
    """Judges empty pages that had more; where a limit was used up before the filter, that is told instead."""

    left_share: Share = 0.5
    sure_pages: Whole = 3

    name: ClassVar[str] = "empty-page-stop"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.REQUEST_COUNTS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and shape."""
        if traffic.calls is None:
            return
        for paging in pagings(traffic.calls, traffic.target, traffic.window.end):
            empty = [call for call in paging.left if call.count == 0 and not _is_at_its_limit(call)]
            if empty and len(empty) / (len(paging.left) + paging.followed) >= self.left_share:
                yield self._finding(paging, empty, traffic)

    def _finding(self, paging: Paging, empty: list[Call], traffic: Traffic) -> Finding:
        shape, caller = paging.shape, paging.caller
        examined = [call.scanned for call in empty if call.scanned is not None]
        rows = rows_of_shape(traffic, shape, caller)
        key = one_key(empty, traffic)
        keys = len({call.key for call in empty if call.key is not None})
        where = f" of {traffic.target}" if key is None else f" of {{key}} in {traffic.target}"
        read = f" after {number(sum(examined))} items were read and filtered out" if examined else ""
        is_sure = len(empty) >= self.sure_pages
        pages = "an empty page" if len(empty) == 1 else f"{number(len(empty))} empty pages"
        return finding(
            self.name,
            traffic,
            Severity.HIGH,
            f"{who(caller)} stops at {pages}{where}{read}, although the answer had more: items are missed",
            confidence=Confidence.CERTAIN if is_sure else Confidence.LIKELY,
            because=None if is_sure else "it was seen once" if len(empty) == 1 else f"it was seen {len(empty)} times",
            subject=shape.fingerprint,
            key=key,
            fingerprint=shape.fingerprint,
            caller=caller,
            pattern=rows[0].attribution.pattern if rows else None,
            direction=Direction.READ,
            evidence={
                "empty_pages_left": len(empty),
                "keys": keys or None,
                "pages_followed": paging.followed,
                "items_examined": sum(examined) if examined else None,
                "filter_attributes": ", ".join(shape.filter_attributes) or None,
            },
            advice=(
                ask_stopper(caller),
                follow_pages(caller, shape, "a page may be empty because its filter let nothing through"),
                *encode_filter(shape),
            ),
        )


def _is_at_its_limit(call: Call) -> bool:
    return call.limit is not None and call.scanned is not None and call.scanned >= call.limit
