"""What the receiver of traces needs to be told."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["OtlpConfig"]


class OtlpConfig(Struct, frozen=True):
    """Where it listens, and the bounds of what it takes.

    A body over `largest_body_bytes`, before or after it is unpacked, is refused: OTLP recommends 20 MiB. `queue_bytes`
    of records wait to be counted, `most_requests` are taken in at once; beyond either a client is told to come again.
    """

    host: str = "127.0.0.1"
    port: int = 4318
    largest_body_bytes: int = 20 * 1024 * 1024
    queue_bytes: int = 32 * 1024 * 1024
    most_requests: int = 4
    body_ms: int = 10_000
    delay_ms: int = 10_000

    @property
    def path(self) -> str:
        """The name of its position."""
        return f"otlp://{self.host}:{self.port}"
