"""What the way to AWS needs to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["AwsAccount", "AwsConfig"]


class AwsAccount(Struct, frozen=True):
    """One account to look at; without a role it is reached with the daemon's own credentials.

    `account` is its twelve digits, None where only the daemon's own account is looked at. `regions` are its own, where
    they differ from the rest.
    """

    account: str | None = None
    role: str | None = None
    external_id: str | None = None
    regions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a role without the account that it belongs to."""
        if self.role is not None and self.account is None:
            raise ValueError("an account with a role to assume needs its twelve digits")


class AwsConfig(Struct, frozen=True):
    """Regions, accounts, endpoint, patience and money.

    `regions` empty is the region of the environment. `endpoint_url` is one address for all services, for tests and for
    private endpoints. A try is given up after `connect_ms` without a connection or `read_ms` without a byte, a call
    after `attempts` tries or `deadline_ms`. `rate_share` is the part of AWS's published rates that we take at most: the
    account's own dashboards and deployments live on the rest. `max_usd_per_day` None spends without a limit.
    """

    regions: tuple[str, ...] = ()
    accounts: tuple[AwsAccount, ...] = (AwsAccount(),)
    endpoint_url: str | None = None
    profile: str | None = None
    connect_ms: int = 3000
    read_ms: int = 20_000
    attempts: int = 5
    deadline_ms: int = 45_000
    concurrent: int = 10
    rate_share: float = 0.5
    max_usd_per_day: float | None = 10.0
