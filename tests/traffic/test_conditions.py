from __future__ import annotations

import pytest

from analyzer.traffic.conditions import Guard, guard_of, is_named_lock
from tests.support.evidence import shape


@pytest.mark.parametrize(
    ("condition", "guard"),
    [
        ("attribute_not_exists(PK)", Guard.CREATE),
        ("NOT attribute_exists(PK)", Guard.CREATE),
        ("attribute_exists(PK)", Guard.EXISTS),
        ("version = ?", Guard.VERSION),
        ("attribute_not_exists(PK) OR version < ?", Guard.VERSION),
        ("attribute_exists(PK) AND state IN (?)", Guard.VERSION),
        ("attribute_not_exists(PK) OR expires < ?", Guard.LOCK),
        ("attribute_not_exists(LockID)", Guard.LOCK),
        ("heartbeat = ?", Guard.LOCK),
        ("optimistic_lock_version = ?", Guard.VERSION),
        ("attribute_type(PK, ?)", Guard.UNKNOWN),
        (None, Guard.UNKNOWN),
    ],
)
def test_a_condition_says_what_it_guards(condition: str | None, guard: Guard) -> None:
    assert guard_of(shape("PutItem", condition=condition)) is guard


@pytest.mark.parametrize(
    ("name", "is_lock"),
    [
        ("tf-lock", True),
        ("deployLocks", True),
        ("shard-leases", True),
        ("leader-election", True),
        ("mutex", True),
        ("blocks", False),
        ("clock", False),
        ("releases", False),
        ("leaderboard", False),
        ("lockVersion", False),
        (None, False),
    ],
)
def test_a_name_speaks_of_a_lock_or_not(name: str | None, is_lock: bool) -> None:  # noqa: FBT001 -- a parameter
    assert is_named_lock([name]) is is_lock
