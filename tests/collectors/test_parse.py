from __future__ import annotations

import pytest

from collectors.request_log.parse import Sibling, is_rotated_from, newer_than


@pytest.mark.parametrize(
    "name",
    ["log.1", "log.12.gz", "log.3.zst", "log-20261130", "log.2026-11-30T10:00:00Z.gz", "log.1760000000", "log.gz"],
)
def test_a_name_with_a_counter_or_date_is_rotated(name: str) -> None:
    assert is_rotated_from("log", name)


@pytest.mark.parametrize("name", ["log", "log.jsonl", "log-worker", "log.tmp", "logs", "other.1", "log.1.part"])
def test_any_other_name_is_not(name: str) -> None:
    assert not is_rotated_from("log", name)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["log.1", "log.10", "log.2"], ["log.10", "log.2", "log.1"]),
        (["log-20261130", "log-20261128.gz", "log-20261129"], ["log-20261128.gz", "log-20261129", "log-20261130"]),
        (["log.1", "log-20261128", "log.gz"], ["log.1", "log-20261128", "log.gz"]),
    ],
    ids=["counters fall", "dates rise", "else by time"],
)
def test_the_oldest_comes_first(names: list[str], expected: list[str]) -> None:
    siblings = [Sibling(name, number, number) for number, name in enumerate(names, start=1)]
    assert [sibling.name for sibling in newer_than("log", siblings, 99, 0)] == expected
