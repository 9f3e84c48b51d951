from __future__ import annotations

import pytest
from msgspec.structs import replace

from analyzer.knowledge.prices import LIST_PRICES
from analyzer.knowledge.reserved import RESERVED
from analyzer.model.finding import Direction
from analyzer.model.sight import SourceName
from analyzer.planning.autoscaling import Rules
from analyzer.planning.event import event_of
from analyzer.planning.load import Load
from analyzer.planning.option import Option, Place
from analyzer.planning.options import options_of, rules_for
from analyzer.planning.rules_of_thumb import break_even, thumb_of

READ, WRITE = Direction.READ, Direction.WRITE
HOUR = 60


def load(*units: float, top: float | None = None) -> Load:
    return Load(start=0, units=units, seconds=len(units) * 60.0, source=SourceName.CLOUDWATCH_METRICS, top_units=top)


def place(index: str | None = None, rules: Rules | None = None, **loads: Load) -> Place:
    found = {Direction(name): one for name, one in loads.items()}
    return Place(
        name="orders" if index is None else f"orders/{index}",
        index=index,
        loads=found,
        rules={direction: rules or rules_for(one) for direction, one in found.items()},
    )


def options(*places: Place, size: float | None = None) -> dict[str, Option]:
    return {one.name: one for one in options_of(places, LIST_PRICES, size)}


def test_on_demand_pays_each_request_and_nothing_else() -> None:
    one = options(place(read=load(100), write=load(10)))["on-demand"]
    assert one.dollars == pytest.approx(100 * 2.628 * 0.125 + 10 * 2.628 * 0.625)
    assert [term.of for term in one.terms] == ["reads of orders", "writes of orders"]
    assert one.terms[0].words == "100 units/s × 2,628,000 s × $0.125 ÷ 1,000,000"


def test_storage_is_in_every_way_where_it_is_known() -> None:
    told = options(place(read=load(100)), size=10 * 2**30)
    assert told["on-demand"].terms[-1].dollars == 2.5
    assert told["standard-ia"].terms[-1].dollars == pytest.approx(1.0)
    assert all(term.of != "storage" for term in options(place(read=load(100)))["provisioned"].terms)


def test_a_maximum_bounds_the_bill_and_costs_nothing_until_then() -> None:
    told = options(place(write=load(10, top=50)))
    assert told["on-demand-maximum"].dollars == told["on-demand"].dollars
    assert "writes of orders 100" in (told["on-demand-maximum"].because or "")
    assert "twice the fullest ten seconds" in (told["on-demand-maximum"].because or "")
    assert f"${100 * 2.628 * 0.625:.0f} a month" in told["on-demand-maximum"].risk


def test_provisioned_capacity_is_what_autoscaling_would_have_set() -> None:
    one = options(place(write=load(*([70.0] * HOUR))))["provisioned"]
    assert one.dollars == pytest.approx(100 * 730 * 0.00065)
    assert one.risk.startswith("replayed, nothing would have been throttled; capacity was never changed")


def test_what_autoscaling_would_have_refused_is_its_risk() -> None:
    one = options(place(write=load(*([7.0] * 30), *([700.0] * 5))))["provisioned"]
    assert one.throttled_units
    assert "would have been throttled after burst credit; capacity was raised once and lowered never" in one.risk
    held = options(place(write=load(*(([700.0] * 5 + [70.0] * 25) * 48))))["provisioned"]
    assert "the day's decreases were used up" in held.risk


def test_blocks_are_reserved_that_are_in_use_long_enough() -> None:
    one = options(place(write=load(*([700.0] * HOUR))))["reserved"]
    assert one.dollars == pytest.approx(1000 * 730 * RESERVED.write_unit_hour)
    assert one.terms[0].words == "1,000 units × 730 h × ($1.50 upfront ÷ 8760 h + $0.000128)"
    assert one.terms[0].dollars == pytest.approx(1000 * 730 * (1.50 / 8760 + 0.000128))
    reads = options(place(read=load(*([700.0] * HOUR))))["reserved"].terms[0]
    assert reads.words == "1,000 units × 730 h × ($0.30 upfront ÷ 8760 h + $0.000025)"
    assert reads.dollars == pytest.approx(1000 * 730 * (0.30 / 8760 + 0.000025))
    small = options(place(write=load(*([35.0] * HOUR))))["reserved"]
    assert (small.dollars, small.because) == (None, "no block of 100 units is in use long enough to pay")


def test_table_and_indexes_share_a_reservation() -> None:
    both = options(place(write=load(*([35.0] * HOUR))), place("I", write=load(*([42.0] * HOUR))))["reserved"]
    assert both.terms[0].of == "reserved writes"
    assert both.dollars == pytest.approx(100 * 730 * RESERVED.write_unit_hour + 10 * 730 * 0.00065)


def test_infrequent_access_says_from_which_size_on_it_pays() -> None:
    unknown = options(place(read=load(100)))["standard-ia"]
    assert unknown.dollars is None
    assert (unknown.because or "").startswith("the table's size is not known. On demand it pays from 52.6 GB on")
    told = options(place(read=load(100)), size=60 * 2**30)
    assert (told["standard-ia"].dollars or 0) < (told["on-demand"].dollars or 0)


def test_infrequent_access_that_stores_no_cheaper_never_pays() -> None:
    cheap = replace(LIST_PRICES, storage_gigabyte=0.1)
    told = {one.name: one for one in options_of([place(read=load(100))], cheap, 2**30)}
    assert told["standard-ia"].because == "at these prices it stores no cheaper, and never pays"


def test_bounds_that_somebody_set_are_kept() -> None:
    assert rules_for(load(70.0), 5, 50) == Rules(minimum=5, maximum=50)
    assert rules_for(load(70.0)) == Rules(minimum=100, maximum=200)
    assert rules_for(load(0.1)) == Rules(minimum=1, maximum=1)


def test_provisioned_pays_from_twenty_nine_percent_on() -> None:
    assert break_even(LIST_PRICES) == pytest.approx(0.289, abs=0.001)
    assert break_even(replace(LIST_PRICES, write_million=0.0)) == 1


@pytest.mark.parametrize(
    ("asked", "advice", "words"),
    [
        ({"requests_a_month": 1e6, "used_share": 0.6}, "on-demand", "the rules say on-demand, the arithmetic"),
        ({"requests_a_month": 1e8, "used_share": 0.6}, "provisioned", "agree: provisioned"),
        ({"requests_a_month": 1e8, "used_share": 0.8, "is_steady": True}, "reserved", "the rules say reserved"),
        ({"requests_a_month": 1e8, "used_share": 0.6, "is_spiky": True}, "on-demand", "the rules say on-demand"),
        ({"requests_a_month": 1e8, "used_share": 0.35}, None, "no rule holds here"),
        ({"requests_a_month": None, "used_share": None}, None, "no rule holds here"),
    ],
)
def test_the_rules_of_thumb_stand_beside_the_arithmetic(
    asked: dict[str, object], advice: str | None, words: str
) -> None:
    best = Option(name="provisioned", title="provisioned", dollars=1.0, risk="")
    fields = {"is_spiky": False, "is_steady": False, "prices": LIST_PRICES, "best": best} | asked
    told = thumb_of(**fields)  # type: ignore[arg-type]
    assert told.advice == advice
    assert words in told.difference
    assert "29%" in told.difference


def test_without_a_best_way_only_the_break_even_is_told() -> None:
    told = thumb_of(
        requests_a_month=None, used_share=None, is_spiky=None, is_steady=False, prices=LIST_PRICES, best=None
    )
    assert [rule.holds for rule in told.rules] == [None, None, None, None]
    assert told.difference.startswith("at these prices provisioned capacity is cheaper from 29% use on; the rule waits")


def test_a_peak_that_stands_ready_needs_nothing_on_demand() -> None:
    event = event_of([place(write=load(100))], 5, {}, table="orders", billing_mode="PAY_PER_REQUEST")
    (peak,) = event.peaks
    assert (peak.now_units, peak.peak_units, peak.ready_units, peak.is_told, peak.is_short) == (
        100,
        500,
        4000,
        False,
        False,
    )
    assert event.commands == ()
    assert "nothing is to be bought" in event.words[0]


def test_a_peak_over_the_warm_throughput_is_warmed_before_it() -> None:
    places = [place(read=load(5000)), place("I", write=load(1000))]
    warm = {(None, READ): 12_000.0, ("I", WRITE): 4_000.0}
    event = event_of(places, 5, warm, table="orders", billing_mode="PAY_PER_REQUEST")
    assert [peak.is_short for peak in event.peaks] == [True, True]
    assert event.commands[0] == (
        "aws dynamodb update-table --table-name orders --warm-throughput ReadUnitsPerSecond=31250  # changes production"
    )
    assert '"IndexName":"I","WarmThroughput":{"WriteUnitsPerSecond":6250}' in event.commands[1]
    assert not any("estimated" in words for words in event.words)
    guessed = event_of(places, 5, {}, table="orders", billing_mode=None)
    assert any("estimated" in words for words in guessed.words)


def test_a_provisioned_table_is_raised_before_the_peak_and_autoscaling_alone_is_late() -> None:
    places = [place(write=load(*([100.0] * HOUR))), place("I", write=load(10))]
    event = event_of(places, 5, {}, table="orders", billing_mode="PROVISIONED")
    assert (
        "--resource-id table/orders --scalable-dimension dynamodb:table:WriteCapacityUnits --min-capacity 625"
        in event.commands[0]
    )
    assert "--resource-id table/orders/index/I --scalable-dimension dynamodb:index:Write" in event.commands[1]
    assert event.peaks[0].throttled_units > 0
    assert 0 < event.peaks[0].catch_up_minutes < HOUR
    calm = event_of(places, 1, {}, table="orders", billing_mode="PROVISIONED")
    assert calm.peaks[0].throttled_units == 0
