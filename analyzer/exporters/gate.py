"""The gate of the server: who may ask, by token or certificate, and so many requests a minute from one address.

The page, metrics, health and documentation are open: they hold no key, and the page asks for the token itself. All else
needs one where one is set.
"""

from __future__ import annotations

import hmac
import time
from math import ceil
from typing import TYPE_CHECKING

from aiohttp import web

from analyzer.exporters.access import OPEN, Access

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AUTHORIZED", "Buckets", "Gate"]

AUTHORIZED = web.RequestKey("authorized", bool)
"""Whether a request showed a token or a certificate where one is asked for."""

_OPEN_PATHS = frozenset({"/", "/metrics", "/healthz", "/readyz", "/docs"})
_OPEN_FOLDERS = ("/docs/", "/page/")
_SCHEME = "bearer"
_MOST_ADDRESSES = 1024
_BURST_SECONDS = 15
"""A page that is opened asks for a dozen things at once, and a few people may share an address."""
_FAILURES_A_MINUTE = 20
"""Wrong tokens from one address: a person mistypes it a few times."""


class Buckets:
    """A bound on how often something may happen at each address: so many a minute, and a few at once."""

    def __init__(self, a_minute: float, at_once: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = a_minute / 60
        self._size = max(1.0, at_once)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def wait_seconds(self, address: str) -> float:
        """Return how long an address has to wait; 0 where it may go on."""
        left, at = self._left.get(address, (self._size, self._clock()))
        left = min(self._size, left + (self._clock() - at) * self._rate)
        return 0.0 if left >= 1 else (1 - left) / self._rate

    def take(self, address: str) -> None:
        """Count one; of very many addresses those that were quiet for longest are forgotten."""
        now = self._clock()
        left, at = self._left.pop(address, (self._size, now))
        self._left[address] = (max(0.0, min(self._size, left + (now - at) * self._rate) - 1), now)
        if len(self._left) > _MOST_ADDRESSES:
            del self._left[next(iter(self._left))]


class Gate:
    """Lets requests in, or says why not."""

    def __init__(self, access: Access = OPEN, clock: Callable[[], float] = time.monotonic) -> None:
        self.access = access
        a_minute = access.requests_a_minute
        self._requests = Buckets(a_minute, a_minute * _BURST_SECONDS / 60, clock) if a_minute else None
        self._failures = Buckets(_FAILURES_A_MINUTE, _FAILURES_A_MINUTE, clock)

    def check(self, request: web.Request) -> None:
        """Let a request pass, and note whether it showed who sends it.

        Raises HTTPUnauthorized, or HTTPTooManyRequests with `Retry-After`. An address is that of the connection: what
        a proxy says of others could be made up.
        """
        request[AUTHORIZED] = False
        if request.path in _OPEN_PATHS or request.path.startswith(_OPEN_FOLDERS):
            return
        address = request.remote or ""
        if self._requests is not None:
            _refuse_many(self._requests, address)
            self._requests.take(address)
        if not self.access.is_guarded:
            return
        _refuse_many(self._failures, address)
        if not (_has_certificate(request, self.access) or _has_token(request, self.access.token)):
            if request.headers.get("Authorization"):  # who shows nothing guesses nothing
                self._failures.take(address)
            raise web.HTTPUnauthorized(
                reason="a token is needed, as Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": 'Bearer realm="dynascope"'},
            )
        request[AUTHORIZED] = True


def _refuse_many(buckets: Buckets, address: str) -> None:
    wait = buckets.wait_seconds(address)
    if wait > 0:
        raise web.HTTPTooManyRequests(
            reason="too many requests from this address", headers={"Retry-After": str(ceil(wait))}
        )


def _has_token(request: web.Request, token: str | None) -> bool:
    """Compare in a time that tells nothing of how much of a token is right; bytes that are no text are wrong ones."""
    scheme, _, told = request.headers.get("Authorization", "").partition(" ")
    is_same = hmac.compare_digest(told.strip().encode(errors="surrogateescape"), (token or "").encode())
    return token is not None and scheme.lower() == _SCHEME and is_same


def _has_certificate(request: web.Request, access: Access) -> bool:
    """Whether the connection was made with a certificate of the clients' authority; others end the handshake."""
    if access.tls is None or access.tls.client_authority is None or request.transport is None:
        return False
    return bool(request.transport.get_extra_info("peercert"))
