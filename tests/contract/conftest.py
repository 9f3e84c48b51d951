from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from analyzer.contract.lint import lint
from analyzer.contract.load import contract_from, read_text
from analyzer.model.counts import LATENCY_BOUNDS_MS, N_COUNTS, Cell, Count, Counts
from analyzer.model.shape import KeyPredicate, PartShape, Shape
from analyzer.model.target import Target
from analyzer.model.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from analyzer.contract.lint import Remark
    from analyzer.contract.load import Reading
    from analyzer.contract.scope import Limits

TABLE = {
    "name": "cases",
    "partition_key": "PK",
    "sort_key": "SK",
    "owner": "team",
    "indexes": [{"name": "GSI1", "partition_key": "GSI1PK", "sort_key": "GSI1SK", "staleness_tolerance": "5s"}],
}
QUIET = {"rate": {"p95": 1}, "page_size": 10}


@pytest.fixture
def read() -> Callable[[str], Reading]:
    """Read a contract from a text; the kind is told by the name's suffix."""

    def reading(text: str, name: str = "c.yaml") -> Reading:
        return read_text(text, name)

    return reading


@pytest.fixture
def faults(read: Callable[..., Reading]) -> Callable[..., list[str]]:
    """Return the faults of a text, each as one line."""

    def told(text: str, name: str = "c.yaml") -> list[str]:
        return [str(fault) for fault in read(text, name).faults]

    return told


@pytest.fixture
def judge() -> Callable[..., list[Remark]]:
    """Lint one table made of patterns and whatever else is said of it."""

    def judged(
        *patterns: dict[str, object], limits: Limits | None = None, callers: object = None, **table: object
    ) -> list[Remark]:
        document = {"tables": [TABLE | table | {"patterns": [QUIET | p for p in patterns]}], "callers": callers or {}}
        return list(lint(contract_from(document), limits))

    return judged


@pytest.fixture
def rules(judge: Callable[..., list[Remark]]) -> Callable[..., dict[str, str]]:
    """Return the severity of each rule that objects, but for what the fixture's table itself lacks."""

    def told(*patterns: Mapping[str, object], **rest: object) -> dict[str, str]:
        found = {remark.rule: remark.severity for remark in judge(*patterns, **rest)}
        if "indexes" not in rest:
            found.pop("unserved-index", None)
        return found

    return told


Predicate = tuple[str, str, str]


@pytest.fixture
def shape() -> Callable[..., Shape]:
    """Build a shape from (attribute, operator, template) triples."""

    def built(
        operation: str, *key: Predicate, table: str = "cases", parts: Sequence[Sequence[Predicate]] = (), **rest: object
    ) -> Shape:
        return Shape(
            fingerprint=f"{operation}{key}{sorted(rest)}",
            operation=operation,
            table=table,
            key=tuple(KeyPredicate(*predicate) for predicate in key),
            parts=tuple(PartShape("Get", tuple(KeyPredicate(*p) for p in part)) for part in parts),
            scans=operation == "Scan",
            **rest,  # type: ignore[arg-type]
        )

    return built


@pytest.fixture
def counted() -> Callable[..., Counts]:
    """Count shapes: (shape, caller, requests in each slice, sample rate)."""

    def built(*seen: tuple[Shape, str | None, Sequence[int], float], **rest: object) -> Counts:
        slices = max((len(each) for _, _, each, _ in seen), default=0)
        values = np.zeros((len(seen), N_COUNTS), dtype=np.int64)
        series = np.zeros((slices, len(seen), 3), dtype=np.int64)
        for number, (_, _, each, _) in enumerate(seen):
            values[number, Count.REQUESTS] = sum(each)
            series[: len(each), number, 0] = each
        return Counts(
            window=Window(0, slices * 10_000),
            cells=tuple(Cell(Target(None, None, s.table, s.index), s, caller, rate) for s, caller, _, rate in seen),
            values=values,
            series=series,
            latency=np.zeros((len(seen), len(LATENCY_BOUNDS_MS) + 1), dtype=np.int64),
            **rest,  # type: ignore[arg-type]
        )

    return built
