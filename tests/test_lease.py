"""Who of several daemons reads AWS: by steady clocks alone, never both at once for longer than the lease."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import UsageError
from analyzer.lease import FREE, DayCost, Lease, LeaseConfig, Seen, is_held, looked, may_take, next_lease, parse_place

OURS, THEIRS = Lease("me", 3), Lease("them", 7)


@pytest.mark.parametrize(
    ("lease", "waited", "may"),
    [
        (None, 0, True),
        (FREE, 0, True),
        (OURS, 0, True),
        (THEIRS, 19_999, False),
        (THEIRS, 20_000, True),
        (Lease("them", 7, lease_ms=4000), 4000, True),
        (Lease("them", 7, lease_ms=0), 999, False),
        (Lease("them", 7, lease_ms=10**12), 600_000, True),
    ],
    ids=["none", "given back", "ours", "renewed just now", "silent", "as short as they say", "nonsense", "for ever"],
)
def test_a_lease_is_taken_when_it_is_free_or_has_been_silent_as_long_as_its_holder_said(
    lease: Lease | None, waited: int, *, may: bool
) -> None:
    assert may_take("me", Seen(lease, "v", 1000), 1000 + waited) is may


def test_silence_is_measured_since_the_lease_was_seen_to_change() -> None:
    first = looked(None, THEIRS, "v1", 10)
    assert looked(first, THEIRS, "v1", 5000) == Seen(THEIRS, "v1", 10)
    assert looked(first, Lease("them", 8), "v2", 5000).since == 5000
    assert looked(first, THEIRS, "v2", 5000).since == 5000


@pytest.mark.parametrize(
    ("renewed_at", "now", "held"), [(None, 0, False), (10, 10, True), (10, 29, True), (10, 30, False), (10, 9, False)]
)
def test_a_lease_is_held_from_before_its_renewal(renewed_at: int | None, now: int, *, held: bool) -> None:
    assert is_held(renewed_at, now, 20) is held


def test_each_renewal_differs_from_the_one_before() -> None:
    first = next_lease("me", None, 100, DayCost(7, 1.5))
    assert first == Lease("me", 1, 100, DayCost(7, 1.5))
    assert next_lease("me", first, 100, DayCost()).beat == 2


@given(
    st.lists(st.tuples(st.sampled_from(["holder", "standby"]), st.integers(1, 3000)), max_size=60),
    st.integers(-(10**9), 10**9),
)
def test_two_never_hold_it_at_once_whatever_order_they_come_in(steps: list[tuple[str, int]], apart: int) -> None:
    """Each daemon has a steady clock of its own; that of the second is `apart` from the first's."""
    lease_ms = 2000
    stored: list[tuple[Lease | None, str | None]] = [(None, None)]
    seen: dict[str, Seen | None] = {"holder": None, "standby": None}
    renewed: dict[str, int | None] = {"holder": None, "standby": None}
    offset = {"holder": 0, "standby": apart}
    now = 0
    for who, later in steps:
        now += later
        clock = now + offset[who]
        lease, version = stored[0]
        told = seen[who] = looked(seen[who], lease, version, clock)
        if may_take(who, told, clock):
            wanted = next_lease(who, lease, lease_ms, DayCost())
            stored[0] = (wanted, f"{who}{wanted.beat}")
            renewed[who] = clock
        else:
            renewed[who] = None
        holding = [name for name in renewed if is_held(renewed[name], now + offset[name], lease_ms)]
        assert len(holding) <= 1


@pytest.mark.parametrize(
    ("text", "config"),
    [
        ("file:/var/lease", LeaseConfig(path="/var/lease")),
        ("file:///var/lease?renew=2s", LeaseConfig(path="/var/lease", renew_ms=2000)),
        ("s3://b/a/k", LeaseConfig(bucket="b", key="a/k")),
        ("s3://b/k?region=eu-west-1&renew=1m", LeaseConfig(bucket="b", key="k", region="eu-west-1", renew_ms=60_000)),
    ],
)
def test_a_place_is_a_path_or_a_bucket_and_key(text: str, config: LeaseConfig) -> None:
    assert parse_place(text) == config


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lease", "write file:/path/lease or s3://bucket/key"),
        ("file:lease", "write file:/path/lease or s3://bucket/key"),
        ("s3://bucket", "write file:/path/lease or s3://bucket/key"),
        ("file:/a?renew=x", "renew: "),
        ("file:/a?renew=1ms", "a lease is renewed every 500ms to 5m"),
        ("file:/a?reneww=1s", "reneww is not known; known: renew, region"),
    ],
)
def test_what_is_no_place_is_told(text: str, told: str) -> None:
    with pytest.raises(UsageError, match="--standby") as caught:
        parse_place(text)
    assert told in str(caught.value)


def test_another_takes_over_within_three_renewals() -> None:
    config = LeaseConfig(path="/a", renew_ms=10_000)
    assert config.lease_ms + 2 * config.look_ms < 3 * config.renew_ms
