from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analyzer.contract.load import contract_from
from analyzer.model.estimate import Estimate
from analyzer.model.finding import Severity
from analyzer.model.target import Target
from analyzer.model.window import Window
from analyzer.reports.bill import Bill
from analyzer.reports.drift_values import Drift, FacetDrift, MixDrift, MixTerm, PatternDrift, Presence, Side, Subject
from analyzer.reports.frame import Frame
from analyzer.reports.items import items_of
from analyzer.reports.standing import better_of
from analyzer.reports.week_values import Item, ItemKind
from analyzer.statistics.rates import Standing

WEEK = Window(0, 604_800_000)
T = Target(None, None, "t")
NOTHING = pd.DataFrame()
FRAME = Frame(window=WEEK, hours=NOTHING, latency=np.zeros((0, 1)), covered=(WEEK,), keys=NOTHING, pairs=NOTHING)
INDEX = {"name": "G", "partition_key": "GPK", "owner": "team-index"}
CONTRACT = contract_from(
    {"version": 1, "tables": [{"name": "t", "partition_key": "PK", "owner": "team", "indexes": [INDEX]}]}, "t.yaml"
)
BILL = Bill(WEEK.seconds, {})


def facet(name: str, ratio: float | None = 2.0, **fields: Any) -> FacetDrift:
    told = None if ratio is None else Estimate(ratio, ratio * 0.9, ratio * 1.1)
    values: dict[str, Any] = {"side": Side.PAST, "standing": Standing.OUT, "seen": Estimate.exact(10.0), "ratio": told}
    return FacetDrift(**(values | {"name": name, "expected": None if ratio is None else 10 / ratio} | fields))


def pattern(*facets: FacetDrift, **fields: Any) -> PatternDrift:
    values: dict[str, Any] = {"subject": Subject(T, "p"), "kind": "declared", "presence": Presence.KNOWN}
    values |= {"requests": Estimate.exact(7e9), "expected_requests": 7e9, "units": 100.0, "expected_units": 100.0}
    values |= {"wasted_units": 0.0, "callers": ("c", "d"), "operations": ("Query",), "fingerprints": ("f",)}
    values |= {"days_seen": 4, "days_covered": 7, "hours_seen": 9, "first_seen": 0, "owner": None}
    return PatternDrift(facets=facets, **(values | fields))


def items(*patterns: PatternDrift, mixes: tuple[MixDrift, ...] = ()) -> tuple[Item, ...]:
    return items_of(FRAME, Drift(window=WEEK, weeks=4, growth=1.0, patterns=patterns, mixes=mixes), CONTRACT, BILL)


@pytest.mark.parametrize(
    ("out", "said", "action"),
    [
        (facet("rate"), "it comes 2 times [1.8–2.2] as often as it did: 10 requests, 5 expected", "check-client"),
        (facet("p99"), "one call in a hundred takes longer than 10 ms", "check-client"),
        (facet("bytes"), "a request takes 10 bytes", "check-client"),
        (facet("waste", seen=Estimate.exact(0.5)), "50% of its read units are thrown away", "encode-filter-in-key"),
        (facet("units", None, text="units"), "10 units", "check-client"),
        (
            facet("filter", None, side=Side.DECLARED, declared="none", text="filtered by a", seen=Estimate.exact(0.31)),
            "31% filtered by a, where none is declared",
            "check-client",
        ),
    ],
)
def test_a_pattern_that_moved_says_how_and_what_to_do(out: FacetDrift, said: str, action: str) -> None:
    (item,) = items(pattern(out))
    assert item.summary.startswith("p of t, as c and 1 more uses it: ")
    assert said in item.summary
    assert (item.advice[0].action, item.kind, item.owner) == (action, ItemKind.MOVED, "team")


def test_latency_is_medium_and_a_cheap_change_of_rate_is_low() -> None:
    slower, oftener = items(pattern(facet("rate")), pattern(facet("p95")))
    assert (slower.severity, oftener.severity) == (Severity.MEDIUM, Severity.LOW)


def test_a_dearer_request_is_medium_from_five_dollars_a_month() -> None:
    dear = pattern(facet("units"), units=604_800.0 * 40)
    assert items(dear)[0].severity is Severity.MEDIUM
    assert items(pattern(facet("units")))[0].severity is Severity.LOW


def test_a_write_is_priced_as_a_write() -> None:
    (item,) = items(pattern(facet("rate"), operations=("PutItem",), units=604_800.0 + 100.0))
    assert item.extra_usd == pytest.approx(730 * 3600 / 1e6 * 0.625, abs=0.01)


def test_what_came_back_after_a_week_says_so() -> None:
    (item,) = items(pattern(presence=Presence.RETURNED, expected_units=None))
    assert item.summary.startswith("c and 1 more asks again t by Query p: 7 billion requests on 4 of 7 days")
    assert (item.kind, item.severity) == (ItemKind.RETURNED, Severity.MEDIUM)
    assert item.measures == {"requests a day": 1e9}


def test_a_stranger_that_takes_little_is_low() -> None:
    few = {"subject": Subject(T, None, "f"), "kind": "undeclared", "presence": Presence.NEW, "units": 1.0}
    found = {item.kind: item for item in items(pattern(facet("rate")), pattern(**few, expected_units=None))}
    assert found[ItemKind.NEW].severity is Severity.LOW
    assert found[ItemKind.NEW].page == "undeclared-pattern"


def test_what_is_quiet_dead_or_only_better_is_no_item() -> None:
    quiet = pattern(presence=Presence.QUIET)
    dead = pattern(presence=Presence.DEAD)
    better = pattern(facet("p50", 0.5))
    stranger = pattern(presence=Presence.VANISHED, kind="undeclared")
    assert items(quiet, dead, better, stranger) == ()


def test_an_index_has_its_own_owner() -> None:
    (item,) = items(pattern(facet("rate"), subject=Subject(T.at("G"), "p")))
    assert item.owner == "team-index"


def test_a_mix_that_shifted_names_its_greatest_terms() -> None:
    mix = MixDrift(
        what="callers",
        target=T,
        standing=Standing.OUT,
        psi=0.4,
        jsd=0.1,
        rest_psi=0.4,
        threshold=0.05,
        terms=(MixTerm("web", 0.9, 0.5, 0.2),),
    )
    (item,) = items(mixes=(mix,))
    assert item.summary.startswith("the callers of t are mixed otherwise than in ordinary weeks: web 90% → 50%")
    assert (item.kind, item.severity, item.measures) == (ItemKind.MIX, Severity.LOW, {"web": 0.5})


def test_what_got_better_is_told_in_its_own_words() -> None:
    found = Drift(
        window=WEEK,
        weeks=4,
        growth=1.0,
        patterns=(
            pattern(facet("p95", 0.5), facet("waste", 0.5, seen=Estimate.exact(0.1), expected=0.2), units=50.0),
            pattern(presence=Presence.VANISHED, kind="undeclared", subject=Subject(T, None, "f")),
        ),
    )
    said = {one.summary for one in better_of(found, FRAME, (), BILL)}
    assert said == {
        (
            "p: its slowest twentieth 20 ms → 10 ms, 0.5 times [0.45–0.55] what it was; "
            "10% of its read units thrown away, 20% before"
        ),
        "f, which nobody declared, is not asked any more",
    }
