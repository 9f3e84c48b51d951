from __future__ import annotations

from analyzer.detectors.reads.declared_scan import DeclaredScan
from analyzer.model.finding import Finding, Severity
from analyzer.model.shape import Attribution, AttributionKind
from tests.support.evidence import DECLARED, UNDECLARED, row, shape, traffic

SCAN = shape("Scan", "scan", key=())
ARCHIVE = Attribution(AttributionKind.DECLARED, "nightly-archive")


def test_a_declared_scan_that_ran_is_told_as_low() -> None:
    (one,) = DeclaredScan().detect(traffic(rows=(row(SCAN, ARCHIVE, "archiver", requests=4, read_units=512),)))
    assert isinstance(one, Finding)
    assert (one.severity, one.pattern, one.caller) == (Severity.LOW, "nightly-archive", "archiver")
    assert "4 calls of archiver, 512 read units" in one.summary


def test_its_units_are_unknown_when_nobody_told_them() -> None:
    (one,) = DeclaredScan().detect(traffic(rows=(row(SCAN, ARCHIVE, units_known=0.0),)))
    assert isinstance(one, Finding)
    assert "units unknown" in one.summary


def test_an_undeclared_scan_belongs_to_another_detector() -> None:
    assert list(DeclaredScan().detect(traffic(rows=(row(SCAN, UNDECLARED),)))) == []


def test_a_declared_query_is_no_scan() -> None:
    assert list(DeclaredScan().detect(traffic(rows=(row(shape("Query"), DECLARED),)))) == []


def test_one_row_that_tells_units_is_enough() -> None:
    rows = (row(SCAN, ARCHIVE, "a", read_units=512), row(SCAN, ARCHIVE, "b", units_known=0.0))
    (one,) = DeclaredScan().detect(traffic(rows=rows))
    assert isinstance(one, Finding)
    assert one.evidence["read_units"] == 512
