from __future__ import annotations

import pytest

from analyzer.knowledge.unanswered import may_have_been_done


@pytest.mark.parametrize("code", ["ReadTimeoutError", "ConnectionClosedError", "TimeoutError", "ECONNRESET"])
def test_no_answer_leaves_open_what_was_done(code: str) -> None:
    assert may_have_been_done(code)


@pytest.mark.parametrize(
    "code", [None, "ConnectTimeoutError", "EndpointConnectionError", "ThrottlingException", "ValidationException"]
)
def test_what_was_never_sent_or_was_refused_was_not_done(code: str | None) -> None:
    assert not may_have_been_done(code)
