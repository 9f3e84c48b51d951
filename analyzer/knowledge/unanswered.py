"""Failures that leave open whether DynamoDB did what it was asked: the request went out, and no answer came back.

Names of botocore's exceptions (botocore/exceptions.py, 1.43), of Node's and of the AWS SDKs for Java and Go; read
2026-11-30. Failures to connect are none of them: nothing was sent.
"""

from __future__ import annotations

__all__ = ["may_have_been_done"]

_ENDINGS = (
    "ReadTimeoutError",
    "ReadTimeout",
    "ConnectionClosedError",
    "IncompleteReadError",
    "StreamingError",
    "HTTPClientError",
    "NetworkingError",
    "TimeoutError",
    "ECONNRESET",
    "EPIPE",
    "ApiCallTimeoutException",
    "ApiCallAttemptTimeoutException",
)
_NEVER_SENT = ("ConnectTimeoutError", "EndpointConnectionError", "ProxyConnectionError")


def may_have_been_done(code: str | None) -> bool:
    """Whether a call that failed so may have changed the table all the same."""
    return code is not None and code.endswith(_ENDINGS) and not code.endswith(_NEVER_SENT)
