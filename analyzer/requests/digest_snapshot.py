"""The state of a digest as bytes, with the version of its form."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from analyzer.model.counts import Cell
from analyzer.model.instant import SLICE_MS, Instant
from analyzer.requests.digest_block import ReadCounters
from analyzer.requests.digest_kept import CallState, DraftState, Floor

__all__ = ["Snapshot", "read_snapshot", "write_snapshot"]

_VERSION = 2
_KNOWN = {bytes([1]), bytes([_VERSION])}
"""The version before is read too: it has sequences instead of calls, and the book begins anew."""

_HEAD = b"dynascope digest "


def _no_calls(since: Instant | None = None) -> CallState:
    return [], Floor(), {}, 0, 0, since


class Snapshot(Struct, kw_only=True):
    """Everything that a digest knows; caches are left out, for they fill again."""

    cells: list[Cell]
    read: ReadCounters
    forgotten: int
    hours: dict[str, list[int]]
    salts: list[str]
    ids: tuple[int, list[str], list[str]]
    slices: Any
    rare: Any
    heavy: Any
    calls: CallState = msgspec.field(default_factory=_no_calls)
    drafts: DraftState = []


def write_snapshot(state: Snapshot) -> bytes:
    """Write a state."""
    return _HEAD + bytes([_VERSION]) + msgspec.msgpack.encode(state)


def read_snapshot(written: bytes) -> Snapshot:
    """Read a state of this version or the one before; raises ValueError for another, or for what is none."""
    head, version, rest = written[: len(_HEAD)], written[len(_HEAD) : len(_HEAD) + 1], written[len(_HEAD) + 1 :]
    if head != _HEAD:
        raise ValueError("not the state of a digest")
    if version not in _KNOWN:
        raise ValueError(f"the state of a digest in version {version[0] if version else '?'}, not {_VERSION}")
    state = msgspec.msgpack.decode(rest, type=Snapshot, strict=False)
    if version != bytes([_VERSION]):
        state.calls = _no_calls((state.slices[-1][1] + 1) * SLICE_MS if state.slices[-1] else None)
    return state
