"""What AWS shows of one table over hours or days, asked once, for `dynascope capacity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.ahead import Ahead, wall_clock
from analyzer.cli.planned import Bench, observed_batch
from analyzer.cli.reading import LogFile, read_blocks
from analyzer.collect_once import Question, ask_ahead, collect, window_of
from analyzer.errors import CollectError, UsageError, closest
from analyzer.model.sight import GapReason, SourceName
from analyzer.requests.concealing import conceal
from analyzer.setup import process_salt, salt_of
from collectors.asking import Paging, Spot, follow_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from analyzer.interfaces import AwsCaller
    from analyzer.model.instant import Instant
    from analyzer.model.window import Window
    from analyzer.planning.capacity_evidence import Observed

__all__ = ["look"]

_SOURCES = frozenset({SourceName.TABLE_CATALOG, SourceName.CLOUDWATCH_METRICS, SourceName.REQUEST_LOG})


async def look(
    aws: AwsCaller,
    region: str,
    bench: Bench,
    table: str,
    length_ms: int,
    logs: Sequence[LogFile] = (),
    clock: Callable[[], Instant] = wall_clock,
) -> tuple[Observed, ...]:
    """Ask AWS for a table's series and description, and join request logs of the same stretch.

    Raises UsageError where there is no such table, CollectError where its series could not be read.
    """
    question, spot, now = Question(table=table, length_ms=length_ms), Spot(region, None), clock()
    salt = salt_of(bench.settings) or process_salt()
    lexicon = bench.contract.lexicon(salt)
    ahead = Ahead(aws)
    ask_ahead(ahead, table, spot)
    try:
        batch = await collect(ahead, question, spot, None, now, lambda of, value: conceal(lexicon, salt, of, value))
    finally:
        await ahead.settle()
    for gap in batch.gaps:
        if gap.source is SourceName.TABLE_CATALOG and gap.reason is GapReason.NOT_ENABLED:
            listed = Paging("TableNames", "LastEvaluatedTableName", "ExclusiveStartTableName")
            paged = await follow_pages(aws, ("dynamodb", "ListTables"), listed, spot, {})
            near = closest(table, map(str, paged.rows))
            raise UsageError(f"there is no table {table} in {region}{f'; did you mean {near}?' if near else ''}")
    if not batch.metrics:
        told = next((gap for gap in batch.gaps if gap.source is SourceName.CLOUDWATCH_METRICS), None)
        detail = "nothing came back" if told is None else told.detail
        hint = "`dynascope doctor` tries each permission; --log plans from a request log instead"
        raise CollectError(f"CloudWatch shows no series of {table}: {detail}", hint=(told and told.hint) or hint)
    sources = _SOURCES if logs else _SOURCES - {SourceName.REQUEST_LOG}
    return observed_batch(bench, batch, _blocks(logs, window_of(question, now)), sources)


def _blocks(logs: Sequence[LogFile], window: Window) -> Iterator[bytes]:
    for log in logs:
        yield from read_blocks(log, window.start, window.end)
