"""The calls of DynamoDB in the traces of X-Ray: summaries name the traces, batches of five fetch them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.errors import MalformedError
from analyzer.model.batch import Block, Check, Position
from analyzer.model.sight import Gap, GapReason, SourceName
from collectors.asking import Spot, ask_check
from collectors.request_log.decoders.xray import XRayDecoder
from collectors.request_log.depths import Depths
from collectors.request_log.polling import PolledStream, wall_clock
from collectors.request_log.seen import fingerprint_of
from collectors.request_log.xray.parse import batches, began_at, summaries_of, traces_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from collectors.request_log.xray.config import XrayConfig

__all__ = ["XrayStream"]

_STEP_MS = 120_000
"""Nearly all traces are listed within two minutes; what is listed again is paid for again."""
_HINT = "it is looked at again by itself"
_NOBODY = f"1-00000000-{0:024x}"
_FEW = 20
"""So many traces that X-Ray names and does not have are no accident."""
_CUT = "a trace is too large for X-Ray, and lacks segments"


class XrayStream(PolledStream):
    """Reads the traces of one region and account in steps of time, each once, when its segments have come."""

    def __init__(
        self,
        config: XrayConfig,
        aws: AwsCaller,
        positions: Iterable[Position] = (),
        clock: Callable[[], Instant] = wall_clock,
    ) -> None:
        super().__init__(config, positions, clock)
        self._config = config
        self._aws = aws
        self._depths = Depths(config.overlap_ms, _STEP_MS)
        self._read_to = self._begun.modified
        self._waiting_since: Instant | None = None
        self._found = 0
        self._absent = 0

    def position(self) -> Position:
        """Return where reading stands."""
        return Position(self._path, 0, 0, modified=self._seen.horizon, seen=self._seen.tokens())

    async def check(self) -> tuple[Check, ...]:
        """Try both operations; no trace has the id of the second."""
        until = self._clock() / 1000
        spot, source = Spot(self._config.region, self._config.account), SourceName.REQUEST_LOG
        asked = {"StartTime": until - 1, "EndTime": until, "TimeRangeType": "TraceId"}
        return (
            await ask_check(self._aws, source, ("xray", "GetTraceSummaries"), spot, **asked),
            await ask_check(self._aws, source, ("xray", "BatchGetTraces"), spot, TraceIds=[_NOBODY]),
        )

    async def look(self) -> AsyncGenerator[Block, None]:
        """Fetch the traces that are new, step by step."""
        now = self._clock()
        until = now - self._config.settle_ms
        depth = self._depths.next_ms(now)
        is_whole = depth == self._config.overlap_ms
        start = self._seen.horizon if is_whole else max(self._seen.horizon, self._read_to - depth)
        start = start if self._waiting_since is None else min(start, self._waiting_since)
        waiting: list[str] = []
        while start < until:
            end = min(start + self._config.step_ms, until)
            ids = await self._ids(start, end)
            for batch in batches(ids):
                yield await self._fetch(batch)
                waiting += (one for one in batch if self._is_waiting(one, now))
            oldest = min((began_at(one) or 0 for one in waiting), default=end)
            if self._seen.advance(min(end - depth, oldest) if is_whole else self._seen.horizon):
                yield Block(b"", self.position())
            start = end
            self._read_to = max(self._read_to, end)
            self._pending = len(waiting)
        self._waiting_since = min((began_at(one) or 0 for one in waiting), default=None)
        self._depths.note(depth, now)

    def gaps(self) -> tuple[Gap, ...]:
        """Return what cannot be looked at; traces that are named and never there lie elsewhere."""
        if not self._found and self._absent >= _FEW:
            detail = f"{self._path}: BatchGetTraces has none of {self._absent:,} traces that GetTraceSummaries names"
            hint = "with Transaction Search, traces lie in the log group aws/spans: read it under cloudwatch_logs"
            return (*super().gaps(), Gap(SourceName.REQUEST_LOG, GapReason.UNSUPPORTED, detail, hint))
        return super().gaps()

    def _is_waiting(self, trace_id: str, now: Instant) -> bool:
        """Whether a trace that was not handed out is asked for again; one that is given up is lost."""
        began = began_at(trace_id) or 0
        if not self._seen.is_new(fingerprint_of(trace_id), began):
            return False
        if now - began < self._config.patience_ms:
            return True
        self._seen.add(fingerprint_of(trace_id), began)
        self._lost += 1
        return False

    async def _ids(self, start: Instant, end: Instant) -> list[str]:
        """Return the traces of a stretch that are new; their ids tell when they began."""
        config = self._config
        asked: dict[str, object] = {"StartTime": start / 1000, "EndTime": end / 1000, "TimeRangeType": "TraceId"}
        if config.filter is not None:
            asked["FilterExpression"] = config.filter
        ids: dict[str, None] = {}
        tokens: set[str] = set()
        while True:
            page = summaries_of(await self._call("GetTraceSummaries", **asked))
            for one in page.ids:
                if self._seen.is_new(fingerprint_of(one), began_at(one) or 0):
                    ids[one] = None
            if page.token is None:
                return list(ids)
            if page.token in tokens:
                raise MalformedError("GetTraceSummaries: a page leads back to one before it", hint=_HINT)
            tokens.add(page.token)
            asked["NextToken"] = page.token

    async def _fetch(self, ids: tuple[str, ...]) -> Block:
        """Return the calls of a batch of traces, all pages of it; what is in none, X-Ray has not got to, or has not."""
        asked: dict[str, object] = {"TraceIds": list(ids)}
        tokens: set[str] = set()
        found: set[str] = set()
        missing = set(ids)
        decoding = XRayDecoder().begin()
        lines, cut = b"", 0
        while True:
            traces = traces_of(await self._call("BatchGetTraces", **asked), found)
            lines += decoding.feed(traces.lines)
            cut += traces.cut
            found |= traces.ids
            missing -= traces.ids | set(traces.unprocessed)
            if traces.token is None:
                break
            if traces.token in tokens:
                raise MalformedError("BatchGetTraces: a page leads back to one before it", hint=_HINT)
            tokens.add(traces.token)
            asked["NextToken"] = traces.token
        lines += decoding.finish()
        self._found += len(found)
        self._absent += len(missing)
        for one in found:
            self._seen.add(fingerprint_of(one), began_at(one) or 0)
        return Block(lines, self.position(), bad={**decoding.bad, **({_CUT: cut} if cut else {})})

    async def _call(self, operation: str, **params: object) -> dict[str, object]:
        config = self._config
        return await self._aws.call("xray", operation, region=config.region, account=config.account, **params)
