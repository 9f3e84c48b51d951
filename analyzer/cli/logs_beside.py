"""Request logs that are read beside AWS: the requests of one table and stretch, in the order of time."""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import typer
from msgspec import Raw, Struct

from analyzer.ahead import wall_clock
from analyzer.cli.reading import LogFile, read_blocks
from analyzer.cli.stretch import cut, in_time_order
from analyzer.diagnose import as_beside, judge
from analyzer.model.instant import MINUTE_MS, Instant, format_instant, parse_instant
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.recording_lines import CounterLine, RequestLine, request_bytes
from analyzer.recording_requests import tables_of
from analyzer.requests.digest_block import Line, ReadCounters, fault_of, read_lines
from analyzer.requests.stretches import FIRST
from analyzer.shortfalls import shortfall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from analyzer.diagnose import Bench
    from analyzer.model.report import Report
    from analyzer.model.window import Window
    from analyzer.recording import Recording

__all__ = ["LogsBeside", "Place", "judge_beside", "logs_of_look"]

_MOST_OPEN = 32
"""So many logs are merged line by line; of more, blocks are taken in the order of their beginnings."""

_AHEAD_MS = 60_000
"""What is further ahead of the clock is not judged anywhere."""

_BLOCK_LINES = 2000
_COUNTER = msgspec.json.Decoder(CounterLine)


class Place(Struct, frozen=True):
    """The table that is meant, and where it lies; None fits any."""

    table: str
    region: str | None = None
    account: str | None = None


class LogsBeside:
    """Reads some logs once; its numbers are whole when that is done.

    `kept` are the requests of the table, `others` those of other tables or places, `nameless` those that name no table.
    """

    def __init__(
        self, logs: Sequence[LogFile], window: Window, place: Place, clock: Callable[[], Instant] = wall_clock
    ) -> None:
        fresh = {"bad": {}, "others": 0, "breaks_off": None, "is_torn": False}
        self._logs = [msgspec.structs.replace(log, **fresh) for log in logs]
        self._window = window
        self._place = place
        self._counters = ReadCounters()
        self.kept = 0
        self.others = 0
        self.nameless = 0
        self.strays = 0
        self._now = clock()
        self._stray_times: tuple[Instant, Instant] | None = None
        self._outside: tuple[Instant, Instant] | None = None

    def blocks(self) -> Iterator[bytes]:
        """Yield the lines in blocks, at home in the table's account and region where they name none."""
        block: list[bytes] = []
        for text, line in self.lines():
            is_request = line.counter is None
            block.append(self._at_home(text) if is_request else text)
            if len(block) >= _BLOCK_LINES:
                yield b"\n".join(block)
                block = []
        if block:
            yield b"\n".join(block)

    def _at_home(self, text: bytes) -> bytes:
        return request_bytes(RequestLine(Raw(text)), self._place.region, self._place.account)

    def lines(self) -> Iterator[tuple[bytes, Line]]:
        """Yield the lines, requests and samplers' counters, as they stand in the logs and as they are read."""
        feeds = [partial(read_blocks, log) for log in self._logs]
        if len(feeds) <= _MOST_OPEN:
            read = (self._read(feed()) for feed in feeds)
            every: Iterable[tuple[Instant, bytes, Line]] = heapq.merge(*read, key=lambda one: one[0])
        else:
            every = self._read(block for _, block, _ in in_time_order(feeds))
        for _, text, line in every:
            yield text, line

    def _read(self, blocks: Iterable[bytes]) -> Iterator[tuple[Instant, bytes, Line]]:
        newest = self._window.start
        for block in blocks:
            for text in cut(block, self._window.start, self._window.end, self._pass_over).split(b"\n"):
                for line in read_lines(text, self._counters):
                    time = self._time(line, text)
                    if time is not None:
                        newest = max(newest, time)
                        yield newest if line.counter is not None else time, text, line

    def _pass_over(self, text: bytes, time: Instant) -> None:
        """Note the time of a line outside the stretch; count it where that cannot be: before DynamoDB, or ahead."""
        if FIRST <= time <= self._now + _AHEAD_MS:
            first, last = self._outside or (time, time)
            self._outside = min(first, time), max(last, time)
        elif self._place.table.encode() in text:
            self.strays += 1
            first, last = self._stray_times or (time, time)
            self._stray_times = min(first, time), max(last, time)

    def strays_words(self) -> str:
        """Say what was passed over because of its time; nothing where no record was."""
        if self._stray_times is None:
            return ""
        first, last = (format_instant(time)[:19].replace("T", " ") for time in self._stray_times)
        when = first if first == last else f"{first} to {last}"
        who = "1 request lies" if self.strays == 1 else f"{self.strays:,} requests lie"
        return f"{who} at times that cannot be ({when}), and count for nothing; look at the sender's clock"

    def _time(self, line: Line, text: bytes) -> Instant | None:
        """Return the time of a line that is asked for; None of any other, which is counted."""
        if line.counter is not None:
            return self._window.start if self._is_of_stretch(text) else None
        try:
            fault, time = fault_of(line), parse_instant(line.time.upper())
        except ValueError:
            fault, time = fault_of(line) or "time is not RFC 3339", 0
        if fault is not None:
            self._counters.count_bad(fault)
            return None
        return time if self._window.start <= time < self._window.end and self._is_meant(line) else None

    def _is_of_stretch(self, text: bytes) -> bool:
        try:
            counter = _COUNTER.decode(text[:-1] + b',"kind":"counter"}')
            start, end = (None if time is None else parse_instant(time) for time in (counter.start, counter.end))
        except ValueError:
            return True
        return (start is None or start < self._window.end) and (end is None or end > self._window.start)

    def _is_meant(self, line: Line) -> bool:
        place = self._place
        tables = tables_of(line)
        is_near = line.region in {None, place.region} and (
            place.account is None or line.account in {None, place.account}
        )
        is_meant = is_near and place.table in tables
        self.kept += is_meant
        self.nameless += not tables
        self.others += bool(tables) and not is_meant
        return is_meant

    def gaps(self) -> Iterator[Gap]:
        """Say what of the logs could not be read."""
        bad = self._counters.bad + sum(sum(log.bad.values()) for log in self._logs)
        if bad:
            reasons = (*self._counters.samples, *(reason for log in self._logs for reason in log.bad))
            yield shortfall("bad", bad, "; ".join(dict.fromkeys(reasons)))
        for log in self._logs:
            if log.breaks_off is not None:
                yield shortfall("damaged", because=log.breaks_off)
        if self._outside is not None and not self.kept + self.others + self.nameless:
            yield self._of_another_time(*self._outside)

    def _of_another_time(self, first: Instant, last: Instant) -> Gap:
        """Say which time the logs are of, and the end to ask for; a stretch ends with a whole minute."""
        (day, since), (until_day, until) = ((text[:10], text[11:19]) for text in map(format_instant, (first, last)))
        when = f"{since}–{until} of {day}" if day == until_day else f"{since} of {day} to {until} of {until_day}"
        end = (last // MINUTE_MS + 1) * MINUTE_MS
        told = f"the log covers {when}, nothing of the stretch looked at"
        hint = f"use --at {format_instant(end)[:19]}Z" if end <= self._now else None
        return Gap(SourceName.REQUEST_LOG, GapReason.MISUSED, told, hint, self._place.table)


def logs_of_look(logs: Sequence[LogFile], recording: Recording) -> LogsBeside | None:
    """Return what reads the logs of the table that was looked at; None where there is no log, or no table."""
    if not logs or recording.asked is None:
        return None
    return LogsBeside(logs, recording.window, Place(recording.asked.table, recording.region, recording.account))


def judge_beside(logs: Sequence[LogFile], recording: Recording, bench: Bench) -> Report:
    """Judge what was seen of a table together with its requests in the logs, which are read once."""
    beside = logs_of_look(logs, recording)
    if beside is None:
        return judge(recording, bench)
    report = judge(as_beside(recording, ()), bench, beside.blocks(), beside.gaps)
    if beside.strays:
        typer.echo(f"dynascope: {beside.strays_words()}", err=True)
    return report
