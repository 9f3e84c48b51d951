from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.contract.known import LIBRARIES, library_of
from analyzer.contract.model import EMPTY_CONTRACT, Contract, TableDeclaration
from analyzer.model.counts import Cell, Count
from analyzer.model.shape import Attribution, AttributionKind, KeyPredicate
from analyzer.model.table import TableSnapshot
from analyzer.model.traffic import Place
from analyzer.traffic.libraries import at_libraries, libraries_among, with_library
from tests.support.counting import cell, counts
from tests.support.evidence import CASES, shape
from tests.support.told import table

if TYPE_CHECKING:
    from analyzer.model.target import Target

LEASES = shape("UpdateItem", "renew", key=(KeyPredicate("leaseKey", "="),))
SCAN = shape("Scan", "scan", key=())
OTHER = shape("Query", "other", key=(KeyPredicate("jobId", "="),))


def described(*key: str) -> dict[Target, TableSnapshot]:
    return {CASES: TableSnapshot(target=CASES, table=table(partition_key=key, sort_key=()))}


def undeclared(_: Cell) -> Attribution:
    return Attribution(AttributionKind.UNDECLARED)


def test_a_table_is_known_by_its_description() -> None:
    assert libraries_among(None, described("LockID"))[CASES].name == "Terraform"


def test_a_table_is_known_by_the_key_of_its_requests() -> None:
    seen = counts((cell(SCAN), {Count.REQUESTS: 1}), (cell(LEASES), {Count.REQUESTS: 1}))
    assert libraries_among(seen, {})[CASES].name == "Kinesis Client Library"


def test_the_description_goes_before_the_requests() -> None:
    assert libraries_among(counts((cell(LEASES), {Count.REQUESTS: 1})), described("id")) == {}


def test_a_table_of_two_kinds_of_keys_is_nobodys() -> None:
    both = counts((cell(LEASES), {Count.REQUESTS: 1}), (cell(shape()), {Count.REQUESTS: 1}))
    assert libraries_among(both, {}) == {}


def test_a_description_without_keys_says_nothing() -> None:
    assert libraries_among(None, described()) == {}


def test_a_sort_key_makes_it_another_table() -> None:
    assert library_of(("leaseKey",), ("sk",)) is None


def test_what_the_library_sends_is_declared_and_nothing_else_is() -> None:
    attribute = at_libraries(undeclared, libraries_among(None, described("leaseKey")), EMPTY_CONTRACT)
    assert attribute(cell(SCAN)).pattern == "kcl-lease-list"
    assert attribute(cell(LEASES)).pattern == "kcl-lease-write"
    assert attribute(cell(OTHER)).kind is AttributionKind.UNDECLARED
    of_index = shape("Scan", "index", key=(), index="GSI2")
    assert attribute(cell(of_index, CASES.at("GSI2"))).kind is AttributionKind.UNDECLARED
    assert attribute(cell(shape("Scan", "s", key=(), tagged="mine"))).kind is AttributionKind.UNDECLARED


def test_the_sweep_of_a_session_store_is_not_declared() -> None:
    attribute = at_libraries(undeclared, libraries_among(None, described("session_id")), EMPTY_CONTRACT)
    assert attribute(cell(SCAN)).kind is AttributionKind.UNDECLARED


def test_a_table_that_somebody_declared_is_judged_by_that() -> None:
    contract = Contract((TableDeclaration(name="cases", partition_key=("leaseKey",)),))
    assert at_libraries(undeclared, libraries_among(None, described("leaseKey")), contract) is undeclared


def test_a_place_knows_its_library_and_its_patterns_unless_it_has_its_own() -> None:
    library = LIBRARIES[0]
    assert "kcl-lease-list" in with_library(Place(), library).patterns
    assert with_library(Place(declared=True), library) == Place(declared=True, library="Kinesis Client Library")
    assert with_library(Place(), None) == Place()
