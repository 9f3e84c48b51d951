"""What bounds the digest's memory."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["DigestLimits"]


class DigestLimits(Struct, frozen=True):
    """The bounds of everything that grows.

    `batch`: rows of counts that wait to be added. `rows`: key rows that wait to be folded. `cells`, `routes`: shapes
    with caller and rate, raw texts. `grammar`: raw texts that may go to the grammar in a second of log time. `slices`:
    how many are kept before the oldest is forgotten by itself. `ids`: request ids remembered for up to 60 s, and once
    more as many. `heavy`: heavy keys kept of a hot target and slice; `past`: of the past. `calls`:
    claims of traces, keys and shapes on the calls that are kept; notable calls of each kind may be a fortieth more.
    `hours`: clock hours counted of a shape. `future_ms`: how far ahead of now a time may be. `late_ms`: how far behind
    the newest time a record may be before it counts as late; it is counted in its slice all the same.
    """

    batch: int = 4096
    rows: int = 16_384
    cells: int = 16_384
    routes: int = 4_096
    grammar: int = 200
    slices: int = 4_096
    ids: int = 20_000
    heavy: int = 200
    past: int = 64
    calls: int = 12_000
    hours: int = 24
    future_ms: int = 60_000
    late_ms: int = 120_000
