"""Where `dynascope report` works: history opened, the week read, what was acknowledged, and what is sent."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from analyzer.cli.talking import user_name
from analyzer.config import Settings
from analyzer.config_history import is_bucket
from analyzer.contract.model import Contract
from analyzer.errors import CollectError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from analyzer.deliver import Delivery, Place
    from analyzer.interfaces import AwsCaller, BlobStore
    from analyzer.model.window import Window
    from analyzer.reports.week_values import Item, WeekReport

__all__ = ["Desk"]

T = TypeVar("T")

_HINT = "history must be readable for whoever runs this"


class Desk(Struct, frozen=True):
    """Configuration, contract, the place of history with its region, and what to ask AWS with: region and profile."""

    settings: Settings
    contract: Contract
    place: str
    region: str | None
    aws: tuple[str | None, str | None]
    with_tokens: bool = False

    @classmethod
    def at(
        cls,
        settings: Settings,
        contract: Contract,
        named: str | None,
        aws: tuple[str | None, str | None],
        *,
        with_tokens: bool = False,
    ) -> Desk:
        """Find history where the command line or the configuration says; raises UsageError where neither does."""
        configured = settings.history
        place = named or (None if configured is None else configured.to)
        if place is None:
            raise UsageError("say where history is: --history DIR, or --config FILE with a section history")
        region = configured.region if configured is not None and named is None else None
        if not is_bucket(place):
            _check_folder(Path(place))
        return cls(settings, contract, place, region, aws, with_tokens)

    def week(self, name: str | None) -> Window:
        """Return the week of a name, else the last whole one; raises UsageError for one that is not over."""
        from analyzer.ahead import wall_clock  # noqa: PLC0415 -- light start
        from analyzer.reports.weeks import last_week, week_window  # noqa: PLC0415 -- light start

        now = wall_clock()
        if name is None:
            return last_week(now)
        try:
            window = week_window(name)
        except ValueError as error:
            raise UsageError(f"--week: {error}") from None
        if window.start >= now:
            raise UsageError(f"--week {name} has not begun")
        return window

    def report(self, window: Window) -> WeekReport:
        """Read history and write the report of a week; raises CollectError."""
        return self._with_store(lambda store: self._report(store, window))

    def acknowledge(self, window: Window, identity: str, reason: str, who: str | None) -> Item:
        """Keep that somebody knows of an item; raises UsageError where the week has none of that id."""
        from analyzer.ahead import wall_clock  # noqa: PLC0415 -- light start
        from analyzer.reports.acknowledged import acknowledge  # noqa: PLC0415 -- light start

        async def keep(store: BlobStore) -> Item:
            found = await self._report(store, window, is_all_news=True)
            said = (reason, who or user_name())
            return await acknowledge(store, found.items, identity, said, (found.week, wall_clock()))

        return self._with_store(keep)

    def take_back(self, identity: str) -> None:
        """Let go of an acknowledgement; raises UsageError where there is none."""
        from analyzer.reports.acknowledged import take_back  # noqa: PLC0415 -- light start

        self._with_store(lambda store: take_back(store, identity))

    def send(self, listed: Sequence[tuple[Place, Delivery]]) -> list[tuple[Place, CollectError | None]]:
        """Send to every place, also where one does not take it; return each with what went wrong."""
        from analyzer.deliver import deliver, needs_aws  # noqa: PLC0415 -- light start

        async def send(aws: AwsCaller | None) -> list[tuple[Place, CollectError | None]]:
            outcomes: list[tuple[Place, CollectError | None]] = []
            for place, delivery in listed:
                try:
                    await deliver(place, delivery, aws)
                except CollectError as error:
                    outcomes.append((place, error))
                else:
                    outcomes.append((place, None))
            return outcomes

        if any(needs_aws(place) for place, _ in listed):
            return self._with_aws(lambda aws, _region: send(aws))
        return asyncio.run(send(None))

    async def _report(self, store: BlobStore, window: Window, *, is_all_news: bool = False) -> WeekReport:
        from analyzer.ahead import wall_clock  # noqa: PLC0415 -- light start
        from analyzer.config_prices import prices_of_section  # noqa: PLC0415 -- light start
        from analyzer.history.dataset import Dataset  # noqa: PLC0415 -- heavy
        from analyzer.reports.acknowledged import load_acknowledged  # noqa: PLC0415 -- light start
        from analyzer.reports.frame import load_weeks, weeks_held  # noqa: PLC0415 -- heavy
        from analyzer.reports.week import Known, report_week  # noqa: PLC0415 -- heavy

        dataset = Dataset(store)
        frame, past = await load_weeks(dataset, window)
        acknowledged, torn = await load_acknowledged(store)
        known = Known(
            prices=prices_of_section(self.settings.prices),
            acknowledged=() if is_all_news else acknowledged,
            torn=torn,
            now=wall_clock(),
            with_tokens=self.with_tokens,
            held=() if frame.covered else await weeks_held(dataset),
        )
        return await asyncio.to_thread(report_week, frame, past, self.contract, known)

    def _with_store(self, work: Callable[[BlobStore], Awaitable[T]]) -> T:
        from analyzer.history.files import HistoryError, NewerHistoryError  # noqa: PLC0415 -- heavy
        from analyzer.history_opening import open_store  # noqa: PLC0415 -- light start

        async def run(aws: AwsCaller | None) -> T:
            return await work(open_store(self.place, aws, region=self.region))

        try:
            if is_bucket(self.place):
                return self._with_aws(lambda aws, _region: run(aws))
            return asyncio.run(run(None))
        except NewerHistoryError as error:
            raise UsageError(f"{self.place}: {error}") from None
        except HistoryError as error:
            raise CollectError(str(error), hint=_HINT) from None

    def _with_aws(self, work: Callable[[AwsCaller, str], Awaitable[T]]) -> T:
        from analyzer.cli.calling import with_aws  # noqa: PLC0415 -- light start

        region, profile = self.aws
        return with_aws(work, region or self.region, profile)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder; `dynascope run` with a section history makes it")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UsageError(f"{folder} cannot be read: it is not yours to read")
