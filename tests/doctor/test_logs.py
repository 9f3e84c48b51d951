from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from analyzer.config import Settings
from analyzer.doctor import logs
from analyzer.doctor.logs import examine_logs
from analyzer.errors import MalformedError
from analyzer.setup import Setup, build_setup
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    import pytest


def setup_of(**log: Any) -> Setup:
    return build_setup(Settings.model_validate({"aws": {}, "request_log": log}))


async def states(setup: Setup, aws: ScriptedAws) -> dict[str, str]:
    group = await examine_logs(setup, aws, lambda: 0)
    assert group is not None
    return {check.name: check.state for check in group.checks}


async def test_where_there_is_no_log_there_is_nothing_to_tell() -> None:
    assert await examine_logs(setup_of(), None, lambda: 0) is None


async def test_a_log_that_never_answers_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_PATIENCE_SECONDS", 0.05)

    async def never(_: object) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    aws = ScriptedAws({"ListObjectsV2": never, "FilterLogEvents": {"events": []}})
    told = await states(setup_of(s3=[{"bucket": "b"}], cloudwatch_logs=[{"group": "g"}]), aws)
    assert told == {"s3://b/": "error", "logs:///g: FilterLogEvents": "ok"}


async def test_an_answer_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    async def breaks(_: object) -> tuple[()]:
        raise MalformedError("half of it", hint="again")

    monkeypatch.setattr("collectors.request_log.s3.collector.S3Stream.check", breaks)
    assert await states(setup_of(s3=[{"bucket": "b"}]), ScriptedAws({})) == {"s3://b/": "error"}
