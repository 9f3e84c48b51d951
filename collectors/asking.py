"""What collectors that ask AWS have alike: pages that are followed to their end, few calls at once, gaps told once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from analyzer.errors import CollectError, MalformedError
from analyzer.model.batch import Check
from analyzer.model.sight import Gap

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from analyzer.interfaces import AwsCaller
    from analyzer.model.sight import SourceName

__all__ = [
    "HERE",
    "MOST_PAGES",
    "Paged",
    "Paging",
    "Spot",
    "ask_check",
    "fold_gaps",
    "follow_pages",
    "in_turns",
    "member",
    "pause",
]

T = TypeVar("T")
R = TypeVar("R")

MOST_PAGES = 1000
"""Pages of one listing that are followed: far more than any account's quotas let there be."""
_MOST_ALIKE = 3
"""Tables and indexes with the same gap that are told apart; more become one gap that counts them."""


class Spot(NamedTuple):
    """Where calls go: None is the first region, and the account of the daemon's own credentials."""

    region: str | None = None
    account: str | None = None


HERE = Spot()
"""The first region, with the daemon's own credentials."""


class Paging(NamedTuple):
    """Which members of an operation hold the rows, and the token of the next page as answered and as asked."""

    rows: str
    answered: str = "NextToken"
    asked: str = "NextToken"


class Paged(NamedTuple):
    """The rows that were read, and why they are not all; `is_cut` says that the bound of pages was reached."""

    rows: list[Any]
    error: CollectError | None = None
    is_cut: bool = False


async def follow_pages(
    aws: AwsCaller,
    api: tuple[str, str],
    paging: Paging,
    spot: Spot,
    params: Mapping[str, object],
    *,
    most: int = MOST_PAGES,
    enough: Callable[[Sequence[Any]], bool] = lambda _: False,
) -> Paged:
    """Read a listing page by page, until `enough` says of a page that nothing of interest follows.

    It never raises: what was read before a failure is kept beside it. A token that comes back twice is a failure,
    since it would go round for ever.
    """
    rows: list[Any] = []
    token: str | None = None
    seen: set[str] = set()
    for _ in range(most):
        asked = dict(params) if token is None else {**params, paging.asked: token}
        try:
            answer = await aws.call(api[0], api[1], region=spot.region, account=spot.account, **asked)
            page = member(answer, paging.rows, list, api[1])
        except CollectError as error:
            return Paged(rows, error)
        rows += page
        token = answer.get(paging.answered)
        if not token or enough(page):
            return Paged(rows)
        if token in seen:
            hint = "it is asked again by itself; what came before is kept"
            return Paged(rows, MalformedError(f"{api[1]}: a page leads back to one before it", hint=hint))
        seen.add(token)
    return Paged(rows, is_cut=True)


def member(answer: Mapping[str, Any], name: str, kind: type[T], operation: str) -> T:
    """Return a member that every whole answer has; raises MalformedError where it is not there."""
    found = answer.get(name)
    if not isinstance(found, kind):
        hint = "something between here and AWS answered in its place, or the answer broke off: it is asked again"
        raise MalformedError(f"{operation}: the answer has no {name}", hint=hint)
    return found


async def in_turns(ask: Callable[[T], Awaitable[R]], subjects: Iterable[T], concurrent: int) -> list[R]:
    """Ask for each subject, a few at once, and return the answers in the order of the subjects."""
    turn = asyncio.Semaphore(concurrent)

    async def take(subject: T) -> R:
        async with turn:
            return await ask(subject)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(take(subject)) for subject in subjects]
    return [task.result() for task in tasks]


async def pause(sleep: Callable[[float], Awaitable[None]], seconds: float, stop: asyncio.Event) -> None:
    """Wait, but no longer than until somebody stops it."""
    waited = asyncio.ensure_future(sleep(seconds))
    stopped = asyncio.ensure_future(stop.wait())
    await asyncio.wait({waited, stopped}, return_when=asyncio.FIRST_COMPLETED)
    for task in (waited, stopped):
        task.cancel()
    await asyncio.gather(waited, stopped, return_exceptions=True)


def fold_gaps(gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    """Tell a failure that hit many tables once, with some of their names and their number."""
    alike: dict[tuple[SourceName, str, str], list[Gap]] = {}
    for gap in gaps:
        alike.setdefault((gap.source, gap.reason, gap.detail), []).append(gap)
    return tuple(gap for same in alike.values() for gap in _folded(same))


def _folded(same: list[Gap]) -> tuple[Gap, ...]:
    first = same[0]
    places = list(dict.fromkeys(_place(gap) for gap in same))
    if len(places) <= _MOST_ALIKE:
        return tuple(dict.fromkeys(same))
    more = len(places) - _MOST_ALIKE
    detail = f"{first.detail}: {', '.join(places[:_MOST_ALIKE])} and {more} more"
    return (Gap(first.source, first.reason, detail, first.hint, start=first.start, end=first.end),)


def _place(gap: Gap) -> str:
    return "/".join(filter(None, (gap.table, gap.index)))


async def ask_check(aws: AwsCaller, source: SourceName, api: tuple[str, str], spot: Spot, **params: object) -> Check:
    """Try one operation for `doctor`."""
    name = f"{source.value}: {api[1]}"
    try:
        await aws.call(api[0], api[1], region=spot.region, account=spot.account, **params)
    except CollectError as error:
        return Check(name, "error", str(error), error.hint)
    return Check(name, "ok", "is allowed and answers")
