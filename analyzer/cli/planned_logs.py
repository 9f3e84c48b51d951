"""The request logs that a planning command was given, and the stretch of them that counts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from analyzer.cli.foreign import choose, declare_keys
from analyzer.cli.inputs import STDIN, expand, parse_moment, place_stretch
from analyzer.cli.judging import Stretch
from analyzer.cli.planned import observed_logs, observed_recording
from analyzer.cli.reading import LogFile, at_rest, end_of, is_recording
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from analyzer.cli.planned import Bench
    from analyzer.cli.shapes import Input
    from analyzer.contract.model import Contract
    from analyzer.planning.capacity_evidence import Observed

__all__ = ["by_declaration", "named_logs", "observed_in", "stretch_of"]


def named_logs(
    names: Sequence[str], contract: Contract, shape: Input, mapping: Path | None, tell: Callable[[str], None]
) -> tuple[LogFile, ...]:
    """Return the logs, each with what decodes it; what is to be said of their shapes is told."""
    paths = sorted(expand(names), key=lambda path: path != STDIN)
    for path in paths:
        if path != STDIN and is_recording(path):
            raise UsageError(f"{path} is a recording; give it to --recording")
    files = tuple(LogFile(path) for path in paths)
    for said in choose(files, shape, mapping):
        tell(said)
    if any(file.decoder is not None for file in files):
        declare_keys(files, contract)
    return files


def observed_in(
    bench: Bench, names: Sequence[str], since: str | None, shape: Input, mapping: Path | None
) -> dict[str, Observed]:
    """Return the traffic of each declared table in request logs, or in one recording, by the name of its declaration.

    Whatever else can tell it, such as a folder of history, hands over the same values.
    """
    paths = expand(names)
    if len(paths) == 1 and paths[0] != STDIN and is_recording(paths[0]):
        if since is not None:
            raise UsageError("a recording holds its own stretch: leave out --since")
        with at_rest(paths[0]) as path:
            observed = observed_recording(bench, path)
    else:
        files = named_logs(names, bench.contract, shape, mapping, _tell)
        observed = observed_logs(bench, files, stretch_of(files, since))
    return by_declaration(bench, observed)


def by_declaration(bench: Bench, observed: Iterable[Observed]) -> dict[str, Observed]:
    """Return what was observed of declared tables, the first of each, by the name that it is declared with."""
    found: dict[str, Observed] = {}
    for one in observed:
        declared = bench.contract.table(one.traffics[0].target)
        if declared is not None:
            found.setdefault(declared.name, one)
    return found


def _tell(said: str) -> None:
    sys.stderr.write(f"dynascope: {said}\n")


def stretch_of(files: Sequence[LogFile], since: str | None) -> Stretch:
    """Return the stretch from a time, or from so long before the end of the logs; all of them without `since`."""
    moment = parse_moment(since, "--since")
    if moment is None:
        return Stretch()
    if moment.at is None and any(file.path == STDIN for file in files):
        raise UsageError(f"--since {since} counts back from the end, which standard input has not; write a time")
    return Stretch(*place_stretch(moment, None, end_of(files) if moment.at is None else None))
