"""Recording rules: what dashboards and alerts ask for again and again, asked once."""

from __future__ import annotations

from dashboards.expressions import TABLE, TARGET, grown, listed, metric
from dashboards.rules import Group, Record

__all__ = ["CALL_WINDOWS", "RECORDING", "THROTTLE_CODES", "TRY_WINDOWS", "WINDOW", "failed_calls", "throttled_tries"]

WINDOW = "5m"
"""What dashboards show: the daemon's own live window."""

CALL_WINDOWS = ("5m", "30m", "1h", "6h")
TRY_WINDOWS = ("5m", "2h", "6h", "1d", "3d")
"""The windows of the burn rates (dashboards/budgets.py), and that of the dashboards."""

THROTTLE_CODES = ("ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException")
"""Errors with which a throttled call fails."""


def throttled_tries(window: str) -> str:
    """Return the name of the share of tries at a table and its indexes that were refused, in a window."""
    return f"table:dynascope_throttled_tries:ratio_rate{window}"


def failed_calls(window: str) -> str:
    """Return the name of the share of calls at a table and its indexes that failed by throttling, in a window."""
    return f"table:dynascope_throttled_calls:ratio_rate{window}"


def _rate(name: str, *by: str) -> str:
    return f"sum by ({listed((*TARGET, *by))}) (rate({metric(name)}[{WINDOW}]))"


def _requests(window: str) -> str:
    return f"sum by ({listed(TABLE)}) (increase({metric('dynascope_requests_total')}[{window}]))"


def _tries(window: str) -> Record:
    throttled = grown(metric("dynascope_throttles_total"), window, TABLE)
    return Record(throttled_tries(window), f"{throttled}\n/\n(\n{throttled}\n+\n{_requests(window)}\n)")


def _calls(window: str) -> Record:
    codes = "|".join(THROTTLE_CODES)
    failed = grown(metric("dynascope_request_errors_total", more=f'code=~"{codes}"'), window, TABLE)
    return Record(failed_calls(window), f"{failed}\n/\n{_requests(window)}")


def _seconds(window: str) -> int:
    return int(window.removesuffix("m")) * 60


_P99 = (
    f"histogram_quantile(0.99, sum by ({listed((*TARGET, 'operation', 'le'))}) "
    f"(rate({metric('dynascope_request_duration_seconds_bucket')}[{WINDOW}])))"
)
_THROTTLES = grown(metric("dynascope_throttles_total"), WINDOW, (*TARGET, "direction", "cause"))
_WASTED = _rate("dynascope_wasted_read_units_total", "pattern")
_HEAT = f"max by ({listed((*TARGET, 'direction'))}) ({metric('dynascope_key_heat_ratio')})"
_OPEN = (
    f"max by ({listed((*TARGET, 'detector', 'severity', 'pattern', 'cause'))}) ({metric('dynascope_finding_active')})"
)

RECORDING = (
    Group(
        "dynascope-recorded",
        (
            Record(
                "target_pattern:dynascope_requests:rate5m", _rate("dynascope_requests_total", "operation", "pattern")
            ),
            Record("target_pattern:dynascope_read_units:rate5m", _rate("dynascope_read_units_total", "pattern")),
            Record("target_pattern:dynascope_write_units:rate5m", _rate("dynascope_write_units_total", "pattern")),
            Record("target_pattern:dynascope_wasted_read_units:rate5m", _WASTED),
            Record("target_cause:dynascope_throttled_tries:rate5m", f"{_THROTTLES}\n/ {_seconds(WINDOW)}"),
            Record("target_operation:dynascope_request_duration_seconds:p99_rate5m", _P99),
            Record("target:dynascope_key_heat_ratio:max", _HEAT),
            Record("finding:dynascope_finding_active:max", _OPEN),
        ),
    ),
    Group("dynascope-recorded-calls", tuple(_calls(window) for window in CALL_WINDOWS)),
    Group("dynascope-recorded-tries", tuple(_tries(window) for window in TRY_WINDOWS)),
)
