"""Shape churn: invented placeholder names, inlined literals and growing IN lists, against the same calls unchanged.

Prints microseconds a record and bytes kept; asserts that shapes, caches and memory do not grow with the records.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from typing import TYPE_CHECKING

import msgspec

from analyzer.model.request import RequestRecord
from analyzer.requests import expressions, masking, partiql
from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon, TableKeys
from analyzer.requests.shapes import raw_key, skeleton_of
from analyzer.requests.tokens import Salt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.requests.shapes import Skeleton

__all__ = ["main"]

RECORDS = 20_000
ROUNDS = 4
_MOST_BYTES = 2_000_000
_LEXICON = Lexicon([TableKeys(name="cases", partition_key=("PK",), sort_key=("SK",))])
_SALT = Salt(b"bench")
_CACHES = (
    expressions.key_bounds,
    expressions.filter_of,
    expressions.projection_of,
    expressions.update_of,
    masking._evened,
    masking._masked,
    partiql.parse_statement,
)


def queries(first: int, *, churn: bool) -> Iterator[RequestRecord]:
    """Yield queries of one shape; with churn each has placeholder names and an IN list of its own."""
    for number in range(first, first + RECORDS):
        mark = f"{number:x}" if churn else "a"
        listed = ", ".join(f":l{mark}_{member}" for member in range(1 + (number % 50 if churn else 9)))
        yield RequestRecord(
            time=f"2026-11-30T10:00:{number % 60:02}.000Z",
            v=1,
            op="Query",
            table="cases",
            key_condition=f"#p{mark} = :p{mark} AND begins_with(#s{mark}, :s{mark})",
            filter=f"#f{mark} IN ({listed}) AND size(tags) > :z{mark}",
            names={f"#p{mark}": "PK", f"#s{mark}": "SK", f"#f{mark}": "state"},
            key={"PK": {"S": f"CASE#{_SALT.token(str(number % 500))}"}},
            values={f":s{mark}": {"S": "DUE#"}},
            keys="token",
        )


def statements(first: int, *, churn: bool) -> Iterator[RequestRecord]:
    """Yield statements of one shape; with churn each has literals and a list of its own inlined."""
    for number in range(first, first + RECORDS):
        mark = number if churn else 7
        listed = ", ".join(f"'{mark + member}'" for member in range(1 + (number % 50 if churn else 9)))
        yield RequestRecord(
            time=f"2026-11-30T10:00:{number % 60:02}.000Z",
            v=1,
            op="ExecuteStatement",
            table="cases",
            statement=f"SELECT * FROM cases WHERE PK = 'CASE#{mark}' AND state IN [{listed}] AND n > {mark}",
        )


def _skeletons(records: list[RequestRecord], known: dict[tuple[object, ...], tuple[Skeleton, ...]]) -> None:
    for record in records:
        key = raw_key(record)
        if key not in known:
            known[key] = skeleton_of(record, _LEXICON)
        for skeleton in known[key]:
            skeleton.predicates(_LEXICON, skeleton.values(record))


def _bench_skeletons(name: str, make: Callable[..., Iterator[RequestRecord]]) -> None:
    for churn in (False, True):
        known: dict[tuple[object, ...], tuple[Skeleton, ...]] = {}
        _skeletons(list(make(0, churn=churn)), known)
        records = [list(make(number * RECORDS, churn=churn)) for number in range(1, ROUNDS + 1)]
        spent = min(_timed(_skeletons, batch, known) for batch in records)
        _print(name, spent, f"{len(known)} raw keys", churn=churn)
        assert len(known) == 1, "churn must not make raw keys"


def _bench_digest(name: str, make: Callable[..., Iterator[RequestRecord]]) -> None:
    encoder = msgspec.json.Encoder()
    for churn in (False, True):
        digest = Digest(_LEXICON)
        digest.update(encoder.encode_lines(list(make(0, churn=churn))))
        blocks = [encoder.encode_lines(list(make(n * RECORDS, churn=churn))) for n in range(1, ROUNDS + 1)]
        spent = min(_timed(digest.update, block) for block in blocks)
        shapes = {cell.shape.fingerprint for cell in digest.totals().cells}
        _print(name, spent, f"{len(shapes)} shapes", churn=churn)
        assert len(shapes) == 1, "churn must not make shapes"


def _bench_memory() -> None:
    """Show that what stays after many churned calls does not follow their number."""
    known: dict[tuple[object, ...], tuple[Skeleton, ...]] = {}
    sizes = []
    tracemalloc.start()
    for number in range(ROUNDS):
        for make in (queries, statements):
            _skeletons(list(make(number * RECORDS, churn=True)), known)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    grown = sizes[-1] - sizes[0]
    print(f"{'memory':<40} churn  {sizes[0]:,} bytes after {2 * RECORDS:,} records, {grown:+,} after {ROUNDS}x as many")
    for cache in _CACHES:
        kept = cache.cache_info()
        assert kept.currsize <= (kept.maxsize or 0), "every cache has a bound"
    assert len(known) == 2, "churn must not make raw keys"
    assert grown < _MOST_BYTES, "memory must not follow the number of records"


def _print(name: str, spent: float, kept: str, *, churn: bool) -> None:
    print(f"{name:<40} {'churn' if churn else 'calm':<6} {spent / RECORDS * 1e6:7.2f} us a record, {kept}")


def _timed(work: Callable[..., object], *given: object) -> float:
    start = time.process_time()
    work(*given)
    return time.process_time() - start


def main() -> None:
    """Run it all."""
    kinds = (("placeholder names, IN lists", queries), ("inlined literals", statements))
    for name, make in kinds:
        _bench_skeletons(f"skeletons: {name}", make)
    _bench_memory()
    for name, make in kinds:
        _bench_digest(f"digest: {name}", make)


if __name__ == "__main__":
    main()
