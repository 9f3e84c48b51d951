from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from analyzer.contract.load import contract_from
from analyzer.correlator.attribute import attribute
from analyzer.model.shape import PartShape, Shape
from analyzer.model.target import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.contract.model import Contract
    from analyzer.model.shape import Attribution

Condition = tuple[str, str, tuple[str, ...]]


class Ask(Protocol):
    """Attribute a request that is told by its operation and conditions."""

    def __call__(
        self,
        declared: Mapping[str, object] | Sequence[Mapping[str, object]] | Contract,
        operation: str,
        *conditions: Condition,
        caller: str | None = None,
        parts: Sequence[tuple[str, tuple[Condition, ...]]] = (),
        **fields: object,
    ) -> Attribution: ...


TABLE = {
    "name": "cases",
    "partition_key": "PK",
    "sort_key": "SK",
    "indexes": [{"name": "GSI1", "partition_key": "GSI1PK", "sort_key": "GSI1SK"}],
}


@pytest.fixture
def declare() -> object:
    def declared(*patterns: Mapping[str, object], **table: object) -> Contract:
        return contract_from({"tables": [TABLE | table | {"patterns": list(patterns)}]})

    return declared


@pytest.fixture
def ask() -> Ask:
    def asked(
        declared: Mapping[str, object] | Sequence[Mapping[str, object]] | Contract,
        operation: str,
        *conditions: Condition,
        caller: str | None = None,
        parts: Sequence[tuple[str, tuple[Condition, ...]]] = (),
        **fields: object,
    ) -> Attribution:
        if isinstance(declared, dict):
            declared = [declared]
        contract = (
            contract_from({"tables": [TABLE | {"patterns": declared}]}) if isinstance(declared, list) else declared
        )
        lexicon = contract.lexicon()  # type: ignore[union-attr]
        table = str(fields.pop("table", "cases"))
        shape = Shape(
            fingerprint="f",
            operation=operation,
            table=table,
            key=tuple(lexicon.classify(table, *condition) for condition in conditions),
            parts=tuple(PartShape(op, tuple(lexicon.classify(table, *c) for c in part)) for op, part in parts),
            **fields,  # type: ignore[arg-type]
        )
        return attribute(shape, Target(None, None, table), caller, contract)  # type: ignore[arg-type]

    return asked
