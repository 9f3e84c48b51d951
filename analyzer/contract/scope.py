"""What a design rule sees, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import UNNAMED, Contract, PatternDeclaration, TableDeclaration
from analyzer.knowledge.limits import GSIS_A_TABLE, LSIS_A_TABLE

if TYPE_CHECKING:
    from analyzer.contract.model import IndexDeclaration

__all__ = ["FAIL", "WARN", "Limits", "Objection", "Scope", "of_index", "of_pattern", "of_table"]

FAIL = "fail"
WARN = "warn"


class Limits(Struct, frozen=True):
    """What the account allows, and how strict to be; AWS raises the number of GSIs on request.

    `today`, as in 2026-11-30, tells which days are over; without it none is.
    """

    gsis: int = GSIS_A_TABLE
    lsis: int = LSIS_A_TABLE
    strict: bool = False
    today: str | None = None


class Scope(Struct, frozen=True):
    """One table, inside the whole contract."""

    table: TableDeclaration
    contract: Contract
    limits: Limits


class Objection(Struct, frozen=True):
    """What is said of one place of a table; `severity` is fail or warn."""

    severity: str
    field: str
    file: str
    line: int | None
    message: str
    mend: str


def of_pattern(severity: str, pattern: PatternDeclaration, message: str, mend: str) -> Objection:
    """Object to a pattern."""
    return Objection(severity, pattern.id, pattern.file, pattern.line, message, mend)


def of_index(severity: str, index: IndexDeclaration, message: str, mend: str) -> Objection:
    """Object to an index."""
    return Objection(severity, index.name, index.file, index.line, message, mend)


def of_table(severity: str, table: TableDeclaration, message: str, mend: str) -> Objection:
    """Object to a table."""
    name = "the table" if table.name == UNNAMED else table.name
    return Objection(severity, name, table.file, table.line, message, mend)
