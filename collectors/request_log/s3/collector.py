"""The request log in a bucket: listed by time, each object read once, in parts, from where it was left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.errors import AbsentError, CollectError, MalformedError, UnsupportedError
from analyzer.model.batch import Block, Check, Position
from analyzer.model.sight import SourceName
from collectors.asking import Spot, ask_check
from collectors.request_log.polling import PolledStream, wall_clock
from collectors.request_log.s3.parse import is_region, listing_of, next_level, periods, start_after
from collectors.request_log.s3.unpack import DamagedError, Unpacking
from collectors.request_log.seen import fingerprint_of
from collectors.request_log.translating import AUTO, Translation

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.s3.config import S3Config
    from collectors.request_log.s3.parse import Listing, Period, StoredObject

__all__ = ["S3Stream"]

_ROOTS_MS = 600_000
"""New regions and accounts of a trail are looked for every ten minutes."""
_MOST_ROOTS = 2000
_GONE = frozenset({"NoSuchKey", "InvalidObjectState"})
"""An object that was deleted since it was listed, or that lies in an archive."""
_HINT = "it is read again by itself"


class S3Stream(PolledStream):
    """Reads the objects of one bucket and prefix in the order in which they were written.

    An object is read once, by its key: logs are not rewritten. Half read, it is gone on with after a restart.
    """

    def __init__(
        self,
        config: S3Config,
        aws: AwsCaller,
        positions: Iterable[Position] = (),
        clock: Callable[[], Instant] = wall_clock,
        declared: Sequence[DeclaredKeys] = (),
    ) -> None:
        super().__init__(config, positions, clock)
        self._declared = declared
        self._config = config
        self._aws = aws
        self._half_read = self._begun.head
        self._taken = self._begun.offset
        self._roots: tuple[str, ...] = ()
        self._roots_at: Instant | None = None

    def position(self) -> Position:
        """Return where reading stands."""
        return Position(
            self._path, 0, self._taken, self._half_read, modified=self._seen.horizon, seen=self._seen.tokens()
        )

    async def check(self) -> tuple[Check, ...]:
        """Try to list, and to read the beginning of one object."""
        config, source = self._config, SourceName.REQUEST_LOG
        listing, reading = f"{source.value}: ListObjectsV2", f"{source.value}: GetObject"
        try:
            page = listing_of(await self._call("ListObjectsV2", Bucket=config.bucket, Prefix=config.prefix, MaxKeys=1))
        except CollectError as error:
            return (Check(listing, "error", str(error), error.hint),)
        listed = Check(listing, "ok", "is allowed and answers")
        if not page.objects:
            return listed, Check(reading, "unchecked", f"nothing was found under {self._path}", "check the prefix")
        asked = {"Bucket": config.bucket, "Key": page.objects[0].key, "Range": "bytes=0-0"}
        spot = Spot(config.region, config.account)
        return listed, await ask_check(self._aws, source, ("s3", "GetObject"), spot, **asked)

    async def look(self) -> AsyncGenerator[Block, None]:
        """Read every object that is new, period by period."""
        now = self._clock()
        async for block in self._go_on():
            yield block
        roots = await self._find_roots(now)
        since = self._seen.horizon - self._config.overlap_ms
        for period in periods(self._config.times, since, now):
            is_whole, found = await self._list(roots, period, since)
            self._pending = sum(one.size for one in found)
            for one in sorted(found, key=lambda one: (one.modified, one.key)):
                async for block in self._read(one):
                    yield block
                self._pending -= one.size
            if not is_whole:
                break  # the rest is listed with the next look, when these are done
            if self._seen.advance(min(period.end, now) - self._config.overlap_ms):
                yield Block(b"", self.position())

    async def _go_on(self) -> AsyncIterator[Block]:
        """Read what is left of the object that is half read; one that is gone is lost."""
        if not self._half_read:
            return
        found = [one async for page in self._pages(self._half_read) for one in page.objects]
        rest = next((one for one in found if one.key == self._half_read), None)
        if rest is None:
            self._lost += 1
            self._half_read, self._taken = "", 0
            return
        async for block in self._read(rest):
            yield block

    async def _find_roots(self, now: Instant) -> tuple[str, ...]:
        """Return what comes before the time in the keys: of a trail, a prefix for each account and region."""
        if self._config.layout != "cloudtrail" or is_region(self._config.prefix):
            return (self._config.prefix,)
        if self._roots_at is None or now - self._roots_at >= _ROOTS_MS:
            prefix = self._config.prefix
            found = [prefix if next_level(prefix) else f"{prefix}AWSLogs/"]
            roots: list[str] = []
            while found:
                folder = found.pop()
                async for page in self._pages(folder, delimiter="/"):
                    below = [one for one in page.prefixes if next_level(one)]
                    roots += (one for one in below if is_region(one))
                    found += (one for one in below if not is_region(one))
            self._skipped = max(0, len(roots) - _MOST_ROOTS)
            self._roots, self._roots_at = tuple(sorted(roots)[:_MOST_ROOTS]), now
        return self._roots

    async def _list(
        self, roots: tuple[str, ...], period: Period, since: Instant
    ) -> tuple[bool, tuple[StoredObject, ...]]:
        """Return whether a period was listed whole, and its objects that were not read."""
        found: dict[str, StoredObject] = {}
        for root in roots:
            after = start_after(root, period, since)
            async for page in self._pages(f"{root}{period.prefix}", after=after):
                for one in page.objects:
                    if self._seen.is_new(fingerprint_of(one.key), one.modified):
                        found[one.key] = one
                if len(found) >= self._config.most_objects:
                    return False, tuple(found.values())
        return True, tuple(found.values())

    async def _pages(
        self, prefix: str, delimiter: str | None = None, after: str | None = None
    ) -> AsyncIterator[Listing]:
        asked: dict[str, object] = {"Bucket": self._config.bucket, "Prefix": prefix}
        if delimiter is not None:
            asked["Delimiter"] = delimiter
        if after is not None:
            asked["StartAfter"] = after
        tokens: set[str] = set()
        while True:
            page = listing_of(await self._call("ListObjectsV2", **asked))
            yield page
            if page.token is None:
                return
            if page.token in tokens:
                raise MalformedError("ListObjectsV2: a page leads back to one before it", hint=_HINT)
            tokens.add(page.token)
            asked["ContinuationToken"] = page.token

    async def _call(self, operation: str, **params: object) -> dict[str, object]:
        config = self._config
        return await self._aws.call("s3", operation, region=config.region, account=config.account, **params)

    async def _read(self, one: StoredObject) -> AsyncIterator[Block]:
        """Read one object, or what an earlier process left of it."""
        if one.key != self._half_read:
            self._half_read, self._taken = one.key, 0
        translation = Translation(self._shape(), self._declared)
        read = 0
        try:
            async for chunk in self._chunks(one):
                lines = translation.feed(chunk)
                read += len(chunk)
                if read <= self._taken:
                    translation.take_bad()  # it was counted when it was taken
                elif translation.is_known:
                    self._taken = read
                    yield Block(lines, self.position(), bad=translation.take_bad())
                if translation.is_known is False:
                    break  # the rest is not paid for
        except CollectError as error:
            if error.code not in _GONE or not isinstance(error, AbsentError | UnsupportedError):
                raise
            self._lost += 1
        lines = translation.finish()
        self._seen.add(fingerprint_of(one.key), one.modified)
        self._half_read, self._taken = "", 0
        yield Block(lines, self.position(), bad=translation.take_bad())

    def _shape(self) -> str:
        """Return the shape of the objects; that of a trail's files is known, for they may hold no request at all."""
        is_trail = self._config.layout == "cloudtrail" and self._config.shape == AUTO
        return "cloudtrail" if is_trail else self._config.shape

    async def _chunks(self, one: StoredObject) -> AsyncIterator[bytes]:
        """Yield an object as it was before it was compressed, in chunks that are always the same."""
        unpacking = Unpacking()
        try:
            async for part in self._parts(one):
                for chunk in unpacking.feed(part):
                    yield chunk
            unpacking.check_end()
        except DamagedError:
            self._damaged += 1
        rest = unpacking.rest()
        if rest:
            yield rest

    async def _parts(self, one: StoredObject) -> AsyncIterator[bytes]:
        for start in range(0, one.size, self._config.part_bytes):
            end = min(one.size, start + self._config.part_bytes)
            asked: dict[str, object] = {"Range": f"bytes={start}-{end - 1}"}
            if one.etag:
                asked["IfMatch"] = one.etag
            answer = await self._call("GetObject", Bucket=self._config.bucket, Key=one.key, **asked)
            body = answer.get("Body")
            if not isinstance(body, bytes) or len(body) != end - start:
                raise MalformedError("GetObject: the body broke off", hint=_HINT)
            yield body
