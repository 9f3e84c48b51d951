from __future__ import annotations

from analyzer.model.sight import Gap, GapReason, Sight, SourceName
from analyzer.traffic.lines import statement_gaps
from tests.support.evidence import ALL_REQUEST_SIGHTS, row, shape, traffic

STATEMENT = row(shape("ExecuteStatement", "s", key=()))
BOTH = ALL_REQUEST_SIGHTS | {Sight.INSIGHTS_ACCESSED}


def test_statements_are_not_counted_by_contributor_insights_and_that_is_a_gap() -> None:
    (gap,) = statement_gaps([traffic(sights=BOTH, rows=(STATEMENT, row()))], ())
    assert (gap.reason, gap.table, gap.source) == (GapReason.UNSUPPORTED, "cases", SourceName.CONTRIBUTOR_INSIGHTS)
    assert "does not count PartiQL, and there is some: ExecuteStatement" in gap.detail


def test_without_statements_or_without_insights_nothing_is_hidden() -> None:
    assert list(statement_gaps([traffic(sights=BOTH), traffic(rows=(STATEMENT,))], ())) == []


def test_what_is_told_already_is_not_told_twice() -> None:
    told = Gap(SourceName.CONTRIBUTOR_INSIGHTS, GapReason.UNSUPPORTED, "PartiQL: ExecuteStatement", None, "cases")
    assert list(statement_gaps([traffic(sights=BOTH, rows=(STATEMENT,))], (told,))) == []
