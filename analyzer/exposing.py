"""What one rendering of the metrics is made of, and the rendering. Pure: it runs beside the loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.exporters.assemble import Health, Kept, Ledger, assemble, count_dropped
from analyzer.exporters.from_counts import target_labels
from analyzer.exporters.lags import count_lags
from analyzer.exporters.prometheus import Exposition, render
from analyzer.model.counts import Cell, Counts
from analyzer.model.report import Report
from analyzer.model.traffic import Traffic
from analyzer.restate import Namer
from analyzer.setup import Setup

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Rendering", "View", "expose", "labels_of"]


class View(Struct, frozen=True):
    """What one rendering of the metrics shows; it is `of_analysis` where it follows one."""

    health: Health
    totals: Counts | None
    report: Report | None
    ledger: Ledger
    patterns: dict[str, str]
    restated: dict[Cell, Cell]
    setup: Setup
    of_analysis: bool
    hour: tuple[Traffic, ...] = ()


class Rendering(Struct, frozen=True):
    """The metrics as they are served, and what is to be remembered of them."""

    exposition: Exposition
    kept: Kept
    patterns: dict[str, str]


def expose(view: View) -> Rendering:
    """Render the metrics of what was concluded last."""
    namer, place_of = Namer(view.setup.contract, view.patterns, view.restated), labels_of(view.setup)
    ledger = msgspec.structs.replace(view.ledger, kept=count_lags(view.ledger.kept, view.hour, place_of))
    table = assemble(view.health, view.totals, view.report, ledger, namer, place_of)
    kept = count_dropped(table, ledger.kept, is_analysis=view.of_analysis)
    return Rendering(render(table), kept, namer.patterns)


def labels_of(setup: Setup) -> Callable[..., tuple[str, ...]]:
    """Return what makes the labels of a target."""
    return partial(target_labels, account=setup.account, region=setup.region)
