from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.counts import KeyLevel
from analyzer.requests import digest_heavy
from analyzer.requests.digest_sides import Name, SideKeys, Track
from analyzer.statistics.space_saving import SpaceSaving

if TYPE_CHECKING:
    import pytest


def test_details_are_kept_of_the_keys_in_the_sketch_alone() -> None:
    keys = SideKeys()
    for weight, name in ((5, "a"), (9, "b"), (2, "c")):
        lows: dict[Name, int] = {name: weight}
        keys.take(KeyLevel.PARTITION, SpaceSaving.of(1, lows, 0, weight), {name: Track(sampled=1)}, most=1)
    assert set(keys.tracks[KeyLevel.PARTITION]) == set(keys.sketches[KeyLevel.PARTITION]) == {"b"}


def test_a_name_is_the_same_object_each_time_until_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest_heavy, "_MOST_NAMES", 3)
    groups = digest_heavy._Group([], np.zeros(0), np.zeros(0), 1, ["cases"], None, {})
    first = groups.named(0, ("CASE#1", "META"))
    assert groups.named(0, ("CASE#1", "META"[:4])) is first
    assert groups.named(0, "CASE#1") is first[0]
    groups.named(0, "CASE#2")
    assert len(groups.names) == 1


def test_a_track_without_cells_takes_on_those_of_another() -> None:
    track = Track(sampled=1)
    track.add(Track(sampled=2, cells=(3, 7)))
    assert (track.sampled, track.cells) == (3, (3, 7))
