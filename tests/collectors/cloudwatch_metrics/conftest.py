from __future__ import annotations

import pytest

from tests.support.metric_world import MetricWorld


@pytest.fixture
def world() -> MetricWorld:
    return MetricWorld()
