from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.empty_page_stop import EmptyPageStop
from analyzer.model.finding import Confidence, Finding, Severity
from tests.support.calls import book, call, item
from tests.support.evidence import row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call

FILTERED = shape("Query", "filtered", filter="done = :0", filter_attributes=("done",))


def page(number: int = 0, **fields: Any) -> Call:
    mine: dict[str, Any] = {"of": FILTERED, "count": 0, "scanned": 1290, "more": True}
    return call("Query", number, **mine | fields)


def found(*calls: Call, **fields: Any) -> list[Finding]:
    return [one for one in EmptyPageStop().detect(traffic(calls=book(*calls), **fields)) if isinstance(one, Finding)]


def test_an_empty_page_that_had_more_and_was_left_is_high() -> None:
    (one,) = found(page(), rows=(row(FILTERED),))
    assert (one.severity, one.confidence, one.key) == (Severity.HIGH, Confidence.LIKELY, {"PK": "CASE#7"})
    assert (one.because, one.pattern) == ("it was seen once", "load-case")
    assert "api stops at an empty page of {key} in cases after 1,290 items were read and filtered out" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "follow-pages", "encode-filter-in-key"]


def test_two_of_them_are_likely_and_three_are_certain() -> None:
    (two,) = found(page(trace="a"), page(1, trace="b"))
    assert two.because == "it was seen 2 times"
    (three,) = found(*(page(number, trace=str(number), key=item(f"CASE#{number}")) for number in range(3)))
    assert (three.confidence, three.because, three.key, three.evidence["keys"]) == (Confidence.CERTAIN, None, None, 3)
    assert "3 empty pages of cases" in three.summary


def test_a_page_that_was_read_on_within_a_minute_by_the_same_caller_is_not_left() -> None:
    assert found(page(), page(59, resumed=True, count=4, more=False)) == []


def test_a_page_that_held_something_is_another_detectors() -> None:
    assert found(page(count=3)) == []


def test_a_limit_that_was_used_up_is_another_detectors() -> None:
    assert found(page(limit=10, scanned=10)) == []
    assert len(found(page(limit=5000))) == 1


def test_one_empty_page_among_many_that_are_read_on_is_an_accident() -> None:
    pairs = [page(10 * n, trace=f"t{n}") for n in range(4)]
    pairs += [page(10 * n + 1, trace=f"t{n}", resumed=True, more=False) for n in range(3)]
    assert found(*pairs) == []


def test_half_of_the_pages_left_empty_are_a_habit() -> None:
    pairs = [page(10 * n, trace=f"t{n}") for n in range(4)]
    pairs += [page(10 * n + 1, trace=f"t{n}", resumed=True, more=False) for n in range(2)]
    (one,) = found(*pairs)
    assert one.evidence == {
        "empty_pages_left": 2,
        "keys": 1,
        "pages_followed": 2,
        "items_examined": 2580,
        "filter_attributes": "done",
    }


def test_a_statement_is_told_to_follow_its_token() -> None:
    statement = shape("ExecuteStatement", "s", key=(), statement='SELECT * FROM "cases" WHERE PK = ?')
    (one,) = found(page(of=statement, scanned=None, trace="a"))
    assert "NextToken" in one.advice[1].text
    assert "execute_statement" in (one.advice[1].snippet or "")
    assert (one.evidence["items_examined"], len(one.advice)) == (None, 2)


def test_without_calls_nothing_is_said() -> None:
    assert list(EmptyPageStop().detect(traffic())) == []
    assert found() == []
