"""Whether what is declared can work: the design rules that `dynascope check` applies beside those of form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from analyzer.contract.faults import did_you_mean
from analyzer.contract.rules import RULES
from analyzer.contract.scope import Limits, Objection, Scope
from analyzer.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.contract.model import Contract

__all__ = ["Remark", "lint", "rule_name", "unknown_detectors"]


class Remark(Objection, frozen=True):
    """An objection of one rule to one table; `rule` is the stable name to look it up by."""

    rule: str
    table: str

    def __str__(self) -> str:
        """Write `file:line: severity rule: field: message; mend`."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.severity} {self.rule}: {self.field}: {self.message}; {self.mend}"


def lint(contract: Contract, limits: Limits | None = None) -> tuple[Remark, ...]:
    """Apply every rule to every table, in the order of the files; `limits` are what the account allows."""
    remarks = []
    for table in contract.tables:
        scope = Scope(table, contract, limits or Limits())
        for rule in RULES:
            remarks += [
                Remark(**msgspec.structs.asdict(objection), rule=rule_name(rule), table=table.name)
                for objection in rule(scope)
            ]
    return tuple(sorted(remarks, key=lambda r: (r.file, r.line or 0, r.severity, r.rule, r.field)))


def unknown_detectors(contract: Contract, names: Sequence[str]) -> tuple[Fault, ...]:
    """Return the allowances of detectors that do not exist: they would accept nothing."""
    return tuple(
        Fault(
            pattern.file,
            pattern.line,
            f"tables.{table.name}.patterns.{pattern.id}.allow",
            f"{allowance.detector!r} is no detector",
            did_you_mean(allowance.detector, names),
        )
        for table in contract.tables
        for pattern in table.patterns
        for allowance in pattern.allow
        if allowance.detector not in names
    )


def rule_name(rule: object) -> str:
    """Return the stable name of a rule: that of its function, with dashes."""
    return str(getattr(rule, "__name__", rule)).replace("_", "-")
