"""The stage: the emulator with the table on it, filled."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

from deploy.demo.cases import TABLE, definition, seed_items
from deploy.demo.clients import REGION, connect_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["served", "set_stage"]

_SECONDS = 30


def set_stage(url: str, seed: int) -> int:
    """Create the table and fill it without a request, a unit or a record; returns how many items it has."""
    client = connect_plain(url)
    client.create_table(**definition())
    client.close()
    items = seed_items(seed)
    _seed(url, items)
    return len(items)


def _seed(url: str, items: Sequence[dict[str, Any]]) -> None:
    body = json.dumps({"region": REGION, "table": TABLE, "items": list(items)}).encode()
    request = urllib.request.Request(f"{url}/_demo/seed", body, method="POST")  # noqa: S310 - our own loopback server
    with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310 - same
        pass


def served(url: str) -> list[dict[str, Any]]:
    """Return what the emulator served and refused, second by second."""
    with urllib.request.urlopen(f"{url}/_demo/served", timeout=_SECONDS) as answer:  # noqa: S310 - same
        told: list[dict[str, Any]] = json.load(answer)
    return told
