"""The request log in a log group: looked at again and again, each event read once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analyzer.errors import CollectError, MalformedError
from analyzer.model.batch import Block, Check, Position
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.asking import Spot, ask_check
from collectors.request_log.cloudwatch_logs.parse import page_of, wrapped
from collectors.request_log.decoders.recognize import SAMPLE_BYTES, decoder_named, recognize
from collectors.request_log.depths import Depths
from collectors.request_log.polling import PolledStream, wall_clock
from collectors.request_log.seen import fingerprint_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from collectors.request_log.cloudwatch_logs.config import CloudwatchLogsConfig
    from collectors.request_log.cloudwatch_logs.parse import LogEvent, Page
    from collectors.request_log.decoders.schema import DeclaredKeys
    from collectors.request_log.decoders.seam import Decoder, Decoding

__all__ = ["CloudwatchLogsStream"]

_STEPS_MS = (10_000, 120_000)
"""Most events are there within seconds, nearly all within two minutes."""
_SHORTEST_STEP_MS = 1000
_NATIVE, _WRAPPED = "native", "wrapped"
"""Our own records, and what they are when every line of them lies in an event."""
_MOST_STREAMS = 200
"""Log streams whose decoders wait for the answers to requests at once."""
_HINT = "it is looked at again by itself"
_BROKEN = "an event of the log group has no id, time or message"


class CloudwatchLogsStream(PolledStream):
    """Reads the events of one log group in steps of time.

    Each look reads what came since the last one and a short overlap; now and then one reads further back, or the whole
    overlap, for events that came late. What was read is known by its event id.
    """

    def __init__(
        self,
        config: CloudwatchLogsConfig,
        aws: AwsCaller,
        positions: Iterable[Position] = (),
        clock: Callable[[], Instant] = wall_clock,
        declared: Sequence[DeclaredKeys] = (),
    ) -> None:
        super().__init__(config, positions, clock)
        self._declared = declared
        self._config = config
        self._aws = aws
        self._read_to = self._begun.modified
        self._depths = Depths(config.overlap_ms, *_STEPS_MS)
        self._step = config.step_ms
        self._decoder = decoder_named(_WRAPPED if config.shape == _NATIVE else config.shape)
        self._unknown = 0

    def position(self) -> Position:
        """Return where reading stands."""
        return Position(self._path, 0, 0, modified=self._seen.horizon, seen=self._seen.tokens())

    async def check(self) -> tuple[Check, ...]:
        """Try to read the events of the last second."""
        now = self._clock()
        asked = {**self._asked(), "startTime": now - 1000, "endTime": now, "limit": 1}
        spot = Spot(self._config.region, self._config.account)
        return (await ask_check(self._aws, SourceName.REQUEST_LOG, ("logs", "FilterLogEvents"), spot, **asked),)

    async def look(self) -> AsyncGenerator[Block, None]:
        """Read what is new, step by step."""
        now = self._clock()
        depth = self._depths.next_ms(now)
        is_whole = depth == self._config.overlap_ms
        start = self._seen.horizon if is_whole else max(self._seen.horizon, self._read_to - depth)
        while start < now:
            end = min(start + self._step, now)
            count = 0
            async for block, length in self._between(start, end):
                count += length
                yield block
            self._adapt(count)
            self._read_to = max(self._read_to, end)
            if self._seen.advance(end - depth if is_whole else self._seen.horizon):
                yield Block(b"", self.position())
            start = end
        self._depths.note(depth, now)

    def gaps(self) -> tuple[Gap, ...]:
        """Return what cannot be looked at; a group whose events are of no shape that is known says so."""
        if self._decoder is None and self._unknown:
            detail = f"{self._path}: none of {self._unknown:,} events is a request log of a shape that is known"
            hint = "check that it is the group of the application's request log, or set its `shape`"
            return (*super().gaps(), Gap(SourceName.REQUEST_LOG, GapReason.MALFORMED, detail, hint))
        return super().gaps()

    def _adapt(self, count: int) -> None:
        """Take shorter steps while events are many: what one step saw must be remembered to its end."""
        if count > self._config.most_seen // 4:
            self._step = max(self._step // 2, _SHORTEST_STEP_MS)
        elif count < self._config.most_seen // 16:
            self._step = min(self._step * 2, self._config.step_ms)

    async def _between(self, start: Instant, end: Instant) -> AsyncIterator[tuple[Block, int]]:
        """Yield the new events of a stretch as blocks, page by page, with how many they are."""
        decodings: dict[str, Decoding] = {}
        failure: CollectError | None = None
        try:
            async for page in self._pages(start, end):
                fresh = self._fresh(page)
                bad: Counter[str] = Counter({_BROKEN: page.broken} if page.broken else {})
                lines = self._decode(fresh, decodings, bad)
                if fresh or bad:
                    yield Block(lines, self.position(), bad=dict(bad)), len(fresh)
        except CollectError as error:
            failure = error  # what waits for its answer was read: it is counted before it is said
        bad = Counter()
        rest = b"".join(_finish(decoding, bad) for decoding in decodings.values())
        if rest or bad:
            yield Block(rest, self.position(), bad=dict(bad)), 0
        if failure is not None:
            raise failure

    def _fresh(self, page: Page) -> list[LogEvent]:
        """Return the events that were not read before, and remember them."""
        fresh: list[LogEvent] = []
        for one in page.events:
            token = fingerprint_of(one.id)
            if self._seen.is_new(token, one.time):
                self._seen.add(token, one.time)
                fresh.append(one)
        return fresh

    async def _pages(self, start: Instant, end: Instant) -> AsyncIterator[Page]:
        config = self._config
        asked = {**self._asked(), "startTime": start, "endTime": end - 1}
        tokens: set[str] = set()
        while True:
            answer = await self._aws.call(
                "logs", "FilterLogEvents", region=config.region, account=config.account, **asked
            )
            page = page_of(answer)
            yield page
            if page.token is None:
                return
            if page.token in tokens:
                raise MalformedError("FilterLogEvents: a page leads back to one before it", hint=_HINT)
            tokens.add(page.token)
            asked["nextToken"] = page.token

    def _asked(self) -> dict[str, object]:
        """Return what tells the group and its events."""
        config = self._config
        told = {
            "logGroupIdentifier" if config.group.startswith("arn:") else "logGroupName": config.group,
            "logStreamNamePrefix": config.streams,
            "filterPattern": config.filter,
        }
        return {name: value for name, value in told.items() if value is not None}

    def _decode(self, events: Sequence[LogEvent], decodings: dict[str, Decoding], bad: Counter[str]) -> bytes:
        """Return the records of events; each log stream is decoded apart, for requests and answers follow one another.

        A group may hold other things than requests: they are nobody's loss once its shape is known.
        """
        if not events:
            return b""
        decoder = self._decoder or self._recognized(events)
        if decoder is None:
            self._unknown += len(events)
            return b""
        self._decoder = decoder
        lines: list[bytes] = []
        for one in events:
            decoding = decodings.get(one.stream)
            if decoding is None:
                if len(decodings) >= _MOST_STREAMS:
                    lines.append(_finish(decodings.pop(next(iter(decodings))), bad))
                decoding = decodings[one.stream] = decoder.begin(self._declared)
            lines.append(decoding.feed(wrapped(one)))
            bad.update(decoding.bad)
            decoding.bad.clear()
        return b"".join(lines)

    def _recognized(self, events: Sequence[LogEvent]) -> Decoder | None:
        sample = bytearray()
        for one in events:
            sample += wrapped(one)
            if len(sample) >= SAMPLE_BYTES:
                break
        return recognize(bytes(sample))


def _finish(decoding: Decoding, bad: Counter[str]) -> bytes:
    lines = decoding.finish()
    bad.update(decoding.bad)
    return lines
