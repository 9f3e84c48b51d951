"""Everything that is configured, looked at: what is here, every log, every account and region, and the bill."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from analyzer.doctor.bill import bill
from analyzer.doctor.examined import Examined
from analyzer.doctor.local import examine_setup
from analyzer.doctor.logs import examine_logs
from analyzer.doctor.places import examine_place
from analyzer.sources import open_sources
from collectors.aws.session import Place

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from analyzer.config_aws import SourcesConfig
    from analyzer.doctor.places import PlaceExamined
    from analyzer.interfaces import Source
    from analyzer.model.instant import Instant
    from analyzer.setup import Setup
    from collectors.aws.session import Aws

__all__ = ["examine"]


async def examine(
    setup: Setup, aws: Aws | None, clock: Callable[[], Instant], tell: Callable[[str], None] = lambda _: None
) -> Examined:
    """Look at everything that a configuration names; `tell` hears of each place that was looked at.

    `aws` is None where nothing is read there. Nothing is changed, and a failure is a check, never an error.
    """
    looks: list[Awaitable[PlaceExamined]] = []
    if setup.collected is not None and aws is not None:
        for place, sources in _by_place(setup.collected, aws, clock).items():
            looks.append(_told(examine_place(aws, place, sources, clock, place.account or setup.account), tell, place))
    logs, places = await asyncio.gather(examine_logs(setup, aws, clock), asyncio.gather(*looks))
    groups = [examine_setup(setup), *([] if logs is None else [logs]), *(one.group for one in places)]
    if setup.collected is not None or setup.request_log.needs_aws:
        groups.append(bill(setup, [one.amount for one in places]))
    return Examined(tuple(groups))


def _by_place(config: SourcesConfig, aws: Aws, clock: Callable[[], Instant]) -> dict[Place, list[Source]]:
    """Return the sources of every account and region; a key that is met here goes nowhere."""
    found: dict[Place, list[Source]] = {}
    for poll in open_sources(config, aws, lambda _table, _attribute, _value: "", clock):
        found.setdefault(Place(poll.account, str(poll.region)), []).append(poll.source)
    return found


async def _told(look: Awaitable[PlaceExamined], tell: Callable[[str], None], place: Place) -> PlaceExamined:
    found = await look
    tell(str(place))
    return found
