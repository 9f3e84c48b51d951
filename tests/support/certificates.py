"""Certificates made for one test: an authority, a server's, a client's, and a client's of somebody else."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Certificates", "make_certificates"]


class Certificates(NamedTuple):
    """PEM files; `client` and `stranger` hold certificate and key in one."""

    authority: Path
    server: Path
    server_key: Path
    client: Path
    stranger: Path


def make_certificates(folder: Path) -> Certificates:
    """Make them with the openssl command."""
    for authority in ("ours", "theirs"):
        _openssl(
            folder,
            f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={authority}"
            f" -keyout {authority}.key -out {authority}.pem",
        )
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name, authority in (("server", "ours"), ("client", "ours"), ("stranger", "theirs")):
        _openssl(
            folder,
            f"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name}"
            f" -keyout {name}.key -out {name}.csr",
        )
        _openssl(
            folder,
            f"x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -days 2"
            f" -extfile names -out {name}.crt",
        )
        (folder / f"{name}.pem").write_text((folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())
    names = ("ours.pem", "server.crt", "server.key", "client.pem", "stranger.pem")
    return Certificates(*(folder / name for name in names))


def _openssl(folder: Path, arguments: str) -> None:
    subprocess.run(["openssl", *arguments.split()], cwd=folder, check=True, capture_output=True)
