from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.detectors import DETECTORS
from analyzer.model.counts import Count
from analyzer.model.report import VerdictState
from analyzer.model.target import Target
from analyzer.pipeline import Walk
from analyzer.requests.digest import Digest
from analyzer.traffic.heaviest import Heaviest
from tests.support.counting import cell, counts

if TYPE_CHECKING:
    from analyzer.model.counts import Counts


def test_of_more_tables_than_are_judged_the_busiest_are() -> None:
    heaviest = Heaviest(most=2)
    assert heaviest.take(window(a=1, b=5)) is None
    assert heaviest.take(window(c=1)) == frozenset({"a", "b"})
    assert heaviest.take(window(a=1, d=3)) == frozenset({"b", "d"})
    (gap,) = heaviest.gaps(window().window)
    assert gap.detail == "2 of 4 tables were judged, those with the most requests"


def test_nothing_is_said_where_all_are_judged() -> None:
    heaviest = Heaviest(most=2)
    heaviest.take(window(a=1, b=5))
    assert heaviest.gaps(window().window) == ()


def window(**requests: int) -> Counts:
    cells = ((cell(target=Target(None, None, table)), {Count.REQUESTS: count}) for table, count in requests.items())
    return counts(*cells)


def test_a_log_of_more_tables_is_never_said_to_be_clean() -> None:
    digest, walk = (
        Digest(EMPTY_CONTRACT.lexicon()),
        Walk(EMPTY_CONTRACT, [one() for one in DETECTORS], window_ms=20_000),
    )
    records = (
        {"v": 1, "time": "2026-11-30T00:00:00Z", "op": "GetItem", "table": f"t{number}", "key": {"pk": {"S": "a"}}}
        for number in range(501)
    )
    digest.update(b"".join(json.dumps(one).encode() + b"\n" for one in records))
    report = walk.finish(digest)
    assert report.verdict.state is VerdictState.CANNOT_TELL
    assert "500 of 501 tables were judged" in report.verdict.text
    assert sum(line.requests for line in report.patterns) == 501
