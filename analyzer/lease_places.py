"""Where a lease lies: a file on a disk that daemons share, or an object in S3. A write names what it replaces."""

from __future__ import annotations

import asyncio
import fcntl
import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

import msgspec

from analyzer.errors import AbsentError, CollectError, UnsupportedError
from analyzer.lease import Lease
from collectors.asking import member

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.interfaces import AwsCaller
    from analyzer.lease import LeaseConfig

__all__ = ["FilePlace", "LeasePlace", "S3Place"]

_LOST = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})
"""Somebody else was faster (S3 User Guide, "Conditional writes", read 2026-11-30)."""


class LeasePlace(Protocol):
    """Holds one lease; both raise CollectError where it cannot be reached."""

    async def read(self) -> tuple[Lease | None, str | None]:
        """Return the lease and its version, None where there is none."""
        ...

    async def write(self, lease: Lease, version: str | None) -> bool:
        """Replace the version that was read; False where it is not there any more."""
        ...


class FilePlace:
    """A file on a disk that both daemons write to; it is replaced whole, under a lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self) -> tuple[Lease | None, str | None]:
        """Read the file."""
        return await asyncio.to_thread(self._read)

    async def write(self, lease: Lease, version: str | None) -> bool:
        """Compare and replace, with everybody else kept out."""
        return await asyncio.to_thread(self._replace, lease, version)

    def _read(self) -> tuple[Lease | None, str | None]:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None, None
        except OSError as error:
            raise _unreachable(self._path, error) from None
        return _decoded(content), blake2b(content, digest_size=16).hexdigest()

    def _replace(self, lease: Lease, version: str | None) -> bool:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.with_suffix(f"{self._path.suffix}.lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if self._read()[1] != version:
                    return False
                self._write(msgspec.json.encode(lease))
        except OSError as error:
            raise _unreachable(self._path, error) from None
        return True

    def _write(self, content: bytes) -> None:
        temporary = self._path.with_suffix(f"{self._path.suffix}.new")
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class S3Place:
    """An object that is written on the condition that it is what was read."""

    def __init__(self, aws: AwsCaller, config: LeaseConfig) -> None:
        self._aws = aws
        self._region = config.region
        self._named = {"Bucket": config.bucket, "Key": config.key}

    async def read(self) -> tuple[Lease | None, str | None]:
        """Get the object."""
        try:
            answer = await self._aws.call("s3", "GetObject", region=self._region, **self._named)
        except AbsentError as error:
            if error.code == "NoSuchBucket":
                raise
            return None, None
        return _decoded(bytes(member(answer, "Body", bytes, "GetObject"))), member(answer, "ETag", str, "GetObject")

    async def write(self, lease: Lease, version: str | None) -> bool:
        """Put the object, if it is the one that was read, or if there is none."""
        condition = {"IfNoneMatch": "*"} if version is None else {"IfMatch": version}
        body = msgspec.json.encode(lease)
        try:
            await self._aws.call("s3", "PutObject", region=self._region, **self._named, **condition, Body=body)
        except (UnsupportedError, AbsentError) as error:
            if error.code in _LOST or (isinstance(error, AbsentError) and error.code == "NoSuchKey"):
                return False
            raise
        return True


def _decoded(content: bytes) -> Lease | None:
    """Read a lease; what is none is free to be replaced."""
    try:
        return msgspec.json.decode(content, type=Lease)
    except msgspec.DecodeError:
        return None


def _unreachable(path: Path, error: OSError) -> CollectError:
    return CollectError(f"the lease {path}: {error.strerror}", hint="mend that, or put the lease elsewhere")
