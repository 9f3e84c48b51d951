from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analyzer.model.counts import KeyLevel
from analyzer.requests import digest_heavy
from analyzer.requests.digest_sides import Name, Past, SideKeys, Track
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


def test_slices_that_are_over_share_equal_numbers() -> None:
    keys = SideKeys()
    lows: dict[Name, int] = {"a": 5000, "b": int("5000"), "c": 7}
    tracks: dict[Name, Track] = {name: Track(requests=int("9000")) for name in lows}
    keys.take(KeyLevel.PARTITION, SpaceSaving.of(8, lows, 0, 10_007), tracks, most=8)
    before = keys.plain()
    keys.settle({})
    one, other = (low for _, low, _ in keys.sketches[KeyLevel.PARTITION].items() if low == 5000)
    assert one is other
    assert keys.tracks[KeyLevel.PARTITION]["a"].requests is keys.tracks[KeyLevel.PARTITION]["c"].requests
    assert keys.plain() == before


def test_what_is_known_of_the_past_outlives_the_state_of_a_track() -> None:
    track = Track(sampled=1, ring=[3, 9], past=Past(peak=4, over=1, since=7, best=(7, 1, 2)))
    assert Track.from_plain(track.plain()) == track
    track.add(Track(past=Past(peak=5, over=2, since=3, best=(3, 4, 5))))
    assert track.past == Past(peak=5, over=3, since=3, best=(3, 4, 5))
    assert track.seconds(9, 8) == (9, 4, 3)
