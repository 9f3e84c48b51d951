"""The fast digest says of the demo's log what the plain one says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from analyzer.contract.load import load_contract
from analyzer.model.counts import Cell, Counts, KeyLevel
from analyzer.model.request import RequestRecord
from analyzer.model.window import Window
from analyzer.requests import digest_heavy
from analyzer.requests.digest import Digest
from analyzer.requests.digest_limits import DigestLimits
from tests.support.plain_digest import PlainDigest

if TYPE_CHECKING:
    from analyzer.requests.lexicon import Lexicon

ROOT = Path(__file__).parents[2]
LOG = gzip.decompress((ROOT / "tests/data/demo.jsonl.gz").read_bytes())


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_contract([ROOT / "deploy/demo/contract.yaml"]).lexicon()


@pytest.fixture(scope="module")
def plain(lexicon: Lexicon) -> PlainDigest:
    digest = PlainDigest(lexicon)
    lines = [line for line in LOG.splitlines() if b'"counter"' not in line]
    digest.update_records(msgspec.json.decode(line, type=RequestRecord) for line in lines)
    return digest


@pytest.fixture(scope="module")
def fast(lexicon: Lexicon) -> Digest:
    digest = Digest(lexicon)
    digest.update(LOG)
    return digest


def windows(plain: PlainDigest) -> list[Window]:
    starts = plain.slices()
    return [Window(starts[0], starts[-1] + 10_000), *(Window(start, start + 20_000) for start in starts[::3])]


def by_cell(counts: Counts) -> dict[Cell, list[int]]:
    return {cell: row for cell, row in zip(counts.cells, counts.values.tolist(), strict=True) if any(row)}


def test_slices_spans_and_hours_agree(plain: PlainDigest, fast: Digest) -> None:
    assert list(fast.slices()) == plain.slices()
    assert fast.span() == plain.span()
    assert fast.hours() == plain.hours()


def test_every_count_of_every_cell_agrees(plain: PlainDigest, fast: Digest) -> None:
    for window in windows(plain):
        assert by_cell(fast.result(window)) == by_cell(plain.result(window))


def test_latencies_and_series_agree(plain: PlainDigest, fast: Digest) -> None:
    for window in windows(plain):
        ours, theirs = fast.result(window), plain.result(window)
        order = [ours.cells.index(cell) for cell in theirs.cells if cell in ours.cells]
        known = [number for number, cell in enumerate(theirs.cells) if cell in ours.cells]
        assert np.array_equal(ours.latency[order], theirs.latency[known])
        assert np.array_equal(ours.series[:, order], theirs.series[:, known])


def test_refused_tries_and_calls_agree(plain: PlainDigest, fast: Digest) -> None:
    for window in windows(plain):
        ours, theirs = fast.result(window), plain.result(window)
        assert sorted((r.code, r.calls) for r in ours.refusals) == sorted((r.code, r.calls) for r in theirs.refusals)
        assert sorted((t.reason, str(t.resource), t.tries, t.failed) for t in ours.throttles) == sorted(
            (t.reason, str(t.resource), t.tries, t.failed) for t in theirs.throttles
        )


def test_the_true_weight_of_every_heavy_key_lies_within_its_bounds(plain: PlainDigest, fast: Digest) -> None:
    for window in windows(plain):
        truth = {(h.target, h.direction): {k.name: k.low for k in h.keys} for h in plain.result(window).keys}
        for heavy in fast.result(window).keys:
            weights = truth.get((heavy.target, heavy.direction), {})
            for key in heavy.keys:
                if key.name.level is not KeyLevel.PREFIX and key.name in weights:
                    assert key.low <= weights[key.name] <= key.high


def test_what_is_remembered_of_values_and_numbers_is_bounded_and_changes_nothing(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = DigestLimits(rows=200, batch=200)
    wanted, digest = Digest(lexicon, limits), Digest(lexicon, limits)
    lines = LOG.splitlines(keepends=True)
    blocks = [b"".join(lines[at : at + 200]) for at in range(0, len(lines), 200)]
    for block in blocks:
        wanted.update(block)
    monkeypatch.setattr(digest_heavy, "_MOST_NAMES", 4)
    digest._columns.router._most_values = 1
    for block in blocks:
        digest.update(block)
    assert len(digest._columns.router._valued) == 1
    assert by_cell(digest.totals()) == by_cell(wanted.totals())
    assert digest.totals().keys == wanted.totals().keys
