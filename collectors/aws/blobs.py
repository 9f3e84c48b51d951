"""S3 as a place for bytes: an object is there whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.errors import AbsentError
from collectors.asking import member

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller

__all__ = ["S3Blobs"]


class S3Blobs:
    """Stores bytes under names behind a prefix of a bucket; what fails raises CollectError."""

    def __init__(self, aws: AwsCaller, bucket: str, prefix: str = "", region: str | None = None) -> None:
        self._aws = aws
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._region = region

    def __str__(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}"

    async def read(self, name: str) -> bytes:
        """Return what is stored under a name; raises KeyError."""
        try:
            answer = await self._call("GetObject", Key=self._prefix + name)
        except AbsentError as error:
            if error.code == "NoSuchBucket":
                raise
            raise KeyError(name) from None
        return bytes(member(answer, "Body", bytes, "GetObject"))

    async def write(self, name: str, content: bytes) -> None:
        """Store bytes at once and wholly."""
        await self._call("PutObject", Key=self._prefix + name, Body=content)

    async def list(self, prefix: str) -> tuple[str, ...]:
        """Return the names that begin with a prefix, in order; a thousand a page (API Reference, ListObjectsV2)."""
        found: list[str] = []
        more: dict[str, Any] = {}
        while True:
            answer = await self._call("ListObjectsV2", Prefix=self._prefix + prefix, **more)
            found += [str(one["Key"]).removeprefix(self._prefix) for one in answer.get("Contents") or ()]
            token = answer.get("NextContinuationToken")
            if not token:
                return tuple(sorted(found))
            more = {"ContinuationToken": token}

    async def delete(self, name: str) -> None:
        """Let go of what is stored under a name; S3 says nothing where there is none."""
        await self._call("DeleteObject", Key=self._prefix + name)

    async def _call(self, operation: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 -- the operation's members
        return await self._aws.call("s3", operation, region=self._region, Bucket=self._bucket, **params)
