"""Advice for callers that stop reading too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, ask_owner
from analyzer.detectors.words import who
from analyzer.model.finding import Advice, Risk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.model.shape import Shape

__all__ = ["ask_stopper", "encode_filter", "follow_pages"]

_LOOP = """\
while True:
    page = table.{call}(**request)
    wanted += page["Items"]
    if "LastEvaluatedKey" not in page or len(wanted) >= enough:
        break
    request["ExclusiveStartKey"] = page["LastEvaluatedKey"]"""
_STATEMENT_LOOP = """\
while True:
    page = client.execute_statement(**request)
    wanted += page["Items"]
    if "NextToken" not in page or len(wanted) >= enough:
        break
    request["NextToken"] = page["NextToken"]"""


def ask_stopper(caller: str | None) -> Advice:
    """Return the advice to ask who stopped reading what was missed by it."""
    return ask_owner(
        caller, "who misses what it did not read, and since when", "tells what has to be done anew once it reads on"
    )


def follow_pages(caller: str | None, shape: Shape, stops_at: str) -> Advice:
    """Return the advice to read on until there is no more; `stops_at` says what is no end."""
    is_statement = shape.operation == "ExecuteStatement"
    token = "NextToken" if is_statement else "LastEvaluatedKey"
    loop = _STATEMENT_LOOP if is_statement else _LOOP.format(call=shape.operation.lower())
    return advise(
        "follow-pages",
        f"Let {who(caller)} read on while the answer has a {token}, or enough was found: {stops_at}",
        effect="all items that are there are found",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet=loop,
    )


def encode_filter(shape: Shape) -> Iterator[Advice]:
    """Yield the advice to ask for the filtered attribute in a key."""
    if shape.filter_attributes:
        attribute = shape.filter_attributes[0]
        yield advise(
            "encode-filter-in-key",
            f"Ask for {attribute} in the key condition, of the sort key or of an index",
            effect="a page holds what is wanted, and Limit counts that",
            risk=Risk.HIGH,
            reversible=True,
            takes="a migration, or an index build",
            snippet=f'Key(partition).eq(value) & Key(sort).begins_with(f"{attribute.upper()}#{{wanted}}")',
        )
