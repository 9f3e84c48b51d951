"""What can be checked without asking anybody: contract, salt, state folder, address, files of the request log."""

from __future__ import annotations

import glob
import http.client
import os
import socket
import ssl
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.detectors.words import counted
from analyzer.doctor.examined import Group
from analyzer.model.batch import Check
from analyzer.model.sight import SourceName
from collectors.request_log.decoders.recognize import SAMPLE_BYTES, decoder_named, recognize
from collectors.request_log.translating import AUTO
from collectors.request_log.unpacking import is_packed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.setup import Setup

__all__ = ["examine_files", "examine_setup", "is_free"]

_NO_SHAPE = "its first lines are of no shape that is known"
_LITTLE_BYTES = 100 * 1000 * 1000
"""State is written beside the old one before it replaces it; both are some tens of MB at most."""

_OURS = "/docs/metrics"
"""What a daemon of any access tells everybody, and nothing else would."""

_ANSWER_SECONDS = 2.0
_MOST_BYTES = 1 << 16


def examine_setup(setup: Setup) -> Group:
    """Check what a configuration names on this machine; what it says was checked when it was read."""
    return Group("configuration", tuple(_of_setup(setup)), is_local=True)


def _of_setup(setup: Setup) -> Iterator[Check]:
    yield _contract(setup)
    yield _salt(setup)
    yield _state(setup.state)
    yield _address("listen", setup.listen_host, setup.listen_port, setup)


def _contract(setup: Setup) -> Check:
    tables = setup.contract.tables
    if not tables:
        mend = "dynascope infer writes a first one from traffic; then `contract: [contract.yaml]`"
        return Check("contract", "warning", "none: every request is undeclared", mend)
    patterns = sum(len(table.patterns) for table in tables)
    return Check("contract", "ok", f"{counted(len(tables), 'table')}, {counted(patterns, 'access pattern')}")


def _salt(setup: Setup) -> Check:
    if setup.salt is not None:
        return Check("salt", "ok", "set: tokens are those of every process that shares it")
    sees_keys = not setup.request_log.is_empty or SourceName.CONTRIBUTOR_INSIGHTS in setup.sources
    if not sees_keys:
        return Check("salt", "ok", "none, and nothing that is read bears keys")
    mend = "write one with `openssl rand -hex 32`, and name its file: salt_file, or DYNASCOPE_SALT_FILE"
    return Check("salt", "warning", "none: tokens of keys are of one process alone, and new after each restart", mend)


def _state(folder: Path) -> Check:
    """Look whether the folder can be made and written to; nothing is made."""
    name = "state folder"
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        return Check(name, "error", f"{there} is no folder", "name another one under `state`")
    if not os.access(there, os.W_OK | os.X_OK):
        return Check(name, "error", f"{there} cannot be written to", "give the daemon's user the right to, or move it")
    space = os.statvfs(there)
    free = space.f_bavail * space.f_frsize
    if free < _LITTLE_BYTES:
        told = f"{there} has {free // 1_000_000} MB left: state may not fit"
        return Check(name, "warning", told, "make room, or name another folder under `state`")
    is_new = "" if there == folder.absolute() else ", and is made at the start"
    return Check(name, "ok", f"{folder} can be written to{is_new}")


def _address(name: str, host: str, port: int, setup: Setup) -> Check:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if is_free(host, port):
        return Check(name, "ok", f"{place} is free")
    if _is_ours(setup):
        return Check(name, "warning", f"{place} is taken by a daemon that runs", "stop it first, or leave it running")
    mend = f"name another address under `{name}`, or stop what listens there: `dynascope run` would not start"
    return Check(name, "error", f"{place} cannot be listened on: it is taken, and not by a daemon, or not here", mend)


def _is_ours(setup: Setup) -> bool:
    """Whether a daemon answers where this one would."""
    tls = setup.access.tls
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(setup.listen_host, setup.listen_host)  # noqa: S104 -- asked, not listened on
    host = f"[{here}]" if ":" in here else here
    url = f"{'http' if tls is None else 'https'}://{host}:{setup.listen_port}{_OURS}"
    context = None
    if tls is not None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # who it is matters, not whether it is safe
    handlers = [
        urllib.request.ProxyHandler({}),
        *([] if context is None else [urllib.request.HTTPSHandler(context=context)]),
    ]
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=_ANSWER_SECONDS) as answer:
            return b"dynascope_" in answer.read(_MOST_BYTES)
    except (OSError, ValueError, http.client.HTTPException):  # URLError is an OSError
        return False


def is_free(host: str, port: int) -> bool:
    """Whether a program could listen there now."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError:
        return False
    return True


def examine_files(setup: Setup) -> tuple[Check, ...]:
    """Check the request logs that lie on this machine, and the address that traces are sent to."""
    checks = [_file(name, setup.request_log.shape) for name in setup.request_log.files]
    otlp = setup.request_log.otlp
    return (*checks, *(() if otlp is None else (_address("otlp", otlp.host, otlp.port, setup),)))


def _file(name: str, shape: str) -> Check:
    is_glob = glob.has_magic(name)
    found = sorted(glob.glob(name)) if is_glob else [name]  # noqa: PTH207 -- as it is tailed
    if is_glob and not found:
        return Check(name, "warning", "no file of that name is there yet", "nothing, if one will be written")
    shapes: list[str] = []
    for one in found:
        try:
            with Path(one).open("rb") as file:
                shapes += _shape_of(file.read(SAMPLE_BYTES), shape)
        except FileNotFoundError:
            return Check(name, "warning", "it is not there yet", "nothing, if it will be written")
        except OSError as error:
            mend = "give the daemon's user the right to read it"
            return Check(name, "error", f"{one}: {(error.strerror or type(error).__name__).lower()}", mend)
    can = f"{counted(len(found), 'file')} can be read" if is_glob else "it can be read"
    if _NO_SHAPE in shapes:
        mend = "look what dynascope infer says of it; docs/collectors/request-log.md lists the shapes"
        return Check(name, "warning", f"{can}, and {_NO_SHAPE}", mend)
    return Check(name, "ok", can + (f": {', '.join(sorted(set(shapes)))}" if shapes else ""))


def _shape_of(first: bytes, told: str) -> tuple[str, ...]:
    """Say of which shape a log is that begins so; nothing of one that is empty or compressed."""
    if not first.strip() or is_packed(first[:4]):
        return ()
    decoder = recognize(first) if told == AUTO else decoder_named(told)
    return (_NO_SHAPE if decoder is None else decoder.title,)
