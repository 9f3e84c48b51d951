"""What a contract is drafted from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from analyzer.contract.details import Details
from analyzer.contract.model import EMPTY_CONTRACT, Contract
from analyzer.contract.rates import Rates
from analyzer.model.counts import Cell, Counts
from analyzer.model.table import TableDescription
from analyzer.model.target import Target
from analyzer.requests.lexicon import Lexicon

__all__ = ["Evidence"]


class Evidence(Struct):
    """What a contract is drafted from: counts of all requests, and what is known beside them.

    `known` is what is declared already, `is_undeclared` tells which cells that leaves, `described` tables as
    DescribeTable shows them, `doubts` what is unsure of a template, by table and text.
    """

    counts: Counts
    details: Details = field(default_factory=lambda: Details(Lexicon()))
    rates: Rates | None = None
    known: Contract = EMPTY_CONTRACT
    is_undeclared: Callable[[Cell], bool] = lambda _: True
    described: Mapping[str, TableDescription] = {}
    doubts: Mapping[tuple[str, str], str] = {}

    def declared_name(self, table: str) -> str:
        """Return the name under which a table is declared, which may be a glob; its own where it is not."""
        declaration = self.known.table(Target(None, None, table))
        return table if declaration is None else declaration.name
