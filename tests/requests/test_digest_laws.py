"""The three laws of the digest, for any log, any split and any order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.model.counts import Cell, Count, Counts, KeyLevel
from analyzer.model.finding import Direction
from analyzer.model.request import RequestRecord
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from analyzer.requests.digest_limits import DigestLimits
from tests.support.plain_digest import PlainDigest
from tests.support.request_lines import LEXICON, START_MS, line, lines_of, records

if TYPE_CHECKING:
    from random import Random

WINDOW = Window(START_MS, START_MS + 50_000)
SMALL = DigestLimits(batch=8, rows=8, heavy=2, past=2)


def digest_of(log: list[dict[str, Any]], limits: DigestLimits | None = None) -> Digest:
    digest = Digest(LEXICON, limits)
    digest.update(lines_of(log))
    return digest


def without_local_index(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what the plain digest does not know: that the units of a local index count on its table."""
    return [record for record in log if record.get("index") != "LSI1"]


def plain_of(log: list[dict[str, Any]]) -> PlainDigest:
    plain = PlainDigest(LEXICON)
    plain.update_records(msgspec.convert(record, RequestRecord) for record in log)
    return plain


def counted(counts: Counts) -> dict[Cell, list[int]]:
    rows = zip(counts.cells, counts.values.tolist(), counts.latency.tolist(), strict=True)
    return {cell: values + latency for cell, values, latency in rows if any(values)}


JUDGED = [
    Count.WASTED_HALF_UNITS,
    Count.THROTTLED,
    Count.THROTTLED_TRIES,
    Count.THROTTLED_FAILED,
    Count.CONDITION_FAILED,
    Count.SERVER_ERRORS,
    Count.TRANSPORT_FAILURES,
]
"""What has tests of its own: the plain digest judges failures and filters more simply."""


def plainly_counted(counts: Counts) -> dict[Cell, list[int]]:
    values = counts.values.copy()
    values[:, JUDGED] = 0
    return counted(msgspec.structs.replace(counts, values=values))


def told(counts: Counts) -> dict[Any, Any]:
    """Return all that has to be exact, by cell instead of its number."""
    cells = counts.cells
    return {
        "cells": counted(counts),
        "series": {
            cell: row.tolist() for cell, row in zip(cells, counts.series.swapaxes(0, 1), strict=True) if row.any()
        },
        "throttles": sorted(
            (cells[t.cell].shape.fingerprint, cells[t.cell].sample_rate, str(cells[t.cell]), t.reason, str(t.resource),
             t.direction, t.tries, t.failed)
            for t in counts.throttles
        ),
        "refusals": sorted((str(cells[r.cell]), r.code, r.message, r.calls) for r in counts.refusals),
        "totals": {(keys.target, keys.direction): (keys.total, keys.distinct) for keys in counts.keys},
    }  # fmt: skip


@st.composite
def split_logs(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
    log = draw(records())
    owners = draw(st.lists(st.integers(0, 2), min_size=len(log), max_size=len(log)))
    parts: list[list[dict[str, Any]]] = [[], [], []]
    for record, owner in zip(log, owners, strict=True):
        parts[owner].append(record)
    order: Random = draw(st.randoms(use_true_random=False))
    for part in parts:
        order.shuffle(part)
    order.shuffle(parts)
    return log, parts


@given(records())
@settings(max_examples=150, deadline=None)
def test_counts_are_those_of_going_through_the_records_one_by_one(log: list[dict[str, Any]]) -> None:
    log = without_local_index(log)
    assert plainly_counted(digest_of(log).result(WINDOW)) == plainly_counted(plain_of(log).result(WINDOW))


@given(split_logs())
@settings(max_examples=100, deadline=None)
def test_counts_are_the_same_for_any_split_and_order(logs: tuple[list[Any], list[list[Any]]]) -> None:
    log, parts = logs
    merged = Digest(LEXICON)
    for part in parts:
        merged.merge(digest_of(part))
    assert told(merged.result(WINDOW)) == told(digest_of(log).result(WINDOW))
    assert merged.read == digest_of(log).read
    assert merged.hours() == digest_of(log).hours()
    assert merged.span() == digest_of(log).span()


def true_weights(log: list[dict[str, Any]]) -> Counter[tuple[str | None, str, str | None, Direction, str]]:
    """Return the half-units of every partition key of every table or index, summed up by hand."""
    weights: Counter[tuple[str | None, str, str | None, Direction, str]] = Counter()
    for record in log:
        rate, region = record.get("sample_rate", 1.0), record.get("region")
        for part in record.get("parts", ()):
            weights[region, part["table"], None, Direction.READ, part["key"]["PK"]["S"]] += 1 / rate
        if "key" not in record:
            continue
        read, write, consumed = Direction.READ, Direction.WRITE, record["consumed"]
        if record["op"] == "PutItem":
            weights[region, "cases", None, write, record["key"]["PK"]["S"]] += 2 * consumed["table"] / rate
            weights[region, "cases", "GSI1", write, record["index_keys"]["GSI1"]["GSI1PK"]["S"]] += 2 / rate
        else:
            index = record.get("index") if record.get("index") != "LSI1" else None
            weights[region, "cases", index, read, next(iter(record["key"].values()))["S"]] += (
                2 * consumed["total"] / rate
            )
    return weights


@given(split_logs())
@settings(max_examples=100, deadline=None)
def test_the_truth_of_every_key_lies_between_its_bounds_for_any_split_and_order(
    logs: tuple[list[Any], list[list[Any]]],
) -> None:
    log, parts = logs
    merged = Digest(LEXICON, SMALL)
    for part in parts:
        merged.merge(digest_of(part, SMALL))
    heavy = merged.result(WINDOW).keys
    bounds = {
        (keys.target.region, keys.target.table, keys.target.index, keys.direction, key.name.partition): (
            key.low,
            key.high,
        )
        for keys in heavy
        for key in keys.keys
        if key.name.level is KeyLevel.PARTITION
    }
    floors = {(keys.target.region, keys.target.table, keys.target.index, keys.direction): keys.floor for keys in heavy}
    for key, weight in true_weights(log).items():
        low, high = bounds.get(key, (0, floors[key[:4]]))
        assert low <= weight * 1.001 + 1
        assert high >= weight * 0.999 - 1


@given(records(), st.integers(0, 30))
@settings(max_examples=100, deadline=None)
def test_a_restored_digest_tells_the_same_and_goes_on_alike(log: list[dict[str, Any]], forgotten: int) -> None:
    digest = digest_of(log, SMALL)
    digest.forget_before(START_MS + forgotten * 1000)
    again = Digest.restore(digest.snapshot(), LEXICON, SMALL)
    for one, two in ((digest.result(WINDOW), again.result(WINDOW)), (digest.totals(), again.totals())):
        assert told(one) == told(two)
        assert one.keys == two.keys
        assert one.cells == two.cells
    more = lines_of([line(at=40, key={"PK": {"S": "CASE#1"}, "SK": {"S": "META"}}, consumed={"total": 1})])
    digest.update(more)
    again.update(more)
    assert digest.totals().keys == again.totals().keys
    assert digest.read == again.read
    assert digest.hours() == again.hours()
    assert digest.calls() == again.calls()
    assert digest.slices() == again.slices()


@given(records(), st.integers(0, 50))
@settings(max_examples=50, deadline=None)
def test_totals_keep_what_windows_forget(log: list[dict[str, Any]], forgotten: int) -> None:
    digest, other = digest_of(log), digest_of(log)
    other.forget_before(START_MS + forgotten * 1000)
    whole, totals = told(digest.totals()), told(other.totals())
    assert {**totals, "refusals": None} == {**whole, "refusals": None}
    assert all(start + 10_000 > START_MS + forgotten * 1000 for start in other.slices())
    merged = Digest(LEXICON)
    merged.merge(other)
    assert told(merged.totals())["cells"] == whole["cells"]


@given(records())
@settings(max_examples=50, deadline=None)
def test_every_line_is_accounted_for(log: list[dict[str, Any]]) -> None:
    junk = [b"\xff\xfe\x00\n", b"{\n", b"[1]\n", b"\n"]
    digest = Digest(LEXICON)
    digest.update(lines_of(log) + b"".join(junk))
    assert digest.read.read == len(log)
    assert digest.read.bad == len(junk) - 1
    requests = digest.totals().values[:, Count.REQUESTS]
    assert np.sum(requests) >= len(log), "a call over several tables is one request at each"
