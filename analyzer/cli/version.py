"""dynascope version."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer

from analyzer.cli.output import write
from analyzer.version import __version__

__all__ = ["version"]

_FORMATS = {"request": 1, "recording": 1, "report": 1, "contract": 1, "metrics": 1}


def version(
    as_json: Annotated[
        bool, typer.Option("--json", help="for programs: with Python's and the formats' versions")
    ] = False,
) -> None:
    """Say which version this is."""
    if as_json:
        write(json.dumps({"version": __version__, "python": platform.python_version(), "formats": _FORMATS}) + "\n")
    else:
        write(f"dynascope {__version__}\n")
