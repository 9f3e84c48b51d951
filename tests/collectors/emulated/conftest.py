"""The collectors as they run: the way to AWS before them, the emulator behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.model.sight import GapReason
from collectors.asking import Spot
from collectors.aws.config import AwsConfig
from collectors.aws.session import Aws
from tests.support.emulator import REGION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.emulator import LocalAws

SPOT = Spot(REGION)

WIRE_FAULTS = {
    "denied": GapReason.DENIED,
    "expired": GapReason.DENIED,
    "skewed": GapReason.DENIED,
    "throttled": GapReason.THROTTLED,
    "reset": GapReason.TIMEOUT,
    "timeout": GapReason.TIMEOUT,
    "truncated": None,
    "html": GapReason.MALFORMED,
    "wrong": GapReason.MALFORMED,
    "garbage": GapReason.MALFORMED,
}
"""What a fault on the wire becomes; an answer that breaks off may look like a lost connection or like half of JSON."""


@pytest.fixture
async def aws(
    emulator: LocalAws, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> AsyncIterator[Aws]:
    """Only where no answer is the fault is one waited for so briefly: a busy machine is no fault."""
    waits = 5000 if "timeout" in request.node.name else 60_000
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    config = AwsConfig(
        (REGION,), endpoint_url=emulator.url, attempts=1, read_ms=waits, rate_share=1000.0, max_usd_per_day=None
    )
    aws = Aws(config)
    yield aws
    await aws.close()
