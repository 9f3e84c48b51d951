"""A caller that takes the first page for all: an answer ends at 1 MB, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise
from analyzer.detectors.page_advice import ask_stopper, follow_pages
from analyzer.detectors.reading import declared_of, one_key, rows_of_shape
from analyzer.detectors.thresholds import Share, Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import number, percent, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.paging import pagings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.calls import Call
    from analyzer.model.traffic import Declared, Traffic
    from analyzer.traffic.paging import Paging

__all__ = ["MissingPagination"]


class MissingPagination(Struct, frozen=True):
    """Judges reads without a limit whose answers had more, and that nobody read on."""

    left_share: Share = 0.5
    least_left: Whole = 3

    name: ClassVar[str] = "missing-pagination"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUEST_SEQUENCES}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.REQUEST_KEYS, Sight.CONTRACT})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding a caller and shape; empty pages are told by another detector."""
        if traffic.calls is None:
            return
        for paging in pagings(traffic.calls, traffic.target, traffic.window.end):
            left = [call for call in paging.left if call.limit is None and call.count != 0]
            rows = rows_of_shape(traffic, paging.shape, paging.caller)
            declared = declared_of(rows[0], traffic) if rows else None
            if self._takes_one_page(paging, left) and (declared is None or declared.page_size is None):
                yield self._finding(paging, left, declared, traffic)

    def _takes_one_page(self, paging: Paging, left: list[Call]) -> bool:
        if not left or len(left) / (len(paging.left) + paging.followed) < self.left_share:
            return False
        if len(left) >= self.least_left:
            return True
        is_sampled = any(call.sample_rate < 1 for call in paging.begun)  # one read of a sample is no habit
        return not is_sampled and len(left) >= self.left_share * len(paging.begun)

    def _finding(self, paging: Paging, left: list[Call], declared: Declared | None, traffic: Traffic) -> Finding:
        shape, caller = paging.shape, paging.caller
        returned = [call.count for call in left if call.count is not None]
        needs_all = declared is not None and declared.returns_all is True
        key = one_key(left, traffic)
        where = f"{traffic.target}" if key is None else f"{{key}} in {traffic.target}"
        got = f", with {number(max(returned))} items at most" if returned else ""
        return finding(
            self.name,
            traffic,
            Severity.HIGH if needs_all else Severity.MEDIUM,
            f"{who(caller)} takes the first page of {where} for all: {number(len(left))} of {number(len(paging.begun))}"
            f" answers had more{got}, and {percent(paging.left_share)} of those were not read on",
            confidence=Confidence.CERTAIN if needs_all else Confidence.LIKELY,
            because="its pattern says that it needs every page"
            if needs_all
            else "no pattern says whether it needs every page",
            subject=shape.fingerprint,
            key=key,
            fingerprint=shape.fingerprint,
            caller=caller,
            pattern=None if declared is None else declared.id,
            direction=Direction.READ,
            evidence={
                "answers_with_more_left": len(left),
                "left_share": round(paging.left_share, 4),
                "reads": len(paging.begun),
                "most_items_returned": max(returned, default=None),
                "returns_all": None if declared is None or declared.returns_all is None else str(declared.returns_all),
            },
            advice=tuple(_advice(paging, declared)),
        )


def _advice(paging: Paging, declared: Declared | None) -> Iterator[Advice]:
    yield ask_stopper(paging.caller)
    yield follow_pages(paging.caller, paging.shape, "an answer ends at 1 MB, whatever is left")
    if declared is None or declared.returns_all is None:
        yield advise(
            "declare-pattern" if declared is None else "update-declaration",
            "If one page is enough, say so: ask with a Limit, and declare the page size",
            effect="it is then known that nothing is missed",
            snippet="page_size: 25\nreturns_all: false",
        )
