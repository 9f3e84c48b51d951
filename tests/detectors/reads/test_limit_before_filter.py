from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.limit_before_filter import LimitBeforeFilter
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Declared, Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call

FILTERED = shape("Query", "filtered", filter="status = :0", filter_attributes=("status",), limit_bucket=16)


def page(number: int = 0, count: int = 0, **fields: Any) -> Call:
    mine: dict[str, Any] = {"of": FILTERED, "limit": 10, "scanned": 10, "more": True, "trace": f"t{number}"}
    return call("Query", number, count=count, **mine | fields)


def found(*calls: Call, **fields: Any) -> list[Finding]:
    evidence = traffic(calls=book(*calls), window=Window(0, 300_000), **fields)
    return [one for one in LimitBeforeFilter().detect(evidence) if isinstance(one, Finding)]


def test_empty_pages_that_nobody_read_on_are_high() -> None:
    (one,) = found(page(0), page(1, count=2), page(2))
    assert (one.severity, one.confidence, one.caller) == (Severity.HIGH, Confidence.CERTAIN, "api")
    assert (one.evidence["empty_pages_left"], one.evidence["items_returned"], one.key) == (2, 2, {"PK": "CASE#7"})
    assert "Limit 10 counts items before the filter on status, which let 2 of 30 through" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "follow-pages", "encode-filter-in-key"]


def test_short_pages_are_medium() -> None:
    (one,) = found(*(page(number, count=2) for number in range(3)))
    assert one.severity is Severity.MEDIUM


def test_one_page_is_likely_alone() -> None:
    (one,) = found(page())
    assert one.confidence is Confidence.LIKELY


def test_pages_of_several_keys_name_none() -> None:
    (one,) = found(page(0), page(1, key=item("CASE#8")))
    assert one.key is None


def test_a_page_with_half_of_what_was_asked_for_is_good_enough() -> None:
    assert found(*(page(number, count=5) for number in range(5))) == []


def test_who_reads_on_half_of_the_time_knows_how() -> None:
    later = [call("Query", 50 + n, of=FILTERED, resumed=True, trace=f"t{n}", count=5) for n in range(3)]
    assert found(*(page(number) for number in range(5)), *later) == []


def test_who_stops_half_of_the_time_does_not() -> None:
    later = [call("Query", 50 + n, of=FILTERED, resumed=True, trace=f"t{n}", count=5) for n in range(2)]
    (one,) = found(*(page(number) for number in range(4)), *later)
    assert (one.evidence["short_pages_left"], one.evidence["left_share"]) == (2, 0.5)


def test_what_the_filter_let_through_is_told() -> None:
    (one,) = found(page(0), page(1, count=2), page(2))
    assert (one.evidence["items_examined"], one.evidence["passed_share"]) == (30, "7%")


def test_a_page_that_ended_before_its_limit_was_ended_by_its_size() -> None:
    assert found(page(scanned=9)) == []


def test_without_a_filter_a_full_page_is_what_was_asked_for() -> None:
    assert found(page(of=shape("Query", "plain"))) == []


def test_unknown_numbers_convict_nobody() -> None:
    assert found(page(limit=None), page(1, scanned=None), call("Query", 2, of=FILTERED, limit=10, more=True)) == []


def test_a_pattern_may_allow_its_filter_to_discard_more() -> None:
    rows, patterns = (row(FILTERED),), {"load-case": Declared(id="load-case", discards_at_most=0.9)}
    place = Place(declared=True, patterns=patterns)
    assert found(*(page(number, count=2) for number in range(3)), rows=rows, place=place) == []
    (one,) = found(*(page(number, count=0) for number in range(3)), rows=rows, place=place)
    assert one.pattern == "load-case"


def test_without_calls_nothing_is_said() -> None:
    assert list(LimitBeforeFilter().detect(traffic())) == []
    assert found() == []
