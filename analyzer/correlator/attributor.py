"""Attributions remembered: the same shape of the same caller is asked for in every window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.correlator.attribute import attribute

if TYPE_CHECKING:
    from analyzer.contract.model import Contract
    from analyzer.model.counts import Cell
    from analyzer.model.shape import Attribution
    from analyzer.model.target import Target

__all__ = ["Attributor"]

_MOST = 32_768


class Attributor:
    """Attributes cells under one contract; what it remembers is bounded, and begun anew when the bound is reached."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self._lexicon = contract.lexicon()
        self._known: dict[tuple[str, Target, str | None], Attribution] = {}

    def __call__(self, cell: Cell) -> Attribution:
        """Return the attribution of a cell's shape, target and caller."""
        asked = (cell.shape.fingerprint, cell.target, cell.caller)
        known = self._known.get(asked)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[asked] = attribute(cell.shape, cell.target, cell.caller, self.contract)
        return known

    def template(self, table: str, value: str) -> str:
        """Return the shape of a key value of a table, such as `CASE#<id>`."""
        return self._lexicon.template(table, value, clear="~" not in value)
