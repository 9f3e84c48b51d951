"""The one table of metrics: names are an API, dashboards and people's alerts depend on them.

Labels named in TARGET come first where a metric speaks of a table or index. No label ever holds a key, the text of a
fingerprint or a request id. The reference page is written from this table, and a test compares them.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from analyzer.model.counts import LATENCY_BOUNDS_MS

__all__ = ["BY_NAME", "DURATION_BUCKETS", "METRICS", "TARGET", "Kind", "Metric", "reference_page"]

TARGET = ("account_id", "aws_region", "table", "index")
"""What a metric is about; `index` is empty for the base table, any of them where it is not known."""

DURATION_BUCKETS: tuple[int, ...] = tuple(
    place for place, bound in enumerate(LATENCY_BOUNDS_MS) if bound >= 1 and float(bound).is_integer()
)[:15]
"""Places in LATENCY_BOUNDS_MS that become buckets of the histogram: the powers of two from 1 ms to 16 s."""


class Kind(StrEnum):
    """Prometheus' types; `info` is a gauge of 1 in the old text format."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    INFO = "info"


class Metric(Struct, frozen=True, kw_only=True):
    """One metric: at most `most_series` label sets are published, the rest are counted.

    What a counter cannot name any more goes into one series a table whose labels say `other`, so that sums stay true.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    of_target: bool = False
    most_series: int = 2000

    @property
    def label_names(self) -> tuple[str, ...]:
        """Every label, those of the target first."""
        return (*TARGET, *self.labels) if self.of_target else self.labels


def _counter(name: str, text: str, *labels: str, of_target: bool = True, most_series: int = 2000) -> Metric:
    return Metric(name=name, kind=Kind.COUNTER, help=text, labels=labels, of_target=of_target, most_series=most_series)


def _gauge(name: str, text: str, *labels: str, of_target: bool = True, most_series: int = 2000) -> Metric:
    return Metric(name=name, kind=Kind.GAUGE, help=text, labels=labels, of_target=of_target, most_series=most_series)


_ESTIMATE = "An estimate of all of them: each record counts as 1 ÷ sample_rate."

METRICS: tuple[Metric, ...] = (
    _counter(
        "dynascope_requests_total",
        f"Requests by declared pattern (or undeclared, ambiguous, unparsed, other). {_ESTIMATE}",
        "operation",
        "pattern",
    ),
    _counter(
        "dynascope_request_errors_total",
        f"Requests that ended in an error, by its code. {_ESTIMATE}",
        "operation",
        "pattern",
        "code",
    ),
    _counter("dynascope_read_units_total", f"Read units consumed, where the log tells them. {_ESTIMATE}", "pattern"),
    _counter(
        "dynascope_write_units_total",
        f"Write units consumed, where the log tells them; those of an index stand at the index. {_ESTIMATE}",
        "pattern",
    ),
    _counter(
        "dynascope_wasted_read_units_total",
        f"Read units spent on items that a filter threw away. {_ESTIMATE}",
        "pattern",
    ),
    _counter(
        "dynascope_items_scanned_total",
        f"Items read, where the log tells both scanned and returned. {_ESTIMATE}",
        "pattern",
    ),
    _counter(
        "dynascope_items_returned_total",
        f"Items returned, where the log tells both scanned and returned. {_ESTIMATE}",
        "pattern",
    ),
    _counter(
        "dynascope_throttles_total",
        f"Throttled tries, at the table or index whose limit it was. {_ESTIMATE}",
        "direction",
        "cause",
        "source",
    ),
    Metric(
        name="dynascope_request_duration_seconds",
        kind=Kind.HISTOGRAM,
        help=f"Duration of requests as the client saw it, retries included. {_ESTIMATE}",
        labels=("operation",),
        of_target=True,
        most_series=300,
    ),
    _gauge(
        "dynascope_key_heat_ratio",
        "Demand ÷ ceiling of the hottest partition keys; rank 1 is the hottest. Which keys: see the report.",
        "rank",
        "direction",
    ),
    _gauge("dynascope_key_heat_ratio_low", "Lower bound of dynascope_key_heat_ratio.", "rank", "direction"),
    _gauge("dynascope_key_heat_ratio_high", "Upper bound of dynascope_key_heat_ratio.", "rank", "direction"),
    Metric(
        name="dynascope_gsi_lag_seconds",
        kind=Kind.HISTOGRAM,
        help=(
            "How long writes took to appear in an index, by what reads and the canary saw: each write counts once, two "
            "minutes after it, with both bounds. One that no read showed has no upper bound: it counts in +Inf alone."
        ),
        labels=("bound",),
        of_target=True,
        most_series=300,
    ),
    _gauge(
        "dynascope_finding_active",
        "1 while a finding is open, 0 when it just closed or is snoozed.",
        "detector",
        "severity",
        "pattern",
        "cause",
    ),
    _gauge(
        "dynascope_change_timestamp_seconds",
        "When something was last changed, by what it was; `table` is empty where it may be of every table.",
        "what",
        most_series=500,
    ),
    _gauge(
        "dynascope_capacity_consumed_ratio",
        "Consumed units a second ÷ capacity of the table or index, over the window.",
        "direction",
    ),
    Metric(
        name="dynascope_coverage_ratio",
        kind=Kind.GAUGE,
        help="Units that the request log explains ÷ units that AWS billed.",
        labels=("direction",),
        of_target=True,
    ),
    Metric(
        name="dynascope_table_info",
        kind=Kind.INFO,
        help="What is known and declared of a table.",
        labels=("billing_mode", "class", "owner"),
        of_target=True,
    ),
    _gauge("dynascope_source_up", "1 while a source can be read.", "source", of_target=False),
    _gauge(
        "dynascope_source_last_success_timestamp_seconds",
        "When a source last gave something.",
        "source",
        of_target=False,
    ),
    _gauge(
        "dynascope_source_delay_seconds",
        "How far behind the present a source was at the last analysis: the age of the newest record read.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_gaps_total",
        "What could not be looked at, counted once an analysis.",
        "source",
        "reason",
        of_target=False,
    ),
    _gauge(
        "dynascope_skipped_detectors",
        "Tables and indexes that a detector could not judge in the last analysis.",
        "detector",
        of_target=False,
    ),
    _counter(
        "dynascope_records_read_total",
        "Records that were counted as requests, late ones included.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_bad_total",
        "Lines that are no record: not JSON, a field missing or wrong, an unknown version, longer than the bound.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_dropped_total",
        "Records that a sampler could not write and says so.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_late_total",
        "Records over two minutes behind the newest one (`limits.late_ms`); they are counted as requests all the same.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_future_total",
        "Records with a time more than a minute ahead of the clock; they are not counted as requests.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_duplicate_total",
        "Records seen before by request id; they are not counted as requests again.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_squeezed_total",
        "Requests counted as unparsed because a bound of what is kept in memory was reached; see `limits`.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_joined_total",
        "Records that were one with another log's record of the same request; counted since the process began.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_records_set_aside_total",
        "Records of a table and minute for which another log is counted; counted since the process began.",
        "source",
        of_target=False,
    ),
    _counter(
        "dynascope_marks_dropped_total",
        "Marks of changes that made room for newer ones; counted since the process began.",
        of_target=False,
    ),
    _counter(
        "dynascope_dropped_total",
        "What there was no room for, each time that it came: findings that nobody read (`printed-findings`), places of "
        "polled tables (`table-places`), how far one was judged (`table-reaches`), clients (`connections`), answers "
        "that a client did not read (`unread-answers`). Counted since the process began.",
        "what",
        of_target=False,
    ),
    *(
        _counter(f"dynascope_history_{name}_total", f"{text}; counted since the process began.", of_target=False)
        for name, text in (
            ("torn_files", "Files of history that cannot be read, and were set aside"),
            ("lost", "Minutes that history lacks, since they could not be written in time"),
            ("dropped_pairs", "Pairs of entities that one trace reads, and entities, that made room for others"),
        )
    ),
    *(
        Metric(name=name, kind=Kind.COUNTER, help=text, labels=("api",))
        for name, text in (
            ("dynascope_aws_calls_total", "Calls to AWS."),
            ("dynascope_aws_billed_metrics_total", "Metrics that CloudWatch bills for."),
            ("dynascope_aws_cost_usd_total", "What the calls to AWS cost, at list price."),
        )
    ),
    _gauge(
        "dynascope_window_end_timestamp_seconds", "End of the window that the last analysis judged.", of_target=False
    ),
    _gauge("dynascope_analysis_duration_seconds", "How long the last analysis took.", of_target=False),
    _gauge(
        "dynascope_checkpoint_last_success_timestamp_seconds",
        "When positions and counts were last written to the state folder.",
        of_target=False,
    ),
    _counter(
        "dynascope_series_dropped_total",
        "Series beyond a metric's bound, counted once an analysis.",
        "metric",
        of_target=False,
    ),
    _gauge(
        "dynascope_lease_held",
        "1 while this daemon reads AWS, 0 while another does or nobody is known to; only with --standby.",
        of_target=False,
    ),
    _gauge(
        "dynascope_observing",
        "1 while nothing may page (`mode: observe`, or a new install), 0 when findings do. Alerts that page need it 0.",
        of_target=False,
    ),
    _gauge(
        "dynascope_config_valid", "0 after a reload whose configuration or contract is faulty, else 1.", of_target=False
    ),
    Metric(name="dynascope_build_info", kind=Kind.INFO, help="Version of Dynascope.", labels=("version", "python")),
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}


def reference_page() -> str:
    """Write the reference page of the metrics."""
    lines = [
        "# Metrics",
        "",
        "Written from `analyzer/exporters/metrics.py`; a test compares them.",
        "",
        "`/metrics` serves them as text and, where `Accept` asks for it, as OpenMetrics with exemplars. They are",
        "rendered once an analysis. Labels of a *target* are " + ", ".join(f"`{name}`" for name in TARGET) + ";",
        "`index` is empty for the base table, and any of them is empty where it is not known.",
        "No label ever holds a key, the text of a fingerprint or a request id.",
        "",
        "At most so many series of a metric are published. What a counter cannot name any more goes into one series",
        "a table whose labels say `other`, so that sums stay true; `dynascope_series_dropped_total` counts it.",
        "Such series come on top of the bound, at most a quarter of it; a gauge drops what is beyond. With every bound",
        "reached there are fewer than 50,000.",
        "",
        "| metric | type | labels | at most | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for metric in METRICS:
        labels = ", ".join((["*target*"] if metric.of_target else []) + [f"`{name}`" for name in metric.labels])
        series = f"{metric.most_series:,}" if metric.label_names else "1"
        lines.append(f"| `{metric.name}` | {metric.kind} | {labels} | {series} | {metric.help} |")
    return "\n".join(lines) + "\n"
