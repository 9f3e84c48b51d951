"""The detectors, in the order in which the documentation lists them."""

from __future__ import annotations

from analyzer.detectors.contract.undeclared_pattern import UndeclaredPattern
from analyzer.detectors.heat.hot_key import HotKey
from analyzer.detectors.heat.throttling import Throttling
from analyzer.detectors.indexes.gsi_back_pressure import GsiBackPressure
from analyzer.detectors.indexes.missing_index import MissingIndex
from analyzer.detectors.reads.declared_scan import DeclaredScan
from analyzer.detectors.reads.filter_heavy_query import FilterHeavyQuery
from analyzer.detectors.reads.unexpected_scan import UnexpectedScan

DETECTORS = (
    HotKey,
    Throttling,
    GsiBackPressure,
    MissingIndex,
    UnexpectedScan,
    DeclaredScan,
    FilterHeavyQuery,
    UndeclaredPattern,
)
