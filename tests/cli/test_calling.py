from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.cli.calling import with_aws
from analyzer.errors import DeniedError, ThrottledError

if TYPE_CHECKING:
    from analyzer.interfaces import AwsCaller


async def place_of(_: AwsCaller, region: str) -> str:
    return region


def test_the_region_of_the_command_line_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert with_aws(place_of, "us-west-2", None) == "us-west-2"
    assert with_aws(place_of, None, None) == "eu-west-1"


def test_a_profile_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(DeniedError, match="the AWS profile nope: ProfileNotFound"):
        with_aws(place_of, None, "nope")


def test_what_goes_wrong_comes_out_as_it_is() -> None:
    async def fail(_: AwsCaller, __: str) -> None:
        raise ThrottledError("slow down", hint="it is tried again")

    with pytest.raises(ThrottledError, match="slow down"):
        with_aws(fail, "us-east-1", None)


@pytest.mark.parametrize(
    ("name", "told"), [("AWS_DEFAULT_REGION", ""), ("AWS_OTHER", "no region given, us-east-1 taken")]
)
def test_a_region_that_nobody_gave_is_said(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for one in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(one, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv(name, "us-east-1")

    async def where(_aws: object, region: str) -> str:
        return region

    assert with_aws(where, None, None) == "us-east-1"
    said = capsys.readouterr().err
    assert told in said
    assert bool(told) == bool(said)
