"""The wiring: configuration and contract become the values that the daemon works with."""

from __future__ import annotations

import asyncio
import contextlib
import io
import resource
import sys
import time
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import structlog
from msgspec.structs import replace

from analyzer.checkpoint import StateFolder
from analyzer.daemon import Daemon, Outlets
from analyzer.errors import CollectError, UsageError
from analyzer.exporters.assemble import Spent
from analyzer.exporters.outlet import Outlet
from analyzer.exporters.server import Server
from analyzer.exporters.verdicts import json_lines, text_lines
from analyzer.history_opening import open_keeper
from analyzer.lease import DayCost, parse_place
from analyzer.polling import NOTHING_POLLED, Polled, Polls
from analyzer.render.pages import detector_pages
from analyzer.render.show import show
from analyzer.requests.concealing import conceal
from analyzer.setup import load_setup, process_salt
from collectors.request_log.opening import open_streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from typing import TextIO

    from structlog.typing import FilteringBoundLogger

    from analyzer.config_history import HistoryConfig
    from analyzer.history_keeper import HistoryKeeper
    from analyzer.interfaces import Source
    from analyzer.lease import LeaseConfig
    from analyzer.model.instant import Instant
    from analyzer.model.report import Report
    from analyzer.polling import Poll
    from analyzer.setup import Setup
    from analyzer.standby import Standby
    from collectors.aws.session import Aws

__all__ = ["Latest", "Lossy", "make_logger", "run_daemon", "way_to_aws"]

_FILES = 10_240
"""How many files and connections may be open at once, where the system allows it: macOS allows no more."""

_IDENTITY_SECONDS = 5.0
_REGIONS_ASKED = 3
_LAST_WORDS_SECONDS = 1.0
"""So long the end of the process waits for a reader to take what was found last."""

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Lossy(io.TextIOBase):
    """A stream that may be closed or full: what it does not take is lost, and whoever writes goes on."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand on what can be handed on."""
        if self._stream is not None:
            with contextlib.suppress(OSError, ValueError):
                self._stream.flush()


class Latest:
    """What was loaded last: keys that come from AWS are concealed as those of the log are, after a reload too."""

    def __init__(self, load: Callable[[], Setup]) -> None:
        self._load = load
        self.setup = load()

    def load(self) -> Setup:
        """Load anew, and remember it; raises ConfigError or ContractError, and then what was loaded before stays."""
        self.setup = self._load()
        return self.setup

    def hide(self, table: str, _attribute: str, value: str) -> str:
        """Return what may be kept of a clear key value."""
        return conceal(self.setup.lexicon, self.setup.collect, table, value)


def make_logger(level: str, form: str) -> FilteringBoundLogger:
    """Return the logger of the daemon: lines on standard error, for eyes or as JSON."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr is not None and sys.stderr.isatty(), sort_keys=False)
    )
    processors = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        renderer,
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(cast("TextIO", Lossy(sys.stderr))),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
    )
    return logger


@asynccontextmanager
async def way_to_aws(setup: Setup) -> AsyncIterator[Aws | None]:
    """Open the way to AWS where something is read there; its SDK costs a quarter of a second and 40 MB."""
    in_bucket = setup.history is not None and setup.history.needs_aws
    if setup.collected is None and not setup.request_log.needs_aws and not in_bucket:
        yield None
        return
    from collectors.aws.config import AwsConfig  # noqa: PLC0415 -- only where it is needed
    from collectors.aws.session import Aws  # noqa: PLC0415 -- same

    aws = Aws(AwsConfig() if setup.collected is None else setup.collected.aws)
    try:
        yield aws
    finally:
        await aws.close()


async def _polled(latest: Latest, aws: Aws | None, log: FilteringBoundLogger, standby: Standby | None = None) -> Polled:
    """Return what is to be polled, every source in every account and region, while this daemon may."""
    setup = latest.setup
    if aws is None:
        return NOTHING_POLLED
    if setup.collected is None:
        return Polled(Polls((), _now, standby))
    from analyzer.sources import open_sources  # noqa: PLC0415 -- only where it is needed
    from collectors.aws.budget import Budget  # noqa: PLC0415 -- same

    own = setup.account or await _own_account(aws, log)
    polls = open_sources(setup.collected, aws, latest.hide, _now, own)
    await _undo_watches(setup, aws, log)

    def resume(plain: dict[str, Any]) -> None:
        if plain:
            aws.budget = Budget.from_plain(plain, aws.config.max_usd_per_day, aws.config.rate_share)

    def keep() -> dict[str, Any]:
        return aws.budget.plain()  # of the budget that is there by then

    asked = Polls(polls, _now, standby, partial(_say_overdraft, setup, polls, log))
    return Polled(asked, lambda: Spent(*aws.budget.spent()), keep, resume)


def _say_overdraft(setup: Setup, polls: Sequence[Poll], log: FilteringBoundLogger) -> None:
    """Say, once it is known how much there is to read, whether a day of it costs more than it may."""
    from analyzer.doctor.bill import overdraft  # noqa: PLC0415 -- only where it is needed
    from analyzer.doctor.places import amount_of  # noqa: PLC0415 -- same

    places: dict[str, list[Source]] = {}
    for poll in polls:
        places.setdefault(poll.place, []).append(poll.source)
    found = overdraft(setup, [amount_of(sources) for sources in places.values()])
    if found is not None:
        log.warning("reading AWS costs more a day than it may", because=found.message, mend=found.hint)


@asynccontextmanager
async def _standing_by(
    aws: Aws | None, config: LeaseConfig | None, log: FilteringBoundLogger
) -> AsyncIterator[Standby | None]:
    """Open the way to the lease: one of its own, since money that is spent must not end the lease."""
    if config is None:
        yield None
        return
    from analyzer.lease_places import FilePlace, S3Place  # noqa: PLC0415 -- only where it is needed
    from analyzer.standby import Standby  # noqa: PLC0415 -- same
    from collectors.aws.session import Aws  # noqa: PLC0415 -- same

    if aws is None:
        raise UsageError("--standby: nothing is read from AWS, so that two daemons cost no more than one")
    if config.path is not None:
        yield Standby(FilePlace(Path(config.path)), config, log, spent=_today(aws), inherit=_inherit(aws))
        return
    patience = max(config.renew_ms, 1000)
    own = replace(aws.config, max_usd_per_day=None, attempts=2, connect_ms=patience, read_ms=patience)
    way = Aws(own)
    try:
        yield Standby(S3Place(way, config), config, log, spent=_today(aws), inherit=_inherit(aws))
    finally:
        await way.close()


def _today(aws: Aws) -> Callable[[], DayCost]:
    def spent() -> DayCost:
        plain = aws.budget.plain()
        return DayCost(plain["day"], plain["today"])

    return spent


def _inherit(aws: Aws) -> Callable[[DayCost], None]:
    """Return what goes on with the money of a day, where the holder before spent more of it."""

    def inherit(spent: DayCost) -> None:
        own = aws.budget.plain()
        if (spent.day, spent.today) > (own["day"], own["today"]):
            told = {**own, "day": spent.day, "today": spent.today}
            aws.budget = Budget.from_plain(told, aws.config.max_usd_per_day, aws.config.rate_share)

    from collectors.aws.budget import Budget  # noqa: PLC0415 -- only where it is needed

    return inherit


def _history(
    setup: Setup, config: HistoryConfig, log: FilteringBoundLogger, aws: Aws | None, gate: Standby | None
) -> HistoryKeeper:
    """Open history: who stands by reads what is known of the past, and writes when it holds the lease."""
    way, is_ours = (aws, None) if aws is None or gate is None else (aws.ungated, lambda: gate.is_ours)
    return open_keeper(config, setup.state, setup.contract, log, way, is_ours)


async def _undo_watches(setup: Setup, aws: Aws, log: FilteringBoundLogger) -> None:
    """Switch back what an `insights watch` that died has left switched on."""
    from collectors.insights_watch.collector import InsightsWatch  # noqa: PLC0415 -- only where it is needed
    from collectors.insights_watch.config import InsightsWatchConfig  # noqa: PLC0415 -- same

    watch = InsightsWatch(aws, InsightsWatchConfig(setup.state))
    restored = await watch.restore()
    for intent in restored.undone:
        log.info("switched Contributor Insights back, after a watch that died", target=str(intent.target))
    for error in restored.errors:
        log.error("cannot switch Contributor Insights back", because=str(error), hint=error.hint)


async def _own_account(aws: Aws, log: FilteringBoundLogger) -> str | None:
    """Ask whose the credentials are, of the first regions at once, so that one that hangs delays nothing.

    Not to know it costs the account's name in findings, and no more.
    """
    regions = aws.config.regions[:_REGIONS_ASKED] or (None,)
    waiting = {asyncio.ensure_future(aws.call("sts", "GetCallerIdentity", region=region)) for region in regions}
    because = f"no answer in {_IDENTITY_SECONDS:g} seconds"
    end = time.monotonic() + _IDENTITY_SECONDS
    try:
        while waiting and (left := end - time.monotonic()) > 0:
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                try:
                    return str(one.result()["Account"])
                except (CollectError, KeyError) as error:
                    because = str(error)
    finally:
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    mend = "set `account:` in the configuration; until then a request log may name it"
    log.warning("the account of the credentials is not known", because=because, mend=mend)
    return None


def _now() -> Instant:
    return time.time_ns() // 1_000_000


def run_daemon(config: Path | None, *, as_json: bool, write: Callable[[str], None], standby: str | None = None) -> None:
    """Run the daemon until it is told to stop; raises ConfigError, ContractError, UsageError before anything starts.

    `standby` names a lease: AWS is read only while this daemon holds it.
    """
    lease = None if standby is None else parse_place(standby)
    _allow_many_files()
    latest = Latest(partial(load_setup, config, fallback=process_salt()))
    setup = latest.setup
    server = Server(detector_pages(), setup.policy, setup.salt)

    log = make_logger(setup.fixed["log.level"], setup.fixed["log.format"])
    outlet = Outlet(write, lambda because: log.warning("findings cannot be printed", because=because))

    def tell(events: Report) -> None:
        shown = show(events, server.policy, server.salt)
        outlet.say(json_lines(shown) if as_json else text_lines(shown))

    outlets = Outlets(
        server=server, state=StateFolder(setup.state), log=log, tell=tell, unprinted=lambda: outlet.dropped
    )

    async def work() -> None:
        async with way_to_aws(setup) as aws, _standing_by(aws, lease, log) as gate:
            polled = await _polled(latest, aws, log, gate)
            if gate is not None and aws is not None:
                aws.permit = gate.permit
                server.standing = lambda: gate.standing
            history = None
            if setup.history is not None:
                history = _history(setup, setup.history, log, aws, gate)
            await Daemon(setup, outlets, latest.load, partial(open_streams, aws=aws), polled, history).run()

    try:
        asyncio.run(work())
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
    finally:
        outlet.close(_LAST_WORDS_SECONDS)


def _allow_many_files() -> None:
    """Raise the soft bound of open files: a thousand logs and as many clients do not fit into what is usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
