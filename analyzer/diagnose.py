"""The first sixty seconds of a page: look at AWS once, judge what it showed, and say what was found.

A table is looked at in two rounds of calls: what depends on nothing, and what needs the table's description. Without a
table a sweep says where to look first. Nothing here prints, and nothing here writes to AWS.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.ahead import Ahead
from analyzer.collect_once import Question, ask_ahead, collect, window_of
from analyzer.contract.model import Contract
from analyzer.errors import CollectError, UsageError, closest
from analyzer.interfaces import Detector
from analyzer.model.instant import MINUTE_MS, Instant
from analyzer.model.observations import Observations
from analyzer.model.prices import Prices
from analyzer.model.report import Report
from analyzer.model.sight import Covers, Gap, GapReason, Horizon, Sight, SourceName
from analyzer.model.window import Window
from analyzer.pipeline import Walk, analyze, of_horizon
from analyzer.planning.diagnosis import Diagnosis, Spent, diagnose_report
from analyzer.planning.headline import lead_of
from analyzer.planning.steps import Means
from analyzer.planning.suspects import Suspect, suspects_of
from analyzer.recording import Recording
from analyzer.recording_lines import Asked
from analyzer.requests.concealing import conceal
from analyzer.requests.digest import Digest
from analyzer.requests.digest_limits import DigestLimits
from analyzer.requests.lexicon import Lexicon
from analyzer.requests.tokens import Salt
from collectors.asking import Paging, Spot, follow_pages
from collectors.cloudwatch_metrics.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from analyzer.interfaces import AwsCaller
    from analyzer.model.batch import Batch

__all__ = ["Bench", "Judge", "Looked", "Swept", "as_beside", "diagnose", "follow", "judge", "look", "sweep"]

_EVERY_MS = MINUTE_MS
_UNDECIDED = frozenset({"key-range", "ramp-or-key", "cannot-tell"})
"""First lines that another minute may make sharper."""
_SOURCES = frozenset(
    {
        SourceName.TABLE_CATALOG,
        SourceName.CLOUDWATCH_METRICS,
        SourceName.CONTRIBUTOR_INSIGHTS,
        SourceName.CHANGES,
    }
)


class Bench(Struct, frozen=True, kw_only=True):
    """What judges, and how commands are filled in.

    `hides` makes tokens of clear keys as they arrive; without it they stay in memory, for whoever may see them.
    """

    contract: Contract
    detectors: tuple[Detector, ...]
    lexicon: Lexicon
    limits: DigestLimits
    salt: Salt
    window_ms: int
    secret: bytes
    hides: bool = True
    profile: str | None = None
    role: str | None = None
    prices: tuple[Prices, ...] = ()

    def keep(self, table: str, value: str) -> str:
        """Return what may be kept of a key value."""
        return conceal(self.lexicon, self.salt, table, value)

    def see(self, table: str, value: str) -> str:
        """Return what may be seen of a key value that AWS tells."""
        return self.keep(table, value) if self.hides else value


Judge = Callable[[Recording, Mapping[str, Mapping[str, Any]]], Report]
"""Makes a report of what was seen of a table, and of its description as AWS gave it."""


class Looked(Struct, frozen=True):
    """What one look came to; `recording` and `described` are what a recording is written of.

    `table` is the one that was looked at, None where a sweep was all.
    """

    diagnosis: Diagnosis
    recording: Recording
    described: dict[str, dict[str, Any]] = {}
    table: str | None = None


async def look(
    aws: AwsCaller,
    question: Question,
    spot: Spot,
    bench: Bench,
    clock: Callable[[], Instant],
    judging: Judge | None = None,
) -> Looked:
    """Look at one table, and diagnose it; raises UsageError where there is no such table or index.

    `judging` makes a report of what was seen, for whoever has more beside it or keeps it.
    """
    table = question.table or ""
    now = clock()
    ahead, window = Ahead(aws), window_of(question, now)
    ask_ahead(ahead, table, spot)
    lane = ahead.lane()
    try:
        who = await lane.call("sts", "GetCallerIdentity", region=spot.region, account=spot.account)
        account = str(who["Account"])
    except (CollectError, KeyError):
        account = spot.account or ""
    batch = await collect(ahead, question, spot, account or None, now, bench.see)
    recording = Recording(
        window=window,
        region=spot.region,
        account=account or None,
        contract=None,
        batch=batch,
        sources=_SOURCES,
        is_ordered=True,
        asked=Asked(table, question.index),
        as_of=_newest(window, batch),
    )
    await _refuse_absent(lane, question, spot, batch)
    report = judge(recording, bench) if judging is None else judging(recording, ahead.described)
    means = Means(
        region=spot.region, profile=bench.profile, role=bench.role, rules_used=await _rules_used(lane, spot, report)
    )
    await ahead.settle()
    told = diagnose_report(report, means, now=None if question.at is not None else now, index=question.index)
    told = msgspec.structs.replace(told, spent=Spent(ahead.calls, ahead.rounds))
    return Looked(told, recording, ahead.described, table)


async def _refuse_absent(lane: AwsCaller, question: Question, spot: Spot, batch: Batch) -> None:
    """Raise UsageError where there is no such table or index now; of the past, metrics alone may tell."""
    if question.at is not None:
        return
    index, table = question.index, question.table or ""
    if index is not None and batch.tables:
        known = [one.name for one in batch.tables[0].table.indexes]
        if index not in known:
            raise UsageError(f"{table} has no index {index}{_meant(index, known)}")
    if any(gap.source is SourceName.TABLE_CATALOG and gap.reason is GapReason.NOT_ENABLED for gap in batch.gaps):
        listed = Paging("TableNames", "LastEvaluatedTableName", "ExclusiveStartTableName")
        paged = await follow_pages(lane, ("dynamodb", "ListTables"), listed, spot, {})
        raise UsageError(f"there is no table {table} in {spot.region}{_meant(table, map(str, paged.rows))}")


def _meant(name: str, known: Iterable[str]) -> str:
    near = closest(name, known)
    return "" if near is None else f"; did you mean {near}?"


def _newest(window: Window, batch: Batch) -> Instant:
    """Return the end of the newest minute that was seen."""
    ends = [one.window.end for one in batch.covers if one.source is SourceName.CLOUDWATCH_METRICS]
    return min([window.end, *ends])


def as_beside(recording: Recording, gaps: Iterable[Gap]) -> Recording:
    """Return what was seen as that beside which request logs were read; `gaps` tell what of them was not."""
    batch = recording.batch
    covers = (*batch.covers, Covers(SourceName.REQUEST_LOG, recording.window))
    batch = msgspec.structs.replace(batch, covers=covers, gaps=(*batch.gaps, *gaps))
    return msgspec.structs.replace(recording, batch=batch, sources=recording.sources | {SourceName.REQUEST_LOG})


def judge(
    recording: Recording, bench: Bench, blocks: Iterable[bytes] = (), gaps: Callable[[], Iterable[Gap]] = tuple
) -> Report:
    """Judge what was seen, with the lines of request logs; `gaps` of those are asked for once they are read."""
    beside = Observations(
        window=recording.window,
        batches=(recording.batch,),
        sources=recording.sources,
        account=recording.account,
        region=recording.region,
        prices=bench.prices,
    )
    walk = Walk(bench.contract, bench.detectors, window_ms=bench.window_ms, secret=bench.secret, beside=beside)
    digest = Digest(bench.lexicon, bench.limits)
    for block in blocks:
        digest.update(block)
    report = walk.finish(digest, window=recording.window, gaps=tuple(gaps()))
    return msgspec.structs.replace(report, as_of=recording.as_of or recording.window.end)


async def _rules_used(lane: AwsCaller, spot: Spot, report: Report) -> int | None:
    """Count the region's Contributor Insights rules, where a key is hidden; None where they cannot be counted."""
    if any(Sight.INSIGHTS_THROTTLED in one.sights for one in report.traffic) or lead_of(report) is None:
        return None
    paged = await follow_pages(lane, ("cloudwatch", "DescribeInsightRules"), Paging("InsightRules"), spot, {})
    return None if paged.error is not None else len({rule.get("Name") for rule in paged.rows})


class Swept(Struct, frozen=True):
    """What a sweep showed: who is suspected, a diagnosis of the regions as a whole, and what it rests on."""

    suspects: tuple[Suspect, ...]
    diagnosis: Diagnosis
    recording: Recording


async def sweep(
    aws: AwsCaller,
    question: Question,
    spots: Sequence[Spot],
    bench: Bench,
    clock: Callable[[], Instant],
    agree: Callable[[int, int, float], None],
) -> Swept:
    """Look at every table and index of some regions in one pass, and rank those that have something against them.

    `agree` is told tables, series and dollars before anything is read, and raises what stops it.
    """
    ahead, now = Ahead(aws), clock()
    window = window_of(question, now)
    sweeps = [(spot, Sweep(ahead.lane(), spot.region, spot.account)) for spot in spots]
    plans = await asyncio.gather(*(one.plan() for _, one in sweeps))
    agree(sum(plan.tables for plan in plans), sum(len(plan.series) for plan in plans), sum(plan.usd for plan in plans))
    read = await asyncio.gather(*(one.read(plan, window, now) for (_, one), plan in zip(sweeps, plans, strict=True)))
    batches = tuple(
        msgspec.structs.replace(batch, region=spot.region, account=spot.account)
        for (spot, _), batch in zip(sweeps, read, strict=True)
    )
    newest = Window(max(window.start, window.end - bench.window_ms), window.end)
    reports = [_judge_sweep(batches, stretch, bench, spots) for stretch in (window, newest)]
    means = Means(region=spots[0].region if len(spots) == 1 else None, profile=bench.profile, role=bench.role)
    grave = next((one for one in reports if (lead := lead_of(one)) is not None and lead.severity.rank > 1), reports[0])
    told = diagnose_report(grave, means, now=None if question.at is not None else now, is_sweep=True)
    told = msgspec.structs.replace(told, spent=Spent(ahead.calls, ahead.rounds))
    recording = Recording(
        window=window,
        region=spots[0].region,
        account=spots[0].account,
        contract=None,
        batch=batches[0],
        sources=frozenset({SourceName.CLOUDWATCH_METRICS}),
        is_ordered=True,
    )
    return Swept(suspects_of(reports), told, recording)


def _judge_sweep(batches: tuple[Batch, ...], window: Window, bench: Bench, spots: Sequence[Spot]) -> Report:
    observed = Observations(
        window=window,
        batches=batches,
        sources=frozenset({SourceName.CLOUDWATCH_METRICS}),
        region=spots[0].region if len(spots) == 1 else None,
        account=spots[0].account if len(spots) == 1 else None,
        prices=bench.prices,
    )
    return analyze(observed, bench.contract, of_horizon(bench.detectors, Horizon.WINDOW), secret=bench.secret)


async def diagnose(
    aws: AwsCaller,
    question: Question,
    spots: Sequence[Spot],
    bench: Bench,
    clock: Callable[[], Instant],
    agree: Callable[[int, int, float], None],
    judging: Judge | None = None,
) -> Looked:
    """Look at the table that is asked for, else sweep and look at the worst; a fault of many tables is told as one."""
    if question.table is not None:
        return await look(aws, question, spots[0], bench, clock, judging)
    swept = await sweep(aws, question, spots, bench, clock, agree)
    lead = swept.diagnosis.lead
    is_shared = lead is not None and lead.detector == "service-fault" and lead.evidence.get("tables_with_it") != 1
    if not swept.suspects or is_shared:
        told = msgspec.structs.replace(swept.diagnosis, suspects=swept.suspects)
        return Looked(told, swept.recording)
    worst = swept.suspects[0].target
    spot = next((one for one in spots if (one.region, one.account) == (worst.region, worst.account)), spots[0])
    narrowed = msgspec.structs.replace(question, table=worst.table)
    looked = await look(aws, narrowed, spot, bench, clock, judging)
    first, second = swept.diagnosis.spent, looked.diagnosis.spent
    spent = Spent(first.calls + second.calls, first.rounds + second.rounds)
    told = msgspec.structs.replace(looked.diagnosis, suspects=swept.suspects, spent=spent)
    return msgspec.structs.replace(looked, diagnosis=told)


async def follow(
    once: Callable[[], Awaitable[Looked]],
    *,
    for_ms: int,
    clock: Callable[[], Instant],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Looked:
    """Look again every minute until the first line is decided, or the time is up; the last look is the answer."""
    until = clock() + for_ms
    looked = await once()
    while looked.diagnosis.kind in _UNDECIDED and clock() < until:
        await sleep(min(_EVERY_MS, until - clock()) / 1000)
        looked = await once()
    return looked
