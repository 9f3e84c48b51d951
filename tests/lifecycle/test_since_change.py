from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.lifecycle.since_change import change_before, with_changes
from analyzer.model.finding import Change, Confidence, Finding, Severity

MINUTE = 60_000
BEGAN = 1000 * MINUTE


def finding(first_seen: int | None = BEGAN, **fields: Any) -> Finding:
    told: dict[str, Any] = {
        "detector": "hot-key",
        "severity": Severity.HIGH,
        "confidence": Confidence.LIKELY,
        "summary": "it is hot",
    }
    return Finding(table="cases", first_seen=first_seen, **told, **fields)


def change(minutes_before: float, what: str = "deploy", table: str | None = None) -> Change:
    return Change(time=round(BEGAN - minutes_before * MINUTE), what=what, table=table)


@pytest.mark.parametrize(
    ("one", "is_named"),
    [
        (change(30), True),
        (change(0), True),
        (change(30.01), False),
        (change(-0.01), False),
        (change(5, "capacity", "cases"), True),
        (change(5, "capacity", "orders"), False),
        (change(31, "capacity", "cases"), False),
        (change(119, "index-created", "cases"), True),
        (change(120, "billing-mode", "cases"), True),
        (change(121, "billing-mode", "cases"), False),
        (change(5, "insights", "cases"), False),
    ],
)
def test_a_change_of_the_table_or_of_everything_is_named_for_a_while(one: Change, *, is_named: bool) -> None:
    assert change_before(finding(), [one]) == (one if is_named else None)


@pytest.mark.parametrize(
    ("account", "region", "is_named"),
    [
        (None, None, True),
        ("111122223333", "eu-west-1", True),
        (None, "eu-west-1", True),
        ("111122223333", "us-east-1", False),
        ("444455556666", "eu-west-1", False),
    ],
)
def test_a_change_of_a_table_of_that_name_elsewhere_is_not_named(
    account: str | None, region: str | None, *, is_named: bool
) -> None:
    one = msgspec.structs.replace(change(5, "capacity", "cases"), account=account, region=region)
    found = change_before(finding(account="111122223333", region="eu-west-1"), [one])
    assert found == (one if is_named else None)
    assert change_before(finding(), [one]) == one  # a log that names no place may be of any


def test_the_last_change_is_named_and_one_of_autoscaling_only_without_another() -> None:
    deploy, earlier, scaling = change(10), change(20), change(1, "scaling", "cases")
    assert change_before(finding(), [earlier, deploy, scaling]) == deploy
    assert change_before(finding(), [scaling]) == scaling


def test_nothing_is_named_of_a_finding_whose_beginning_is_not_known() -> None:
    assert change_before(finding(None), [change(0)]) is None
    assert change_before(finding(), []) is None


def test_a_finding_keeps_the_change_that_it_has() -> None:
    old, new = change(20), change(10)
    known = finding(since_change=old)
    kept, found, none = with_changes((known, finding(), finding(5)), iter([new]))
    assert (kept, found.since_change, none.since_change) == (known, new, None)


@given(st.lists(st.tuples(st.integers(-200, 200), st.sampled_from(["deploy", "scaling", "restore", "insights"]))))
def test_what_is_named_lies_before_and_is_the_last_of_its_kind(told: list[tuple[int, str]]) -> None:
    changes = [change(minutes, what) for minutes, what in told]
    found = change_before(finding(), changes)
    if found is not None:
        assert 0 <= BEGAN - found.time <= 120 * MINUTE
        assert not any(one.what == found.what and found.time < one.time <= BEGAN for one in changes)
