from __future__ import annotations

from typing import Any

import msgspec
import pytest

from analyzer.detectors.thresholds import Positive, Share, Whole


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Share, 0), (Share, 0.5), (Share, 1), (Positive, 0.001), (Positive, 5), (Whole, 1), (Whole, 300)],
)
def test_what_a_threshold_may_be(kind: Any, value: float) -> None:
    assert msgspec.convert(value, kind) == value


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Share, -0.001), (Share, 1.001), (Positive, 0), (Positive, -1), (Whole, 0), (Whole, 1.5)],
)
def test_what_no_threshold_may_be_is_refused(kind: Any, value: float) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, kind)
