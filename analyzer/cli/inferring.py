"""Reads request logs twice for `infer`: once to learn the templates of their keys, once to count by them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec

from analyzer.cli.reading import read_blocks
from analyzer.cli.stretch import refuse_ages
from analyzer.contract.details import Details
from analyzer.contract.evidence import Evidence
from analyzer.contract.model import EMPTY_CONTRACT
from analyzer.contract.rates import Rates
from analyzer.contract.templates_samples import KeySamples
from analyzer.correlator.attributor import Attributor
from analyzer.model.instant import SLICE_MS
from analyzer.model.request import RequestRecord
from analyzer.model.shape import AttributionKind
from analyzer.model.window import Window
from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon
from collectors.request_log.decoders.schema import DeclaredKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from analyzer.cli.reading import LogFile
    from analyzer.contract.model import Contract
    from analyzer.model.table import TableDescription

__all__ = ["gather_evidence"]

_EACH = 20_000
"""So many records are looked at one by one, then one in two, then one in four, and so on to the end of the logs."""

_MOST_SLICES = 1_000
_WIDEST = 720
"""Slices of which a digest tells a series at once."""

_SETTLE_MS = 120_000
_NAMING = frozenset({"GetItem", "UpdateItem", "DeleteItem"})
"""Operations whose request names the whole key of its table."""


class _Sample:
    """Decodes records of a log, ever fewer of them the longer it is."""

    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder(RequestRecord).decode
        self._chosen = 0
        self._share = 1.0
        self._random = random.Random(1)  # noqa: S311 -- which records are looked at is no secret

    def of(self, block: bytes) -> Iterator[RequestRecord]:
        """Yield some of the records of a block; what is no record is left to the digest, which counts it."""
        for line in block.splitlines():
            if self._share < 1 and self._random.random() >= self._share:
                continue
            self._chosen += 1
            if self._chosen % _EACH == 0:
                self._share /= 2
            try:
                record = self._decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
            yield record


def gather_evidence(
    files: Sequence[LogFile],
    known: Contract = EMPTY_CONTRACT,
    described: Mapping[str, TableDescription] | None = None,
    seen: Callable[[int], None] | None = None,
) -> Evidence | None:
    """Read logs that lie still; None where they hold no request. `seen` is told the bytes read, each file twice."""
    samples, named = _sampled(files, known, described, seen)
    if named:  # puts came before the key of their table was known: they are read again by it
        for file in files:
            file.declared = (*file.declared, *named)
        samples, _ = _sampled(files, known, described, None)
    lexicon = Lexicon(samples.tables())
    digest, rates, details, sample = Digest(lexicon), Rates(), Details(lexicon), _Sample()
    for file in files:
        for block in read_blocks(file, seen=seen):
            digest.update(block)
            for record in sample.of(block):
                details.add(record)
            slices = digest.slices()
            if len(slices) > _MOST_SLICES:
                _harvest(digest, rates, slices[-1] - _SETTLE_MS)
    span = digest.span()
    if span is None:
        return None
    refuse_ages(span, "take its record out")
    _harvest(digest, rates, span.end)
    attribute = Attributor(known)
    return Evidence(
        counts=digest.totals(),
        details=details,
        rates=rates,
        known=known,
        is_undeclared=lambda cell: attribute(cell).kind is AttributionKind.UNDECLARED,
        described=described or {},
        doubts=samples.unsure,
    )


def _sampled(
    files: Sequence[LogFile],
    known: Contract,
    described: Mapping[str, TableDescription] | None,
    seen: Callable[[int], None] | None,
) -> tuple[KeySamples, list[DeclaredKeys]]:
    """Look at the keys of logs; return them, and the key attributes of tables whose puts did not tell theirs yet."""
    samples, sample = KeySamples(known, described), _Sample()
    keys: dict[str, tuple[str, ...]] = {}
    blind: dict[str, None] = {}
    for file in files:
        for block in read_blocks(file, seen=seen):
            for record in sample.of(block):
                samples.add(record)
                if file.decoder is None or record.table is None:
                    continue
                if record.op in _NAMING and record.key:
                    keys.setdefault(record.table, tuple(record.key))
                elif record.op == "PutItem" and not record.key:
                    blind[record.table] = None
    return samples, [DeclaredKeys(table, keys[table]) for table in blind if table in keys]


def _harvest(digest: Digest, rates: Rates, until: int) -> None:
    """Take the series of all slices before a time, and let the digest forget them."""
    starts = [start for start in digest.slices() if start < until]
    while starts:
        window = Window(starts[0], min(starts[-1], starts[0] + (_WIDEST - 1) * SLICE_MS) + SLICE_MS)
        rates.take(digest.result(window))
        starts = [start for start in starts if start >= window.end]
    digest.forget_before(until)
