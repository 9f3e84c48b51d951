"""An index that is being built: refused calls, absent items and dear writes of it are as they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from analyzer.detectors.advice import advise, aws, quoted
from analyzer.detectors.capacity import raise_capacity
from analyzer.detectors.verdict import finding
from analyzer.detectors.words import percent
from analyzer.model.finding import Advice, Direction, Finding, SelfHeals, Severity
from analyzer.model.sight import Horizon, Sight, Skipped
from analyzer.traffic.building import Building, building_of
from analyzer.traffic.readership import unseen_indexes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from analyzer.model.traffic import Traffic

__all__ = ["IndexBuilding"]


class IndexBuilding(Struct, frozen=True):
    """Tells of a build that goes on, so that what it causes is folded under it."""

    name: ClassVar[str] = "index-building"
    horizon: ClassVar[Horizon] = Horizon.SPAN
    needs: ClassVar[tuple[frozenset[Sight], ...]] = (frozenset({Sight.TABLE}), frozenset({Sight.METRICS}))
    sharpens: ClassVar[frozenset[Sight]] = frozenset({Sight.METRICS, Sight.CHANGES})

    def detect(self, traffic: Traffic) -> Iterable[Finding | Skipped]:
        """Yield at most one finding an index; those of which nothing was seen are told with their table."""
        for one in [traffic] if traffic.target.index is not None else unseen_indexes(traffic):
            building = building_of(one)
            if building is not None:
                yield self._finding(one, building)

    def _finding(self, traffic: Traffic, building: Building) -> Finding:
        far = "" if building.progress is None else f" ({percent(building.progress)})"
        status = traffic.place.index_status
        return finding(
            self.name,
            traffic,
            Severity.LOW,
            f"index {traffic.target.index} of {traffic.target.table} is being built{far}: until it is ACTIVE its reads"
            " are refused or miss items",
            sources=(building.source.value,),
            evidence={
                "status": status,
                "progress_share": None if building.progress is None else round(building.progress, 3),
                "build_throttle_events": building.throttles,
            },
            advice=tuple(_advice(traffic, building)),
            self_heals=SelfHeals("yes", "the build ends by itself, within minutes to hours by the table's size"),
        )


def _advice(traffic: Traffic, building: Building) -> Iterator[Advice]:
    target = traffic.target
    yield advise(
        "fix-caller",
        f"Wait until {target.index} is ACTIVE before code that reads it goes out",
        effect="no refused call and no item missed",
        command=aws(target, f"dynamodb describe-table --table-name {quoted(target.table)}"),
        takes="minutes to hours",
    )
    if building.throttles and traffic.place.capacity.billing_mode == "PROVISIONED":
        yield from raise_capacity(traffic, Direction.WRITE)
