from __future__ import annotations

from analyzer.knowledge.operations import OPERATIONS, WRITES


def test_every_write_is_an_operation() -> None:
    assert set(OPERATIONS) > WRITES
