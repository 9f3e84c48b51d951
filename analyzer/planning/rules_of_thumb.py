"""The rules of thumb for a billing mode, beside what the arithmetic says, and why the two differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from analyzer.detectors.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.model.prices import Prices
    from analyzer.planning.option import Option

__all__ = ["Rule", "Thumb", "break_even", "thumb_of"]

FEW_REQUESTS = 10_000_000
SUSTAINED = 0.4
STEADY = 0.7
_SECONDS_AN_HOUR = 3600
_SPIKES = {True: "a minute of more than four times the mean", False: "it is not", None: "demand is not known"}


class Rule(Struct, frozen=True):
    """One rule: what it says, what it advises, and whether it holds here; None: cannot be judged."""

    text: str
    advises: str
    holds: bool | None
    because: str


class Thumb(Struct, frozen=True, kw_only=True):
    """The rules, what they advise together (None: nothing), and how that differs from the arithmetic."""

    rules: tuple[Rule, ...]
    advice: str | None
    break_even_share: float
    difference: str


def break_even(prices: Prices) -> float:
    """Return the use of provisioned capacity from which on it is cheaper than on demand, a share; that of writes.

    A unit that is used all the time makes 3,600 requests an hour.
    """
    return prices.write_unit_hour / (_SECONDS_AN_HOUR * prices.write_million / 1e6) if prices.write_million else 1.0


def thumb_of(
    *,
    requests_a_month: float | None,
    used_share: float | None,
    is_spiky: bool | None,
    is_steady: bool,
    prices: Prices,
    best: Option | None,
) -> Thumb:
    """Judge the rules at what was observed; `used_share` is the use of autoscaled capacity, None without a replay."""
    few = None if requests_a_month is None else requests_a_month < FEW_REQUESTS
    asked = "how many requests a month is not known" if few is None else f"{number(requests_a_month or 0)} a month"
    used = "use is not known" if used_share is None else f"use is {percent(used_share)}"
    sustained = None if used_share is None else used_share > SUSTAINED
    rules = (
        Rule("under 10 million requests a month", "on-demand", few, asked),
        Rule("spiky", "on-demand", is_spiky, _SPIKES[is_spiky]),
        Rule("use over 40%, sustained", "provisioned", sustained, used),
        Rule(
            "use over 70% and steady",
            "reserved",
            None if used_share is None else used_share > STEADY and is_steady,
            used if used_share is None else f"{used}, and it is {'' if is_steady else 'not '}steady",
        ),
    )
    advice = _advice(rules)
    share = break_even(prices)
    return Thumb(rules=rules, advice=advice, break_even_share=share, difference=_difference(advice, best, share))


def _advice(rules: Sequence[Rule]) -> str | None:
    """Return what the rules advise: those for on demand come first, and the last of the others that holds."""
    holding = [rule.advises for rule in rules if rule.holds]
    if not holding:
        return None
    return "on-demand" if "on-demand" in holding else holding[-1]


def _difference(advice: str | None, best: Option | None, share: float) -> str:
    computed = f"at these prices provisioned capacity is cheaper from {percent(share)} use on"
    margin = (
        f"the rule waits until 40%: what lies between {percent(share)} and 40% pays for nobody having to watch capacity"
    )
    if best is None:
        return f"{computed}; {margin}"
    if advice is None:
        return f"no rule holds here; {computed}, and the cheapest that refuses nothing is {best.title}"
    if advice == best.name or best.name.startswith(advice):
        return f"the rules and the arithmetic agree: {best.title}; {computed}"
    return f"the rules say {advice}, the arithmetic {best.title}: {computed}; {margin}"
