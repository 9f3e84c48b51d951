"""What the command line calls shapes of logs, and history; a module of its own, for help must load no readers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

__all__ = ["HistoryOption", "Input", "WeekOption"]


class Input(StrEnum):
    """What shape a log is of."""

    AUTO = "auto"
    NATIVE = "native"
    WRAPPED = "wrapped"
    AWS_SDK_JS = "aws-sdk-js"
    CLOUDTRAIL = "cloudtrail"
    OPENTELEMETRY = "opentelemetry"
    OTLP = "otlp"
    XRAY = "xray"
    DYNAMOOSE = "dynamoose"
    ELECTRODB = "electrodb"
    MAPPED = "mapped"


HistoryOption = Annotated[
    str | None,
    typer.Option("--history", metavar="DIR|S3", help="history that a daemon wrote: the weeks before"),
]
WeekOption = Annotated[
    str | None,
    typer.Option("--week", metavar="WEEK", help="the ISO week of history, such as 2026-W48; else the last whole one"),
]
