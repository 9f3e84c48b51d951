"""Cells and what arithmetic needs to know of each: its weight, its target and direction."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import msgspec

from analyzer.model.counts import Cell
from analyzer.model.finding import Direction
from analyzer.model.target import Target
from analyzer.requests.shapes import Skeleton

if TYPE_CHECKING:
    from analyzer.requests.lexicon import Lexicon

__all__ = ["WEIGHT_SCALE", "WRITE_OPERATIONS", "CellTable", "is_local_index", "rounded_rate", "unparsed_skeleton"]

WRITE_OPERATIONS = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})

WEIGHT_SCALE = 1024
"""Weights of keys are half-units in 1024ths, so that dividing by a sample rate leaves whole numbers."""

_RATE_DIGITS = 4
_REST_SHARE = 16
"""How far over the bound of cells there is room for what is told apart by table and operation alone."""

_NAMELESS = "other"

Place = tuple[str, str | None, bool]
"""Table, index that the request named, and whether it writes: what the meaning of its units depends on."""


def rounded_rate(rate: float) -> float:
    """Round a sample rate to four digits: a reservoir's rates would otherwise make a cell for each."""
    return rate if rate == 1.0 else float(f"{rate:.{_RATE_DIGITS}g}")


def is_local_index(lexicon: Lexicon, table: str, index: str) -> bool:
    """Whether an index has its table's partition key and is not declared as global: its units count on the table."""
    if lexicon.is_global(table, index):
        return False
    of_table, of_index = lexicon.schema(table), lexicon.schema(table, index)
    return of_table is not None and of_index is not None and of_table[0] == of_index[0]


class CellTable:
    """Every cell that was ever seen, by number; numbers never change.

    `weights` holds what one half-unit weighs in a sketch, `side_of` the number of target and direction, `place_of` that
    of what its units depend on.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.cells: list[Cell] = []
        self._numbers: dict[Cell, int] = {}
        self.sides: list[tuple[Target, Direction]] = []
        self._side_numbers: dict[tuple[Target, Direction], int] = {}
        self.weights = array("q")
        self.side_of = array("q")
        self.places: list[Place] = []
        self._place_numbers: dict[Place, int] = {}
        self.place_of = array("q")
        self.squeezed: set[int] = set()

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def is_full(self) -> bool:
        """Whether the bound is reached: what comes now is counted with the unparsed."""
        return len(self.cells) >= self._most

    def number(self, cell: Cell) -> int:
        """Return the number of a cell; beyond the bound that of its table's and operation's unparsed shape."""
        number = self._numbers.get(cell)
        if number is None:
            number = self._add(cell) if not self.is_full else self._squeeze(cell)
        return number

    def restore(self, cell: Cell) -> None:
        """Add a cell of a snapshot, whatever the bound."""
        self._add(cell)

    def secondary(self, number: int, target: Target) -> int:
        """Return the cell of what a call of another cell cost at an index."""
        return self.number(msgspec.structs.replace(self.cells[number], target=target, secondary=True))

    def _add(self, cell: Cell) -> int:
        number = self._numbers[cell] = len(self.cells)
        self.cells.append(cell)
        self.weights.append(round(WEIGHT_SCALE / cell.sample_rate))
        direction = Direction.WRITE if cell.shape.writes else Direction.READ
        self.side_of.append(self.side(cell.target, direction))
        place = (cell.target.table, cell.shape.index, cell.shape.writes)
        if place not in self._place_numbers:
            self._place_numbers[place] = len(self.places)
            self.places.append(place)
        self.place_of.append(self._place_numbers[place])
        return number

    def _squeeze(self, cell: Cell) -> int:
        """Count under one shape a table and operation, no caller; where even those are many, under no name at all."""
        shape = cell.shape
        rest = Cell(
            cell.target,
            unparsed_skeleton(shape.operation, shape.table, shape.index, writes=shape.writes).shape(()),
            None,
            cell.sample_rate,
            cell.secondary,
        )
        number = self._numbers.get(rest)
        if number is None and len(self.cells) >= self._most + max(1, self._most // _REST_SHARE):
            nameless = unparsed_skeleton(_NAMELESS, _NAMELESS, None, writes=shape.writes).shape(())
            rest = Cell(Target(None, None, _NAMELESS), nameless, None, cell.sample_rate, cell.secondary)
            number = self._numbers.get(rest)
        if number is None:
            number = self._add(rest)
        self.squeezed.add(number)
        return number

    def side(self, target: Target, direction: Direction) -> int:
        """Return the number of a target and direction."""
        side = (target, direction)
        number = self._side_numbers.get(side)
        if number is None:
            number = self._side_numbers[side] = len(self.sides)
            self.sides.append(side)
        return number


def unparsed_skeleton(operation: str, table: str, index: str | None, *, writes: bool) -> Skeleton:
    """Return the one skeleton of a table, index and operation into which everything falls that was not looked at."""
    return Skeleton(
        operation=operation, table=table, index=index, scans=operation == "Scan", writes=writes, parsed=False
    )
