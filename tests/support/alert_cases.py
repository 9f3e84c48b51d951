"""For each alert a series that fires it and one that leaves it silent, as `promtool test rules` reads them."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml import YAML

from dashboards.detectors import PAGING, alert_name, detector_names
from dashboards.generate import ALERTING, alerts
from dashboards.recording import RECORDING
from dashboards.rules import Alert, Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["FILES", "Case", "Rehearsal", "cases"]

HEAD = "# Written by `pytest tests/dashboards --rewrite-golden`; run it with `promtool test rules`.\n"
FILES = ("../../dashboards/generated/recording.yaml", "../../dashboards/generated/alerts.yaml")
DAEMON = {"instance": "watcher:8642", "job": "dynascope"}
LOG = {**DAEMON, "source": "request-log"}
TABLE = {"account_id": "111122223333", "aws_region": "us-east-1", "table": "cases"}
INDEX = {**TABLE, "index": "GSI1"}
BUDGET = "DynascopeThrottleBudgetBurn"
LONG = "0+6000x230"
TWICE = "a sample rate is wrong, or a log is read twice."
SEE = "see the verdict on Dynascope's page."
LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")


Fired = tuple[Alert, "Mapping[str, str]", str]
"""An alert that has to fire, its labels and its description."""


class Check(NamedTuple):
    """What one alert has to say at a time: nothing, or what fires."""

    at: str
    alert: str
    fires: tuple[Fired, ...] = ()


class Case(NamedTuple):
    """What Prometheus is given, and what it has to make of it."""

    name: str
    series: dict[str, str]
    checks: tuple[Check, ...]

    def test(self, every: str) -> dict[str, Any]:
        """Return it as a test of promtool."""
        return {
            "name": self.name,
            "interval": every,
            "input_series": [{"series": series, "values": values} for series, values in self.series.items()],
            "alert_rule_test": [
                {
                    "eval_time": check.at,
                    "alertname": check.alert,
                    "exp_alerts": [expected(*fired) for fired in check.fires],
                }
                for check in self.checks
            ],
        }


class Rehearsal(NamedTuple):
    """The tests of one file: how far its samples are apart, and how far the times at which rules are evaluated.

    Most of what a test costs are evaluations: as few as the rules' own waits allow.
    """

    every: str
    evaluated: str
    tests: tuple[Case, ...]


def expected(alert: Alert, labels: Mapping[str, str], description: str) -> dict[str, Any]:
    told = {**alert.annotations(Places()), "description": description}
    links = {name: LABEL.sub(lambda found: labels.get(found[1], ""), text) for name, text in told.items()}
    named = {"severity": alert.severity, "response": alert.response, **alert.labels, **labels}
    return {"exp_labels": named, "exp_annotations": links}


def written(name: str) -> str:
    """Return the text of a file under tests/rules."""
    every, evaluated, tests = cases()[name]
    out = StringIO()
    yaml = YAML()
    yaml.width = 4096
    document = {
        "rule_files": list(FILES),
        "evaluation_interval": evaluated,
        "group_eval_order": [group.name for group in (*RECORDING, *ALERTING)],
        "tests": [case.test(every) for case in tests],
    }
    yaml.dump(document, out)
    return HEAD + out.getvalue()


def series(name: str, labels: Mapping[str, str]) -> str:
    inner = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{inner}}}"


def of(name: str, severity: str = "warning") -> Alert:
    (found,) = [alert for alert in alerts() if alert.name == name and alert.severity == severity]
    return found


# what detectors find


def finding(detector: str, severity: str, place: Mapping[str, str]) -> dict[str, str]:
    labels = {**DAEMON, **place, "detector": detector, "severity": severity, "cause": "a-cause", "pattern": "load-case"}
    return {series("dynascope_finding_active", labels): "0 1 1 1 0 0"}


def told(detector: str, severity: str) -> tuple[Fired, ...]:
    """Return what fires on a finding: the page where it has one and is critical, else the ticket."""
    if severity == "low":
        return ()
    is_page = severity == "critical" and detector in PAGING
    place = place_of(detector)
    where = "cases/GSI1" if "index" in place else "cases"
    text = f"{detector} on {where} (us-east-1): {severity}, cause a-cause, pattern load-case; {SEE}"
    return ((of(alert_name(detector), "critical" if is_page else "warning"), place, text),)


def place_of(detector: str) -> dict[str, str]:
    return INDEX if "gsi" in detector or "index" in detector else TABLE


def of_detectors() -> Iterable[Case]:
    names = detector_names()
    for severity in ("critical", "high", "medium", "low"):
        found = {name: values for each in names for name, values in finding(each, severity, place_of(each)).items()}
        fires = tuple(Check("3m", alert_name(each), told(each, severity)) for each in names)
        over = tuple(Check("66m", alert_name(each)) for each in names)
        yield Case(f"every detector finds something {severity}, and an hour later nothing", found, (*fires, *over))


def of_observing() -> Iterable[Case]:
    """A daemon that observes wakes nobody; one beside it that does not, does; a ticket is written all the same."""
    found = finding("hot-key", "critical", TABLE)
    dear = finding("unexpected-scan", "high", TABLE)
    observing = {series("dynascope_observing", DAEMON): "1x5"}
    other = {series("dynascope_observing", {**DAEMON, "instance": "another:8642"}): "1x5"}
    paging = {series("dynascope_observing", DAEMON): "0x5"}
    page, ticket = told("hot-key", "critical"), told("unexpected-scan", "high")
    quiet = (Check("3m", alert_name("hot-key")), Check("3m", alert_name("unexpected-scan"), ticket))
    loud = (Check("3m", alert_name("hot-key"), page),)
    yield Case("a daemon that observes writes tickets and wakes nobody", found | dear | observing, quiet)
    yield Case("another daemon observes", found | paging | other, loud)
    yield Case("observing is over", found | {series("dynascope_observing", DAEMON): "1 1 0 0 0 0"}, loud)


# the budget


def burning(failed: str, requests: str, *, throttles: str = "0x90") -> dict[str, str]:
    labels = {**DAEMON, **TABLE, "operation": "GetItem", "pattern": "load-case"}
    code = {**labels, "code": "ThrottlingException"}
    limit = {**DAEMON, **TABLE, "direction": "read", "cause": "key-range", "source": "request-log"}
    return {
        series("dynascope_requests_total", labels): requests,
        series("dynascope_request_errors_total", code): failed,
        series("dynascope_throttles_total", limit): throttles,
    }


def of_budgets() -> Iterable[Case]:
    steady = "0+600x90"
    born = burning("_x60 1200+12x30", steady)
    again = burning("_x60 9000x30", "_x60 90000+600x30")
    yield budget("2 % of the calls fail for an hour", burning("0+12x90", steady), "80m", "2%")
    yield budget("a burst of failures inside a minute that is over", burning("0x10 500x80", steady), "50m")
    yield budget("0.5 % of the calls fail for an hour", burning("0+3x90", steady), "80m")
    yield budget("all of few calls fail", burning("0+30x90", "0+30x90"), "80m")
    observing = {series("dynascope_observing", DAEMON): "1x90"}
    yield budget("2 % of the calls fail while all observe", {**burning("0+12x90", steady), **observing}, "80m")
    yield budget("a counter that begins with the first failures", born, "66m", "3.533%")
    yield budget("a daemon that comes back with what it counted before", again, "70m")


def budget(name: str, given: dict[str, str], at: str, share: str | None = None) -> Case:
    if share is None:
        return Case(name, given, (Check(at, BUDGET),))
    text = f"{share} of each call at cases (us-east-1) and its indexes is throttled; the budget is 0.1 %."
    return Case(name, given, (Check(at, BUDGET, ((of(BUDGET, "critical"), TABLE, text),)),))


def of_long_budgets() -> Iterable[Case]:
    text = "0.9901% of each try at cases (us-east-1) and its indexes is throttled; the budget is 0.1 %."
    fires = ((of(BUDGET), TABLE, text),)
    day = burning("0x80", LONG, throttles="0+60x80")
    calm = burning("0x230", LONG, throttles="0+3x230")
    yield Case("1 % of the tries are throttled for a day, no call fails", day, (Check("25h", BUDGET, fires),))
    yield Case("one in two thousand tries is throttled", calm, (Check("73h", BUDGET),))


# the watcher's own


def one(name: str, values: str, labels: Mapping[str, str] = DAEMON) -> dict[str, str]:
    return {series(name, labels): values}


def of_watcher() -> Iterable[Case]:
    sampler = {**DAEMON, "source": "request-log"}
    both: tuple[tuple[str, dict[str, str], str, dict[str, str], str, dict[str, str]], ...] = (
        ("DynascopeAbsent", one("dynascope_build_info", "1x3 _x30"), "20m", {},
         "Prometheus has seen no Dynascope for five minutes. See whether it runs, and /targets for why not.",
         one("dynascope_build_info", "1x30")),
        ("DynascopeNotJudging", one("dynascope_window_end_timestamp_seconds", "0x40"), "20m", DAEMON,
         "watcher:8642 judged its last window 20m 0s ago.",
         {**one("dynascope_window_end_timestamp_seconds", "0x40"), **one("dynascope_lease_held", "0x40")}),
        ("DynascopeSourceDown", one("dynascope_source_up", "0x40", LOG), "20m", LOG,
         "watcher:8642 cannot read request-log; `dynascope doctor` says why and how to mend it.",
         one("dynascope_source_up", "0x5 1x40", LOG)),
        ("DynascopeSourceStale", one("dynascope_source_last_success_timestamp_seconds", "0x60", LOG), "40m", LOG,
         "watcher:8642 got the last from request-log 40m 0s ago.",
         one("dynascope_source_last_success_timestamp_seconds", "0+60x60", LOG)),
        ("DynascopeLowCoverage", one("dynascope_coverage_ratio", "0.5x90", {**DAEMON, **TABLE, "direction": "read"}),
         "80m", {**TABLE, "direction": "read"},
         "The request log explains 50% of the read units of cases that AWS billed; verdicts miss the rest.",
         one("dynascope_coverage_ratio", "0.9x90", {**DAEMON, **TABLE, "direction": "read"})),
        ("DynascopeHighCoverage", one("dynascope_coverage_ratio", "2x90", {**DAEMON, **INDEX, "direction": "write"}),
         "80m", {**INDEX, "direction": "write"},
         f"The request log explains 200% of the write units of cases/GSI1 that AWS billed; {TWICE}",
         one("dynascope_coverage_ratio", "1.02x90", {**DAEMON, **INDEX, "direction": "write"})),
        ("DynascopeBudgetSpent",
         one("dynascope_gaps_total", "0+6x40", {**DAEMON, "source": "cloudwatch-metrics", "reason": "budget"}),
         "20m", {**DAEMON, "source": "cloudwatch-metrics"},
         "watcher:8642 asks cloudwatch-metrics no more today.",
         one("dynascope_gaps_total", "0+6x40", {**DAEMON, "source": "cloudwatch-metrics", "reason": "denied"})),
        ("DynascopeRecordsDropped", one("dynascope_records_dropped_total", "0+10x40", sampler), "20m", sampler,
         "About 150 records were dropped in 15 minutes before watcher:8642 could read them.",
         one("dynascope_records_dropped_total", "7x40", sampler)),
        ("DynascopeRecordsBad",
         {**one("dynascope_records_bad_total", "0+10x60", LOG), **one("dynascope_records_read_total", "0+90x60", LOG)},
         "40m", LOG, "10% of the lines that watcher:8642 reads are no records.",
         {**one("dynascope_records_bad_total", "0+1x60", LOG), **one("dynascope_records_read_total", "0+999x60", LOG)}),
        ("DynascopeRecordsSqueezed", one("dynascope_records_squeezed_total", "0+10x40", LOG), "20m", LOG,
         "About 150 requests were counted as unparsed in 15 minutes by watcher:8642.",
         one("dynascope_records_squeezed_total", "0x40", LOG)),
        ("DynascopeSeriesDropped",
         one("dynascope_series_dropped_total", "0+6x40", {**DAEMON, "metric": "dynascope_requests_total"}),
         "20m", {**DAEMON, "metric": "dynascope_requests_total"},
         "dynascope_requests_total of watcher:8642 folds what is beyond its bound into `other`.",
         one("dynascope_series_dropped_total", "6x40", {**DAEMON, "metric": "dynascope_requests_total"})),
        ("DynascopeConfigInvalid", one("dynascope_config_valid", "0x40"), "20m", DAEMON,
         "`dynascope config` and `dynascope check` name the faults of what watcher:8642 was to reload.",
         one("dynascope_config_valid", "1x40")),
        ("DynascopeStateNotWritten", one("dynascope_checkpoint_last_success_timestamp_seconds", "0x40"), "20m", DAEMON,
         "watcher:8642 wrote its state 20m 0s ago; look at its disk and its log.",
         one("dynascope_checkpoint_last_success_timestamp_seconds", "0+60x40")),
    )  # fmt: skip
    loud = {name: values for _, series, *_ in both for name, values in series.items()}
    calm = {name: values for *_, series in both for name, values in series.items()}
    fires = tuple(Check(at, name, ((of(name), labels, description),)) for name, _, at, labels, description, _ in both)
    yield Case("everything is wrong with the watcher", loud, fires)
    yield Case("nothing is", calm, tuple(Check(at, name) for name, _, at, *_ in both))


def cases() -> dict[str, Rehearsal]:
    """Return what each file under tests/rules holds."""
    return {
        "detectors.yaml": Rehearsal("1m", "3m", (*of_detectors(), *of_observing())),
        "budgets.yaml": Rehearsal("1m", "2m", tuple(of_budgets())),
        "long-budgets.yaml": Rehearsal("20m", "1h", tuple(of_long_budgets())),
        "watcher.yaml": Rehearsal("1m", "5m", tuple(of_watcher())),
    }
