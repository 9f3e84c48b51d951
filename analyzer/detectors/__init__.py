"""The detectors, in the order in which the documentation lists them."""

from __future__ import annotations

from analyzer.detectors.contract.pattern_drift import PatternDrift
from analyzer.detectors.contract.undeclared_pattern import UndeclaredPattern
from analyzer.detectors.contract.unused_pattern import UnusedPattern
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
from analyzer.detectors.indexes.gsi_consistent_read import GsiConsistentRead
from analyzer.detectors.indexes.gsi_lag import GsiLag
from analyzer.detectors.indexes.gsi_stale_read import GsiStaleRead
from analyzer.detectors.indexes.index_building import IndexBuilding
from analyzer.detectors.indexes.item_collection_limit import ItemCollectionLimit
from analyzer.detectors.indexes.missing_index import MissingIndex
from analyzer.detectors.indexes.unused_index import UnusedIndex
from analyzer.detectors.indexes.write_amplification import WriteAmplification
from analyzer.detectors.reads.count_by_reading import CountByReading
from analyzer.detectors.reads.declared_scan import DeclaredScan
from analyzer.detectors.reads.empty_page_stop import EmptyPageStop
from analyzer.detectors.reads.filter_heavy_query import FilterHeavyQuery
from analyzer.detectors.reads.limit_before_filter import LimitBeforeFilter
from analyzer.detectors.reads.missing_pagination import MissingPagination
from analyzer.detectors.reads.n_plus_one import NPlusOne
from analyzer.detectors.reads.polling_read import PollingRead
from analyzer.detectors.reads.strong_read_cost import StrongReadCost
from analyzer.detectors.reads.unexpected_scan import UnexpectedScan
from analyzer.detectors.reads.unpaced_scan import UnpacedScan
from analyzer.detectors.writes.conditional_contention import ConditionalContention
from analyzer.detectors.writes.idempotency_mismatch import IdempotencyMismatch
from analyzer.detectors.writes.item_growth import ItemGrowth
from analyzer.detectors.writes.item_too_large import ItemTooLarge
from analyzer.detectors.writes.replication_lag import ReplicationLag
from analyzer.detectors.writes.stream_lag import StreamLag
from analyzer.detectors.writes.stuck_lock import StuckLock
from analyzer.detectors.writes.transaction_conflict import TransactionConflict
from analyzer.detectors.writes.ttl_invalid import TtlInvalid
from analyzer.detectors.writes.ttl_stale_read import TtlStaleRead
from analyzer.detectors.writes.unconditional_write import UnconditionalWrite
from analyzer.detectors.writes.unneeded_transaction import UnneededTransaction
from analyzer.detectors.writes.unprocessed_dropped import UnprocessedDropped
from analyzer.detectors.writes.write_cost import WriteCost

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
    GsiLag,
    GsiStaleRead,
    GsiConsistentRead,
    UnusedIndex,
    MissingIndex,
    IndexBuilding,
    WriteAmplification,
    ItemCollectionLimit,
    UnexpectedScan,
    DeclaredScan,
    UnpacedScan,
    FilterHeavyQuery,
    LimitBeforeFilter,
    EmptyPageStop,
    MissingPagination,
    CountByReading,
    NPlusOne,
    PollingRead,
    StrongReadCost,
    ItemGrowth,
    ItemTooLarge,
    WriteCost,
    UnneededTransaction,
    TransactionConflict,
    ConditionalContention,
    StuckLock,
    UnprocessedDropped,
    TtlInvalid,
    TtlStaleRead,
    UnconditionalWrite,
    IdempotencyMismatch,
    ReplicationLag,
    StreamLag,
    UndeclaredPattern,
    UnusedPattern,
    PatternDrift,
)
