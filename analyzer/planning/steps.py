"""What to type next, filled in: the ready commands of a diagnosis, and what they cost. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from analyzer.detectors.advice import advise, warm
from analyzer.detectors.words import number
from analyzer.knowledge.limits import RULE_QUOTA
from analyzer.knowledge.prices import HOURS_A_MONTH, WATCHER_PRICES
from analyzer.model.finding import Direction, Risk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from analyzer.model.finding import Advice, Finding
    from analyzer.planning.headline import Kind

__all__ = ["Means", "own_steps", "steps_of"]

_MOST = 4
_MODE = "THROTTLED_KEYS"
_REMARK = "  # "
"""What stands between a command and what it does to production."""
_KNOWS_ROLES = "dynascope diagnose "
_UNITS = re.compile(r"((?<=--max-capacity )|(?<=RequestUnits=))\d+\b")
"""The number of a command that raises a limit."""


class Means(Struct, frozen=True, kw_only=True):
    """What commands and their price depend on; `rules_used` None: could not be counted.

    `role` is the one that was assumed to look: AWS's own command line has no option for it, so that it is told beside.
    `wanted_units` a second would serve what is asked, with some room; None where that cannot be told. `wanted_at` says
    of which table, index and direction; `read_units` and `write_units` are provisioned there.
    """

    region: str | None = None
    profile: str | None = None
    role: str | None = None
    rules_used: int | None = None
    has_sort_key: bool = True
    throttled_a_second: float | None = None
    wanted_units: int | None = None
    wanted_at: tuple[str, str | None, Direction | None] | None = None
    read_units: float | None = None
    write_units: float | None = None


def own_steps(kind: Kind, lead: Finding | None, means: Means) -> tuple[Advice, ...]:
    """Return what a diagnosis advises beside its findings: how to see the key that metrics cannot show."""
    is_hidden = lead is not None and (
        kind in {"key-range", "ramp-or-key"} or (kind, lead.cause) == ("index", "key-range")
    )
    if lead is None or not is_hidden:
        return ()
    steps = [_enable(lead, means, is_test=kind == "ramp-or-key"), _again(lead)]
    if kind == "ramp-or-key":
        steps.append(_prewarm(lead, means))
    return tuple(steps)


def _enable(lead: Finding, means: Means, *, is_test: bool) -> Advice:
    rules = 2 if means.has_sort_key else 1
    index = "" if lead.index is None else f" --index-name {shlex.quote(lead.index)}"
    test = " One key that leads the list is hot; a flat list is the ramp." if is_test else ""
    return advise(
        "enable-insights",
        f"Let Contributor Insights rank the throttled keys.{test} {_price(rules, means)}; {_quota(rules, means)}. First"
        " keys come within minutes; the list stays empty if an index refuses the writes",
        effect="names the key",
        command=f"aws dynamodb update-contributor-insights --table-name {shlex.quote(lead.table)}{index}"
        f" --contributor-insights-action ENABLE --contributor-insights-mode {_MODE}{_region(means)}"
        "  # changes production",
        risk=Risk.NONE,
        reversible=True,
        takes="minutes",
    )


def _price(rules: int, means: Means) -> str:
    prices = WATCHER_PRICES
    hour = rules * prices.insights_rule_month / HOURS_A_MONTH
    events = f"{prices.insights_million_events:g} a million throttled items"
    if means.throttled_a_second is not None:
        hour += means.throttled_a_second * 3600 * rules / 1e6 * prices.insights_million_events
        events = f"at {number(round(means.throttled_a_second, 1))} refusals a second"
    return f"About {hour:.4f} dollars an hour ({rules} {'rule' if rules == 1 else 'rules'}, {events})"


def _quota(rules: int, means: Means) -> str:
    if means.rules_used is None:
        return f"how many of the account's {RULE_QUOTA} rules are left could not be counted"
    left = RULE_QUOTA - means.rules_used
    return f"{left} of {RULE_QUOTA} rules are left{'' if left >= rules else ', which is not enough'}"


def _again(lead: Finding) -> Advice:
    index = "" if lead.index is None else f" --index {shlex.quote(lead.index)}"
    return advise(
        "collect-longer",
        "Then look again until the key shows",
        effect="the first line names the key",
        command=f"dynascope diagnose {shlex.quote(lead.table)}{index} --wait 5m  # read-only",
        takes="minutes",
    )


def _prewarm(lead: Finding, means: Means) -> Advice:
    is_meant = means.wanted_at == (lead.table, lead.index, lead.direction)
    units = means.wanted_units if is_meant else None
    warmer = None if units is None or lead.direction is None else warm(lead.table, lead.index, lead.direction, units)
    return advise(
        "prewarm",
        "If it is the ramp: let callers rise more slowly, wait (it is served within half an hour), or warm the table;"
        " a hot key gains nothing from it",
        command=None if warmer is None else f"aws {warmer}  # changes production",
        risk=Risk.LOW,
        reversible=False,
        takes="minutes to hours",
    )


def _region(means: Means) -> str:
    return "" if means.region is None else f" --region {shlex.quote(means.region)}"


def _raise(advice: Advice, finding: Finding, means: Means) -> Advice:
    """Give advice to raise units its number and its command, where nothing else of it is to be thought of.

    What is known is of one place and direction: set elsewhere, it could lower what is there.
    """
    direction, wanted = finding.direction, means.wanted_units
    is_meant = means.wanted_at == (finding.table, finding.index, direction)
    if wanted is None or not is_meant or not advice.action.startswith("raise-"):
        return advice
    if advice.command is not None:
        return msgspec.structs.replace(advice, command=_UNITS.sub(f"{wanted}", advice.command))
    if advice.action not in {"raise-capacity", "raise-index-capacity"} or direction is None:
        return advice
    if means.read_units is None or means.write_units is None:
        return advice
    read = wanted if direction is Direction.READ else f"{means.read_units:g}"
    write = wanted if direction is Direction.WRITE else f"{means.write_units:g}"
    units = f"ReadCapacityUnits={read},WriteCapacityUnits={write}"
    setting = f"--provisioned-throughput {units}"
    if finding.index is not None:
        update = f"Update={{IndexName={finding.index},ProvisionedThroughput={{{units}}}}}"
        setting = f"--global-secondary-index-updates {shlex.quote(update)}"
    call = f"aws dynamodb update-table --table-name {shlex.quote(finding.table)} {setting}"
    return msgspec.structs.replace(advice, command=f"{call}  # changes production")


def steps_of(own: Sequence[Advice], findings: Iterable[Finding], means: Means) -> tuple[Advice, ...]:
    """Return what to do, each action once: a diagnosis's own steps, then what its findings advise.

    Of findings' advice the first stays first, since it never changes production (of a diagnosis's own steps one may:
    decision 0026); then what raises a limit that was hit, and what has a command. Commands get region, profile and
    units where they lack them.
    """
    every = [*own, *(_raise(advice, finding, means) for finding in findings for advice in finding.advice)]
    once: dict[str, Advice] = {}
    for advice in every:
        known = once.get(advice.action)
        if known is None or (known.command is None and advice.command is not None):
            once[advice.action] = advice
    first, others = [*once.values()][: max(len(own), 1)], [*once.values()][max(len(own), 1) :]
    others.sort(key=lambda advice: (not advice.action.startswith("raise-"), advice.command is None))
    return tuple(_placed(advice, means) for advice in (*first, *others)[:_MOST])


def _placed(advice: Advice, means: Means) -> Advice:
    command = advice.command
    if command is None or not command.startswith(("aws ", "dynascope ")) or _REMARK not in command:
        return advice
    call, _, remark = command.rpartition(_REMARK)  # from the right: a name may hold one
    placed = {"--region": means.region, "--profile": means.profile}
    if call.startswith(_KNOWS_ROLES):
        placed["--role"] = means.role
    elif means.role is not None and call.startswith("aws "):
        remark += f", as {means.role}"
    for option, value in placed.items():
        if value is not None and f" {option} " not in call:
            call += f" {option} {shlex.quote(value)}"
    return msgspec.structs.replace(advice, command=call + _REMARK + remark)
