from __future__ import annotations

import pytest

from analyzer.errors import (
    AbsentError,
    BudgetError,
    CollectError,
    DeniedError,
    MalformedError,
    ThrottledError,
    UnreachableError,
    UnsupportedError,
)
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.window import Window


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (DeniedError, GapReason.DENIED),
        (ThrottledError, GapReason.THROTTLED),
        (UnreachableError, GapReason.TIMEOUT),
        (MalformedError, GapReason.MALFORMED),
        (AbsentError, GapReason.NOT_ENABLED),
        (UnsupportedError, GapReason.UNSUPPORTED),
        (BudgetError, GapReason.BUDGET),
        (CollectError, GapReason.UNSUPPORTED),
    ],
)
def test_a_failure_to_look_is_a_gap_with_its_reason_and_mend(kind: type[CollectError], reason: GapReason) -> None:
    gap = Gap.from_error(SourceName.CHANGES, kind("LookupEvents", hint="grant it"))
    assert gap == Gap(SourceName.CHANGES, reason, "LookupEvents", "grant it")


def test_a_gap_says_where_and_when_if_that_is_known() -> None:
    error = DeniedError("DescribeTable", hint="grant it")
    gap = Gap.from_error(SourceName.TABLE_CATALOG, error, window=Window(1, 9), table="orders", index="by-day")
    assert (gap.table, gap.index, gap.start, gap.end) == ("orders", "by-day", 1, 9)
