from __future__ import annotations

from typing import Any

import pytest

from analyzer.errors import AbsentError
from collectors.aws.blobs import S3Blobs
from tests.support.scripted_aws import ScriptedAws


class Bucket(ScriptedAws):
    """A bucket in memory that lists two names a page."""

    def __init__(self) -> None:
        names = ("GetObject", "PutObject", "DeleteObject", "ListObjectsV2")
        super().__init__({name: getattr(self, f"_{name.lower()}") for name in names})
        self.objects: dict[str, bytes] = {}

    def _getobject(self, asked: dict[str, Any]) -> Any:
        if asked["Key"] not in self.objects:
            return AbsentError("NoSuchKey", hint="", code="NoSuchKey")
        return {"Body": self.objects[asked["Key"]]}

    def _putobject(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.objects[asked["Key"]] = asked["Body"]
        return {}

    def _deleteobject(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.objects.pop(asked["Key"], None)
        return {}

    def _listobjectsv2(self, asked: dict[str, Any]) -> dict[str, Any]:
        names = sorted(name for name in self.objects if name.startswith(asked["Prefix"]))
        first = int(asked.get("ContinuationToken", 0))
        page = {"Contents": [{"Key": name} for name in names[first : first + 2]]} if names else {}
        return page | ({"NextContinuationToken": str(first + 2)} if len(names) > first + 2 else {})


async def test_what_is_written_is_read_listed_and_deleted_behind_the_prefix() -> None:
    bucket = Bucket()
    blobs = S3Blobs(bucket, "logs", "/history/", "eu-west-1")
    for name in ("kind=a/1", "kind=a/2", "kind=a/3", "kind=b/1"):
        await blobs.write(name, name.encode())
    assert sorted(bucket.objects) == ["history/kind=a/1", "history/kind=a/2", "history/kind=a/3", "history/kind=b/1"]
    assert await blobs.list("kind=a/") == ("kind=a/1", "kind=a/2", "kind=a/3")
    assert await blobs.read("kind=a/2") == b"kind=a/2"
    await blobs.delete("kind=a/2")
    assert await blobs.list("kind=a/") == ("kind=a/1", "kind=a/3")
    assert bucket.places == {("eu-west-1", None)}
    assert str(blobs) == "s3://logs/history/"


async def test_what_is_not_there_is_a_key_error_and_a_bucket_that_is_not_there_is_told() -> None:
    with pytest.raises(KeyError):
        await S3Blobs(Bucket(), "logs").read("nothing")
    assert await S3Blobs(Bucket(), "logs").list("") == ()
    gone = AbsentError("no bucket logs", hint="make it", code="NoSuchBucket")
    with pytest.raises(AbsentError, match="no bucket"):
        await S3Blobs(ScriptedAws({"GetObject": gone}), "logs").read("nothing")
