"""The bench of accuracy, on seeds of its own: `make bench-accuracy` tries twenty others."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.finding import Confidence, Finding, Severity
from tests.bench.accuracy.__main__ import Tally, _rates, upper_bound
from tests.bench.accuracy.faults import FAULTS
from tests.bench.accuracy.healthy import DAY_MS, healthy_day
from tests.bench.accuracy.judging import Found, found_in, judge_fault, judge_quiet, judge_recorded
from tests.bench.accuracy.patterns import PATTERNS
from tests.bench.accuracy.recorded import RECORDED
from tests.bench.accuracy.sampling import MODES, sampled

SEED = 1001


@pytest.mark.parametrize("number", [0, 8], ids=lambda number: FAULTS[number].detector)
def test_a_planted_fault_is_found_however_its_log_was_sampled(number: int) -> None:
    found = judge_fault(number, SEED)
    assert len(found) == len(FAULTS[number].samplings)
    assert all(one.is_found for one in found)


def test_errors_are_found_in_a_hundredth_too_since_they_are_kept_at_every_rate() -> None:
    errors = next(number for number, fault in enumerate(FAULTS) if fault.detector == "request-errors")
    assert {("request", 0.01), ("key", 0.01), ("trace", 0.01), ("default", 0.01)} < set(FAULTS[errors].samplings)
    assert all(one.is_found and not one.wrong for one in judge_fault(errors, SEED, 0.01))


def finding(detector: str, table: str, severity: str = "medium", caused_by: str | None = None) -> Finding:
    told: dict[str, Any] = {"confidence": Confidence.LIKELY, "summary": "it is so", "first_seen": 0, "last_seen": 0}
    return Finding(detector=detector, table=table, severity=Severity(severity), caused_by=caused_by, **told)


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        (finding("hot-key", "orders"), ()),  # not a second one: the planted fault itself
        (finding("n-plus-one", "orders"), ("n-plus-one on orders",)),  # at its own table
        (finding("n-plus-one", "users"), ("n-plus-one on users",)),
        (finding("n-plus-one", "orders", "low"), ()),
        (finding("n-plus-one", "orders", caused_by="a" * 12), ("n-plus-one on orders",)),  # the pipeline's word alone
        (finding("retry-storm", "orders", "critical"), ()),  # follows from it
        (finding("throttling", "users"), ()),  # true of any log
        (finding("throttling", "users", "high"), ("throttling on users",)),  # and no worse than medium
    ],
)
def test_wrong_is_what_is_neither_the_fault_nor_true_of_its_log(told: Finding, wrong: tuple[str, ...]) -> None:
    follows, true = {("retry-storm", "orders")}, {("throttling", "users")}
    assert found_in([told], ("hot-key", "orders"), 0, follows, true).wrong == wrong


def test_of_one_fault_a_second_finding_is_wrong() -> None:
    twice = [finding("hot-key", "orders"), finding("hot-key", "orders")]
    assert found_in(twice, ("hot-key", "orders"), 0) == Found(is_found=True, windows=0.0, wrong=("hot-key on orders",))


def test_precision_counts_what_is_wrong_beside_what_is_found() -> None:
    tally = Tally()
    tally.add([Found(is_found=True, windows=0.5, wrong=("n-plus-one on users",))] * 3 + [Found(False, None)])  # noqa: FBT003 -- as the tuple has it
    assert _rates(tally).split()[0::2][:2] == ["0.750", "0.500"]


def test_metrics_that_are_well_say_nothing_wrong() -> None:
    assert not judge_quiet(SEED).wrong


@pytest.mark.parametrize("number", range(len(RECORDED)), ids=lambda number: RECORDED[number].detector)
def test_a_fault_that_no_log_shows_is_found(number: int) -> None:
    assert judge_recorded(number, SEED).is_found


def test_forty_patterns_are_asked() -> None:
    asked = {record["table"] for record in healthy_day(SEED, DAY_MS // 60)}
    assert len({pattern.id for pattern in PATTERNS}) == 40
    assert asked >= {pattern.table for pattern in PATTERNS}


@pytest.mark.parametrize("mode", MODES)
def test_a_sample_stands_for_the_whole(mode: str) -> None:
    records = healthy_day(SEED, DAY_MS // 12)
    kept = list(sampled(records, mode, 0.2, SEED))
    weight = sum(1 / record.get("sample_rate", 1) for record in kept)
    assert weight == pytest.approx(len(records), rel=0.25)


@pytest.mark.parametrize(("hits", "tries", "bound"), [(0, 20, 0.139), (20, 20, 1.0), (1, 20, 0.216)])
def test_the_bound_of_a_share_is_that_of_clopper_and_pearson(hits: int, tries: int, bound: float) -> None:
    assert upper_bound(hits, tries) == pytest.approx(bound, abs=0.001)
