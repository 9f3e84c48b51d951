"""What a detector lacks, in the words of whoever could give it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.model.sight import Sight

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["needs_words"]

_WORDS: dict[str, str] = {
    Sight.REQUESTS: "a request log",
    Sight.REQUEST_KEYS: "requests' keys",
    Sight.REQUEST_COUNTS: "requests' counts",
    Sight.REQUEST_UNITS: "requests' units",
    Sight.REQUEST_FILTERS: "requests' filters",
    Sight.REQUEST_SEQUENCES: "whole sequences of requests",
    Sight.RETURNED_KEYS: "keys of returned items",
    Sight.METRICS: "CloudWatch's metrics",
    Sight.INSIGHTS_ACCESSED: "Contributor Insights of accessed keys",
    Sight.INSIGHTS_THROTTLED: "Contributor Insights of throttled keys",
    Sight.TABLE: "the table's description",
    Sight.SCALING: "autoscaling's settings",
    Sight.CONTRACT: "a contract",
    Sight.CHANGES: "CloudTrail's changes",
    Sight.CANARY: "a canary",
    Sight.SPAN_14D: "14 days of traffic",
}


def needs_words(needs: Sequence[str]) -> str:
    """Say all of what is lacking; a name that is not known, of a later version's report, is given as it is."""
    return " and ".join(_WORDS.get(name, name) for name in needs)
