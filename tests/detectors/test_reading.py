from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.reading import declared_of, one_key, read_refusals, rows_of_shape, share_of_reads
from analyzer.model.finding import Direction
from analyzer.model.shape import Attribution, AttributionKind, KeyPredicate, Shape
from analyzer.model.traffic import Declared, Place
from tests.support.calls import call, item
from tests.support.evidence import UNDECLARED, limit, row, shape, traffic

PAGED = shape("Query", "a", filter="#0 = :0", limit_bucket=8)


@pytest.mark.parametrize(("units", "share"), [(30.0, 0.3), (100.0, 1.0), (0.0, 0.0)])
def test_a_share_is_of_the_reads_that_requests_tell(units: float, share: float) -> None:
    assert share_of_reads(units, traffic(rows=(row(read_units=60), row(read_units=40, write_units=900)))) == share


@pytest.mark.parametrize(("units", "share"), [(9.0, 1.0), (0.0, 0.0)])
@pytest.mark.parametrize("rows", [(), (row(write_units=900),), (row(read_units=5),)], ids=["none", "writes", "fewer"])
def test_units_that_no_row_shows_are_all_there_are(rows: tuple[Any, ...], units: float, share: float) -> None:
    assert share_of_reads(units, traffic(rows=rows)) == share


def test_a_row_has_the_declaration_of_its_pattern() -> None:
    pattern = Declared(id="load-case")
    place = traffic(place=Place(patterns={"load-case": pattern}))
    ambiguous = Attribution(AttributionKind.AMBIGUOUS, candidates=("load-case", "other"))
    assert declared_of(row(), place) is pattern
    assert [declared_of(one, place) for one in (None, row(attribution=UNDECLARED), row(attribution=ambiguous))] == [
        None
    ] * 3


def like(fingerprint: str = "b", **fields: Any) -> Shape:
    return shape("Query", fingerprint, **{"filter": "#0 = :0", "limit_bucket": 8} | fields)


@pytest.mark.parametrize(
    ("of", "caller", "is_same"),
    [
        (like("a"), "api", True),
        (like(), "api", True),
        (like(limit_bucket=None), "api", True),
        (like("a", key=(KeyPredicate("PK", "=", "CASE#<id>", ("CASE#<case>",)),)), "api", True),
        (like(), "job", False),
        (like("a"), None, False),
        (like(filter=None), "api", False),
        (like(index="GSI1"), "api", False),
        (like(key=()), "api", False),
        (like(projection=("name",)), "api", False),
        (like(statement="SELECT"), "api", False),
        (like(select="COUNT"), "api", False),
        (shape("Scan", "b", filter="#0 = :0"), "api", False),
    ],
)
def test_rows_of_a_shape_are_its_callers_whatever_their_limit(of: Shape, caller: str | None, *, is_same: bool) -> None:
    one = row(of, caller=caller)
    assert rows_of_shape(traffic(rows=(one,)), PAGED, "api") == ([one] if is_same else [])


def test_calls_that_asked_for_one_key_have_one() -> None:
    place = traffic(place=Place(partition_key=("PK",), sort_key=("SK",)))
    same = [call("Query", n, key=item("CASE#7", "META")) for n in range(3)]
    assert one_key(same, place) == {"PK": "CASE#7", "SK": "META"}
    assert one_key([*same, call("Query", 4, key=item("CASE#8", "META"))], place) is None
    assert one_key([call("Query", key=None)], place) is None
    assert one_key([], place) is None


@pytest.mark.parametrize(
    ("direction", "cause", "is_of_reads"),
    [
        (Direction.READ, "provisioned", True),
        (Direction.READ, "unknown", True),
        (Direction.READ, "key-range", False),
        (Direction.WRITE, "provisioned", False),
    ],
)
def test_limits_of_one_keys_partition_are_not_those_of_the_target(
    direction: Direction, cause: str, *, is_of_reads: bool
) -> None:
    hits = read_refusals(traffic(throttles=(limit(cause, direction),)))
    assert [hit.cause for hit in hits] == ([cause] if is_of_reads else [])
