"""Alerts of the watcher's own: what it could not look at, and when it is not there. All of them are tickets."""

from __future__ import annotations

from dashboards.expressions import DAEMON, TARGET, listed, metric
from dashboards.rules import Alert, Group

__all__ = ["WATCHER"]

_WHO = "{{ $labels.instance }}"
_BY = listed(DAEMON)
_BY_SOURCE = listed((*DAEMON, "source"))
_STANDS_BY = f"unless on ({_BY}) {metric('dynascope_lease_held')} == 0"
"""Another daemon looks instead; this one need not."""


def _age(name: str, seconds: int) -> str:
    return f"time() - {metric(name)} > {seconds}"


def _rose(name: str, window: str, by: str = _BY_SOURCE, more: str = "") -> str:
    return f"sum by ({by}) (increase({metric(name, more=more)}[{window}])) > 0"


def _alert(name: str, expr: str, wait: str | None, summary: str, description: str) -> Alert:
    return Alert(
        name=name,
        expr=expr,
        severity="warning",
        summary=summary,
        description=description,
        runbook=f"/docs/prometheus#{name.lower()}",
        dashboard="/d/dynascope-watcher",
        wait=wait,
    )


def _coverage(bound: str) -> str:
    return f"max by ({listed((*TARGET, 'direction'))}) ({metric('dynascope_coverage_ratio')}) {bound}"


_READ, _BAD = (f"rate({metric(f'dynascope_records_{name}_total')}[15m])" for name in ("read", "bad"))
_COVERED = "The request log explains {{ $value | humanizePercentage }} of the {{ $labels.direction }} units of "
_COVERED += "{{ $labels.table }}{{ with $labels.index }}/{{ . }}{{ end }} that AWS billed; "

WATCHER = (
    Group(
        "dynascope-watcher",
        (
            _alert(
                "DynascopeAbsent",
                f"absent({metric('dynascope_build_info')})",
                "5m",
                "No Dynascope daemon is scraped: nobody looks.",
                "Prometheus has seen no Dynascope for five minutes. See whether it runs, and /targets for why not.",
            ),
            _alert(
                "DynascopeNotJudging",
                f"{_age('dynascope_window_end_timestamp_seconds', 600)} {_STANDS_BY}",
                "5m",
                "Dynascope runs, and judges nothing.",
                f"{_WHO} judged its last window {{{{ $value | humanizeDuration }}}} ago.",
            ),
            _alert(
                "DynascopeSourceDown",
                f"{metric('dynascope_source_up')} == 0",
                "10m",
                "A source cannot be read.",
                f"{_WHO} cannot read {{{{ $labels.source }}}}; `dynascope doctor` says why and how to mend it.",
            ),
            _alert(
                "DynascopeSourceStale",
                f"{_age('dynascope_source_last_success_timestamp_seconds', 1800)} {_STANDS_BY}",
                "5m",
                "A source has given nothing for half an hour.",
                f"{_WHO} got the last from {{{{ $labels.source }}}} {{{{ $value | humanizeDuration }}}} ago.",
            ),
            _alert(
                "DynascopeLowCoverage",
                _coverage("< 0.8"),
                "1h",
                "The request log explains too little of what AWS billed.",
                _COVERED + "verdicts miss the rest.",
            ),
            _alert(
                "DynascopeHighCoverage",
                _coverage("> 1.05"),
                "1h",
                "The request log explains more than AWS billed.",
                _COVERED + "a sample rate is wrong, or a log is read twice.",
            ),
            _alert(
                "DynascopeBudgetSpent",
                _rose("dynascope_gaps_total", "15m", more='reason="budget"'),
                None,
                "The budget for reading AWS is spent: Dynascope does not look there until it is renewed.",
                f"{_WHO} asks {{{{ $labels.source }}}} no more today.",
            ),
            _alert(
                "DynascopeRecordsDropped",
                _rose("dynascope_records_dropped_total", "15m"),
                None,
                "A sampler dropped records.",
                f"About {{{{ $value | humanize }}}} records were dropped in 15 minutes before {_WHO} could read them.",
            ),
            _alert(
                "DynascopeRecordsBad",
                f"sum by ({_BY_SOURCE}) ({_BAD})\n/\nsum by ({_BY_SOURCE}) ({_READ} + {_BAD})\n> 0.01",
                "15m",
                "Lines of a request log are no records.",
                f"{{{{ $value | humanizePercentage }}}} of the lines that {_WHO} reads are no records.",
            ),
            _alert(
                "DynascopeRecordsSqueezed",
                _rose("dynascope_records_squeezed_total", "15m"),
                None,
                "A bound of what Dynascope keeps in memory is reached.",
                f"About {{{{ $value | humanize }}}} requests were counted as unparsed in 15 minutes by {_WHO}.",
            ),
            _alert(
                "DynascopeSeriesDropped",
                _rose("dynascope_series_dropped_total", "15m", listed((*DAEMON, "metric"))),
                None,
                "A metric has more series than are published.",
                f"{{{{ $labels.metric }}}} of {_WHO} folds what is beyond its bound into `other`.",
            ),
            _alert(
                "DynascopeConfigInvalid",
                f"{metric('dynascope_config_valid')} == 0",
                "5m",
                "A reload was faulty: the old configuration or contract still holds.",
                f"`dynascope config` and `dynascope check` name the faults of what {_WHO} was to reload.",
            ),
            _alert(
                "DynascopeStateNotWritten",
                _age("dynascope_checkpoint_last_success_timestamp_seconds", 300),
                "5m",
                "Dynascope cannot write its state: a restart would count anew what it has read since.",
                f"{_WHO} wrote its state {{{{ $value | humanizeDuration }}}} ago; look at its disk and its log.",
            ),
        ),
    ),
)
