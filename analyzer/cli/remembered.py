"""History that a command was given: a folder or a bucket, opened, read once, and what it says of the weeks before."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from analyzer.cli.calling import with_aws
from analyzer.cli.output import so_many
from analyzer.config_history import is_bucket
from analyzer.errors import CollectError, UsageError, closest
from analyzer.model.history import EMPTY, History
from analyzer.model.instant import Instant, format_instant
from analyzer.model.sight import Gap, GapReason, SourceName

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from analyzer.config import Settings
    from analyzer.history.dataset import Dataset
    from analyzer.model.target import Target

__all__ = ["Remembered", "check_history", "is_history", "placed", "read_history", "recall", "recalling", "refuse_two"]

T = TypeVar("T")


class Remembered(Struct, frozen=True):
    """What is known of the past, and what of it is not."""

    history: History = EMPTY
    gaps: tuple[Gap, ...] = ()


def check_history(place: str) -> None:
    """Raise UsageError for a folder that is not there, or that is no history; a bucket is not asked."""
    if is_bucket(place):
        if not place.removeprefix("s3://").partition("/")[0]:
            raise UsageError(f"--history {place} names no bucket; write s3://bucket/prefix, or a folder")
        return
    folder = Path(place)
    if not folder.is_dir():
        names = sorted(one.name for one in folder.parent.iterdir() if one.is_dir()) if folder.parent.is_dir() else ()
        meant = closest(folder.name, names)
        mend = f"; did you mean {folder.parent / meant}?" if meant else ""
        raise UsageError(
            f"--history {place}: {'it is no folder' if folder.exists() else 'there is no such folder'}{mend}"
        )
    if not _is_history(folder):
        meant = next((str(one) for one in sorted(folder.iterdir()) if one.is_dir() and _is_history(one)), None)
        mend = f"did you mean {meant}?" if meant else "it is the folder that `history: {to: ...}` names"
        raise UsageError(f"--history {place}: it holds no history, which is in folders such as kind=hours; {mend}")


def is_history(place: str) -> bool:
    """Whether a place is history: a bucket, or a folder that holds some."""
    return is_bucket(place) or _is_history(Path(place))


def _is_history(folder: Path) -> bool:
    return any(folder.glob("kind=*"))


def read_history(place: str, settings: Settings, work: Callable[[Dataset], Awaitable[T]]) -> T:
    """Do work on a folder or bucket of history; raises UsageError, NewerHistoryError, and CollectError where it fails.

    A bucket is asked with the credentials of whoever types, in the region that the configuration names for it.
    """
    import asyncio  # noqa: PLC0415 -- three megabytes that a log alone does not need

    from analyzer.history.files import HistoryError, NewerHistoryError  # noqa: PLC0415 -- pyarrow costs half a second
    from analyzer.history_opening import open_dataset  # noqa: PLC0415 -- same

    check_history(place)
    known = settings.history
    region = known.region if known is not None and known.to == place else None
    try:
        if is_bucket(place):
            return with_aws(lambda aws, _: work(open_dataset(place, aws, region=region)), region, None)
        return asyncio.run(_wait(work(open_dataset(place))))
    except NewerHistoryError as error:
        raise UsageError(f"{place}: {error}") from None
    except HistoryError as error:
        hint = "it needs to be readable: of a bucket s3:ListBucket, and s3:GetObject on its objects"
        raise CollectError(f"{place}: {error}", hint=hint) from None


async def _wait(work: Awaitable[T]) -> T:
    return await work


def refuse_two(history: str | None, week: str | None, others: Mapping[str, object]) -> None:
    """Raise UsageError where traffic is named twice, or a week of no history."""
    if history is None and week is not None:
        raise UsageError("--week names a week of --history; give one")
    named = [name for name, value in others.items() if value]
    if history is not None and named:
        raise UsageError(f"--history tells the traffic by itself: leave out {', '.join(named)}")


def recalling(place: str | None, settings: Settings) -> Callable[[Instant, Iterable[Target]], Remembered] | None:
    """Return what asks history when the end of a log is known, None where none was named; raises UsageError at once."""
    if place is None:
        return None
    check_history(place)
    return partial(recall, place, settings)


def recall(place: str, settings: Settings, end: Instant, seen: Iterable[Target]) -> Remembered:
    """Return what history tells of the weeks before `end` for the tables that were seen."""
    from analyzer.history.past import FORTNIGHT_DAYS, read_past  # noqa: PLC0415 -- pyarrow costs half a second

    past = read_history(place, settings, lambda dataset: read_past(dataset, end))
    if past.history != EMPTY:
        return Remembered(placed(past.history, seen))
    # rounded down: fourteen days but for an hour are not fourteen
    covered = f"{int(past.covered_days * 10) / 10:g} of the {FORTNIGHT_DAYS} days before {format_instant(past.end)}"
    torn = f"; {so_many(len(past.torn), 'file')} of it cannot be read" if past.torn else ""
    detail = f"history in {place} covers {covered}{torn}: what patterns did before is not judged"
    hint = "the daemon must have run in both weeks, nearly without a break"
    return Remembered(gaps=(Gap(SourceName.HISTORY, GapReason.LOW_COVERAGE, detail, hint),))


def placed(history: History, seen: Iterable[Target]) -> History:
    """Return history at the places that a log names: it may leave out the account or region that history knows.

    Only where one place fits one other, and nothing else does.
    """
    bases = {target.base for target in seen}
    known = {target.base for target in history.spans}
    moves: dict[Target, Target] = {}
    for base in bases - known:
        fits = [one for one in known if base.may_be(one)]
        if len(fits) == 1 and sum(other.may_be(fits[0]) for other in bases) == 1:
            moves[fits[0]] = base

    def move(target: Target) -> Target:
        return moves.get(target.base, target.base).at(target.index)

    return msgspec.structs.replace(
        history,
        spans={move(target): span for target, span in history.spans.items()},
        patterns={move(target): past for target, past in history.patterns.items()},
    )
