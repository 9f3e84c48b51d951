"""What the readiness checklist looks at, and how a line is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.contract.model import Contract, IndexDeclaration, PatternDeclaration, TableDeclaration
from analyzer.model.finding import Finding, Status
from analyzer.model.table import TableSnapshot
from analyzer.model.traffic import PatternTraffic, Traffic
from analyzer.reports.week_values import CoverageOfContract, KeyForecast, ReadinessState, Undeclared, WeekMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Answer", "View", "agreed", "declared", "failed", "named", "not_observable", "proved"]

Answer = tuple[ReadinessState, str]
"""How a line stands, and what it rests on."""

_MOST_NAMES = 4


class View(Struct, frozen=True, kw_only=True):
    """A week as the checklist sees it; of `covered_share` nothing follows but how much anybody could see."""

    contract: Contract
    findings: tuple[Finding, ...]
    tables: tuple[TableSnapshot, ...]
    traffics: tuple[Traffic, ...]
    coverage: tuple[CoverageOfContract, ...]
    undeclared: tuple[Undeclared, ...]
    heat: WeekMap | None
    forecasts: tuple[KeyForecast, ...] | None
    covered_share: float

    def found(self, *detectors: str) -> tuple[Finding, ...]:
        """Return the findings of some detectors that nobody snoozed."""
        return tuple(one for one in self.findings if one.detector in detectors and one.status is not Status.SNOOZED)

    def rows(self) -> Iterator[tuple[Traffic, PatternTraffic]]:
        """Yield what was asked, each with where."""
        for traffic in self.traffics:
            yield from ((traffic, row) for row in traffic.rows if not row.secondary and row.requests.value > 0)

    def patterns(self) -> Iterator[tuple[TableDeclaration, PatternDeclaration]]:
        """Yield what is declared."""
        for table in self.contract.tables:
            yield from ((table, pattern) for pattern in table.patterns)

    def indexes(self) -> Iterator[tuple[TableDeclaration, IndexDeclaration]]:
        """Yield the declared indexes."""
        for table in self.contract.tables:
            yield from ((table, index) for index in table.indexes)


def proved(text: str) -> Answer:
    """Answer that traffic or the table shows it."""
    return ReadinessState.PROVED, text


def declared(text: str) -> Answer:
    """Answer that the contract says so, and nothing speaks against it."""
    return ReadinessState.DECLARED, text


def failed(text: str) -> Answer:
    """Answer that something speaks against it."""
    return ReadinessState.FAILED, text


def not_observable(text: str) -> Answer:
    """Answer that nobody can tell."""
    return ReadinessState.NOT_OBSERVABLE, text


def named(names: Iterable[str]) -> str:
    """List names, a few of them in words."""
    listed = sorted(dict.fromkeys(names))
    more = len(listed) - _MOST_NAMES
    return ", ".join(listed[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def agreed(names: Iterable[str], one: str, many: str) -> str:
    """List names before what is said of them: `one` where there is a single one, else `many`."""
    listed = tuple(names)
    return f"{named(listed)} {one if len(set(listed)) == 1 else many}"
