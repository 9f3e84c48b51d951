"""What the canary writes and reads, what it costs, and what its reads tell. Pure.

Its items stand under reserved keys: every text attribute of a key begins with `__dynascope_canary__`, so that a policy
can allow these keys alone. Lags differ by partition of an index: the index keys of the canary are spread over sixteen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analyzer.errors import AbsentError, MalformedError, UnsupportedError
from analyzer.knowledge.prices import prices_of
from analyzer.model.batch import LagProbe
from analyzer.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.model.instant import Instant
    from analyzer.model.table import TableDescription, TimeToLive

__all__ = [
    "CONFIRMATIONS",
    "MARK",
    "PREFIX",
    "SPREAD",
    "Left",
    "Plan",
    "Poll",
    "ages_ms",
    "describe_plan",
    "is_shown",
    "item_of",
    "key_of",
    "plan_of",
    "probe_of",
    "query_of",
    "read_left",
]

PREFIX = "__dynascope_canary__"
MARK = "dynascope_canary"
"""The attribute that marks an item as the canary's, and holds the run that wrote it."""

SPREAD = 16
"""Index keys that writes are spread over."""
CONFIRMATIONS = 3
"""Reads that must show a write, one after another, before it counts as seen: replicas may fall back."""

_FIRST_MS, _LAST_MS = 10.0, 30_000.0
_POLLS = 13
"""Ages from 10 ms to 30 s, each twice the one before."""
_VERSION = 1
_PROVISIONED = "PROVISIONED"


class Plan(Struct, frozen=True, kw_only=True):
    """A run before it begins; `writes` and `reads` are the most units of one probe, `dollars` the most of all."""

    target: Target
    called_as: str | None
    table_key: tuple[str, ...]
    index_key: tuple[str, ...]
    types: dict[str, str]
    ttl_attribute: str | None
    has_stream: bool
    replicas: tuple[str, ...]
    probes: int
    every_ms: int
    writes: float
    reads: float
    dollars: float
    basis: str
    is_provisioned: bool = False


class Left(Struct, frozen=True, kw_only=True):
    """What may have to be removed: written before an item is, gone after it was removed.

    `pending` is the number of the item that may be there. `called_as` is the account that calls are made as, None for
    the credentials at hand.
    """

    v: int = _VERSION
    account: str
    region: str
    table: str
    index: str
    called_as: str | None
    run: str
    table_key: tuple[str, ...]
    index_key: tuple[str, ...]
    types: dict[str, str]
    pending: int = 0

    @property
    def target(self) -> Target:
        """The index that is measured."""
        return Target(self.account, self.region, self.table, self.index)


class Poll(Struct, frozen=True):
    """One read: when it was sent and answered, and whether it showed the write.

    `is_confirming`: it was made because the one before it had shown the write, not because its age had come.
    """

    sent_ms: float
    answered_ms: float
    is_shown: bool
    is_confirming: bool = False


def plan_of(
    target: Target,
    called_as: str | None,
    table: TableDescription,
    ttl: TimeToLive,
    probes: int,
    every_ms: int,
) -> Plan:
    """Say what a run will do; raises AbsentError without the index, UnsupportedError where no key can be reserved."""
    index = table.index(target.index)
    if index is None or index.kind != "gsi":
        told = f"{target.table} has no global index {target.index}"
        raise AbsentError(told, hint="see `aws dynamodb describe-table`")
    if index.status not in {None, "ACTIVE"}:
        raise UnsupportedError(f"{target} is {index.status}", hint="wait until it is ACTIVE: a build is no lag")
    table_key, index_key = (*table.partition_key, *table.sort_key), (*index.partition_key, *index.sort_key)
    for name in (*table.partition_key, *index.partition_key):
        if table.attribute_types.get(name) != "S":
            hint = "measure the lag from the application's own reads: log the keys that they return"
            raise UnsupportedError(f"{name} of {target} is no text: no key of it can be reserved", hint=hint)
    reached = sum({*one.partition_key, *one.sort_key} <= {*table_key, *index_key} for one in table.indexes)
    prices = prices_of(table.table_class)
    writes, reads = 2.0 * (1 + reached), 0.5 * (_POLLS + CONFIRMATIONS)
    million = 1e6
    price = probes * (writes * prices.write_million + reads * prices.read_million) / million
    return Plan(
        target=target,
        called_as=called_as,
        table_key=table_key,
        index_key=index_key,
        types={name: table.attribute_types.get(name, "S") for name in (*table_key, *index_key)},
        ttl_attribute=ttl.attribute if ttl.status == "ENABLED" else None,
        has_stream=table.stream is not None,
        replicas=tuple(one.region for one in table.replicas if one.region != target.region),
        probes=probes,
        every_ms=every_ms,
        writes=writes,
        reads=reads,
        dollars=price,
        basis=f"on demand, {prices.place}",
        is_provisioned=table.billing_mode == _PROVISIONED,
    )


def describe_plan(plan: Plan) -> tuple[str, ...]:
    """Return a plan in lines for people."""
    what = f"{plan.probes} items, one after another, are written, read in the index until each is there, and removed"
    units = f"{plan.probes * plan.writes:g} write and {plan.probes * plan.reads:g} read units"
    costs = f"it costs {plan.dollars:.4f} dollars at worst: {units} ({plan.basis})"
    if plan.is_provisioned:
        costs = (
            f"the table is provisioned: {units} at worst come out of its capacity and cost nothing more; "
            f"{plan.dollars:.4f} dollars bound them as if {plan.basis}"
        )
    lines = [
        f"{plan.target} in {plan.target.region}: {what}; {plan.every_ms / 1000:g} s apart",
        f"their keys begin with {PREFIX}, spread over {SPREAD} keys of the index; nothing else is written or removed",
        costs,
        f"an item that a crash leaves {_expires(plan)}",
    ]
    if plan.has_stream:
        lines.append("CAREFUL: the table has a stream: its consumers see these items")
    if plan.replicas:
        lines.append(f"CAREFUL: they are replicated to {', '.join(plan.replicas)}")
    return tuple(lines)


def _expires(plan: Plan) -> str:
    again = "is removed by the next run, or by `dynascope canary --clean`"
    if plan.ttl_attribute is None:
        return f"{again}; the table has no time to live"
    return f"{again}, and expires by {plan.ttl_attribute}"


def key_of(left: Left, number: int) -> dict[str, dict[str, Any]]:
    """Return the key of an item in the table."""
    return {name: _value(left, name, number) for name in left.table_key}


def item_of(left: Left, number: int, ttl_attribute: str | None, expires: int) -> dict[str, dict[str, Any]]:
    """Return an item as it is put: its keys, the mark, and the time to live in epoch seconds."""
    names = (*left.table_key, *left.index_key)
    item = {name: _value(left, name, number) for name in names} | {MARK: {"S": left.run}}
    return item if ttl_attribute is None else {ttl_attribute: {"N": str(expires)}} | item


def query_of(left: Left, number: int) -> dict[str, Any]:
    """Return the members of the Query that must show an item."""
    asked = {f"#k{at}": name for at, name in enumerate(left.index_key)}
    return {
        "TableName": left.table,
        "IndexName": left.index,
        "KeyConditionExpression": " AND ".join(f"#k{at} = :k{at}" for at in range(len(left.index_key))),
        "ExpressionAttributeNames": asked,
        "ExpressionAttributeValues": {f":k{at}": _value(left, name, number) for at, name in enumerate(left.index_key)},
    }


def is_shown(left: Left, number: int, items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a page holds an item."""
    key = key_of(left, number)
    return any(all(item.get(name) == value for name, value in key.items()) for item in items)


def _value(left: Left, name: str, number: int) -> dict[str, Any]:
    """Return the value of a key attribute: the index's own partition key is one of sixteen, all else names the item."""
    if left.types[name] == "N":
        return {"N": str(number)}
    own = f"{PREFIX}#{left.run}#{number:06}"
    is_spread = name == left.index_key[0] and name != left.table_key[0]
    text = f"{PREFIX}#{number % SPREAD:02}" if is_spread else own
    return {"S": text} if left.types[name] == "S" else {"B": text.encode()}


def ages_ms(phase: float) -> tuple[float, ...]:
    """Return when to read after a write; `phase`, from 0 to 1, moves all ages so that runs cover what lies between."""
    ages = (min(_FIRST_MS * 2.0 ** (step + phase), _LAST_MS) for step in range(_POLLS))
    return tuple(dict.fromkeys(ages))


def probe_of(
    left: Left, number: int, began: Instant, written: tuple[float, float], polls: Sequence[Poll], ages: Sequence[float]
) -> LagProbe:
    """Return what a write and its reads tell; `written` is when the write was sent and answered.

    After it was confirmed nobody looked any longer: the later ages of the schedule count as shown, since leaving them
    out would make late writes look more than they are. Reads that confirmed do not count: they come to early writes
    alone.
    """
    sent, answered = written
    counted = [one for one in polls if not (one.is_confirming and one.is_shown)]
    seen = [(max(0.0, one.sent_ms - answered), one.answered_ms - sent, one.is_shown) for one in counted]
    last = max((one.answered_ms - sent for one in counted), default=0.0)
    is_confirmed = len(polls) >= CONFIRMATIONS and all(one.is_shown for one in polls[-CONFIRMATIONS:])
    seen += [(age, age, True) for age in ages if is_confirmed and age > last]
    key = str(_value(left, left.index_key[0], number)["S"])
    return LagProbe(left.target, key, began, tuple(seen))


def read_left(content: bytes, file: str) -> Left:
    """Read a note; raises MalformedError."""
    hint = f"look into it: an item whose key begins with {PREFIX} may be left; remove it by hand, then the file"
    try:
        left = msgspec.json.decode(content, type=Left)
    except msgspec.DecodeError as error:
        raise MalformedError(f"{file} is no note of a canary: {error}", hint=hint) from None
    if left.v != _VERSION:
        raise MalformedError(f"{file} is a note of version {left.v}, this reads {_VERSION}", hint=hint)
    return left
