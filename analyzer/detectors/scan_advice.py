"""Advice on a Scan that nobody declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.detectors.advice import advise, aws, time_to_live_on
from analyzer.detectors.words import who
from analyzer.model.finding import Advice, Risk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.model.traffic import Traffic

__all__ = ["advice_on_scan"]


def advice_on_scan(
    traffic: Traffic, caller: str | None, filtered: Sequence[str], *, sweeps: bool, caches: bool
) -> Iterator[Advice]:
    """Yield what to do: time to live `sweeps` for nothing, and where calls drive a rise, who `caches` is helped."""
    yield advise(
        "fix-caller",
        f"Ask the owner of {who(caller)} whether the Scan is meant, and stop it if not",
        effect="its read units are free again at once",
        takes="minutes",
    )
    if sweeps:
        yield _enable_ttl(traffic, filtered[0])
    yield from _serve_otherwise(traffic, filtered)
    if caches:
        yield advise(
            "cache-item",
            "Keep the answer in the process for some seconds: it has not grown, it is asked for more often",
            effect="one Scan a process and time to live",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
        )
    yield advise(
        "declare-pattern",
        "If it is meant, declare it: who, why, when and how fast",
        effect="it is then watched against its own declaration",
        snippet=_declaration(caller),
    )


def _enable_ttl(traffic: Traffic, attribute: str) -> Advice:
    return advise(
        "enable-ttl",
        f"Let DynamoDB expire the items: enable time to live on {attribute}, and stop the sweep. Its values must be"
        " seconds since the epoch, as numbers; all items of a past time go, and none comes back",
        effect="expired items go within days, for nothing; readers filter them out until then",
        command=aws(traffic.target, time_to_live_on(traffic.target, attribute), changes=True),
        risk=Risk.HIGH,
        reversible=False,
        takes="an hour; deletions follow within days",
    )


def _serve_otherwise(traffic: Traffic, filtered: Sequence[str]) -> Iterator[Advice]:
    served = [name for name, keys in traffic.place.index_keys.items() if set(keys) & set(filtered)]
    if served:
        keys = traffic.place.index_keys[served[0]]
        attribute = next(name for name in keys if name in filtered)
        yield advise(
            "query-instead-of-scan",
            f"Query index {served[0]}: it is keyed by {', '.join(keys)}",
            effect="reads only the items that are wanted",
            risk=Risk.LOW,
            reversible=True,
            takes="a deploy",
            snippet=f'table.query(IndexName="{served[0]}", KeyConditionExpression=Key("{attribute}").eq(value))',
        )
    elif filtered:
        yield advise(
            "add-index",
            f"Serve it from an index keyed by {filtered[0]}, then Query that",
            effect="reads only the items that are wanted",
            risk=Risk.LOW,
            reversible=True,
            takes="an index build",
        )
    else:
        yield advise(
            "use-export",
            "Export the table to S3 and read it there",
            effect="takes no read units of the table",
            reversible=True,
            takes="minutes to hours, by table size",
        )


def _declaration(caller: str | None) -> str:
    return (
        "- id: name-it\n"
        "  operation: Scan\n"
        "  purpose: export        # operational | migration | export | repair | admin\n"
        f"  callers: [{caller or 'who-calls'}]\n"
        '  schedule: "0 2 * * *"\n'
        "  max_units_per_second: 200"
    )
