"""A call book that is slow and plain: every call made from its record, and the rule of what is kept applied at once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any
from zlib import crc32

from analyzer.model.counts import Cell
from analyzer.model.instant import parse_instant
from analyzer.requests.digest_names import TRACES, key_salt, mixed, rank_of, shape_hash
from analyzer.requests.tokens import key_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.model.calls import Call
    from analyzer.requests.lexicon import Lexicon

__all__ = ["facts_of", "names_of", "plain_facts", "plain_floor", "plainly_kept"]

Facts = tuple[Any, ...]
Name = tuple[str, object]


def plain_facts(record: dict[str, Any], lexicon: Lexicon) -> list[Facts]:
    """Return what a record tells of a call at each of its tables."""
    tables = list(dict.fromkeys(part["table"] for part in record.get("parts", ()))) or [record["table"]]
    keys = record.get("key")
    place = None
    if keys is not None:
        partition, sort = lexicon.schema(tables[0], record.get("index")) or ((), ())
        texts = [key_text(keys[name]) for name in (*partition, *sort) if name in keys]
        place = (texts[0], texts[1] if len(texts) > 1 else None)
    return [
        (
            parse_instant(record["time"]),
            record["op"],
            table,
            record.get("caller"),
            place,
            record.get("count"),
            record.get("scanned"),
            record.get("more", False),
            record.get("resumed", False),
            record.get("latency_ms"),
            record.get("attempts"),
            record.get("error", {}).get("code"),
            len(record.get("tries", ())),
            sum(part["table"] == table for part in record.get("parts", ())),
        )
        for table in tables
    ]


def facts_of(call: Call) -> Facts:
    """Return the same of a call."""
    return (
        call.time,
        call.operation,
        call.shape.table,
        call.caller,
        None if call.key is None else (call.key.partition, call.key.sort),
        call.count,
        call.scanned,
        call.more,
        call.resumed,
        call.latency_ms,
        call.attempts,
        call.error,
        len(call.tries),
        len(call.parts),
    )


def names_of(call: Call, traces: dict[str, str]) -> list[tuple[Name, int]]:
    """Return the names of a call with their ranks; `traces` tells what a log wrote for an opaque trace."""
    cell = Cell(call.target, call.shape, call.caller, 1.0)
    found: list[tuple[Name, int]] = []
    if call.trace is not None:
        found.append((("trace", call.trace), rank_of(mixed(crc32(traces[call.trace].encode()) ^ TRACES))))
    if call.key is not None:
        name = ("key", (call.target, call.key.partition))
        found.append((name, rank_of(mixed(crc32(call.key.partition.encode()) ^ key_salt(cell)))))
    if not found:
        found.append((("shape", (call.caller, call.target, call.fingerprint)), rank_of(shape_hash(cell))))
    return found


def _is_heavy(call: Call) -> bool:
    return len(call.parts) + len(call.returned or ()) + len(call.tries) > 4


def _claims(calls: list[Call], most: int, floor: int, traces: dict[str, str]) -> tuple[list[int], list[set[int]]]:
    """Return how many claims there are on light and heavy calls, and which calls these are."""
    counts, held = [0, 0], [set[int](), set[int]()]
    for is_heavy, bound in ((False, most), (True, max(1, most // 10))):
        named: dict[Name, list[int]] = defaultdict(list)
        for at, call in enumerate(calls):
            if _is_heavy(call) == is_heavy:
                for name, rank in names_of(call, traces):
                    if rank >= floor:
                        named[name].append(at)
        for places in named.values():
            newest = places[-max(1, bound // 10) :]
            counts[is_heavy] += len(newest)
            held[is_heavy].update(newest)
    return counts, held


def plain_floor(calls: list[Call], most: int, traces: dict[str, str]) -> int:
    """Return the lowest floor at which all claims fit."""
    floor = 0
    while True:
        counts, _ = _claims(calls, most, floor, traces)
        if counts[0] <= most and counts[1] <= max(1, most // 10):
            return floor
        floor += 1


def plainly_kept(calls: Iterable[Call], most: int, traces: dict[str, str]) -> list[Call]:
    """Return those of all calls, in order, that are kept by a name."""
    every = list(calls)
    _, held = _claims(every, most, plain_floor(every, most, traces), traces)
    return [call for at, call in enumerate(every) if at in held[0] | held[1]]
