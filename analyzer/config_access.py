"""What is asked of whoever reads the daemon over HTTP: a token, a client's certificate, patience."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from analyzer.config_kinds import Section, split_address
from analyzer.exporters.access import Tls
from analyzer.exporters.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import SecretStr

__all__ = ["TlsSettings", "check_address", "check_token", "tls_of", "token_of"]

_SHORTEST = 16
"""A token of so many random characters is not guessed at twenty tries a minute."""
_TOKEN = re.compile(r"[!-~]+")


class TlsSettings(Section):
    """The server's own certificate, and whose clients' certificates are taken."""

    cert: str = Field(description="file of the server's certificate, its chain with it (PEM)")
    key: str = Field(description="file of its private key (PEM)")
    client_ca: str | None = Field(
        None, description="file of the authority (PEM) whose clients may ask without a token: mutual TLS"
    )

    def from_folder(self, place: Callable[[str], str]) -> TlsSettings:
        """Return the same with paths that are taken from the configuration's own folder."""
        named = {name: value for name, value in self.model_dump().items() if value is not None}
        return self.model_copy(update={name: place(value) for name, value in named.items()})


def check_address(value: str, default: str, told: Mapping[str, Any]) -> None:
    """Raise ValueError for an address that is none, or that others can reach and nothing guards.

    `told` holds what comes before it in the configuration, less what is faulty: that is told as such.
    """
    host, _ = split_address(value, default)
    is_faulty = not {"token", "token_file", "tls", "listen_unprotected"} <= told.keys()
    has_lock = told.get("token") or told.get("token_file") or getattr(told.get("tls"), "client_ca", None)
    if not (is_faulty or has_lock or told["listen_unprotected"] or is_loopback(host)):
        raise ValueError(
            f"other machines can reach {value} and are asked for nothing; set token_file, or tls with client_ca; "
            f"or listen on {default}; or set listen_unprotected: true behind a firewall"
        )


def check_token(token: str) -> None:
    """Raise ValueError for a token that could be guessed, or not be sent."""
    if not _TOKEN.fullmatch(token):
        raise ValueError("a token is printable ASCII without spaces; make one with `openssl rand -hex 32`")
    if len(token) < _SHORTEST:
        raise ValueError(
            f"a token of less than {_SHORTEST} characters can be guessed; make one with `openssl rand -hex 32`"
        )


def token_of(token: SecretStr | None, file: str | None) -> str | None:
    """Return the token, None where nobody set one; raises ValueError with what is wrong with its file."""
    if token is not None:
        return token.get_secret_value()
    if file is None:
        return None
    try:
        told = Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    check_token(told)
    return told


def tls_of(settings: TlsSettings | None) -> Tls | None:
    """Return the files of the server's certificate; raises ValueError where they cannot be used."""
    if settings is None:
        return None
    tls = Tls(Path(settings.cert), Path(settings.key), None if settings.client_ca is None else Path(settings.client_ca))
    for path in (tls.certificate, tls.key, tls.client_authority):
        if path is not None and not path.is_file():
            raise ValueError(f"{path}: no such file")
    try:
        tls.context()
    except ssl.SSLError as error:
        raise ValueError(f"certificate, key and authority do not work together: {error.reason or error}") from None
    except OSError as error:
        raise ValueError(f"certificate, key or authority cannot be read: {error.strerror}") from None
    return tls
