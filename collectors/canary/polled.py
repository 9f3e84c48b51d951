"""The canary as a source that is polled: opt-in, a dry run until told otherwise, bounded in dollars a day.

Each poll makes some probes at every index that was named; what they told is kept for an hour, since a 99th percentile
needs three hundred of them.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from analyzer.errors import BudgetError, CollectError
from analyzer.model.batch import Batch, Check
from analyzer.model.instant import DAY_MS
from analyzer.model.sight import Covers, Gap, GapReason, SourceName
from analyzer.model.window import Window
from collectors.asking import HERE, Spot
from collectors.canary.collector import Canary
from collectors.canary.config import CanaryConfig

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from analyzer.interfaces import AwsCaller
    from analyzer.model.batch import LagProbe
    from analyzer.model.instant import Instant
    from collectors.canary.config import CanaryPlace, PolledCanaryConfig
    from collectors.canary.parse import Plan

__all__ = ["PolledCanary"]

_NO_DRY_RUN = "set canary.dry_run: false; it needs the permissions of tier writes"


class PolledCanary:
    """Probes the indexes of one account and region; `spot`, `clock` and `sleep` are those of the canary."""

    name: ClassVar[str] = SourceName.CANARY

    def __init__(
        self,
        aws: AwsCaller,
        config: PolledCanaryConfig,
        spot: Spot = HERE,
        own_account: str | None = None,
        clock: Callable[[], float] = lambda: time.time_ns() / 1e6,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._config = config
        account = spot.account or own_account
        self.places = tuple(one for one in config.places if one.is_at(account, spot.region))
        told = CanaryConfig(config.folder, probes=config.probes, every_ms=config.gap_ms, most_usd=float("inf"))
        self._canary = Canary(aws, told, spot, clock, sleep)
        self._clock = clock
        self._kept: dict[CanaryPlace, tuple[LagProbe, ...]] = {}

    async def collect(self, window: Window) -> Batch:
        """Probe each index; what cannot be probed is a gap of that index, and a dry run is one that hides nothing."""
        gaps = {place: await self._probe(place, window) for place in self.places}
        now = max(round(self._clock()), window.end)
        self._kept = {
            place: tuple(one for one in known if one.time >= now - self._config.keep_ms)
            for place, known in self._kept.items()
        }
        return Batch(
            window=Window(window.start, now),
            covers=tuple(
                Covers(SourceName.CANARY, Window(self._since(place, now), now), place.table, place.index)
                for place, gap in gaps.items()
                if gap is None or gap.reason is GapReason.NOT_ENABLED
            ),
            probes=tuple(probe for known in self._kept.values() for probe in known),
            gaps=tuple(gap for gap in gaps.values() if gap is not None),
        )

    def _since(self, place: CanaryPlace, now: Instant) -> Instant:
        """Return since when a place was seen: as far back as its probes go, of a dry run not at all."""
        return min([now, *(probe.time for probe in self._kept.get(place, ()))])

    async def check(self) -> tuple[Check, ...]:
        """Say of each index what would be written, and at what price; nothing is."""
        return tuple([await self._check(place) for place in self.places])

    async def _probe(self, place: CanaryPlace, window: Window) -> Gap | None:
        try:
            plan = await self._plan(place)
            if self._config.dry_run:
                told = f"a dry run: {self._words(plan)}"
                return Gap(SourceName.CANARY, GapReason.NOT_ENABLED, told, _NO_DRY_RUN, place.table, place.index)
            stop = asyncio.Event()
            over = asyncio.get_running_loop().call_later(self._config.every_ms / 1000, stop.set)
            try:
                batch = await self._canary.run(plan, stop)
            finally:
                over.cancel()
        except CollectError as error:
            return Gap.from_error(SourceName.CANARY, error, window=window, table=place.table, index=place.index)
        self._kept[place] = (*self._kept.get(place, ()), *batch.probes)
        return None

    async def _check(self, place: CanaryPlace) -> Check:
        name = f"{self.name}: {place.table}/{place.index}"
        try:
            plan = await self._plan(place)
        except CollectError as error:
            return Check(name, "warning", str(error), error.hint)
        if self._config.dry_run:
            return Check(name, "ok", f"a dry run: {self._words(plan)}", _NO_DRY_RUN)
        return Check(name, "ok", f"it WRITES: {self._words(plan)}; whether it may is known once it does")

    async def _plan(self, place: CanaryPlace) -> Plan:
        """Plan one poll; raises BudgetError where those of a day may cost more than is allowed."""
        plan = await self._canary.plan(place.table, place.index)
        if self._a_day(plan) > self._config.most_usd_per_day:
            hint = "ask for fewer probes, less often, or raise canary.max_usd_per_day"
            why = f"the canary may cost {self._a_day(plan):.4f} dollars a day there"
            raise BudgetError(f"{why}, over the bound of {self._config.most_usd_per_day:g}", hint=hint)
        return plan

    def _a_day(self, plan: Plan) -> float:
        return plan.dollars * DAY_MS / self._config.every_ms

    def _words(self, plan: Plan) -> str:
        minutes = self._config.every_ms / 60_000
        return f"{plan.probes} items every {minutes:g} min, at most {self._a_day(plan):.4f} dollars a day"
