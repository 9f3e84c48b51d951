"""How commands talk to the daemon: over HTTP, to this machine or one near by, never through a proxy."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from analyzer.errors import CollectError, UnreachableError, UsageError

__all__ = ["CERTIFICATE", "DAEMON", "TOKEN", "UrlOption", "ask_daemon", "call_daemon", "hint_of", "user_name"]

DAEMON = "http://127.0.0.1:8642"
TOKEN = "DYNASCOPE_TOKEN"  # noqa: S105 -- a name
"""The environment variable that sets a daemon's token, and that commands show it from."""

CERTIFICATE = "DYNASCOPE_CLIENT_CERT"
"""The environment variable that names a client's certificate and key, where the daemon takes one instead of a token."""

_SECONDS = 10
_SIGN_IN = 401
_REFUSED = {400, 413, 422}
_LONGEST_REASON = 500
_MOST_BYTES = 64 << 20
_HINT = "start it with `dynascope run`, or say with --url where it listens; it takes orders on its own machine alone"

UrlOption = Annotated[str, typer.Option("--url", "--from", metavar="URL", help="where the daemon listens")]


def ask_daemon(
    url: str, path: str, told: dict[str, Any] | None = None, *, method: str | None = None, what: str = "it"
) -> dict[str, Any]:
    """Return what the daemon answers; `told` is sent to it as JSON, `what` names it where it is refused.

    Raises UsageError where it is refused, UnreachableError where nobody answers, CollectError for any other answer.
    """
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise UsageError(f"{url} is no address of a daemon; write one such as {DAEMON}")
    place = f"{url.rstrip('/')}{path}"
    try:
        found = json.loads(call_daemon(place, None if told is None else json.dumps(told).encode(), method))
    except urllib.error.HTTPError as refusal:
        with refusal:
            reason = refusal.read(_LONGEST_REASON).decode("utf-8", "replace").strip()
        if refusal.code in _REFUSED:
            raise UsageError(f"the daemon refuses {what}: {reason}") from None
        raise CollectError(f"{place}: {refusal.code} {reason}", hint=hint_of(refusal.code, _HINT)) from None
    except (OSError, ValueError) as error:
        raise UnreachableError(f"no daemon answers at {place}: {_why(error)}", hint=_HINT) from None
    if not isinstance(found, dict):
        raise UnreachableError(f"no daemon answers at {place}: it is no answer of one", hint=_HINT)
    return found


def call_daemon(place: str, body: bytes | None = None, method: str | None = None) -> bytes:
    """Return what is answered at an http or https address, shown the token and certificate of the environment.

    Raises urllib's HTTPError where it is refused, OSError or ValueError where nobody answers, UsageError for a
    certificate that is none.
    """
    headers = {"Content-Type": "application/json", **_shown_token()}
    asked = urllib.request.Request(place, body, headers, method=method)  # noqa: S310 -- http alone, by its callers
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *_tls())  # the daemon is near by
    with opener.open(asked, timeout=_SECONDS) as answer:
        content: bytes = answer.read(_MOST_BYTES)
        return content


def hint_of(status: int, otherwise: str) -> str:
    """Return what mends a refusal."""
    if status != _SIGN_IN:
        return otherwise
    return f"set {TOKEN} to the daemon's token, or {CERTIFICATE} to a client's certificate"


def _shown_token() -> dict[str, str]:
    """Return the header that shows the daemon's token, none where the environment has none."""
    token = os.environ.get(TOKEN, "").strip()
    return {"Authorization": f"Bearer {token}"} if token else {}


def _tls() -> list[urllib.request.BaseHandler]:
    """Return what shows the client's certificate, nothing where the environment names none; raises UsageError."""
    file = os.environ.get(CERTIFICATE)
    if not file:
        return []
    import ssl  # noqa: PLC0415 -- light start

    context = ssl.create_default_context()
    try:
        context.load_cert_chain(file)
    except OSError as error:
        why = getattr(error, "reason", None) or error.strerror
        raise UsageError(f"{CERTIFICATE}: {file} is no PEM file of a certificate with its key: {why}") from None
    return [urllib.request.HTTPSHandler(context=context)]


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return getattr(reason, "strerror", None) or type(error).__name__


def user_name() -> str | None:
    """Return the name of whoever types; None where the system has none."""
    import getpass  # noqa: PLC0415 -- light start

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in containers
        return None
