"""Where a report goes: a bucket, a topic, or a webhook. What fails is told without the secret part of an address."""

from __future__ import annotations

import asyncio
import http.client
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from analyzer.errors import UnreachableError, UsageError

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller

__all__ = ["Delivery", "Place", "deliver", "needs_aws", "place_of"]

_SECONDS = 15
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
    if parts.scheme == "https" and parts.hostname:
        return Place("webhook", text, "markdown")
    if parts.scheme == "http" and parts.hostname:
        if parts.hostname not in _LOOPBACK:
            raise UsageError("--to http:// would send the report for anybody to read: use https://")
        return Place("webhook", text, "markdown")
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
        message = fitting(delivery.text, _MOST_BYTES_OF_SNS)
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
    if delivery.form == "markdown":  # what Slack, Mattermost and their like take
        body, kind = json.dumps({"text": delivery.text}).encode(), "application/json"
    else:
        body, kind = delivery.text.encode(), f"{_TYPES[delivery.form]}; charset=utf-8"
    for number in range(_TRIES):
        because = await asyncio.to_thread(_posted, place.address, body, kind)
        if because is None:
            return
        if not because.is_passing or number == _TRIES - 1:
            hint = "look at the address and at what it takes: markdown goes as JSON with `text`, --format json as it is"
            raise UnreachableError(f"{place} did not take the report: {because.words}", hint=hint)
        await asyncio.sleep(wait_seconds * 2**number)


class _Refusal(Struct, frozen=True):
    words: str
    is_passing: bool


def _posted(address: str, body: bytes, kind: str) -> _Refusal | None:
    """Send once; None where it was taken. Whoever answers with another address is not followed."""
    request = urllib.request.Request(address, body, {"Content-Type": kind, "User-Agent": "dynascope"})  # noqa: S310 -- https, or loopback
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=_SECONDS):
            return None
    except urllib.error.HTTPError as refusal:
        with refusal:
            passing = refusal.code >= _SERVER_FAULT or refusal.code == _TOO_MANY
            return _Refusal(_status_words(refusal.code), passing)
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        return _Refusal(getattr(reason, "strerror", None) or type(reason).__name__, is_passing=True)


def _status_words(code: int) -> str:
    """Say a status in the standard's words: the reason that came along might repeat the address."""
    known = {one.value: one.phrase for one in http.HTTPStatus}
    return f"{code} {known[code]}" if code in known else str(code)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow nowhere: the report goes where it was sent, or nowhere."""
