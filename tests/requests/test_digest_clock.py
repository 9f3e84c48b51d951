from __future__ import annotations

import pytest

from analyzer.requests.digest_clock import Clock


def test_the_memory_of_seconds_is_bounded() -> None:
    clock = Clock()
    for number in range(9000):
        clock[f"2026-11-30T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"]
    assert len(clock) < 1000
    assert clock["2026-11-30T10:00:00"] == 1_796_032_800


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["2026-11-30T10:00:01.000Z", "2026-11-30T10:00:59.999Z"], [1, 59]),
        (["2026-11-30T10:00:01.000Z", "2026-11-30T10:01:00.000Z"], [1, 60]),
        (["2026-11-30T10:00:01.000Z", "2026-11-30T10:00:61.000Z"], [1, None]),
        (["2026-11-30T10:00:01.000Z", "2026-11-30T10:00:0x.000Z"], [1, None]),
        (["2026-11-30T10:00:01.000Z", "2026-11-30T10:00:02Z"], [1, 2]),
        (["2026-11-30T10:00:01,000Z", "2026-11-30T10:00:02.00+0"], [1, None]),
        (["2026-11-30t10:00:01.000z", "2026-11-30t10:00:02.000z"], [1, 2]),
        (["no time, but as long one", "2026-11-30T10:00:02.000Z"], [None, 2]),
    ],
)
def test_times_are_read_alike_together_and_alone(times: list[str], seconds: list[int | None]) -> None:
    wanted = [-1 if second is None else 1_796_032_800 + second for second in seconds]
    assert Clock().seconds(times).tolist() == wanted
    assert [Clock().seconds([time]).tolist()[0] for time in times] == wanted
