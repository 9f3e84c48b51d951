"""The bench of accuracy, on seeds of its own: `make bench-accuracy` tries twenty others."""

from __future__ import annotations

import pytest

from tests.bench.accuracy.__main__ import judge_fault, judge_recorded, upper_bound
from tests.bench.accuracy.faults import FAULTS
from tests.bench.accuracy.healthy import DAY_MS, healthy_day
from tests.bench.accuracy.patterns import PATTERNS
from tests.bench.accuracy.recorded import RECORDED
from tests.bench.accuracy.sampling import MODES, sampled

SEED = 1001


@pytest.mark.parametrize("number", [0, 8], ids=lambda number: FAULTS[number].detector)
def test_a_planted_fault_is_found_however_its_log_was_sampled(number: int) -> None:
    found = judge_fault(number, SEED)
    assert len(found) == 1 + len(FAULTS[number].at_a_tenth)
    assert all(one.is_found for one in found)


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
