"""The wiring: configuration and contract become the values that the daemon works with."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from analyzer.checkpoint import StateFolder
from analyzer.daemon import Daemon, Outlets
from analyzer.exporters.server import Server
from analyzer.exporters.verdicts import json_lines, text_lines
from analyzer.render.pages import detector_pages
from analyzer.render.show import show
from analyzer.setup import load_setup, process_salt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

    from analyzer.model.report import Report

__all__ = ["make_logger", "run_daemon"]

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def make_logger(level: str, form: str) -> FilteringBoundLogger:
    """Return the logger of the daemon: lines on standard error, for eyes or as JSON."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), sort_keys=False)
    )
    processors = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        renderer,
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(sys.stderr),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
    )
    return logger


def run_daemon(config: Path | None, *, as_json: bool, write: Callable[[str], None]) -> None:
    """Run the daemon until it is told to stop; raises ConfigError, ContractError, UsageError before anything starts."""
    load = partial(load_setup, config, fallback=process_salt())
    setup = load()
    server = Server(detector_pages(), setup.policy, setup.salt)

    def tell(events: Report) -> None:
        shown = show(events, server.policy, server.salt)
        write(json_lines(shown) if as_json else text_lines(shown))

    log = make_logger(setup.fixed["log.level"], setup.fixed["log.format"])
    outlets = Outlets(server=server, state=StateFolder(setup.state), log=log, tell=tell)

    async def work() -> None:
        await Daemon(setup, outlets, load).run()

    try:
        asyncio.run(work())
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
