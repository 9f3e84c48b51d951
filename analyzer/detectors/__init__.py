"""The detectors, in the order in which the documentation lists them."""

from __future__ import annotations

from analyzer.detectors.contract.undeclared_pattern import UndeclaredPattern
from analyzer.detectors.heat.autoscale_lag import AutoscaleLag
from analyzer.detectors.heat.hot_key import HotKey
from analyzer.detectors.heat.latency_shift import LatencyShift
from analyzer.detectors.heat.low_cardinality_key import LowCardinalityKey
from analyzer.detectors.heat.queue_like_table import QueueLikeTable
from analyzer.detectors.heat.request_errors import RequestErrors
from analyzer.detectors.heat.retry_storm import RetryStorm
from analyzer.detectors.heat.service_fault import ServiceFault
from analyzer.detectors.heat.silent_throttling import SilentThrottling
from analyzer.detectors.heat.sub_minute_burst import SubMinuteBurst
from analyzer.detectors.heat.throttling import Throttling
from analyzer.detectors.heat.unpaced_bulk import UnpacedBulk
from analyzer.detectors.indexes.gsi_back_pressure import GsiBackPressure
from analyzer.detectors.indexes.missing_index import MissingIndex
from analyzer.detectors.reads.declared_scan import DeclaredScan
from analyzer.detectors.reads.filter_heavy_query import FilterHeavyQuery
from analyzer.detectors.reads.unexpected_scan import UnexpectedScan

DETECTORS = (
    HotKey,
    LowCardinalityKey,
    Throttling,
    SilentThrottling,
    RetryStorm,
    SubMinuteBurst,
    AutoscaleLag,
    QueueLikeTable,
    LatencyShift,
    ServiceFault,
    RequestErrors,
    UnpacedBulk,
    GsiBackPressure,
    MissingIndex,
    UnexpectedScan,
    DeclaredScan,
    FilterHeavyQuery,
    UndeclaredPattern,
)
