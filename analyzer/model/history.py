"""What is known of the past: baselines and spans, wherever they come from."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.target import Target
from analyzer.model.window import Window

__all__ = ["EMPTY", "History"]


class History(Struct, frozen=True):
    """The stretches of the past that are covered for each target."""

    spans: dict[Target, Window] = {}


EMPTY = History()
