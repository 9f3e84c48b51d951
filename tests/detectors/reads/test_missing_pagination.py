from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.reads.missing_pagination import MissingPagination
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.traffic import Declared, Place
from tests.support.calls import book, call, item
from tests.support.evidence import row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

QUERY = shape("Query", "query")


def page(number: int = 0, *, more: bool = True, **fields: Any) -> Call:
    mine: dict[str, Any] = {"count": 3900, "more": more, "trace": f"t{number}", "key": item(f"CASE#{number}")}
    return call("Query", number, of=QUERY, **mine | fields)


def reads(with_more: int, without: int = 0) -> list[Call]:
    return [page(n) for n in range(with_more)] + [page(100 + n, more=False) for n in range(without)]


def evidence(*calls: Call, **declared: Any) -> Traffic:
    patterns = {"load-case": Declared(id="load-case", **declared)} if declared else {}
    return traffic(calls=book(*calls), rows=(row(QUERY),), place=Place(declared=True, patterns=patterns))


def found(*calls: Call, **declared: Any) -> list[Finding]:
    return [one for one in MissingPagination().detect(evidence(*calls, **declared)) if isinstance(one, Finding)]


def actions(one: Finding) -> list[str]:
    return [advice.action for advice in one.advice]


def test_who_never_reads_on_takes_the_first_page_for_all() -> None:
    (one,) = found(*reads(3, 100))
    assert (one.severity, one.confidence, one.key) == (Severity.MEDIUM, Confidence.LIKELY, None)
    assert "3 of 103 answers had more, with 3,900 items at most, and 100% of those were not read on" in one.summary
    assert actions(one) == ["fix-caller", "follow-pages", "declare-pattern"]


def test_a_pattern_that_needs_every_page_makes_it_high_and_certain() -> None:
    (one,) = found(*reads(3), returns_all=True)
    assert (one.severity, one.confidence, one.pattern) == (Severity.HIGH, Confidence.CERTAIN, "load-case")
    assert actions(one) == ["fix-caller", "follow-pages"]


def test_a_pattern_that_does_not_say_gets_the_advice_to_say() -> None:
    (one,) = found(*reads(3), items_per_key=2)
    assert actions(one) == ["fix-caller", "follow-pages", "update-declaration"]
    (said,) = found(*reads(3), returns_all=False)
    assert actions(said) == ["fix-caller", "follow-pages"]


def test_one_page_left_of_two_reads_is_half_of_them() -> None:
    (one,) = found(*reads(1, 1))
    assert one.key == {"PK": "CASE#0"}
    assert found(*reads(2, 3)) == []


def test_of_a_sample_one_read_is_no_habit_and_three_are() -> None:
    sampled = [page(n, sample_rate=0.0975) for n in range(3)]
    assert found(*sampled[:1]) == []
    assert found(*sampled[:2]) == []
    (one,) = found(*sampled)
    assert one.evidence["answers_with_more_left"] == 3


def test_a_read_of_many_pages_of_which_a_sample_has_two_is_no_first_page() -> None:
    scan = page(0, key=None, sample_rate=0.0975), page(0, key=None, resumed=True, sample_rate=0.0975)
    assert found(*scan) == []


def test_a_declared_page_size_is_what_is_wanted() -> None:
    assert found(*reads(5), page_size=25) == []


def test_a_limit_is_what_was_asked_for() -> None:
    assert found(*(page(number, limit=25) for number in range(5))) == []


def test_an_empty_page_is_another_detectors() -> None:
    assert found(*(page(number, count=0) for number in range(5))) == []


def test_counts_that_nobody_told_are_left_out() -> None:
    (one,) = found(*(page(number, count=None) for number in range(3)))
    assert one.evidence["most_items_returned"] is None
    assert "answers had more, and" in one.summary


def test_who_reads_on_half_of_the_time_knows_how() -> None:
    followed = [page(n, resumed=True, more=False) for n in range(4)]
    assert found(*reads(7), *followed) == []


def test_who_stops_half_of_the_time_does_not() -> None:
    followed = [page(n, resumed=True, more=False) for n in range(4)]
    (one,) = found(*reads(8), *followed)
    assert (one.evidence["answers_with_more_left"], one.evidence["left_share"]) == (4, 0.5)


def test_the_largest_answer_is_told() -> None:
    (one,) = found(page(0, count=10), page(1, count=3900), page(2, count=20))
    assert one.evidence["most_items_returned"] == 3900
    assert "takes the first page of cases for all: 3 of 3 answers had more, with 3,900 items at most" in one.summary


def test_one_key_is_named() -> None:
    (one,) = found(page())
    assert "takes the first page of {key} in cases for all" in one.summary


@pytest.mark.parametrize(
    ("declared", "told"),
    [({"returns_all": True}, "True"), ({"returns_all": False}, "False"), ({"items_per_key": 2}, None), ({}, None)],
)
def test_what_its_pattern_says_is_told(declared: dict[str, Any], told: str | None) -> None:
    (one,) = found(*reads(3), **declared)
    assert one.evidence["returns_all"] == told


def test_a_shape_that_no_row_shows_has_no_pattern() -> None:
    told = traffic(calls=book(*reads(3)), rows=())
    (one,) = MissingPagination().detect(told)
    assert isinstance(one, Finding)
    assert one.pattern is None


def test_without_calls_nothing_is_said() -> None:
    assert list(MissingPagination().detect(traffic())) == []
    assert found() == []
