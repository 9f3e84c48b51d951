"""Advice for items that are too large, or become so: less in one item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise
from analyzer.model.finding import Advice, Risk

if TYPE_CHECKING:
    from analyzer.model.traffic import Traffic

__all__ = ["split_item", "store_in_s3"]


def split_item(traffic: Traffic, what: str, attribute: str | None) -> Advice:
    """Return the advice to write entries as items of their own; `what` says what they are part of.

    A table without a sort key has one item a partition key: there each entry needs a key of its own.
    """
    place = traffic.place
    body = attribute or "body"
    if place.partition_key and not place.sort_key:
        name = place.partition_key[0]
        where = "under a key of its own, numbered after that of the item"
        snippet = f'table.put_item(Item={{"{name}": f"{{{name}}}#{{number}}", "{body}": entry}})'
    else:
        sort = (place.sort_key or ("SK",))[0]
        where = "as an item of its own under the same partition key"
        snippet = f'table.put_item(Item={{**partition, "{sort}": f"ENTRY#{{time}}", "{body}": entry}})'
    return advise(
        "split-item",
        f"Write each entry of {what} {where}, or one item a day where entries are many",
        effect="no item grows, and a write pays for what it adds",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy; a backfill for what is there",
        snippet=snippet,
    )


def store_in_s3() -> Advice:
    """Return the advice to keep what must stay whole outside of the table."""
    return advise(
        "store-in-s3",
        "What must stay one value belongs in S3, its name in the item; compressed first it may fit as it is",
        effect="a write of the item costs one unit",
        risk=Risk.LOW,
        reversible=True,
        takes="a deploy",
        snippet='s3.put_object(Bucket=bucket, Key=name, Body=zlib.compress(body)); item["body_at"] = name',
    )
