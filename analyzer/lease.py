"""Who of several daemons reads AWS: a lease that is renewed, and taken over when it is not. Pure.

Nobody compares the clocks of two machines. Who waits measures with its own steady clock how long the lease has not
changed; who holds it measures from the moment before its last renewal. So the holder stops before another begins, and
a wall clock that jumps changes nothing.
"""

from __future__ import annotations

from msgspec import Struct

from analyzer.config_kinds import parse_duration
from analyzer.errors import UsageError

__all__ = [
    "FREE",
    "MEND",
    "UNREACHED",
    "DayCost",
    "Lease",
    "LeaseConfig",
    "Seen",
    "is_held",
    "looked",
    "may_take",
    "next_lease",
    "parse_place",
]

UNREACHED = "the lease cannot be reached, nobody is known to read AWS"
MEND = "see that both daemons can read and write where it lies"

_LEASE = 2
"""A lease lasts two renewals: one may fail. Together with two looks of a quarter, another takes over within three."""
_LOOKS = 4
_SHORTEST_MS, _LONGEST_MS = 500, 300_000
_WAITED_FOR_MS = (_SHORTEST_MS * _LEASE, _LONGEST_MS * _LEASE)


class LeaseConfig(Struct, frozen=True):
    """Where the lease lies, and how often it is renewed: a path, or a bucket and key."""

    path: str | None = None
    bucket: str | None = None
    key: str | None = None
    region: str | None = None
    renew_ms: int = 10_000

    @property
    def lease_ms(self) -> int:
        """How long a renewal lasts."""
        return self.renew_ms * _LEASE

    @property
    def look_ms(self) -> int:
        """How often who waits looks at it."""
        return self.renew_ms // _LOOKS


class DayCost(Struct, frozen=True):
    """Dollars that reading cost on a day, which counts UTC days since the epoch."""

    day: int = 0
    today: float = 0.0


class Lease(Struct, frozen=True):
    """What is written: who holds it (nobody where it was given back), a count of renewals, and how long each lasts.

    `spent` is what the holder's reading cost on which day, so that who takes over goes on with the day's money.
    """

    holder: str
    beat: int = 0
    lease_ms: int = 20_000
    spent: DayCost = DayCost()


FREE = Lease("")


class Seen(Struct, frozen=True):
    """A lease as it was read: its version in the place where it lies, and since when it has been so."""

    lease: Lease | None
    version: str | None
    since: int


def looked(before: Seen | None, lease: Lease | None, version: str | None, now: int) -> Seen:
    """Return what was read; `now` is of the reader's own steady clock, in milliseconds."""
    is_same = before is not None and (before.lease, before.version) == (lease, version)
    return Seen(lease, version, before.since if before is not None and is_same else now)


def may_take(me: str, seen: Seen, now: int) -> bool:
    """Whether the lease is free, or ours, or has not been renewed for as long as its holder said."""
    lease = seen.lease
    if lease is None or lease.holder in {"", me}:
        return True
    shortest, longest = _WAITED_FOR_MS
    return now - seen.since >= min(max(lease.lease_ms, shortest), longest)


def is_held(renewed_at: int | None, now: int, lease_ms: int) -> bool:
    """Whether a lease that began to be renewed then still lasts."""
    return renewed_at is not None and 0 <= now - renewed_at < lease_ms


def next_lease(me: str, before: Lease | None, lease_ms: int, spent: DayCost) -> Lease:
    """Return what the next renewal writes."""
    return Lease(me, 1 if before is None else before.beat + 1, lease_ms, spent)


def parse_place(text: str) -> LeaseConfig:
    """Read `file:/path/lease` or `s3://bucket/key`, with `?renew=10s&region=…`; raises UsageError."""
    place, _, query = text.partition("?")
    options = dict(part.partition("=")[::2] for part in query.split("&") if part)
    unknown = sorted(options.keys() - {"renew", "region"})
    if unknown:
        raise UsageError(f"--standby {text}: {unknown[0]} is not known; known: renew, region")
    try:
        renew_ms = parse_duration(options.get("renew", "10s"))
    except ValueError as error:
        raise UsageError(f"--standby {text}: renew: {error}") from None
    if not _SHORTEST_MS <= renew_ms <= _LONGEST_MS:
        raise UsageError(f"--standby {text}: a lease is renewed every 500ms to 5m")
    if place.startswith("s3://"):
        bucket, _, key = place.removeprefix("s3://").partition("/")
        if bucket and key:
            return LeaseConfig(bucket=bucket, key=key, region=options.get("region"), renew_ms=renew_ms)
    path = place.removeprefix("file:")
    if place.startswith("file:") and path.removeprefix("//").startswith("/"):
        return LeaseConfig(path=path.removeprefix("//"), renew_ms=renew_ms)
    raise UsageError(f"--standby {text}: write file:/path/lease or s3://bucket/key")
