"""The histogram of an index's lag: every write once, with both bounds, whatever is judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.exporters.from_counts import target_labels
from analyzer.exporters.lags import LAG, count_lags, show_lags
from analyzer.exporters.series import SeriesTable
from analyzer.model.batch import LagProbe
from analyzer.model.window import Window
from tests.support import evidence

if TYPE_CHECKING:
    from analyzer.exporters.assemble import Kept
    from analyzer.model.target import Target
    from analyzer.model.traffic import Traffic

GSI2 = evidence.GSI2
PLACE = target_labels(GSI2)


def probe(at: int, lag_ms: float, ages: tuple[int, ...] = (100, 1_000, 5_000)) -> LagProbe:
    return LagProbe(GSI2, "canary-1", at, tuple((float(age), float(age), lag_ms <= age) for age in ages))


def hour(*probes: LagProbe, end: int = 600_000, target: Target = GSI2) -> tuple[Traffic, ...]:
    return (evidence.traffic(target, window=Window(0, end), rows=(), probes=probes),)


def shown(kept: Kept) -> dict[str, tuple[float, float]]:
    """Return how many writes there are, and their seconds, by bound."""
    table = SeriesTable()
    show_lags(table, kept)
    found = table.distributions(LAG)
    return {labels[-1]: (one.buckets[-1], round(one.total, 3)) for labels, one in found.items()}


def test_a_write_counts_with_what_it_took_at_least_and_at_most() -> None:
    assert shown(count_lags({}, hour(probe(1_000, 400.0)))) == {"lower": (1.0, 0.1), "upper": (1.0, 1.0)}


def test_the_same_hour_judged_twice_counts_once_and_a_longer_one_what_is_new() -> None:
    kept = count_lags({}, hour(probe(1_000, 400.0)))
    assert count_lags(kept, hour(probe(1_000, 400.0))) == kept
    later = count_lags(kept, hour(probe(1_000, 400.0), probe(490_000, 50.0), end=660_000))
    assert shown(later)["upper"] == (2.0, 1.1)


def test_a_write_of_the_last_two_minutes_waits() -> None:
    assert shown(count_lags({}, hour(probe(590_000, 400.0)))) == {}


def test_a_write_that_no_read_showed_has_no_upper_bound() -> None:
    kept = count_lags({}, hour(probe(1_000, 9_000.0)))
    assert shown(kept) == {"lower": (1.0, 5.0), "upper": (1.0, 0.0)}
    assert kept[LAG][(*PLACE, "upper", "15")] == 1.0


def test_a_write_that_was_seen_and_then_not_tells_nothing() -> None:
    gone = LagProbe(GSI2, "canary-1", 1_000, ((100.0, 100.0, True), (900.0, 900.0, False)))
    assert shown(count_lags({}, hour(gone))) == {}


def test_tables_have_no_lag() -> None:
    assert count_lags({}, hour(target=evidence.CASES)) == {}
