"""What a request log in files needs to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["RequestLogConfig"]


class RequestLogConfig(Struct, frozen=True):
    """Files to tail, or globs of them, and the bounds of reading.

    A line over `longest_line_bytes` is skipped and counted. A rotated file is left `grace_ms` after its last byte, so
    that a writer which still holds it can finish. At most `most_files` are tailed at once.
    """

    files: tuple[str, ...]
    block_bytes: int = 256 * 1024
    longest_line_bytes: int = 1024 * 1024
    poll_ms: int = 200
    rescan_ms: int = 1000
    grace_ms: int = 1000
    most_files: int = 1000
