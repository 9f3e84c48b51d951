from __future__ import annotations

from datetime import UTC, datetime

import pytest

from analyzer.model.window import Window
from analyzer.traffic.clock_keys import names_time, without_time

AT = int(datetime(2026, 11, 30, 16, 40, tzinfo=UTC).timestamp()) * 1000
NOW = Window(AT, AT + 300_000)


@pytest.mark.parametrize(
    ("key", "steady"),
    [
        ("METRIC#2026-11-30", "METRIC#<time>"),
        ("METRIC#2026-11-30T16", "METRIC#<time>"),
        ("2026-11-30T16:42", "<time>"),
        ("2026-11-30T16:42:09.123Z", "<time>"),
        ("T7#20261130", "T7#<time>"),
        ("T7#2026113016", "T7#<time>"),
        ("202611301642", "<time>"),
        ("BILL#2026-11", "BILL#<time>"),
        ("2026/11/30", "<time>"),
        (f"E#{AT // 1000}", "E#<time>"),
        (f"E#{AT}", "E#<time>"),
        (f"d{AT // 86_400_000}:series", "d<time>:series"),
        (f"h{AT // 3_600_000}", "h<time>"),
        (f"m{AT // 60_000}", "m<time>"),
        ("2026-12-01", "<time>"),
    ],
)
def test_a_key_that_tells_the_time_is_known_without_it(key: str, steady: str) -> None:
    assert without_time(key, NOW) == steady


@pytest.mark.parametrize(
    "key",
    [
        "CASE#7",
        "2025-11-30",
        "METRIC#2026-10-30",
        "202611",
        "20261399",
        "20260230",
        "ITEM#12345",
        "1764500000",
        "x",
        "",
    ],
)
def test_another_time_and_an_ordinary_number_stay(key: str) -> None:
    assert without_time(key, NOW) is None


def test_a_declared_variable_may_be_named_for_the_clock() -> None:
    assert names_time(["METRIC#<day>"])
    assert names_time(["<tenant>#<hourBucket>"])
    assert not names_time(["CASE#<caseId>", "STATUS#<status=OPEN|CLOSED>"])
