"""What a sampler needs of a contract: key attributes, and the words in keys that may stand in clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.contract.model import Contract
    from analyzer.requests.lexicon import TableKeys

__all__ = ["sampler_schema"]


def sampler_schema(contract: Contract) -> dict[str, Any]:
    """Return a contract's keys as the sampler's `schema=` takes them, by table name or glob.

    What nobody named is left out, so that the sampler learns it from traffic.
    """
    ttl = {table.name: table.ttl_attribute for table in reversed(contract.tables) if table.ttl_attribute is not None}
    return {"tables": [_table(keys, ttl.get(keys.name)) for keys in contract.table_keys()]}


def _table(keys: TableKeys, ttl_attribute: str | None) -> dict[str, Any]:
    templates = [template for listed in keys.templates.values() for template in listed]
    words = keys.literals.union(*(template.segments_literal() for template in templates))
    indexes = {name: [*partition, *sort] for name, (partition, sort) in keys.indexes.items()}
    told = {
        "partition_key": list(keys.partition_key),
        "sort_key": list(keys.sort_key),
        "indexes": indexes,
        "literals": sorted(words),
        "ttl_attribute": ttl_attribute,
    }
    return {"name": keys.name, **{field: value for field, value in told.items() if value}}
