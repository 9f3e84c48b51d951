"""`dynascope run`: the daemon."""

from __future__ import annotations

import signal
from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer looks at it
from typing import Annotated

import typer

__all__ = ["run"]


class Lines(StrEnum):
    """How findings that open and close are printed."""

    TEXT = "text"
    JSON = "json"


def run(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration to run (YAML)")
    ] = None,
    output: Annotated[
        Lines, typer.Option("--format", help="how findings that open and close are printed")
    ] = Lines.TEXT,
    standby: Annotated[
        str | None,
        typer.Option(
            metavar="LEASE",
            help="read AWS only while holding a lease, and else wait for it: file:/path/lease or s3://bucket/key",
        ),
    ] = None,
) -> None:
    """Tail request logs, judge every ten seconds, print findings as they open and close, serve metrics and docs.

    SIGHUP reloads configuration and contract; SIGTERM ends within five seconds, with everything noted down.

    With --standby several daemons may watch the same tables, and one of them reads AWS. When it dies, another takes
    over within three renewals of the lease (?renew=10s); when it is stopped, at once.

    \b
      dynascope run --config dynascope.yaml

    Exit 0 when it was stopped, 2 where the configuration is wrong or its place is taken.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})  # until the daemon is there to take it
    from analyzer.app import run_daemon  # noqa: PLC0415 -- light start
    from analyzer.cli.output import write_unbuffered  # noqa: PLC0415 -- light start

    run_daemon(config, as_json=output is Lines.JSON, write=write_unbuffered, standby=standby)
