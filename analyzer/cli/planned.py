"""What the planning commands look at: request logs, a recording, or what AWS shows of a table, as one kind of evidence.

All of it comes out as `Observed`: whatever reads another source, such as a folder of history, makes one too.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.cli.judging import Stretch, new_digest
from analyzer.cli.reading import LogFile, read_blocks
from analyzer.cli.stretch import in_time_order, last_time, refuse_ages
from analyzer.config import Settings
from analyzer.config_prices import prices_of_section
from analyzer.contract.lint import lint
from analyzer.contract.model import Contract
from analyzer.contract.scope import FAIL, Limits
from analyzer.correlator.attributor import Attributor
from analyzer.errors import CollectError, UsageError, closest
from analyzer.model.history import EMPTY
from analyzer.model.instant import SLICE_MS, Instant, slice_of
from analyzer.model.observations import Observations
from analyzer.model.sight import SourceName
from analyzer.model.traffic import Traffic
from analyzer.model.window import Window
from analyzer.planning.capacity_evidence import Observed
from analyzer.planning.load import Harvest
from analyzer.recording import Recording, read_recording, read_requests
from analyzer.traffic.join import join
from analyzer.traffic.told import told_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from analyzer.model.batch import Batch
    from analyzer.model.finding import Direction
    from analyzer.model.target import Target
    from analyzer.planning.load import Load
    from analyzer.requests.digest import Digest

__all__ = [
    "Bench",
    "faults_of",
    "observed_batch",
    "observed_logs",
    "observed_recording",
    "observed_table",
    "tables_in",
]

_LATE_MS = 120_000
_HARVEST_SLICES = 180
"""Half an hour of slices is kept before they are summed up by minute."""
_RECORDS = 2000


class Bench(Struct, frozen=True):
    """What reads: configuration and contract."""

    settings: Settings
    contract: Contract

    @property
    def local(self) -> frozenset[tuple[str, str]]:
        """The local indexes that are declared."""
        return frozenset((t.name, i.name) for t in self.contract.tables for i in t.indexes if i.kind == "lsi")


class _Reader:
    """Takes in requests in the order of time, and keeps what planning needs of them."""

    def __init__(self, bench: Bench, local: frozenset[tuple[str, str]]) -> None:
        self._digest = new_digest(bench.settings, bench.contract)
        self._harvest = Harvest(bench.local | local)

    def update(self, block: bytes, follows: Instant | None) -> None:
        """Take in a block; what lies long enough before what follows is summed up."""
        self._digest.update(block)
        if follows is None:
            return
        until = slice_of(follows - _LATE_MS)
        ready = [start for start in self._digest.slices() if start < until]
        if len(ready) >= _HARVEST_SLICES:
            self._sum(ready)
            self._digest.forget_before(until)

    def _sum(self, starts: Sequence[Instant]) -> None:
        """Harvest slices, a stretch without too many empty ones at a time."""
        first = 0
        for number in range(1, len(starts) + 1):
            if number == len(starts) or starts[number] - starts[first] >= _HARVEST_SLICES * SLICE_MS:
                self._harvest.take(self._digest.result(Window(starts[first], starts[number - 1] + SLICE_MS)))
                first = number

    def finish(self) -> tuple[Digest, Harvest]:
        """Return everything that was counted, and the minutes."""
        left = self._digest.slices()
        if left:
            self._sum(left)
        return self._digest, self._harvest


def observed_logs(bench: Bench, logs: Sequence[LogFile], stretch: Stretch) -> tuple[Observed, ...]:
    """Read request logs; one value a table, each place apart. Raises CollectError where they hold no request."""
    reader = _Reader(bench, frozenset())
    feeds = [partial(read_blocks, log, stretch.since, stretch.until) for log in logs]
    for _, block, follows in in_time_order(feeds):
        reader.update(block, follows)
    digest, harvest = reader.finish()
    refuse_ages(digest.span(), "name the stretch with --since, or take its record out")
    complaints = [log.breaks_off for log in logs if log.breaks_off is not None]
    if not digest.read.read:
        names = ", ".join(log.name for log in logs)
        hint = "`dynascope analyze` says what is wrong with it; name a log that holds requests"
        raise CollectError(f"{names}: no request can be read", hint=hint)
    observations = _observations(bench, frozenset({SourceName.REQUEST_LOG}))
    return _joined(bench, observations, None, digest, harvest, (*complaints, *_unread(digest)))


def observed_recording(bench: Bench, path: Path) -> tuple[Observed, ...]:
    """Read a recording, metrics and requests; raises MalformedError where it is none."""
    recording = read_recording(path)
    reader = _Reader(bench, frozenset(_local(recording.batch)))
    requests = read_requests(path, recording)
    while batch := list(islice(requests, _RECORDS)):
        block = b"\n".join(batch)
        reader.update(block, last_time(block) if recording.is_ordered else None)
    digest, harvest = reader.finish()
    return _joined(bench, _recorded(bench, recording), recording.window, digest, harvest, tuple(_unread(digest)))


def observed_batch(
    bench: Bench, batch: Batch, blocks: Iterable[bytes], sources: frozenset[SourceName]
) -> tuple[Observed, ...]:
    """Join what AWS showed with the lines of request logs of the same window, where there are some."""
    reader = _Reader(bench, frozenset(_local(batch)))
    for block in blocks:
        reader.update(block, None)
    digest, harvest = reader.finish()
    observations = msgspec.structs.replace(
        _observations(bench, sources), batches=(batch,), account=batch.account, region=batch.region
    )
    told = tuple(f"{gap.source.value}: {gap.reason.value}, {gap.detail}" for gap in batch.gaps if gap.index is None)
    return _joined(bench, observations, batch.window, digest, harvest, told)


def faults_of(contract: Contract, table: str) -> tuple[str, ...]:
    """Return what `check` fails a table for, in words."""
    today = datetime.now(tz=UTC).date().isoformat()
    remarks = lint(contract, Limits(today=today))
    return tuple(
        f"{one.rule}: {one.field}: {one.message}" for one in remarks if (one.severity, one.table) == (FAIL, table)
    )


def tables_in(found: Sequence[Observed], table: str, region: str | None) -> Observed:
    """Return what was observed of a table; raises CollectError where it was not: what was read cannot tell of it.

    Raises UsageError where it lives in several places.
    """
    named = [one for one in found if one.traffics[0].target.table == table]
    fitting = [one for one in named if region is None or one.traffics[0].target.region in {region, None}]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        known = sorted({one.traffics[0].target.table for one in found})
        near = closest(table, known)
        seen = f"it holds {', '.join(known[:5])}" if known else "it holds none"
        hint = f"did you mean {near}?" if near else "name a table that is in it, or a source that holds this one"
        raise CollectError(f"nothing of {table} is in what was read: {seen}", hint=hint)
    places = ", ".join(f"{t.account or '?'} {t.region or '?'}" for t in (one.traffics[0].target for one in fitting))
    raise UsageError(
        f"{table} is in several places ({places}): plan one of them, with --region, or from a log of its own"
    )


def _recorded(bench: Bench, recording: Recording) -> Observations:
    return msgspec.structs.replace(
        _observations(bench, recording.sources),
        batches=(recording.batch,),
        account=recording.account or bench.settings.account,
        region=recording.region or bench.settings.region,
    )


def _observations(bench: Bench, sources: frozenset[SourceName]) -> Observations:
    return Observations(
        window=Window(0, 0),
        sources=sources,
        account=bench.settings.account,
        region=bench.settings.region,
        prices=prices_of_section(bench.settings.prices),
    )


def _joined(
    bench: Bench,
    observations: Observations,
    window: Window | None,
    digest: Digest,
    harvest: Harvest,
    complaints: tuple[str, ...],
) -> tuple[Observed, ...]:
    counts = digest.totals()
    observed = msgspec.structs.replace(
        observations, window=window or counts.window, counts=counts, hours=digest.hours()
    )
    attribute = Attributor(bench.contract)
    traffics = join(observed, attribute, bench.contract, EMPTY, attribute.template)
    loads = harvest.loads(observed.window, told_of(observed).home_of)
    return tuple(observed_table(bench, listed, loads, complaints) for listed in _by_table(traffics))


def observed_table(
    bench: Bench,
    traffics: Sequence[Traffic],
    loads: Mapping[tuple[Target, Direction], Load],
    complaints: tuple[str, ...],
) -> Observed:
    """Return what was observed of one table, its traffic first and those of its indexes after it."""
    return Observed(
        traffics=tuple(traffics),
        logged={place: load for place, load in loads.items() if place[0].base == traffics[0].target},
        faults=faults_of(bench.contract, _declared_name(bench.contract, traffics[0])),
        complaints=complaints,
    )


def _declared_name(contract: Contract, traffic: Traffic) -> str:
    table = contract.table(traffic.target)
    return traffic.target.table if table is None else table.name


def _by_table(traffics: Sequence[Traffic]) -> Iterator[list[Traffic]]:
    """Yield each table with its indexes; a table of which only indexes were seen stands before them without traffic."""
    tables: dict[Target, list[Traffic]] = {}
    for traffic in traffics:
        tables.setdefault(traffic.target.base, []).append(traffic)
    for base, listed in tables.items():
        listed.sort(key=lambda one: one.target.order())
        if listed[0].target != base:
            bare = Traffic(target=base, window=listed[0].window, sights=frozenset(), place=listed[0].place)
            listed.insert(0, bare)
        yield listed


def _local(batch: Batch) -> Iterator[tuple[str, str]]:
    for snapshot in batch.tables:
        yield from ((snapshot.target.table, index.name) for index in snapshot.table.indexes if index.kind == "lsi")


def _unread(digest: Digest) -> Iterator[str]:
    read = digest.read
    if read.bad:
        yield f"{read.bad:,} lines could not be read, and are not in the numbers"
    if read.dropped:
        yield f"{read.dropped:,} requests were dropped by the sampler, and are not in the numbers"
