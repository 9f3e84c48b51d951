"""What keys and listings say: which prefixes hold which stretch of time, and which objects lie there."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analyzer.errors import MalformedError
from analyzer.model.instant import Instant, to_instant, to_moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Listing", "Period", "StoredObject", "is_region", "listing_of", "next_level", "periods", "start_after"]

_HINT = "something between here and AWS answered in its place, or the answer broke off: it is asked again"
_REGION = re.compile(r"(?:^|/)AWSLogs/(?:o-[a-z0-9]+/)?(?P<account>\d{12})/CloudTrail/(?P<region>[a-z0-9-]+)/$")
_LEVELS = (
    re.compile(r"(?:^|/)AWSLogs/$"),
    re.compile(r"(?:^|/)AWSLogs/o-[a-z0-9]+/$"),
    re.compile(r"(?:^|/)AWSLogs/(?:o-[a-z0-9]+/)?\d{12}/$"),
    re.compile(r"(?:^|/)AWSLogs/(?:o-[a-z0-9]+/)?\d{12}/CloudTrail/$"),
    _REGION,
)
"""The folders of a trail, from the bucket down. CloudTrail-Digest and other services' logs are none of them."""


class Period(Struct, frozen=True):
    """A stretch of time whose objects share a prefix; it is over at `end`."""

    prefix: str
    start: Instant
    end: Instant


class StoredObject(Struct, frozen=True):
    """One object of a listing; `modified` is when S3 says it was written."""

    key: str
    modified: Instant
    size: int
    etag: str


class Listing(Struct, frozen=True):
    """One page of ListObjectsV2; `token` leads to the next."""

    objects: tuple[StoredObject, ...]
    prefixes: tuple[str, ...]
    token: str | None


def periods(times: str, since: Instant, until: Instant) -> Iterator[Period]:
    """Yield the prefixes of a stretch of time in order; `times` is what strftime makes of it, in UTC.

    The finest part of it that is a time tells how long a period is: a minute, an hour or a day.
    """
    step = timedelta(minutes=1) if "%M" in times else timedelta(hours=1) if "%H" in times else timedelta(days=1)
    if "%" not in times:
        yield Period(times, since, until)
        return
    last = to_moment(until)
    moment = _floor(to_moment(since), step)
    before: Period | None = None
    while moment <= last:
        following = moment + step
        prefix = moment.strftime(times)
        start = before.start if before is not None and before.prefix == prefix else to_instant(moment)
        period = Period(prefix, start, to_instant(following))
        if before is not None and before.prefix != prefix:
            yield before
        before = period
        moment = following
    if before is not None:
        yield before


def _floor(moment: datetime, step: timedelta) -> datetime:
    return moment - (moment - to_moment(0)) % step


def listing_of(answer: Mapping[str, Any]) -> Listing:
    """Read one page; raises MalformedError. Empty objects, as folders are, are left out.

    Every page says whether it is the last: a document of another kind would else be read as an empty bucket.
    """
    if not isinstance(answer.get("IsTruncated"), bool):
        raise MalformedError("ListObjectsV2: the answer is no listing", hint=_HINT)
    try:
        objects = tuple(
            StoredObject(str(one["Key"]), to_instant(one["LastModified"]), int(one["Size"]), str(one.get("ETag", "")))
            for one in answer.get("Contents", ())
        )
        prefixes = tuple(str(one["Prefix"]) for one in answer.get("CommonPrefixes", ()))
    except (KeyError, TypeError, ValueError):
        raise MalformedError("ListObjectsV2: an object without key, size or time", hint=_HINT) from None
    token = answer.get("NextContinuationToken")
    if answer.get("IsTruncated") and not token:
        raise MalformedError("ListObjectsV2: half a listing without the way on", hint=_HINT)
    return Listing(
        tuple(one for one in objects if one.size > 0), prefixes, token if answer.get("IsTruncated") else None
    )


def is_region(prefix: str) -> bool:
    """Whether a prefix is that of one account and region of a trail, below which come the days."""
    return _REGION.search(prefix) is not None


def next_level(prefix: str) -> bool:
    """Whether a folder leads to a trail's logs."""
    return any(level.search(prefix) for level in _LEVELS)


def start_after(root: str, period: Period, since: Instant) -> str | None:
    """Return the key after which the files of a trail's day lie that were made at an instant or later.

    Their names begin with account, region and minute, so that a day's older files need not be listed again and again.
    """
    match = _REGION.search(root)
    if match is None or since <= period.start:
        return None
    minute = (to_moment(since)).strftime("%Y%m%dT%H%M")
    return f"{root}{period.prefix}{match['account']}_CloudTrail_{match['region']}_{minute}"
