from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.exporters.metrics import METRICS, Kind, reference_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
FORBIDDEN = {"key", "fingerprint", "request_id", "le", "quantile", "type", "region", "stage", "environment"}


def test_the_reference_page_is_what_the_table_says(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-golden"):
        PAGE.write_text(reference_page(), "utf-8")
    assert PAGE.read_text("utf-8") == reference_page(), "run pytest --rewrite-golden"


def test_no_name_stands_twice() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_name_follows_the_conventions(metric: object) -> None:
    assert metric in METRICS
    for one in (each for each in METRICS if each is metric):
        assert one.name.startswith("dynascope_")
        assert one.name.endswith("_total") == (one.kind is Kind.COUNTER)
        assert one.name.endswith("_info") == (one.kind is Kind.INFO)
        assert not FORBIDDEN & set(one.labels)
        assert one.most_series <= 2000
