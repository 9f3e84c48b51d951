"""What to do about a hot key: it follows from what kind of heat it is. More capacity never helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise
from analyzer.detectors.words import number, who
from analyzer.model.finding import Advice, Direction, Risk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.detectors.key_facts import KeyFacts

__all__ = ["advice_for"]


def advice_for(facts: KeyFacts, *, may_split: bool) -> tuple[Advice, ...]:
    """Return advice, best first; the first one changes nothing in production."""
    return (*_safe(facts), *_by_shape(facts), *(_wait() if may_split else ()))


def _safe(facts: KeyFacts) -> Iterator[Advice]:
    if facts.caller is None:
        text = "Find who asks for {key}: a request log of the sampler names callers"
    else:
        text = f"Ask the owner of {facts.caller} why it concentrates on {{key}}; stop or slow it there"
    yield advise("fix-caller", text, effect="the heat ends with the traffic", takes="minutes")


def _by_shape(facts: KeyFacts) -> Iterator[Advice]:
    if facts.direction is not Direction.WRITE:
        yield from _reads(facts)
    if facts.direction is not Direction.READ:
        yield from _writes(facts)


def _reads(facts: KeyFacts) -> Iterator[Advice]:
    if facts.is_strong:
        yield advise(
            "read-eventually",
            "Read it eventually consistent where a second of staleness is allowed",
            effect="halves the units of each read, and lets all replicas serve it",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet="table.get_item(Key=key, ConsistentRead=False)",
        )
    if facts.shape == "queue":
        yield _use_queue()
        return
    if facts.is_prefix:
        yield _spread_tenant(facts)
        return
    yield advise(
        "cache-item",
        "Cache what is read in the caller or in DAX for a second or more",
        effect="one read a second and process instead of each request",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet="@cached(ttl_seconds=1)",
    )
    if facts.shape == "tenant":
        yield _spread_tenant(facts)
    if facts.shape == "dashboard":
        yield advise(
            "keep-a-counter",
            "Keep what the page shows as one small item, updated by the writer or by a stream",
            effect="one read of half a unit instead of a Query",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )


def _writes(facts: KeyFacts) -> Iterator[Advice]:
    own = _OWN.get(facts.shape)
    if own is not None:
        yield from own(facts)
    if facts.shape != "queue":
        yield _shard(facts)
    if facts.shape == "single-item" and not facts.is_index:
        yield _aggregate()


def _counter(_facts: KeyFacts) -> Iterator[Advice]:
    yield _aggregate()


def _bucket(facts: KeyFacts) -> Iterator[Advice]:
    yield advise(
        "change-key",
        f"Let something else than the clock lead {facts.attribute}: a device, a tenant, a suffix; keep time in the sort"
        " key",
        effect="the writes of one period lie on many partitions",
        risk=Risk.HIGH,
        reversible=False,
        takes="the next period: new keys need no migration of old ones",
        snippet=f'{facts.attribute} = f"{{bucket}}#{{crc32(item_id) % N}}"',
    )


def _constant(facts: KeyFacts) -> Iterator[Advice]:
    yield advise(
        "change-key",
        f"Give {facts.attribute} more values: add what queries know already",
        effect="traffic spreads over partitions",
        risk=Risk.HIGH,
        reversible=facts.is_index,
        takes="an index build" if facts.is_index else "a migration",
    )


def _tenant(facts: KeyFacts) -> Iterator[Advice]:
    yield _spread_tenant(facts)


def _queue(_facts: KeyFacts) -> Iterator[Advice]:
    yield _use_queue()


def _backfill(facts: KeyFacts) -> Iterator[Advice]:
    yield advise(
        "pace-writes",
        f"Give {who(facts.caller)} a rate limit, and let it write in another order than that of the keys",
        effect="no key gets all of a minute",
        risk=Risk.LOW,
        reversible=True,
        takes="minutes",
        snippet="random.shuffle(batch); limiter.acquire(consumed_units)",
    )


_OWN: dict[str, Callable[[KeyFacts], Iterator[Advice]]] = {
    "counter": _counter,
    "time-bucket": _bucket,
    "constant": _constant,
    "sequential": _bucket,
    "tenant": _tenant,
    "queue": _queue,
    "backfill": _backfill,
}
"""What a kind of heat of writes gets before a suffix is spoken of."""


def _aggregate() -> Advice:
    return advise(
        "aggregate-writes",
        "Collect updates in the caller for a second and write their sum",
        effect="one write instead of many",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='UpdateExpression="ADD #count :sum_of_a_second"',
    )


def _spread_tenant(facts: KeyFacts) -> Advice:
    return advise(
        "spread-tenant",
        f"Spread what lies under {{key}} over more values of {facts.attribute}, by what its callers know of each item",
        effect="no partition holds all of one tenant",
        risk=Risk.HIGH,
        reversible=False,
        takes="a migration",
    )


def _use_queue() -> Advice:
    return advise(
        "use-queue",
        "Hand work over with a queue or a stream, and keep the table as its record",
        effect="no head that everybody polls",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
    )


def _shard(facts: KeyFacts) -> Advice:
    """Write the split of a key with its price on both sides."""
    shards = facts.shards
    many = "N" if shards is None or shards.count <= 1 else str(shards.count)
    effect = "each suffix is a partition key of its own, with 1,000 write units a second"
    if shards is not None and shards.count > 1:
        effect = f"the fullest of {many} takes {number(shards.hottest_units)} write units a second"
        reads, added = facts.reads_a_second, facts.added_read_units
        if reads and added is not None:
            more = f"{number(added)} read units a second more"
            effect += f"; each of {number(reads)} reads a second becomes {many}: {more}"
    return advise(
        "shard-key",
        f"Add a suffix to {facts.attribute} and write to one of {many}; read all {many} and merge",
        effect=effect,
        risk=Risk.HIGH,
        reversible=False,
        takes="a migration",
        snippet=f'{facts.attribute} = f"{{value}}#{{random.randrange({many})}}"',
    )


def _wait() -> Iterator[Advice]:
    yield advise(
        "wait-for-split",
        "Wait ten minutes while callers retry with jitter: DynamoDB splits a partition whose heat spreads over items",
        effect="its throttles end alone",
        takes="minutes",
    )
