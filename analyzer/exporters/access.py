"""What is asked of whoever reads the server: a bearer token or a client's certificate, and patience."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from msgspec import Struct

__all__ = ["OPEN", "Access", "Tls"]


class Tls(Struct, frozen=True):
    """Files of the server's certificate and key, and of the authority whose clients' certificates are taken."""

    certificate: Path
    key: Path
    client_authority: Path | None = None

    def context(self) -> ssl.SSLContext:
        """Read the files; raises OSError (ssl.SSLError among it) where they are none.

        A client need not show a certificate, since metrics and health stay open; one that it shows must be good.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        if self.client_authority is not None:
            context.load_verify_locations(self.client_authority)
            context.verify_mode = ssl.CERT_OPTIONAL
        return context


class Access(Struct, frozen=True):
    """What is asked of clients; `requests_a_minute` 0 is no bound."""

    token: str | None = None
    tls: Tls | None = None
    requests_a_minute: int = 0

    def __repr__(self) -> str:
        token = None if self.token is None else "***"
        return f"Access(token={token}, tls={self.tls!r}, requests_a_minute={self.requests_a_minute})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return what is told of it: the token is not."""
        return [("is_guarded", self.is_guarded)]

    @property
    def is_guarded(self) -> bool:
        """Whether clients have to show who they are."""
        return self.token is not None or (self.tls is not None and self.tls.client_authority is not None)


OPEN = Access()
"""Anybody who reaches the address may ask."""
