"""Logs and recordings walked through the pipeline: what `analyze` and `replay` do between reading and printing."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.cli.inputs import STDIN
from analyzer.cli.reading import LogFile, end_of, read_blocks
from analyzer.cli.stretch import first_time, in_time_order, last_time
from analyzer.config_prices import prices_of_section
from analyzer.config_structs import build_detectors, build_struct
from analyzer.detectors import DETECTORS
from analyzer.model.instant import SLICE_MS, Instant, format_instant, slice_of
from analyzer.model.observations import Observations
from analyzer.model.report import Report
from analyzer.model.sight import Gap, GapReason, SourceName
from analyzer.model.window import Window
from analyzer.pipeline import Walk
from analyzer.requests.digest import Digest
from analyzer.requests.digest_limits import DigestLimits
from analyzer.setup import contract_of, salt_of
from analyzer.shortfalls import shortfall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from analyzer.cli.remembered import Remembered
    from analyzer.config import Settings
    from analyzer.contract.model import Contract
    from analyzer.model.target import Target
    from analyzer.recording import Recording

    Recall = Callable[[Instant, Iterable[Target]], Remembered]
    """Reads what was before an instant, of the tables that were seen."""

__all__ = ["Judged", "Stretch", "judge_logs", "judge_recording", "new_digest"]

_LATE_MS = 120_000
_RECORDS = 2000


class Judged(Struct, frozen=True):
    """A report, and what is to be told of the logs that gave nothing."""

    report: Report
    complaints: tuple[str, ...] = ()
    was_stopped: bool = False


class Stretch(Struct, frozen=True):
    """The part of the logs that is asked for."""

    since: Instant | None = None
    until: Instant | None = None


def new_digest(settings: Settings, contract: Contract) -> Digest:
    """Return an empty digest that knows the contract's keys."""
    return Digest(contract.lexicon(salt_of(settings)), build_struct(settings, "limits", DigestLimits))


def new_walk(settings: Settings, contract: Contract, recording: Recording | None = None) -> Walk:
    """Return a walk with every detector as configured, beside what was collected in a recording."""
    beside = Observations(
        window=Window(0, 0) if recording is None else recording.window,
        batches=() if recording is None else (recording.batch,),
        sources=frozenset({SourceName.REQUEST_LOG}) if recording is None else recording.sources,
        account=(None if recording is None else recording.account) or settings.account,
        region=(None if recording is None else recording.region) or settings.region,
        prices=prices_of_section(settings.prices),
    )
    return Walk(
        contract,
        build_detectors(settings, DETECTORS),
        window_ms=settings.window_ms,
        secret=settings.salt_bytes() or b"",
        beside=beside,
    )


def judge_logs(
    logs: Sequence[LogFile],
    settings: Settings,
    contract: Contract,
    stretch: Stretch,
    jobs: int = 1,
    seen: Callable[[int], None] | None = None,
    recall: Recall | None = None,
) -> Judged:
    """Walk logs in the order of time; stopped by the user, conclude from what was read.

    `recall` is asked once, when the end of the logs is known.
    """
    walk, digest = new_walk(settings, contract), new_digest(settings, contract)
    was_stopped = False
    readable: set[str] = set()
    try:
        if jobs > 1:
            from analyzer.cli.parallel import digest_parts  # noqa: PLC0415 -- starts processes, only when asked for

            for log, part in digest_parts(logs, (settings, contract), stretch, jobs, seen):
                readable |= {log} if part.read.read else set()
                digest.merge(part)
                span = digest.span()
                if len(logs) == 1 and span is not None:  # parts of one log come in the order of time
                    walk.advance(digest, span.end - _LATE_MS)
        else:
            _walk(logs, stretch, walk, digest, readable, seen)
    except KeyboardInterrupt:
        was_stopped = True
    digest.rest()  # takes in the lines that wait, so that the counters are whole
    span = None if recall is None else walk.span(digest)
    past = _recalled(recall, digest, None if span is None else span.end)
    gaps = (*_gaps(digest, logs, was_stopped=was_stopped), *past.gaps)
    report = walk.finish(digest, gaps=gaps, history=past.history)
    silent = [log for log in logs if not (digest.read.read and log.name in readable)] if not was_stopped else []
    complaints = (_complaint(log, digest, stretch) for log in silent)
    return Judged(report, tuple(filter(None, complaints)), was_stopped)


def _walk(
    logs: Sequence[LogFile],
    stretch: Stretch,
    walk: Walk,
    digest: Digest,
    readable: set[str],
    seen: Callable[[int], None] | None,
) -> None:
    feeds = [partial(read_blocks, log, stretch.since, stretch.until, seen) for log in logs]
    judged = 0
    for number, block, follows in in_time_order(feeds):
        digest.update(block)
        if logs[number].name not in readable and first_time(block) is not None:
            readable.add(logs[number].name)
        if follows is not None and (follows - _LATE_MS) // SLICE_MS > judged:
            judged = (follows - _LATE_MS) // SLICE_MS
            walk.advance(digest, judged * SLICE_MS)


def _complaint(log: LogFile, digest: Digest, stretch: Stretch) -> str | None:
    """Say why a log gave nothing; nothing is to be said of one that lies beside the stretch where others do not."""
    if (stretch.since, stretch.until) != (None, None) and log.path != STDIN:
        again = msgspec.structs.replace(log, bad={}, others=0)
        first = next((time for block in read_blocks(again) if (time := first_time(block)) is not None), None)
        if first is not None:
            last = end_of([msgspec.structs.replace(again, bad={}, others=0)]) or first
            its_own = f"from {format_instant(first)} to {format_instant(last)}"
            outside = (
                f"{log.name} holds no request of the stretch that --since and --until leave: its own are {its_own}"
            )
            return None if digest.read.read else outside
    shape = "request records" if log.decoder is None else log.decoder.title
    return f"{log.name} holds no request that could be read as {shape}{_why(digest, log)}"


def _why(digest: Digest, log: LogFile) -> str:
    reasons = tuple(log.bad) if log.decoder is not None else digest.read.samples
    return f": {'; '.join(reasons)}" if reasons else ""


def _gaps(digest: Digest, logs: Sequence[LogFile], *, was_stopped: bool) -> Iterator[Gap]:
    """Say what of the logs was not judged."""
    yield from _unread(digest)
    for log in logs:
        if log.breaks_off is not None:
            yield shortfall("damaged", because=log.breaks_off)
        if log.bad:
            yield shortfall("bad", sum(log.bad.values()), "; ".join(log.bad))
    if was_stopped:
        hint = "let it read to the end, or ask for less with --since and --until"
        yield Gap(SourceName.REQUEST_LOG, GapReason.TIMEOUT, "reading was stopped by the user", hint)


def _unread(digest: Digest) -> Iterator[Gap]:
    """Say what is missing by the lines' own counters."""
    salts = len(digest.salts())
    if salts > 1:
        detail = f"keys were made tokens with {salts} salts, and those of one never meet those of another"
        hint = "give every sampler the same salt"
        yield Gap(SourceName.REQUEST_LOG, GapReason.INCONSISTENT, detail, hint)
    read = digest.read
    if read.bad:
        yield shortfall("bad", read.bad, "; ".join(read.samples))
    if read.dropped:
        yield shortfall("dropped", read.dropped)


def _recalled(recall: Recall | None, digest: Digest, end: Instant | None) -> Remembered:
    """Return what was before the end of what was read; nothing where nothing was."""
    from analyzer.cli.remembered import Remembered  # noqa: PLC0415 -- light start

    if recall is None or end is None:
        return Remembered()
    return recall(end, {cell.target for cell in digest.totals().cells})


def judge_recording(path: Path, recording: Recording, settings: Settings, recall: Recall | None = None) -> Report:
    """Walk the requests of a recording, and conclude with all else that it holds."""
    from analyzer.contract.load import contract_from  # noqa: PLC0415 -- replay alone
    from analyzer.recording import read_requests  # noqa: PLC0415 -- replay alone

    contract = contract_of(settings)
    if not settings.contract and recording.contract is not None:
        contract = contract_from(recording.contract, f"{path} (contract)")
    walk, digest = new_walk(settings, contract, recording), new_digest(settings, contract)
    requests = read_requests(path, recording)
    while batch := list(islice(requests, _RECORDS)):
        block = b"\n".join(batch)
        digest.update(block)
        newest = last_time(block)
        if recording.is_ordered and newest is not None:
            walk.advance(digest, slice_of(newest - _LATE_MS))
    digest.rest()  # takes in the lines that wait, so that the counters are whole
    past = _recalled(recall, digest, recording.window.end)
    gaps = (*_unread(digest), *past.gaps)
    report = walk.finish(digest, window=recording.window, gaps=gaps, history=past.history)
    return report if recording.as_of is None else msgspec.structs.replace(report, as_of=recording.as_of)
