"""One way to pay for a table, and the places whose demand it pays for: values."""

from __future__ import annotations

from msgspec import Struct

from analyzer.model.finding import Direction
from analyzer.planning.autoscaling import Rules
from analyzer.planning.load import Load

__all__ = ["Option", "Place", "Term"]


class Place(Struct, frozen=True, kw_only=True):
    """The table, or a GSI of it: `index` None is the table; `rules` are autoscaling's of each direction of `loads`."""

    name: str
    index: str | None
    loads: dict[Direction, Load]
    rules: dict[Direction, Rules]


class Term(Struct, frozen=True):
    """One summand: what it is of, how it was reckoned, and the dollars a month that it comes to."""

    of: str
    words: str
    dollars: float


class Option(Struct, frozen=True, kw_only=True):
    """One way to pay; `dollars` None is not known, and `because` says why, or what is to be known of it.

    `throttled_share` is the part of the observed units that it would have refused; None where that is not reckoned.
    """

    name: str
    title: str
    dollars: float | None
    terms: tuple[Term, ...] = ()
    risk: str
    because: str | None = None
    throttled_share: float | None = None
    throttled_units: float | None = None
