"""dynascope config."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 -- typer evaluates the annotation
from typing import Annotated

import typer

__all__ = ["config"]


class ConfigFormat(StrEnum):
    """How the configuration is printed."""

    YAML = "yaml"
    JSON = "json"


def config(
    file: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="configuration to read; else the defaults")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="print the JSON Schema of the file instead")] = False,
    output: Annotated[ConfigFormat, typer.Option("--format", help="how to print it")] = ConfigFormat.YAML,
) -> None:
    """Check a configuration and print what holds.

    The file stands over the defaults; the salt is only told as set or unset.

    \b
      dynascope config --config dynascope.yaml
      dynascope config --schema > dynascope.schema.json        for an editor

    Exit 0 when it holds, 2 with every fault of it otherwise.
    """  # noqa: D301 -- the backslash keeps lines of the examples apart
    from analyzer.cli.output import write  # noqa: PLC0415 -- light start
    from analyzer.config import json_schema, load_settings  # noqa: PLC0415 -- light start

    if schema:
        write(json.dumps(json_schema(), indent=2) + "\n")
        return
    if file is None:
        settings = load_settings()
    else:
        from analyzer.setup import checked_settings  # noqa: PLC0415 -- it tries all that a file names, numpy and all

        settings = checked_settings(file)
        if settings.request_log.config().is_empty and settings.aws is None:
            sys.stderr.write(f"{file}: request_log.files: nothing to read; `dynascope run` needs some\n")
    effective = settings.effective()
    write(json.dumps(effective, indent=2) + "\n" if output is ConfigFormat.JSON else _yaml(effective))


def _yaml(effective: dict[str, object]) -> str:
    from io import StringIO  # noqa: PLC0415 -- light start

    from ruamel.yaml import YAML  # noqa: PLC0415 -- light start

    text = StringIO()
    yaml = YAML()
    yaml.representer.add_representer(
        type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    yaml.dump(effective, text)
    return text.getvalue()
