from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.detectors.heat.low_cardinality_key import LowCardinalityKey
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Confidence, Direction, Finding, Risk, Severity
from analyzer.model.traffic import KeySide
from tests.support.evidence import GSI2, exactly, key, limit, row, shape, traffic
from tests.support.told import series

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

READ, WRITE = Direction.READ, Direction.WRITE


def few(distinct: int = 4, share: float = 0.93, heat: float = 0.02, *args: Any, **fields: Any) -> Traffic:
    """A target with few partition keys, of which OPEN takes most reads."""
    top = key(values=("OPEN",), share=exactly(share), heat=exactly(heat))
    fields = {"keys": (top,), "key_sides": (KeySide(READ, distinct, 1000.0),)} | fields
    return traffic(*args, **fields)


def only(evidence: Traffic) -> Finding:
    (one,) = LowCardinalityKey().detect(evidence)
    assert isinstance(one, Finding)
    return one


def silent(evidence: Traffic) -> bool:
    return list(LowCardinalityKey().detect(evidence)) == []


def test_few_values_with_one_that_takes_most_are_told_with_the_multiple_at_which_they_break() -> None:
    one = only(few())
    assert (one.severity, one.confidence, one.direction) == (Severity.MEDIUM, Confidence.CERTAIN, READ)
    assert (one.key, one.caller, one.evidence["distinct_values"]) == ({"PK": "OPEN"}, "api", 4)
    assert "about 4 values" in one.summary
    assert one.evidence["breaks_at_times"] == 50
    assert [advice.action for advice in one.advice] == ["fix-caller", "change-key"]


@pytest.mark.parametrize(
    ("evidence", "fires"),
    [
        (few(20), True),
        (few(21), False),
        (few(share=0.5), True),
        (few(share=0.49), False),
        (few(heat=0.499), True),
        (few(heat=0.5), False),
        (few(rows=(row(requests=1000),)), True),
        (few(rows=(row(requests=999),)), False),
    ],
)
def test_twenty_values_of_which_one_has_half_of_a_thousand_requests(evidence: Traffic, *, fires: bool) -> None:
    assert silent(evidence) is not fires


def test_a_hundredth_of_the_ceiling_is_near_it() -> None:
    assert only(few(heat=0.01)).severity is Severity.MEDIUM


def test_the_value_that_takes_most_is_the_one() -> None:
    less = key((1.0,) * 30, values=("DONE",), share=exactly(0.6), heat=exactly(0.01))
    most = key(values=("OPEN",), share=exactly(0.7), heat=exactly(0.02))
    assert only(few(keys=(less, most))).key == {"PK": "OPEN"}


def test_reads_of_many_values_hide_no_writes_of_few() -> None:
    writes = row(shape("PutItem"), requests=2000)
    top = key(direction=WRITE, values=("OPEN",), share=exactly(0.9), heat=exactly(0.02))
    sides = (KeySide(READ, 21, 1000.0), KeySide(WRITE, 3, 1000.0))
    assert only(few(keys=(top,), key_sides=sides, rows=(row(), writes))).direction is WRITE


def test_a_key_that_reaches_its_ceiling_in_just_a_year_is_near_it() -> None:
    """Twice as much in the second of two weeks: 2 to the power of 52 in a year."""
    doubles = (series("ConsumedReadCapacityUnits", [1.0] * 7 + [2.0] * 7, period_seconds=86_400),)
    assert only(few(heat=2.0**-52, metrics=doubles)).severity is Severity.MEDIUM
    assert only(few(heat=2.0**-53, metrics=doubles)).severity is Severity.LOW


def test_a_key_of_a_table_is_not_changed_back_and_that_of_an_index_is() -> None:
    (change,) = (advice for advice in only(few()).advice if advice.action == "change-key")
    assert (change.risk, change.reversible, change.takes) == (Risk.HIGH, False, "a migration")
    sparse, index = only(few(4, 0.93, 0.02, GSI2)).advice[1:]
    assert (sparse.risk, sparse.reversible) == (Risk.LOW, True)
    assert (index.reversible, index.takes) == (True, "an index build")


def test_one_single_value_is_said_as_such() -> None:
    assert "has 1 value in use" in only(few(1)).summary


def test_far_from_the_ceiling_it_is_low() -> None:
    assert only(few(heat=0.009)).severity is Severity.LOW


@pytest.mark.parametrize(("observed", "severity"), [(600, Severity.MEDIUM), (6, Severity.LOW)])
def test_of_a_sample_all_slices_together_tell_how_near_it_is(observed: int, severity: Severity) -> None:
    slice_alone = Estimate(0.013, 0.003, 0.05)
    top = key((40.0,) * 30, share=exactly(0.93), heat=slice_alone, kept=0.1, observed=observed)
    assert only(few(keys=(top,))).severity is severity


def test_growth_that_reaches_the_ceiling_within_a_year_makes_it_medium() -> None:
    grows = (series("ConsumedReadCapacityUnits", [100.0] * 7 + [110.0] * 7, period_seconds=86_400),)
    assert only(few(heat=0.008, metrics=grows)).severity is Severity.MEDIUM
    assert only(few(heat=0.006, metrics=grows)).severity is Severity.LOW
    assert only(few(heat=0.008, metrics=grows)).evidence["yearly_growth"] == pytest.approx(142.04)


def test_a_key_without_units_has_no_multiple() -> None:
    one = only(few(heat=0.0))
    assert (one.severity, one.evidence["breaks_at_times"]) == (Severity.LOW, None)
    assert "it breaks at unknown" in one.summary


def test_of_an_index_the_items_may_leave_it() -> None:
    one = only(few(4, 0.93, 0.02, GSI2))
    assert [advice.action for advice in one.advice] == ["fix-caller", "make-index-sparse", "change-key"]
    assert one.advice[2].takes == "an index build"


def test_refusals_of_the_whole_table_do_not_silence_it() -> None:
    assert only(few(throttles=(limit("provisioned"),))).severity is Severity.MEDIUM


def test_a_sampled_log_makes_it_likely() -> None:
    assert only(few(sampled=True)).confidence is Confidence.LIKELY


def test_writes_are_judged_by_the_write_requests() -> None:
    writes = row(shape("PutItem"), requests=2000)
    top = key(direction=WRITE, values=("OPEN",), share=exactly(0.9), heat=exactly(0.02))
    side = (KeySide(WRITE, 3, 1000.0),)
    assert only(few(keys=(top,), key_sides=side, rows=(writes,))).direction is WRITE
    assert silent(few(keys=(top,), key_sides=side))


@pytest.mark.parametrize(
    "evidence",
    [
        few(21),
        few(share=0.49),
        few(heat=0.5),
        few(rows=(row(requests=999),)),
        few(rows=(row(requests=Estimate(1500, 900, 2100)),)),
        few(keys=()),
        few(keys=(key(level=KeyLevel.ITEM, values=("OPEN", "1"), share=exactly(0.9)),)),
        few(key_sides=()),
        few(throttles=(limit("key-range"),)),
    ],
    ids=[
        "many values",
        "no value prevails",
        "hot already",
        "few requests",
        "perhaps few",
        "no key",
        "items",
        "none",
        "refused",
    ],
)
def test_just_below_and_empty_it_is_silent(evidence: Traffic) -> None:
    assert silent(evidence)
