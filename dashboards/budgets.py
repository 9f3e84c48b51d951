"""Alerts on how fast throttles burn the budget of a table: one request in a thousand."""

from __future__ import annotations

from dashboards.expressions import TABLE, listed, metric
from dashboards.recording import failed_calls, throttled_tries
from dashboards.rules import Alert, Group

__all__ = ["BUDGET", "BUDGETS"]

BUDGET = 0.001
"""`throttling` is medium from here on (docs/detectors/throttling.md)."""

_LEAST_A_SECOND = 1
"""Below this, single refusals make up whole shares."""

_DASHBOARD = "/d/dynascope-table?" + "&".join(f"var-{label}={{{{ $labels.{label} }}}}" for label in TABLE)


def _burns(name: str, long: str, short: str, long_window: str, factor: float) -> str:
    """Return one pair of windows: the long one says that it matters, the short one that it goes on."""
    limit = f"{factor} * {BUDGET}"
    requests = f"sum by ({listed(TABLE)}) (rate({metric('dynascope_requests_total')}[{long_window}]))"
    return f"(\n  {long} > {limit}\n  and {short} > {limit}\n  and {requests} > {_LEAST_A_SECOND}\n)  # {name}"


def _page() -> str:
    fast = _burns("2 % of a month's budget in an hour", failed_calls("1h"), failed_calls("5m"), "1h", 14.4)
    slow = _burns("5 % of it in six hours", failed_calls("6h"), failed_calls("30m"), "6h", 6)
    return f"(\n{fast}\nor\n{slow}\n)\nunless on () (min({metric('dynascope_observing')}) == 1)"


def _ticket() -> str:
    fast = _burns("10 % of a month's budget in a day", throttled_tries("1d"), throttled_tries("2h"), "1d", 3)
    slow = _burns("10 % of it in three days", throttled_tries("3d"), throttled_tries("6h"), "3d", 1)
    return f"{fast}\nor\n{slow}"


def _alert(expr: str, severity: str, what: str) -> Alert:
    return Alert(
        name="DynascopeThrottleBudgetBurn",
        expr=expr,
        severity=severity,
        summary=f"Throttling burns a table's budget of one {what} in a thousand.",
        description=(
            f"{{{{ $value | humanizePercentage }}}} of each {what} at {{{{ $labels.table }}}} "
            "({{ $labels.aws_region }}) and its indexes is throttled; the budget is 0.1 %."
        ),
        runbook="/docs/detectors/throttling",
        dashboard=_DASHBOARD,
        labels={"detector": "throttling"},
    )


BUDGETS = (Group("dynascope-budgets", (_alert(_page(), "critical", "call"), _alert(_ticket(), "warning", "try"))),)
"""Windows and factors are those of kubernetes-mixin. A page is of calls that failed, a ticket of tries too that retries
absorbed."""
