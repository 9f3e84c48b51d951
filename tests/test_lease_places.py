from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analyzer.errors import AbsentError, CollectError, MalformedError, UnreachableError, UnsupportedError
from analyzer.lease import DayCost, Lease, LeaseConfig
from analyzer.lease_places import FilePlace, LeasePlace, S3Place
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from pathlib import Path

MINE, THEIRS = Lease("me", 1, 20_000, DayCost(3, 1.5)), Lease("them", 2)
CONFIG = LeaseConfig(bucket="b", key="k", region="eu-west-1")


class Bucket(ScriptedAws):
    """An object of S3 with conditional writes."""

    def __init__(self) -> None:
        super().__init__({"GetObject": self.get, "PutObject": self.put})
        self.content: bytes | None = None
        self.writes = 0

    def get(self, _: Any) -> Any:
        if self.content is None:
            return AbsentError("NoSuchKey", hint="", code="NoSuchKey")
        return {"Body": self.content, "ETag": f'"{self.writes}"'}

    def put(self, asked: Any) -> Any:
        is_there = self.content is not None
        if asked.get("IfNoneMatch") == "*" and is_there:
            return UnsupportedError("PreconditionFailed", hint="", code="PreconditionFailed")
        if "IfMatch" in asked and not is_there:
            return AbsentError("NoSuchKey", hint="", code="NoSuchKey")
        if "IfMatch" in asked and asked["IfMatch"] != f'"{self.writes}"':
            return UnsupportedError("PreconditionFailed", hint="", code="PreconditionFailed")
        self.content, self.writes = asked["Body"], self.writes + 1
        return {}


@pytest.fixture(params=["file", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> LeasePlace:
    return FilePlace(tmp_path / "new" / "lease") if request.param == "file" else S3Place(Bucket(), CONFIG)


async def test_only_the_first_of_two_writes_of_one_version_counts(place: LeasePlace) -> None:
    assert await place.read() == (None, None)
    assert await place.write(MINE, None)
    assert not await place.write(THEIRS, None)
    lease, version = await place.read()
    assert lease == MINE
    assert await place.write(THEIRS, version)
    assert not await place.write(MINE, version)
    assert (await place.read())[0] == THEIRS


@pytest.mark.parametrize("content", ["no lease", "{}", '{"holder":"me","spent":{"day":"yesterday"}}'])
async def test_what_is_no_lease_is_free(content: str, tmp_path: Path) -> None:
    path = tmp_path / "lease"
    path.write_text(content)
    lease, version = await FilePlace(path).read()
    assert lease is None
    assert await FilePlace(path).write(MINE, version)
    assert (await FilePlace(path).read())[0] == MINE


async def test_a_file_that_cannot_be_reached_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "lease"):
        with pytest.raises(CollectError, match="the lease"):
            await FilePlace(path).read()
    with pytest.raises(CollectError, match="the lease"):
        await FilePlace(tmp_path / "file" / "lease").write(MINE, None)


async def test_calls_go_to_the_region_of_the_bucket() -> None:
    bucket = Bucket()
    await S3Place(bucket, CONFIG).write(MINE, None)
    assert bucket.places == {("eu-west-1", None)}


async def test_an_object_that_was_deleted_meanwhile_was_not_what_was_read() -> None:
    assert not await S3Place(Bucket(), CONFIG).write(MINE, '"7"')


@pytest.mark.parametrize(
    "error",
    [
        UnreachableError("down", hint=""),
        AbsentError("gone", hint="", code="NoSuchBucket"),
        UnsupportedError("odd", hint="", code="NotImplemented"),
    ],
)
async def test_any_other_failure_is_told(error: CollectError) -> None:
    place = S3Place(ScriptedAws({"GetObject": error, "PutObject": error}), CONFIG)
    with pytest.raises(CollectError):
        await place.read()
    with pytest.raises(CollectError):
        await place.write(MINE, '"1"')


async def test_an_answer_without_its_version_is_none() -> None:
    with pytest.raises(MalformedError, match="ETag"):
        await S3Place(ScriptedAws({"GetObject": {"Body": b"{}"}}), CONFIG).read()
