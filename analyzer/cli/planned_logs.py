"""The request logs that a planning command was given, and the stretch of them that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.cli.foreign import choose, declare_keys
from analyzer.cli.inputs import STDIN, expand, parse_moment, place_stretch
from analyzer.cli.judging import Stretch
from analyzer.cli.reading import LogFile, end_of, is_recording
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from analyzer.cli.shapes import Input
    from analyzer.contract.model import Contract

__all__ = ["named_logs", "stretch_of"]


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


def stretch_of(files: Sequence[LogFile], since: str | None) -> Stretch:
    """Return the stretch from a time, or from so long before the end of the logs; all of them without `since`."""
    moment = parse_moment(since, "--since")
    if moment is None:
        return Stretch()
    if moment.at is None and any(file.path == STDIN for file in files):
        raise UsageError(f"--since {since} counts back from the end, which standard input has not; write a time")
    return Stretch(*place_stretch(moment, None, end_of(files) if moment.at is None else None))
