from __future__ import annotations

from analyzer.model.counts import KeyLevel
from analyzer.requests.digest_sides import Name, SideKeys, Track
from analyzer.statistics.space_saving import SpaceSaving


def test_details_are_kept_of_the_keys_in_the_sketch_alone() -> None:
    keys = SideKeys(1)
    for weight, name in ((5, "a"), (9, "b"), (2, "c")):
        lows: dict[Name, int] = {name: weight}
        keys.take(KeyLevel.PARTITION, SpaceSaving.of(1, lows, 0, weight), {name: Track(sampled=1)}, most=1)
    assert set(keys.tracks[KeyLevel.PARTITION]) == set(keys.sketches[KeyLevel.PARTITION]) == {"b"}
