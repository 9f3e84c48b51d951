from __future__ import annotations

from analyzer.requests.digest_clock import Clock


def test_the_memory_of_seconds_is_bounded() -> None:
    clock = Clock()
    for number in range(9000):
        clock[f"2026-11-30T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"]
    assert len(clock) < 1000
    assert clock["2026-11-30T10:00:00"] == 1_796_032_800
