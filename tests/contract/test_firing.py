from __future__ import annotations

import pytest

from analyzer.contract.firing import fires_near
from analyzer.model.instant import parse_instant

HALF_HOUR = 1_800_000
MINUTE = 60_000


def near(schedule: str, at: str, within_ms: int = HALF_HOUR) -> bool | None:
    start = parse_instant(f"2026-03-02T{at}:00Z")  # a Monday
    return fires_near(schedule, start, start + MINUTE, within_ms)


@pytest.mark.parametrize(
    ("schedule", "at", "fires"),
    [
        ("0 2 * * *", "02:00", True),
        ("0 2 * * *", "02:29", True),
        ("0 2 * * *", "01:31", True),
        ("0 2 * * *", "02:31", False),
        ("0 2 * * *", "01:28", False),
        ("0 2 * * mon", "02:00", True),
        ("0 2 * * 1", "02:00", True),
        ("0 2 * * sun", "02:00", False),
        ("0 2 * * 0", "02:00", False),
        ("0 2 * * 5-7", "02:00", False),
        ("0 2 1 * *", "02:00", False),
        ("0 2 2 3 *", "02:00", True),
        ("0 2 2 mar,apr *", "02:00", True),
        ("0 2 1 * mon", "02:00", True),
        ("*/15 * * * *", "17:07", True),
        ("0 */6 * * *", "18:10", True),
        ("0 */6 * * *", "16:00", False),
        ("0 8-18/2 * * *", "10:00", True),
        ("0 8-18/2 * * *", "11:00", False),
        ("0 3/6 * * *", "09:00", True),
        ("0 3/6 * * *", "06:00", False),
        ("cron(0 2 * * ? *)", "02:00", True),
        ("cron(0 2 ? * 2 *)", "02:00", True),
        ("cron(0 2 ? * MON-FRI *)", "02:00", True),
        ("cron(0 2 ? * 1 *)", "02:00", False),
        ("cron(0 2 * * ? 2025)", "02:00", False),
        ("0 2 L * *", "02:00", True),
        ("rate(10 minutes)", "12:34", True),
        ("rate(1 hour)", "12:34", True),
    ],
)
def test_a_schedule_fires_near_a_time_or_not(schedule: str, at: str, *, fires: bool) -> None:
    assert near(schedule, at) is fires


def test_a_sunday_is_both_0_and_7() -> None:
    sunday = parse_instant("2026-03-01T02:00:00Z")
    assert all(fires_near(f"0 2 * * {day}", sunday, sunday + MINUTE, 0) for day in ("0", "7", "sun", "5-7"))


@pytest.mark.parametrize(
    "schedule", ["nightly", "rate(1 day)", "0 99 * * *", "at night, 2 to 4", "", "every 5 minutes ok"]
)
def test_what_only_people_understand_is_not_known(schedule: str) -> None:
    assert near(schedule, "02:00") is None
