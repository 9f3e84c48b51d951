from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.reads.strong_read_cost import StrongReadCost
from analyzer.model.finding import Confidence, Finding, Risk, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import Declared, Place
from analyzer.model.window import Window
from tests.support.calls import book, call, item
from tests.support.evidence import ALL_REQUEST_SIGHTS, UNDECLARED, row, shape, traffic

if TYPE_CHECKING:
    from analyzer.model.traffic import PatternTraffic, Traffic

STRONG = shape("GetItem", "strong", consistent=True)
SCAN = shape("Scan", "scan", key=(), consistent=True)
SEQUENCES = ALL_REQUEST_SIGHTS | {Sight.REQUEST_SEQUENCES}


def reading(of: Any = STRONG, units: float = 3000, **fields: Any) -> PatternTraffic:
    return row(of, read_units=units, **fields)


def evidence(consistency: str | None = "eventual", *rows: PatternTraffic, **fields: Any) -> Traffic:
    patterns = {"load-case": Declared(id="load-case", consistency=consistency)}
    mine: dict[str, Any] = {"place": Place(declared=True, patterns=patterns), "sights": SEQUENCES}
    return traffic(rows=rows or (reading(),), **mine | fields)


def found(told: Traffic) -> list[Finding]:
    return [one for one in StrongReadCost().detect(told) if isinstance(one, Finding)]


def test_a_strong_read_of_a_pattern_that_is_eventual_is_low_with_its_saving() -> None:
    (one,) = found(evidence())
    assert (one.severity, one.confidence, one.pattern) == (Severity.LOW, Confidence.CERTAIN, "load-case")
    assert (one.evidence["saving_percent"], one.evidence["saving_per_month_usd"]) == (50, 1.64)
    assert "although pattern load-case is declared eventual: 3,000 read units, half of them for nothing" in one.summary
    assert [advice.action for advice in one.advice] == ["fix-caller", "read-eventually", "update-declaration"]


def test_it_began_with_the_first_strong_read_where_the_book_shows_that() -> None:
    calls = book(*(call(at=at, of=STRONG, key=item(f"CASE#{at}")) for at in range(900, 1800)))
    (one,) = found(evidence("eventual", reading(requests=900), calls=calls, window=Window(0, 1_800_000)))
    assert one.first_seen == 900_000
    assert found(evidence())[0].first_seen is None


def test_a_strong_scan_is_found_unless_it_is_declared_strong() -> None:
    (one,) = found(evidence(None, reading(SCAN)))
    assert (one.confidence, one.pattern) == (Confidence.LIKELY, "load-case")
    assert "strongly by Scan, and no pattern says that it has to" in one.summary
    assert found(evidence("strong", reading(SCAN))) == []


def test_a_strong_scan_that_nobody_declared_gets_the_advice_to_declare_it() -> None:
    undeclared = row(SCAN, UNDECLARED, read_units=3000)
    (one,) = found(evidence(None, undeclared))
    assert (one.pattern, one.advice[2].action) == (None, "declare-pattern")


def test_a_strong_read_that_nobody_declared_may_be_needed() -> None:
    assert found(evidence(None)) == []


def test_a_scan_that_two_patterns_may_claim_is_not_judged() -> None:
    either = Attribution(AttributionKind.AMBIGUOUS, None, ("a", "b"))
    assert found(evidence(None, row(SCAN, either, read_units=3000))) == []


def test_eventual_reads_and_those_that_do_not_say_cost_what_they_should() -> None:
    assert found(evidence("eventual", reading(shape()), reading(shape(consistent=False)))) == []


def test_less_than_a_hundred_units_is_not_worth_a_change() -> None:
    assert found(evidence("eventual", reading(units=99))) == []
    assert len(found(evidence("eventual", reading(units=100)))) == 1


def test_units_that_nobody_told_are_unknown() -> None:
    (one,) = found(evidence("eventual", reading(units=0, units_known=0.0)))
    assert (one.cost_per_month_usd, one.evidence["read_units"]) == (None, None)
    assert "twice the units" in one.summary


def test_calls_that_were_always_refused_cost_nothing() -> None:
    assert found(evidence("eventual", reading(failed=1000))) == []


def test_reads_that_guard_a_conditional_write_are_strong_for_a_reason() -> None:
    write = shape("UpdateItem", "write", condition="version = :0")
    guarded = book(call(of=STRONG), call(at=1, of=write))
    assert found(evidence(calls=guarded)) == []
    assert len(found(evidence(calls=book(call(of=STRONG))))) == 1


def test_where_what_follows_is_not_visible_it_is_likely() -> None:
    (one,) = found(evidence(sights=ALL_REQUEST_SIGHTS))
    assert (one.confidence, one.because) == (Confidence.LIKELY, "whether a conditional write follows is not visible")


def test_leases_and_locks_of_known_libraries_are_read_strongly() -> None:
    assert found(evidence(None, reading(SCAN), place=Place(library="Terraform"))) == []


def test_no_request_no_finding() -> None:
    assert found(traffic(rows=())) == []


@pytest.mark.parametrize(("reads", "many"), [(10, 0), (11, 1)])
def test_a_tenth_of_the_reads_that_guard_a_write_is_a_reason(reads: int, many: int) -> None:
    write = shape("UpdateItem", "write", condition="version = :0")
    calls = [call(at=60 * n, of=STRONG, key=item(f"CASE#{n}")) for n in range(reads)]
    guarded = book(*calls, call(at=1, of=write, key=item("CASE#0")))
    assert len(found(evidence(calls=guarded))) == many


def test_shapes_of_one_pattern_are_one_finding() -> None:
    (one,) = found(evidence("eventual", reading(units=60), reading(shape("Query", "q", consistent=True), units=60)))
    assert (one.subject, one.evidence["read_units"]) == ("load-case", 120)
    (scan,) = found(evidence(None, row(SCAN, UNDECLARED, read_units=3000)))
    assert scan.subject == "scan"


def test_one_row_that_tells_units_is_enough() -> None:
    (one,) = found(evidence("eventual", reading(), reading(units=0, units_known=0.0)))
    assert one.evidence["read_units"] == 3000


def test_what_is_not_worth_a_change_hides_nothing_behind_it() -> None:
    (one,) = found(evidence("eventual", reading(units=1), row(SCAN, UNDECLARED, read_units=3000)))
    assert one.fingerprint == "scan"


def test_an_eventual_read_can_be_made_strong_again() -> None:
    (one,) = found(evidence())
    assert (one.advice[1].risk, one.advice[1].reversible) == (Risk.LOW, True)
