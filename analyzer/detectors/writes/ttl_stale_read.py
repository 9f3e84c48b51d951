"""Expired items that are still served: DynamoDB deletes them days after their time, and the reader does not look."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.thresholds import Whole
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import counted, who
from analyzer.model.finding import Advice, Confidence, Direction, Finding, Risk, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.expiry import Expiring, returned_expired

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["TtlStaleRead"]

_FILTERED = frozenset({"Query", "Scan"})


class TtlStaleRead(Struct, frozen=True):
    """Judges reads by the expired items that they returned; a filter on the time to live acquits them."""

    least_items: Whole = 1

    name: ClassVar[str] = "ttl-stale-read"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.REQUESTS}),)
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.CONTRACT, Sight.TABLE, Sight.REQUEST_FILTERS})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield one finding an attribute."""
        if traffic.calls is None:
            return
        place = traffic.place
        names = (place.ttl_attribute, None if place.time_to_live is None else place.time_to_live.attribute)
        for group in returned_expired(traffic.calls.of(traffic.target), names):
            if group.items >= self.least_items:
                yield self._finding(group, traffic)

    def _finding(self, group: Expiring, traffic: Traffic) -> Finding:
        most = group.busiest()
        purpose = traffic.place.ttl_purpose
        attribute = group.attribute or traffic.place.ttl_attribute
        row = next((row for row in traffic.rows if row.shape.fingerprint == most.fingerprint), None)
        items = counted(group.items, "expired item was", "expired items were")
        return finding(
            self.name,
            traffic,
            Severity.HIGH if purpose == "session" else Severity.MEDIUM,
            f"{items} served from {traffic.target}, mostly by {most.operation} to {who(most.caller)}, with no filter on"
            f" {attribute or 'their time to live'}",
            confidence=Confidence.LIKELY,
            because="whether the caller looks at the time after it has read is not visible",
            subject=group.attribute or "",
            pattern=None if row is None else row.attribution.pattern,
            fingerprint=most.fingerprint,
            caller=most.caller,
            direction=Direction.READ,
            evidence={
                "attribute": attribute,
                "expired_returned": group.items,
                "reads": len(group.reads),
                "operations": ", ".join(sorted({call.operation for call in group.reads})),
                "ttl_purpose": purpose,
                "ttl_status": None if traffic.place.time_to_live is None else traffic.place.time_to_live.status,
            },
            self_heals=SelfHeals("no", "DynamoDB deletes expired items within a few days, and serves them until then"),
            advice=(
                ask_owner(
                    most.caller,
                    "whether it looks at the time of what it has read",
                    "tells whether anybody is served what has expired",
                ),
                *_advice(group, attribute or "expires"),
            ),
        )


def _advice(group: Expiring, attribute: str) -> Iterator[Advice]:
    operations = {call.operation for call in group.reads}
    if operations - _FILTERED:
        yield advise(
            "filter-expired",
            f"Compare {attribute} with now after each read of an item: a GetItem takes no filter",
            effect="what has expired is gone for the caller, whenever DynamoDB deletes it",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'item = table.get_item(Key=key).get("Item")\n'
            f'is_there = item is not None and item["{attribute}"] > int(time.time())',
        )
    if operations & _FILTERED:
        yield advise(
            "filter-expired",
            f"Filter by {attribute} in each Query and Scan",
            effect="expired items are read and paid for, and not returned",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'table.query(..., FilterExpression=Attr("{attribute}").gt(int(time.time())))',
        )
    yield advise(
        "use-conditional-write",
        f"Renew under the condition that {attribute} is not past: else an expired item comes back to life",
        effect="what has expired stays so",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=f'table.update_item(..., ConditionExpression=Attr("{attribute}").gt(int(time.time())))',
    )
