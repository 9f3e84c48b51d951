"""The intent of a watch as it stands on disk, and what a watch will cost. Pure."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from analyzer.errors import MalformedError
from analyzer.knowledge.limits import RULE_QUOTA
from analyzer.knowledge.prices import WATCHER_PRICES, WatcherPrices
from analyzer.model.instant import Instant, format_instant
from analyzer.model.target import Target

__all__ = [
    "Cost",
    "Intent",
    "Plan",
    "cost_of",
    "describe_plan",
    "read_intent",
]

_VERSION = 1
_HOURS_A_MONTH = 730
_HOUR_MS = 3_600_000


class Intent(Struct, frozen=True, kw_only=True):
    """What is to be put back: written before the switch, gone after it was undone.

    `account` is the twelve digits of whose the table is; `called_as` the account that calls are made as, None for the
    credentials at hand. `was_on` and `was_mode` are how it stood.
    """

    v: int = _VERSION
    account: str
    region: str
    table: str
    index: str | None
    called_as: str | None
    was_on: bool
    was_mode: str
    began: Instant
    until: Instant

    @property
    def target(self) -> Target:
        """The table or index."""
        return Target(self.account, self.region, self.table, self.index)


class Cost(Struct, frozen=True):
    """Dollars at list price; what the requests cost is None where their rate is not known."""

    rules_usd: float
    events_usd: float | None


class Plan(Struct, frozen=True, kw_only=True):
    """A watch before it begins: how the target stands, what the switch adds, and what that costs.

    `rules_used` counts the account's rules in the region, None where they could not be counted;
    `requests_a_second` is the last hour's mean, None where it could not be read.
    """

    target: Target
    called_as: str | None
    was_on: bool
    was_mode: str
    is_ranking: bool
    for_ms: int
    rules_added: int
    rules_used: int | None
    requests_a_second: float | None
    cost: Cost


def read_intent(content: bytes, file: str) -> Intent:
    """Read an intent; raises MalformedError."""
    hint = "look into it: what it names may still be switched over; mend it by hand, then remove the file"
    try:
        intent = msgspec.json.decode(content, type=Intent)
    except msgspec.DecodeError as error:
        raise MalformedError(f"{file} is no intent of a watch: {error}", hint=hint) from None
    if intent.v != _VERSION:
        hint = "undo it with the version that wrote it: dynascope insights restore"
        raise MalformedError(f"{file} is an intent of version {intent.v}, this reads {_VERSION}", hint=hint)
    return intent


def cost_of(
    rules_added: int,
    for_ms: int,
    requests_a_second: float | None,
    *,
    has_sort_key: bool,
    prices: WatcherPrices = WATCHER_PRICES,
) -> Cost:
    """Return what a watch costs: rules by the hour, and an event for each request, two with a sort key."""
    hours = for_ms / _HOUR_MS
    rules = rules_added * prices.insights_rule_month * hours / _HOURS_A_MONTH
    if requests_a_second is None:
        return Cost(rules, None)
    events = requests_a_second * for_ms / 1000 * (2 if has_sort_key else 1)
    return Cost(rules, events / 1e6 * prices.insights_million_events)


def describe_plan(plan: Plan, prices: WatcherPrices = WATCHER_PRICES) -> tuple[str, ...]:
    """Return a plan in lines for people."""
    stands = f"on, mode {plan.was_mode}" if plan.was_on else "off"
    if plan.is_ranking:
        return (f"{plan.target}: Contributor Insights ranks its most accessed keys already; there is nothing to do",)
    lines = [
        f"{plan.target} in {plan.target.region}: Contributor Insights is {stands}",
        f"it would rank the most accessed keys for {_minutes(plan.for_ms)}, and then be {stands} again",
        _quota(plan),
        _dollars(plan, prices),
    ]
    return tuple(lines)


def _minutes(milliseconds: int) -> str:
    minutes = milliseconds / 60_000
    return "1 minute" if minutes == 1 else f"{minutes:g} minutes"


def _quota(plan: Plan) -> str:
    added = f"it adds {plan.rules_added} rules"
    if plan.rules_used is None:
        return f"{added}; how many the account has could not be counted, the default quota is {RULE_QUOTA}"
    left = RULE_QUOTA - plan.rules_used
    enough = "" if left >= plan.rules_added else ": not enough, unless your quota was raised"
    return f"{added}; the account has {plan.rules_used} of {RULE_QUOTA} (the default quota), so {left} are left{enough}"


def _dollars(plan: Plan, prices: WatcherPrices) -> str:
    basis = f"list prices of {prices.region}, {prices.as_of}"
    rules, events = plan.cost.rules_usd, plan.cost.events_usd
    if events is None or plan.requests_a_second is None:
        million = prices.insights_million_events
        return f"it costs {rules:.4f} dollars for the rules, and {million:g} a million items read or written ({basis})"
    rate = f"{plan.requests_a_second:,.1f} requests a second, the last hour's mean"
    return f"it costs about {rules + events:.4f} dollars at {rate} ({basis})"


def told_intent(intent: Intent) -> str:
    """Return in words what an intent puts back."""
    stands = f"mode {intent.was_mode}" if intent.was_on else "off"
    return f"{intent.target} in {intent.region}: back to {stands}, watched since {format_instant(intent.began)}"
