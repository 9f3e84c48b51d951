from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.reads.unpaced_scan import UnpacedScan
from analyzer.model.finding import Confidence, Finding, Risk, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.traffic import Capacity, Declared, Hurt, Place
from analyzer.model.window import Window
from tests.support.calls import book, call
from tests.support.evidence import UNDECLARED, limit, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.calls import Call
    from analyzer.model.traffic import Traffic

SCAN = shape("Scan", "scan", key=(), limit_bucket=8)
BACKUP = Attribution(AttributionKind.DECLARED, "backup")
TEN = Capacity("PROVISIONED", 10.0, 10.0)
HUNDRED = Capacity("PROVISIONED", 100.0, 10.0)


def pages(number: int = 100, every: float = 0.1, units: float = 9.0, limit: int | None = 8) -> list[Call]:
    fields: dict[str, Any] = {
        "of": SCAN,
        "key": None,
        "caller": "backup",
        "limit": limit,
        "scanned": limit or 8,
        "more": True,
    }
    return [call("Scan", every * n, read_units=units, resumed=n > 0, **fields) for n in range(number)]


def evidence(*calls: Call, most: float | None = None, capacity: Capacity = TEN, **fields: Any) -> Traffic:
    patterns = {"backup": Declared(id="backup", operations=("Scan",), max_units_per_second=most)}
    units = sum(one.read_units or 0.0 for one in calls)
    mine: dict[str, Any] = {"rows": (row(SCAN, BACKUP, "backup", read_units=units),), "calls": book(*calls)}
    return traffic(place=Place(declared=True, patterns=patterns, capacity=capacity), **mine | fields)


def found(told: Traffic) -> list[Finding]:
    return [one for one in UnpacedScan().detect(told) if isinstance(one, Finding)]


def only(told: Traffic) -> Finding:
    (one,) = found(told)
    return one


def actions(one: Finding) -> list[str]:
    return [advice.action for advice in one.advice]


def test_one_that_takes_more_than_the_table_has_is_medium() -> None:
    one = only(evidence(*pages()))
    assert (one.severity, one.cause, one.caller, one.pattern) == (Severity.MEDIUM, "over-the-table", "backup", "backup")
    assert (
        "takes 90 read units a second of cases where 10 are provisioned, pages of 8 items 0.1 seconds apart"
        in one.summary
    )
    assert actions(one) == ["fix-caller", "pace-scan", "use-export", "update-declaration"]


def test_small_pages_back_to_back_are_found_even_where_there_is_room() -> None:
    one = only(evidence(*pages(), capacity=HUNDRED))
    assert (one.severity, one.cause) == (Severity.MEDIUM, "back-to-back")


def test_small_pages_that_take_little_of_the_table_are_low() -> None:
    assert only(evidence(*pages(units=0.5), capacity=HUNDRED)).severity is Severity.LOW


def test_on_demand_small_pages_hurt_nobody_and_where_the_mode_is_unknown_they_may() -> None:
    assert only(evidence(*pages(), capacity=Capacity("PAY_PER_REQUEST"))).severity is Severity.LOW
    assert only(evidence(*pages(), capacity=Capacity())).severity is Severity.MEDIUM


def test_pages_with_pauses_pace_themselves() -> None:
    assert found(evidence(*pages(every=0.9), capacity=HUNDRED)) == []


def test_large_limits_and_none_are_no_pretence_of_pacing() -> None:
    assert found(evidence(*pages(limit=None), capacity=HUNDRED)) == []
    large = [
        call("Scan", 0.1 * n, of=SCAN, key=None, limit=500, scanned=500, more=True, resumed=n > 0) for n in range(50)
    ]
    assert found(evidence(*large, capacity=HUNDRED)) == []


def test_nine_pages_that_followed_are_no_long_scan() -> None:
    assert found(evidence(*pages(10, units=0.5), capacity=HUNDRED)) == []
    assert len(found(evidence(*pages(11, units=0.5), capacity=HUNDRED))) == 1


def test_one_over_its_declared_maximum_is_medium() -> None:
    one = only(evidence(*pages(), most=50, capacity=Capacity("PAY_PER_REQUEST")))
    assert (one.severity, one.cause) == (Severity.MEDIUM, "over-its-maximum")
    assert "where it declared 50" in one.summary
    assert actions(one) == ["fix-caller", "pace-scan", "use-export"]


def test_one_within_its_declared_maximum_is_as_declared_however_small_its_pages() -> None:
    assert found(evidence(*pages(), most=75)) == []


def test_one_that_refuses_others_is_high_and_names_them() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 9, 0, 100), Hurt("backup", "backup", "Scan", 9, 0, 100))
    one = only(evidence(*pages(), throttles=(limit("provisioned", hurt=hurt), limit("key-range"))))
    assert (one.severity, [victim.caller for victim in one.victims]) == (Severity.HIGH, ["api"])


def test_without_calls_the_mean_of_the_window_is_a_lower_bound() -> None:
    one = only(evidence(rows=(row(SCAN, BACKUP, "backup", read_units=3600),), calls=None))
    assert (one.confidence, one.evidence["units_a_second"]) == (Confidence.LIKELY, 12)
    assert "pages of" not in one.summary


def test_undeclared_scans_and_declared_queries_belong_to_others() -> None:
    for of in (row(SCAN, UNDECLARED, read_units=90_000), row(shape("Query"), BACKUP, read_units=90_000)):
        assert found(evidence(rows=(of,), calls=None)) == []


def test_a_pattern_of_another_table_says_nothing_of_its_pace() -> None:
    assert found(traffic(rows=(row(SCAN, BACKUP, read_units=90_000),))) == []


def test_no_request_no_finding() -> None:
    assert found(evidence(rows=(), calls=None)) == []


@pytest.mark.parametrize(
    ("fields", "many"),
    [({"limit": 100}, 1), ({"limit": 101}, 0), ({"every": 0.2}, 1), ({"every": 0.201}, 0)],
    ids=["small", "large", "back to back", "paced"],
)
def test_pages_of_a_hundred_items_a_fifth_of_a_second_apart_are_back_to_back(fields: dict[str, Any], many: int) -> None:
    assert len(found(evidence(*pages(**fields), capacity=HUNDRED))) == many


@pytest.mark.parametrize(("units", "severity"), [(1.0, Severity.MEDIUM), (0.99, Severity.LOW)])
def test_a_tenth_of_the_table_is_much(units: float, severity: Severity) -> None:
    assert only(evidence(*pages(units=units), capacity=HUNDRED)).severity is severity


@pytest.mark.parametrize(("units", "many"), [(1.01, 1), (1.0, 0)])
def test_what_the_table_has_is_not_too_much(units: float, many: int) -> None:
    assert len(found(evidence(*pages(units=units, limit=None)))) == many


def test_pages_without_a_limit_tell_none() -> None:
    one = only(evidence(*pages(limit=None)))
    assert one.summary.endswith("where 10 are provisioned: nothing paces it")


def test_pages_that_follow_at_once_say_so() -> None:
    assert "pages of 8 items 0 seconds apart" in only(evidence(*pages(every=0.0))).summary


def test_what_came_in_less_than_a_second_is_taken_as_a_second_s() -> None:
    rows = (row(SCAN, BACKUP, "backup", read_units=15),)
    assert only(evidence(rows=rows, calls=None, window=Window(0, 500))).evidence["units_a_second"] == 15


def test_a_pattern_of_another_table_hides_none_behind_it() -> None:
    other = Attribution(AttributionKind.DECLARED, "elsewhere")
    rows = (row(SCAN, other, read_units=90_000), row(SCAN, BACKUP, "backup", read_units=90_000))
    assert only(evidence(rows=rows, calls=None)).pattern == "backup"


def test_whom_a_hot_key_refuses_the_scan_does_not_hurt() -> None:
    hurt = (Hurt("api", "load-case", "GetItem", 9, 0, 100),)
    one = only(evidence(*pages(), throttles=(limit("key-range", hurt=hurt),)))
    assert (one.severity, one.victims) == (Severity.MEDIUM, ())


@pytest.mark.parametrize(
    ("most", "capacity", "rate", "declared"),
    [
        (50, HUNDRED, "50 units a second", None),
        (None, HUNDRED, "10 units a second", "max_units_per_second: 10"),
        (None, Capacity("PROVISIONED", 5.0, 5.0), "1 units a second", "max_units_per_second: 1"),
        (None, Capacity("PAY_PER_REQUEST"), "a declared rate", "max_units_per_second: 200"),
    ],
)
def test_the_rate_that_is_advised_is_declared_or_a_tenth_of_the_table(
    most: float | None, capacity: Capacity, rate: str, declared: str | None
) -> None:
    advice = {each.action: each for each in only(evidence(*pages(), most=most, capacity=capacity)).advice}
    assert f"from a token bucket of {rate}, and wait" in advice["pace-scan"].text
    assert (advice["update-declaration"].snippet if declared else None) == declared
    assert ("update-declaration" in advice) is (declared is not None)


def test_a_pace_and_an_export_can_be_given_up_again() -> None:
    by_action = {each.action: (each.risk, each.reversible) for each in only(evidence(*pages())).advice}
    assert (by_action["pace-scan"], by_action["use-export"]) == ((Risk.LOW, True), (Risk.NONE, True))
