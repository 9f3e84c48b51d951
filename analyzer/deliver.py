"""Where a report goes: a bucket, a topic, or a webhook. What fails is told without the secret part of an address."""

from __future__ import annotations

import asyncio
import json
import os
import re
import urllib.request
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from analyzer.errors import UnreachableError, UsageError

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller

__all__ = ["Delivery", "Place", "calling_nobody", "deliver", "fitting", "needs_aws", "place_of"]

_SECONDS = 15.0
"""Of one try, to the last byte of the answer's head: a receiver that drips does not hold a report up."""
_TRIES = 3
_MOST_BYTES_OF_SNS = 256 * 1024
"""Of one message (SNS API Reference, Publish)."""
_SUBJECT = 100
"""Characters, in ASCII (SNS API Reference, Publish)."""
_SUFFIXES = {"html": "html", "markdown": "md", "json": "json", "text": "txt"}
_TYPES = {"html": "text/html", "markdown": "text/markdown", "json": "application/json", "text": "text/plain"}
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_SERVER_FAULT = 500
_TOO_MANY = 429
_SLACK = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
"""Hosts that take no Markdown, but mrkdwn: no tables, no headings, and `<...>` calls people or is a link."""
_MOST_BYTES_OF_SLACK = 36_000
"""Slack cuts a message at 40,000 characters (Slack API, Formatting message text), and entities take more than one."""
_CALLS = re.compile(r"<(?=[!@#])|@(?!\u200b)")
"""What calls people in a chat: `<!channel>` of Slack, which others know too, and `@here`."""
_CUT = "\n\n(The rest did not fit: the whole report is in the file or the bucket that it was written to.)\n"


class Place(Struct, frozen=True):
    """Where to: `kind` is `s3`, `sns` or `webhook`; `otherwise` is the format where nobody chose one."""

    kind: str
    address: str
    otherwise: str

    def __str__(self) -> str:
        """Write it without what may be a secret: the path of a webhook."""
        if self.kind != "webhook":
            return self.address
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.hostname}"


class Delivery(Struct, frozen=True):
    """What is sent: the title, its name without a suffix, the format, and the text in it."""

    title: str
    name: str
    form: str
    text: str


def place_of(text: str) -> Place:
    """Read a place; raises UsageError."""
    if text.startswith("s3://"):
        if not text.removeprefix("s3://").partition("/")[0]:
            raise UsageError(f"--to {text} names no bucket: write s3://bucket/prefix/ or s3://bucket/name.html")
        return Place("s3", text, "html")
    if text.startswith("sns:"):
        arn = text.removeprefix("sns:")
        if not arn.startswith("arn:") or arn.count(":") != 5:  # noqa: PLR2004 -- arn:aws:sns:region:account:name
            raise UsageError(
                "--to sns: takes the ARN of a topic, such as sns:arn:aws:sns:eu-west-1:111122223333:weekly"
            )
        return Place("sns", text, "markdown")
    try:
        parts = urlsplit(text)
        is_address = text.isprintable() and parts.port != 0
    except ValueError:  # an open bracket, or a port that is none
        is_address = False
    if not is_address:
        raise UsageError("--to: that is no address; write https://host/path")
    if parts.scheme == "http" and parts.hostname and parts.hostname not in _LOOPBACK:
        raise UsageError("--to http:// would send the report for anybody to read: use https://")
    if parts.scheme in {"http", "https"} and parts.hostname:
        return Place("webhook", text, "text" if parts.hostname in _SLACK else "markdown")
    raise UsageError("--to takes s3://bucket/prefix/, sns:ARN or https://address")


def needs_aws(place: Place) -> bool:
    """Whether it takes credentials of AWS."""
    return place.kind in {"s3", "sns"}


async def deliver(place: Place, delivery: Delivery, aws: AwsCaller | None, *, wait_seconds: float = 1.0) -> None:
    """Send a report; raises CollectError with a hint."""
    if place.kind == "webhook":
        await _post(place, delivery, wait_seconds)
    elif aws is None:
        raise UsageError(f"--to {place}: nothing here has a way to AWS")
    elif place.kind == "s3":
        bucket, _, key = place.address.removeprefix("s3://").partition("/")
        if not key or key.endswith("/"):
            key = f"{key}{delivery.name}.{_SUFFIXES[delivery.form]}"
        kind = f"{_TYPES[delivery.form]}; charset=utf-8"
        await aws.call("s3", "PutObject", Bucket=bucket, Key=key, Body=delivery.text.encode(), ContentType=kind)
    else:
        arn = place.address.removeprefix("sns:")
        subject = delivery.title.encode("ascii", "replace").decode()[:_SUBJECT]
        message = fitting(calling_nobody(delivery.text), _MOST_BYTES_OF_SNS)
        await aws.call("sns", "Publish", region=arn.split(":")[3], TopicArn=arn, Subject=subject, Message=message)


def fitting(text: str, most: int) -> str:
    """Return a text that fits into so many bytes, cut after a line, and said to be."""
    content = text.encode()
    if len(content) <= most:
        return text
    kept = content[: most - len(_CUT)].decode("utf-8", "ignore")
    return kept[: kept.rfind("\n") + 1 or len(kept)].rstrip("\n") + _CUT


async def _post(place: Place, delivery: Delivery, wait_seconds: float) -> None:
    """Post, and again after a while where nobody answered or was able to."""
    body, kind = _posting(place, delivery)
    for number in range(_TRIES):
        because = await _posted(place.address, body, kind)
        if because is None:
            return
        if not because.is_passing or number == _TRIES - 1:
            hint = "look at the address and at what it takes: markdown goes as JSON with `text`, --format json as it is"
            raise UnreachableError(f"{place} did not take the report: {because.words}", hint=hint)
        await asyncio.sleep(wait_seconds * 2**number)


def _posting(place: Place, delivery: Delivery) -> tuple[bytes, str]:
    """Return the body, and what it is: Markdown as chats take it, all else as it is; nothing in it calls anybody."""
    if urlsplit(place.address).hostname in _SLACK and delivery.form in {"markdown", "text"}:
        text = fitting(delivery.text, _MOST_BYTES_OF_SLACK).replace("&", "&amp;").replace("<", "&lt;")
        text = text.replace(">", "&gt;").replace("```", "\u02cb\u02cb\u02cb")
        return json.dumps({"text": f"```\n{text}```"}).encode(), "application/json"
    if delivery.form == "markdown":  # what Mattermost and its like take
        return json.dumps({"text": calling_nobody(delivery.text)}).encode(), "application/json"
    return delivery.text.encode(), f"{_TYPES[delivery.form]}; charset=utf-8"


def calling_nobody(text: str) -> str:
    """Return a text in which no name of an application calls people: a space of no width follows what would."""
    return _CALLS.sub(lambda found: f"{found[0]}\u200b", text)


class _Refusal(Struct, frozen=True):
    words: str
    is_passing: bool


async def _posted(address: str, body: bytes, kind: str) -> _Refusal | None:
    """Send once; None where it was taken. Whoever answers with another address is not followed."""
    import aiohttp  # noqa: PLC0415 -- a quarter of a second that a report for a file does not need

    limit = aiohttp.ClientTimeout(total=_SECONDS)
    headers = {"Content-Type": kind, "User-Agent": "dynascope"}
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, headers=headers) as session,
            session.post(address, data=body, allow_redirects=False, proxy=_proxy_of(address)) as answer,
        ):
            if answer.status < HTTPStatus.MULTIPLE_CHOICES:
                return None
            passing = answer.status >= _SERVER_FAULT or answer.status == _TOO_MANY
            return _Refusal(_status_words(answer.status), passing)
    except TimeoutError:
        return _Refusal(f"no answer within {_SECONDS:g} seconds", is_passing=True)
    except (OSError, aiohttp.ClientError) as error:
        return _Refusal(_error_words(getattr(error, "os_error", error)), is_passing=True)


def _error_words(error: Exception) -> str:
    """Say what the system says, without the address that asyncio adds."""
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number)
    return getattr(error, "strerror", None) or type(error).__name__


def _proxy_of(address: str) -> str | None:
    """Return the proxy that the environment names for an address, as HTTPS_PROXY and NO_PROXY have it."""
    parts = urlsplit(address)
    if parts.hostname is None or urllib.request.proxy_bypass(parts.hostname):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _status_words(code: int) -> str:
    """Say a status in the standard's words: the reason that came along might repeat the address."""
    known = {one.value: one.phrase for one in HTTPStatus}
    return f"{code} {known[code]}" if code in known else str(code)
