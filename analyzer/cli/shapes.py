"""The shapes of request logs as the command line names them; a module of its own, for help must not load decoders."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Input"]


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
