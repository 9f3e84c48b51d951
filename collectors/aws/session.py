"""The way to AWS: sessions, regions and roles. Every call is paced, paid for, retried and translated here."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import aioboto3
from aiobotocore.credentials import AioCredentials
from aiobotocore.session import AioSession
from botocore.config import Config

from analyzer.errors import CollectError, DeniedError, MalformedError, ThrottledError, UnreachableError, UsageError
from collectors.aws.budget import Budget
from collectors.aws.config import AwsAccount
from collectors.aws.errors import EXPECTED, STALE, translate
from collectors.aws.parsing import CheckedParserFactory
from collectors.aws.retry import RetryBudget, is_worth_retrying, pause_ms

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiobotocore.client import AioBaseClient

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from collectors.aws.config import AwsConfig

__all__ = ["Aws", "Place"]

_SESSION_NAME = "dynascope"
_ROLE_SECONDS = 3600
"""How long a role is assumed for: what every role allows, chained ones too."""
_RENEW_MS = 300_000
"""So long before its end a role is assumed again."""
_ENDPOINT = "write it whole, such as http://localhost:8000, in AWS_ENDPOINT_URL, the profile or endpoint_url"
_SULK_MS = 10_000
"""So long a role is not asked for again, whether it could be assumed or not: a hundred calls must not become more."""


def _anybody() -> None:
    """Let every call through."""


class Place(NamedTuple):
    """Where a call goes: an account (None is the daemon's own) and a region."""

    account: str | None
    region: str

    def __str__(self) -> str:
        """Write `in us-east-1 of 111122223333`."""
        return f"in {self.region}" + ("" if self.account is None else f" of {self.account}")


class _Account:
    """One account: its credentials, its clients, and what its own failures have used up."""

    def __init__(self, config: AwsAccount, concurrent: int) -> None:
        self.config = config
        self.credentials = None if config.role is None else AioCredentials("", "")
        self.lasts_until: Instant = 0
        self.assumed_at: Instant = 0
        self.clients: dict[tuple[str, str], Any] = {}
        self.turns: dict[str, asyncio.Semaphore] = {}
        self.retries: dict[str, RetryBudget] = {}
        self.opening = asyncio.Lock()
        self.assuming = asyncio.Lock()
        self.stack = contextlib.AsyncExitStack()
        self.refusal: tuple[Instant, CollectError] | None = None
        self._concurrent = concurrent

    def turn(self, region: str) -> asyncio.Semaphore:
        """Return what keeps calls to one region few."""
        return self.turns.setdefault(region, asyncio.Semaphore(self._concurrent))

    def retry_budget(self, region: str) -> RetryBudget:
        """Return the region's own retry budget: one that fails takes nothing from another."""
        return self.retries.setdefault(region, RetryBudget())


class _Ungated:
    """Makes the calls of another's `Aws` without asking for its permit."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: object
    ) -> dict[str, Any]:
        """Make one call; see AwsCaller. Raises CollectError."""
        place = Place(account, region or self._aws._first)  # noqa: SLF001 -- one with it
        return await self._aws._call(service, operation, place, params)  # noqa: SLF001 -- same


class Aws:
    """The AwsCaller of the daemon; clients are opened when first used and closed by `close`.

    `clock` is the wall clock in milliseconds; `sleep` waits seconds; `draw` is uniform in [0, 1).
    """

    def __init__(
        self,
        config: AwsConfig,
        budget: Budget | None = None,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000_000,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.config = config
        self.budget = Budget(config.max_usd_per_day, config.rate_share) if budget is None else budget
        self._clock = clock
        self._sleep = sleep
        self._draw = draw
        accounts = (AwsAccount(), *config.accounts)
        self._accounts = {account.account: _Account(account, config.concurrent) for account in accounts}
        self._sessions = {name: self._session(home.credentials) for name, home in self._accounts.items()}
        own = self._own_region()
        self._first = own or "us-east-1"
        self.is_region_given = own is not None
        """Whether anything says which region is asked: settings, profile or environment; else us-east-1 is taken."""
        self.permit: Callable[[], None] = _anybody
        """Asked before each call; raises CollectError where another process makes them."""
        self.skew_ms: int | None = None
        """How far our clock was ahead of AWS's at the last answer, None before the first."""

    def places(self) -> tuple[Place, ...]:
        """Return every account and region to look at."""
        regions = self.config.regions or (self._first,)
        return tuple(
            Place(account.account, region) for account in self.config.accounts for region in account.regions or regions
        )

    async def call(
        self, service: str, operation: str, *, region: str | None = None, account: str | None = None, **params: object
    ) -> dict[str, Any]:
        """Make one call; see AwsCaller. Raises CollectError."""
        self.permit()
        return await self._call(service, operation, Place(account, region or self._first), params)

    @property
    def ungated(self) -> AwsCaller:
        """The same way, budget and all, for calls that are made whoever else makes the others."""
        return _Ungated(self)

    async def _call(self, service: str, operation: str, place: Place, params: dict[str, object]) -> dict[str, Any]:
        account = place.account
        home = self._accounts.get(account)
        if home is None:
            hint = "list the account under aws.accounts, with a role to assume"
            raise DeniedError(f"{operation} {place}: no such account is configured", hint=hint)
        deadline = self._clock() + self.config.deadline_ms
        bucket = self.budget.bucket(service, operation, place.region, place.account or "", self._clock())
        if bucket.wait_ms(self._clock()) > self.config.deadline_ms:
            hint = "it is asked again by itself; AWS refuses more calls of it than this"
            raise ThrottledError(f"{operation} {place}: not asked, since its turn does not come in time", hint=hint)
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._try(home, place, service, operation, params)
            except CollectError as error:
                pause = self._pause(home, place, error, attempt, deadline - bucket.wait_ms(self._clock()))
                if pause is None:
                    raise
                await self._sleep(pause / 1000)

    async def close(self) -> None:
        """Close every connection."""
        for account in self._accounts.values():
            await account.stack.aclose()
            account.clients.clear()

    def _pause(self, home: _Account, place: Place, error: CollectError, attempt: int, deadline: Instant) -> int | None:
        """Return how long to wait before another try; None when there is to be none."""
        if not is_worth_retrying(error) or attempt >= self.config.attempts:
            return None
        pause = pause_ms(attempt, self._draw)
        if self._clock() + pause > deadline or not home.retry_budget(place.region).take():
            return None
        return pause

    async def _try(
        self, home: _Account, place: Place, service: str, operation: str, params: dict[str, object]
    ) -> dict[str, Any]:
        """Wait for a token, pay, send once."""
        bucket = self.budget.bucket(service, operation, place.region, place.account or "", self._clock())
        wait = bucket.take(self._clock())
        if wait:
            await self._sleep(wait / 1000)
        charge = self.budget.spend(service, operation, params, self._clock())
        try:
            async with home.turn(place.region):
                answer = await self._send(home, place, service, operation, params)
        except CollectError as error:
            if not isinstance(error, UnreachableError | MalformedError):
                self.budget.refund(operation, charge, self._clock())
            if isinstance(error, ThrottledError):
                bucket.slow_down()
            raise
        bucket.recover()
        home.retry_budget(place.region).give_back()
        return answer

    async def _send(
        self, home: _Account, place: Place, service: str, operation: str, params: dict[str, object]
    ) -> dict[str, Any]:
        limit = (self.config.connect_ms + self.config.read_ms) / 1000
        await self._assume(home)
        try:
            async with asyncio.timeout(limit):
                client = await self._client(home, service, place.region)
                answer: dict[str, Any] = await client._make_api_call(operation, params)  # noqa: SLF001 -- AWS's own name
                if hasattr(answer.get("Body"), "read"):
                    with contextlib.closing(answer["Body"]) as body:  # one that breaks off lets its connection go
                        answer["Body"] = await body.read()
        except EXPECTED as error:
            told = translate(error, service, operation, str(place))
            if told.code in STALE and self._clock() - home.assumed_at >= _SULK_MS:
                home.lasts_until = 0  # a role is assumed anew: its sessions may have been revoked
            raise told from error
        self._compare_clocks(answer.pop("ResponseMetadata", {}))
        return answer

    def _compare_clocks(self, metadata: dict[str, Any]) -> None:
        """Note how far our clock is from that of an answer, which tells whole seconds."""
        told = metadata.get("HTTPHeaders", {}).get("date")
        with contextlib.suppress(TypeError, ValueError):  # none, or none that is a date
            self.skew_ms = self._clock() - round(parsedate_to_datetime(told).timestamp() * 1000)

    async def _client(self, home: _Account, service: str, region: str) -> AioBaseClient:
        client = home.clients.get((service, region))
        if client is not None:
            return client
        async with home.opening:
            client = home.clients.get((service, region))
            if client is None:
                making = self._sessions[home.config.account].client(
                    service, region_name=region, endpoint_url=self.config.endpoint_url, config=self._client_config()
                )
                try:
                    opened = await home.stack.enter_async_context(making)
                    _ = urlsplit(opened.meta.endpoint_url).port
                except ValueError as error:
                    raise UsageError(f"the endpoint of AWS is no address: {error}; {_ENDPOINT}") from error
                client = home.clients[service, region] = opened
        return client

    def _client_config(self) -> Config:
        return Config(
            retries={"max_attempts": 0},
            connect_timeout=self.config.connect_ms / 1000,
            read_timeout=self.config.read_ms / 1000,
            max_pool_connections=self.config.concurrent,
            s3={"addressing_style": "path"} if self.config.endpoint_url else {},
            user_agent_extra=_SESSION_NAME,
        )

    def _session(self, credentials: AioCredentials | None) -> aioboto3.Session:
        inner = AioSession(profile=self.config.profile)
        inner.register_component("response_parser_factory", CheckedParserFactory())
        if credentials is not None:
            inner._credentials = credentials  # noqa: SLF001 -- the SDK has no other way in
        try:
            return aioboto3.Session(botocore_session=inner)
        except EXPECTED as error:
            hint = "see `aws configure list-profiles`, and AWS_PROFILE"
            name = self.config.profile or "of the environment"
            raise DeniedError(f"the AWS profile {name}: {type(error).__name__}", hint=hint) from error

    def _own_region(self) -> str | None:
        if self.config.regions:
            return self.config.regions[0]
        found: str | None = self._sessions[None].region_name
        return found

    async def _assume(self, home: _Account) -> None:
        """Assume an account's role with the daemon's own credentials, unless it lasts; a refusal is remembered."""
        role, credentials = home.config, home.credentials
        if credentials is None or self._clock() < home.lasts_until - _RENEW_MS:
            return
        async with home.assuming:
            now = self._clock()
            if now < home.lasts_until - _RENEW_MS:
                return  # somebody else did while we waited
            if home.refusal is not None and now - home.refusal[0] < _SULK_MS:
                raise home.refusal[1]
            asked = {"RoleArn": role.role, "RoleSessionName": _SESSION_NAME, "DurationSeconds": _ROLE_SECONDS}
            external = {} if role.external_id is None else {"ExternalId": role.external_id}
            try:
                answer = await self.call("sts", "AssumeRole", region=None, account=None, **asked, **external)
                given = _Given.of(answer)
            except CollectError as error:
                home.refusal = (now, error)
                raise
            home.refusal, home.assumed_at = None, now
            credentials.access_key, credentials.secret_key, credentials.token, home.lasts_until = given


class _Given(NamedTuple):
    """Credentials of a role, and until when they last."""

    access_key: str
    secret_key: str
    token: str
    until: Instant

    @classmethod
    def of(cls, answer: dict[str, Any]) -> _Given:
        """Read an answer of AssumeRole; raises MalformedError where it is half of one."""
        given = answer.get("Credentials", {})
        try:
            until = round(given["Expiration"].timestamp() * 1000)
            return cls(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], until)
        except KeyError:
            hint = "something between here and AWS answered in its place, or the answer broke off: it is asked again"
            raise MalformedError("AssumeRole: the answer holds no whole credentials", hint=hint) from None
