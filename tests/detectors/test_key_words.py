"""How a hot key is told: its sentence, its numbers, and whether it heals alone."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.detectors.key_facts import KeyFacts
from analyzer.detectors.key_words import evidence_for, facts_evidence, self_heals, summary_of
from analyzer.knowledge.shards import Shards
from analyzer.model.counts import KeyLevel
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Direction, Severity
from analyzer.model.window import Window
from tests.support.evidence import exactly, key, limit, row, traffic

READ, WRITE = Direction.READ, Direction.WRITE


def facts(**fields: Any) -> KeyFacts:
    return KeyFacts(**{"shape": "tenant", "direction": READ, "attribute": "PK", "caller": "api"} | fields)


@pytest.mark.parametrize(
    ("heat", "end"),
    [
        (exactly(0.05), "at 5% of its ceiling: it breaks at 20 times today's traffic"),
        (Estimate(0.05, 0.04, 0.08), "at 5% of its ceiling: it breaks at 12.5 times today's traffic"),
        (exactly(0), "at 0% of its ceiling"),
    ],
    ids=["counted", "by its upper end", "of no slice anything is known"],
)
def test_a_cool_key_is_told_by_when_it_breaks(heat: Estimate, end: str) -> None:
    said = summary_of(key(heat=heat, share=exactly(0.41)), Severity.LOW, "so", "api", traffic())
    assert said == f"{{key}} takes 41% of the read units of cases {end}"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "takes 2,700 of 3,000 read units a second, mostly from api: so"),
        ({"peak_second": 2700.0}, "takes 2,700 of 3,000 read units a second, mostly from api: so"),
        (
            {"peak_second": 2701.0},
            "takes 2,700 of 3,000 read units a second (up to 2,701 in one), mostly from api: so",
        ),
        (
            {"admitted": Estimate(0.9, 0.8, 1.0), "peak_second": 2900.0},
            "takes 2,700 [2,400–3,000] of 3,000 read units a second, mostly from api: so",
        ),
        ({"tries": 9}, "takes 2,700 of 3,000 read units a second, 9 tries refused, mostly from api: so"),
        (
            {"tries": 900, "heat": exactly(1.24)},
            "takes 2,700 of 3,000 read units a second, demand 3,720 (1.24 ×), 900 tries refused, mostly from api: so",
        ),
        (
            {"tries": 900, "heat": exactly(0.99)},
            "takes 2,700 of 3,000 read units a second, 900 tries refused, mostly from api: so",
        ),
        ({"heat": exactly(1.24)}, "takes 2,700 of 3,000 read units a second, mostly from api: so"),
        ({"admitted": exactly(0), "tries": 90}, "had 90 read tries refused, mostly of api: so"),
    ],
    ids=[
        "steady",
        "a second like the others",
        "a fuller second",
        "within the bounds",
        "refused",
        "more is asked for",
        "no more than the ceiling",
        "nothing refused",
        "refused alone",
    ],
)
def test_a_hot_key_is_told_by_what_it_takes(fields: dict[str, Any], said: str) -> None:
    one = key((2700.0,) * 6, **fields)
    assert summary_of(one, Severity.HIGH, "so", "api", traffic()) == f"{{key}} on cases {said}"


def test_evidence_holds_the_key_beside_its_table() -> None:
    evidence = traffic(
        rows=(row(read_units=30_000), row(read_units=15_000, write_units=9)),
        throttles=(limit(), limit(direction=WRITE, reasons=("other",)), limit("unknown", reasons=())),
    )
    found = evidence_for(key((2700.0,) * 6, tries=90, tries_share=0.45678, peak_second=2800.0), facts(), evidence)
    assert found == {
        "heat": 0.9,
        "admitted": 0.9,
        "share": 0.1,
        "units_a_second": 2700.0,
        "ceiling_units_a_second": 3000,
        "table_units_a_second": 150.0,
        "throttled_tries": 90,
        "throttled_share": 0.457,
        "reason": "TableReadKeyRangeThroughputExceeded",
        "resource": "arn:aws:dynamodb:us-east-1:111122223333:table/cases",
        "peak_second_units": 2800.0,
        "seconds_at_ceiling": None,
        "shape": "tenant",
    }


@pytest.mark.parametrize(("milliseconds", "told"), [(500, 900.0), (1000, 900.0), (1500, 600.0)])
def test_what_a_table_served_in_less_than_a_second_is_taken_as_a_second(milliseconds: int, told: float) -> None:
    evidence = traffic(rows=(row(read_units=900),), window=Window(0, milliseconds))
    assert evidence_for(key(), facts(), evidence)["table_units_a_second"] == told


def test_where_no_request_tells_its_units_heat_is_not_known() -> None:
    found = evidence_for(key(), facts(), traffic(rows=(row(units_known=0.0),)))
    assert [found[name] for name in ("heat", "admitted", "share", "units_a_second", "table_units_a_second")] == [
        None
    ] * 5
    refused = evidence_for(key(admitted=exactly(0)), facts(), traffic())
    assert (refused["heat"], refused["admitted"]) == (None, 0)


@pytest.mark.parametrize(("count", "is_told"), [(1, False), (2, True)])
def test_parts_are_told_where_there_are_several(count: int, *, is_told: bool) -> None:
    found = facts_evidence(facts(shards=Shards(count, 1.234, 678.91), reads_a_second=4.0, added_read_units=2.0))
    assert found == {"shape": "tenant"} | (
        {
            "write_shards": 2,
            "shard_imbalance": 1.23,
            "hottest_shard_units_a_second": 678.9,
            "reads_a_second": 4.0,
            "added_read_units_a_second": 2.0,
        }
        if is_told
        else {}
    )


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        (7.9, "its heat lies on about 7.9 items: a split may help little"),
        (8.0, "its heat spreads over several items: DynamoDB may split the partition within minutes"),
        (None, "its heat spreads over several items: DynamoDB may split the partition within minutes"),
    ],
)
def test_a_split_helps_little_where_heat_lies_on_fewer_than_eight_items(items: float | None, reason: str) -> None:
    told = self_heals(facts(effective_items=items), KeyLevel.PARTITION, has_lsi=False)
    assert (told.answer, told.reason) == ("unknown", reason)
