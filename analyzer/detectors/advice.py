"""The fixed list of actions, and how an advice is written.

A command is filled in with region and says in its first word of comment whether it reads or changes production.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from analyzer.detectors.words import who
from analyzer.model.finding import Advice, Risk
from analyzer.model.instant import DAY_MS, format_instant
from analyzer.model.window import Window

if TYPE_CHECKING:
    from analyzer.model.finding import Direction
    from analyzer.model.target import Target

__all__ = [
    "ACTIONS",
    "advise",
    "ask_owner",
    "aws",
    "days_before",
    "dimensions",
    "quoted",
    "scalable",
    "statistics",
    "time_to_live_on",
    "warm",
]

_WORDS = (
    # heat
    "cache-item shard-key spread-tenant aggregate-writes read-eventually wait-for-split smooth-traffic back-off "
    "fix-caller prewarm "
    # capacity
    "raise-capacity raise-index-capacity raise-max-capacity raise-on-demand-maximum raise-account-quota "
    "switch-to-on-demand switch-to-provisioned schedule-scaling "
    # keys and indexes
    "change-key add-index make-index-sparse narrow-projection delete-index create-index "
    # reads
    "query-instead-of-scan encode-filter-in-key follow-pages batch-reads read-base-table return-written-value "
    "use-export pace-scan keep-a-counter use-stream "
    # writes
    "retry-unprocessed split-item store-in-s3 batch-small-items update-less use-conditional-write drop-transaction "
    "retry-with-jitter release-lock use-queue pace-writes "
    # time to live
    "enable-ttl fix-ttl-units filter-expired "
    # contract
    "declare-pattern update-declaration remove-declaration "
    # sight
    "enable-insights raise-sampling collect-longer "
    # outside
    "check-service-health check-client"
)
ACTIONS = frozenset(_WORDS.split())
"""The names that an advice may have."""


def advise(  # noqa: PLR0913 -- an advice has that many parts, all named
    action: str,
    text: str,
    *,
    effect: str | None = None,
    command: str | None = None,
    risk: Risk = Risk.NONE,
    reversible: bool | None = None,
    takes: str | None = None,
    snippet: str | None = None,
) -> Advice:
    """Write an advice; an action that is not on the list is a bug."""
    if action not in ACTIONS:
        raise KeyError(action)
    return Advice(
        action=action,
        text=text,
        effect=effect,
        command=command,
        risk=risk,
        reversible=reversible,
        takes=takes,
        snippet=snippet,
    )


def ask_owner(caller: str | None, question: str, effect: str) -> Advice:
    """Advise to ask the owner of a caller: the first thing to do where the mend is a deploy, for it changes nothing."""
    return advise("fix-caller", f"Ask the owner of {who(caller)} {question}", effect=effect, takes="minutes")


def aws(target: Target, call: str, *, changes: bool = False) -> str:
    """Write an AWS command for the place of a target, ending in what it does to production.

    Names in `call` are `quoted`: what was read from a log must stay one word of the command.
    """
    region = f" --region {quoted(target.region)}" if target.region else ""
    return f"aws {call}{region}  # {'changes production' if changes else 'read-only'}"


def quoted(name: str) -> str:
    """Write a name as one word of a shell's command, whatever it holds."""
    return shlex.quote(name)


def dimensions(target: Target) -> str:
    """Write the option that names a table or index to CloudWatch."""
    index = "" if target.index is None else f" {quoted(f'Name=GlobalSecondaryIndexName,Value={target.index}')}"
    return f"--dimensions {quoted(f'Name=TableName,Value={target.table}')}{index}"


def statistics(target: Target, metric: str, window: Window, stats: str = "Sum") -> str:
    """Write the call that lists a metric over a window, in the finest periods of which one answer holds all.

    One answer of GetMetricStatistics holds 1,440 points (CloudWatch API Reference, read 2026-11-30).
    """
    period = next((one for one in _PERIODS if window.seconds <= one * _MOST_POINTS), _PERIODS[-1])
    step = period * 1000
    times = (window.start - window.start % step, window.end + -window.end % step)
    start, end = (f"{format_instant(time)[:19]}Z" for time in times)
    return (
        f"cloudwatch get-metric-statistics --namespace AWS/DynamoDB --metric-name {metric} {dimensions(target)}"
        f" --statistics {stats} --period {period} --start-time {start} --end-time {end}"
    )


_PERIODS = (60, 300, 3600, 86_400)
_MOST_POINTS = 1400
"""A little less than one answer holds: a window is widened to whole periods."""


def days_before(window: Window, days: int) -> Window:
    """Return the stretch of so many days that ends where a window does."""
    return Window(window.end - days * DAY_MS, window.end)


def scalable(target: Target) -> str:
    """Write the option that names a table or index to Application Auto Scaling."""
    index = "" if target.index is None else f"/index/{target.index}"
    return f"--resource-id {quoted(f'table/{target.table}{index}')}"


def warm(table: str, index: str | None, direction: Direction, units: int) -> str:
    """Write the call that warms a table, or one index of it, for so many units a second of one direction."""
    throughput = f"{direction.value.capitalize()}UnitsPerSecond={units}"
    setting = f"--warm-throughput {throughput}"
    if index is not None:
        update = f"Update={{IndexName={index},WarmThroughput={{{throughput}}}}}"
        setting = f"--global-secondary-index-updates {quoted(update)}"
    return f"dynamodb update-table --table-name {quoted(table)} {setting}"


def time_to_live_on(target: Target, attribute: str) -> str:
    """Write the call that enables time to live on an attribute; a name that shorthand cannot hold goes as JSON."""
    told = f"Enabled=true,AttributeName={attribute}"
    if not re.fullmatch(r"[\w.-]+", attribute):
        told = quoted(json.dumps({"Enabled": True, "AttributeName": attribute}, ensure_ascii=False))
    table = quoted(target.table)
    return f"dynamodb update-time-to-live --table-name {table} --time-to-live-specification {told}"
