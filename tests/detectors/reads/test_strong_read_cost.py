from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.detectors.reads.strong_read_cost import StrongReadCost
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from analyzer.model.sight import Sight
from analyzer.model.traffic import Declared, Place
from tests.support.calls import book, call
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
