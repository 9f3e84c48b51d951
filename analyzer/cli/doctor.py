"""dynascope doctor."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
import time
from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from analyzer.errors import ConfigError, ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.doctor.examined import Examined
    from analyzer.model.batch import Check
    from analyzer.setup import Setup

__all__ = ["doctor"]

_WIDTH = 100
_COLORS = {"ok": "32", "unchecked": "2", "warning": "33", "error": "31"}
_INDENT = "            "


class DoctorFormat(StrEnum):
    """How the checks are printed."""

    TEXT = "text"
    JSON = "json"


def doctor(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration to examine")
    ] = None,
    output: Annotated[DoctorFormat, typer.Option("--format", help="how to print it")] = DoctorFormat.TEXT,
) -> None:
    """Try everything that a configuration names, before the daemon does: what works, what does not, what it costs.

    It looks at contract, salt and state folder, at every request log, and in every account and region at who we are, at
    the clock, at each permission, and at how much there is to read. It changes nothing. A region of two hundred tables
    costs about a cent.

    \b
      dynascope doctor --config dynascope.yaml

    Exit 0 when nothing is an error, 2 when the configuration is wrong, 3 when a source fails.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.output import is_colorful, write  # noqa: PLC0415 -- light start
    from analyzer.doctor.examined import faulty  # noqa: PLC0415 -- light start
    from analyzer.setup import load_setup  # noqa: PLC0415 -- light start

    try:
        examined = _examine(load_setup(config))
    except (ConfigError, ContractError) as error:
        examined = faulty(error.faults)
    if output is DoctorFormat.JSON:
        write(json.dumps(examined.plain(), indent=2) + "\n")
    else:
        write("".join(f"{line}\n" for line in _lines(examined, color=is_colorful())))
    if examined.exit_code:
        raise typer.Exit(examined.exit_code)


def _examine(setup: Setup) -> Examined:
    from analyzer.app import way_to_aws  # noqa: PLC0415 -- light start
    from analyzer.doctor.examine import examine  # noqa: PLC0415 -- light start

    async def run() -> Examined:
        async with way_to_aws(setup) as aws:
            return await examine(setup, aws, lambda: time.time_ns() // 1_000_000, _progress)

    return asyncio.run(run())


def _progress(place: str) -> None:
    """Say on a terminal what was looked at: a region of many tables takes a while."""
    if sys.stderr.isatty():
        sys.stderr.write(f"looked {place}\n")


def _lines(examined: Examined, *, color: bool) -> Iterator[str]:
    for group in examined.groups:
        yield group.title
        for check in group.checks:
            yield from _check(check, color=color)
        yield ""
    counts = ", ".join(f"{examined.count(state)} {state}" for state in ("error", "warning", "unchecked", "ok"))
    yield f"{counts}: {_verdict(examined)}"


def _check(check: Check, *, color: bool) -> Iterator[str]:
    state = f"{check.state:<9}"
    shown = f"\033[{_COLORS[check.state]}m{state}\033[0m" if color else state
    first, *rest = textwrap.wrap(f"{check.name}: {check.message}", _WIDTH - len(_INDENT), break_long_words=False)
    yield f"  {shown} {first}"
    yield from (f"{_INDENT}{line}" for line in rest)
    if check.hint is not None and check.state != "ok":
        wrapped = textwrap.wrap(check.hint, _WIDTH - len(_INDENT) - 2, break_long_words=False)
        yield from (f"{_INDENT}{'→ ' if number == 0 else '  '}{line}" for number, line in enumerate(wrapped))


def _verdict(examined: Examined) -> str:
    if examined.count("error"):
        return "mend the errors, then run it again"
    return "the daemon can be started" if not examined.count("warning") else "it can be started; read the warnings"
