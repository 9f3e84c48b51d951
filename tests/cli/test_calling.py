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
