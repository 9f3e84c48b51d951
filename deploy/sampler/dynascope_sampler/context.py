"""What surrounds a call: the pattern that the application tagged it with, its trace, who sends it."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar, Token
from typing import Any

__all__ = ["PATTERN", "current_trace", "default_caller", "default_caller_version", "pattern"]

PATTERN: ContextVar[str | None] = ContextVar("dynascope_pattern", default=None)


class pattern:  # noqa: N801 - reads as a statement: `with pattern("list-active-cases"):`
    """Tag every DynamoDB call inside with the id of a declared access pattern; works in threads and in asyncio."""

    def __init__(self, pattern_id: str) -> None:
        """Take the id as the contract has it."""
        self._pattern_id = pattern_id
        self._tokens: list[Token[str | None]] = []

    def __enter__(self) -> pattern:  # noqa: PYI034 - Self is younger than Python 3.9
        """Begin to tag."""
        self._tokens.append(PATTERN.set(self._pattern_id))
        return self

    def __exit__(self, *_: object) -> None:
        """Go back to the tag that held before."""
        try:
            PATTERN.reset(self._tokens.pop())
        except (IndexError, ValueError):  # one object shared by several tasks: no tag is better than a wrong one
            PATTERN.set(None)

    async def __aenter__(self) -> pattern:  # noqa: PYI034 - same
        """Begin to tag, in `async with`."""
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        """Go back to the tag that held before."""
        self.__exit__()


def current_trace() -> str | None:
    """Return the id of the current trace: OpenTelemetry's where it is loaded, else the X-Ray root of Lambda."""
    telemetry: Any = sys.modules.get("opentelemetry.trace")
    if telemetry is not None:
        context = telemetry.get_current_span().get_span_context()
        if context.is_valid:
            return format(context.trace_id, "032x")
    header = os.environ.get("_X_AMZN_TRACE_ID")
    if header:
        for part in header.split(";"):
            if part.startswith("Root="):
                return part[5:]
    return None


def default_caller() -> str:
    """Return the name that a caller goes by where nobody gave it one."""
    named = os.environ.get("DYNASCOPE_CALLER") or os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
    return named or os.path.basename(sys.argv[0] if sys.argv else "") or "python"


def default_caller_version() -> str | None:
    """Return the version of the caller where the environment says it."""
    return os.environ.get("DYNASCOPE_CALLER_VERSION") or os.environ.get("AWS_LAMBDA_FUNCTION_VERSION") or None
