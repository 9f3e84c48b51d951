from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.unpaced_scan import UnpacedScan
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.traffic import Capacity, Declared, Hurt, Place
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
    fields: dict[str, Any] = {"of": SCAN, "key": None, "caller": "backup", "limit": limit, "scanned": 8, "more": True}
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
