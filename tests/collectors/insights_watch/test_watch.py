from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from analyzer.errors import AbsentError, CollectError, DeniedError, MalformedError, UnreachableError, UnsupportedError
from analyzer.model.target import Target
from collectors.asking import Spot
from collectors.insights_watch.collector import InsightsWatch
from collectors.insights_watch.config import InsightsWatchConfig
from collectors.insights_watch.parse import Intent, read_intent
from collectors.notes import Notes, name_of
from tests.support.scripted_aws import ScriptedAws

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from collectors.insights_watch.parse import Plan

CASES = Target("111122223333", "us-east-1", "cases")
SPOT = Spot("us-east-1")
BOTH, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"
MINUTE = 60_000


class Switch(ScriptedAws):
    """Contributor Insights of one table, as AWS keeps it: a switch takes effect after one look."""

    def __init__(self, status: str = "DISABLED", mode: str = BOTH, sort: bool = True, **answers: Any) -> None:  # noqa: FBT001, FBT002
        keys = [{"AttributeName": "PK", "KeyType": "HASH"}]
        keys += [{"AttributeName": "SK", "KeyType": "RANGE"}] if sort else []
        index = {"IndexName": "GSI1", "KeySchema": keys[:1]}
        table = {"TableName": "cases", "KeySchema": keys, "GlobalSecondaryIndexes": [index]}
        self.status, self.mode = status, mode
        self.failure: dict[str, str] | None = None
        super().__init__(
            {
                "GetCallerIdentity": {"Account": "111122223333"},
                "DescribeTable": {"Table": table},
                "DescribeInsightRules": {"InsightRules": [{"Name": str(number)} for number in range(12)]},
                "GetMetricData": {"MetricDataResults": [{"Values": [3_600_000.0]}, {"Values": []}]},
                "DescribeContributorInsights": self._describe,
                "UpdateContributorInsights": self._update,
                **answers,
            }
        )

    def _describe(self, _: Any) -> dict[str, Any]:
        told = {"ContributorInsightsStatus": self.status, "ContributorInsightsMode": self.mode}
        if self.status in {"ENABLING", "DISABLING"}:
            self.status = {"ENABLING": "ENABLED", "DISABLING": "DISABLED"}[self.status]
        return told | ({} if self.failure is None else {"FailureException": self.failure})

    def _update(self, asked: dict[str, Any]) -> dict[str, Any]:
        is_on = asked["ContributorInsightsAction"] == "ENABLE"
        self.status = "ENABLING" if is_on else "DISABLING"
        self.mode = asked["ContributorInsightsMode"]
        if self.failure is not None and is_on:
            self.status = "FAILED"
        return {"ContributorInsightsStatus": self.status}

    def switched(self) -> list[tuple[str, str]]:
        asked = self.asked("UpdateContributorInsights")
        return [(one["ContributorInsightsAction"], one["ContributorInsightsMode"]) for one in asked]


class Clock:
    """A clock that goes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_780_000_000_000
        self.waiting: Callable[[], None] = lambda: None

    async def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1000)
        self.waiting()
        await asyncio.sleep(0)


class Hands:
    """A watch with its clock, its folder and what it told."""

    def __init__(self, folder: Path, aws: ScriptedAws) -> None:
        self.clock = Clock()
        self.intents = Notes(folder / "insights-watch", read_intent)
        self.told: list[str] = []
        self.stop = asyncio.Event()
        config = InsightsWatchConfig(folder)
        self.watch = InsightsWatch(aws, config, SPOT, lambda: self.clock.now, self.clock.sleep)

    async def plan(self, index: str | None = None) -> Plan:
        return await self.watch.plan("cases", index, 30 * MINUTE)

    async def run(self, plan: Plan | None = None) -> None:
        await self.watch.run(plan or await self.plan(), self.stop, self.told.append)

    def leave(self, *, on: bool = False, mode: str = BOTH, **more: Any) -> Intent:
        """Leave an intent as a process that died would."""
        fields: dict[str, Any] = {"account": "111122223333", "region": "us-east-1", "table": "cases", "index": None}
        intent = Intent(
            **{**fields, **more}, called_as=None, was_on=on, was_mode=mode, began=self.clock.now, until=self.clock.now
        )
        with self.intents.hold(name_of(intent.target)) as is_ours:
            assert is_ours
            self.intents.write(intent)
        return intent


# plan


async def test_a_plan_looks_and_changes_nothing(tmp_path: Path) -> None:
    aws = Switch()
    plan = await Hands(tmp_path, aws).plan()
    assert (plan.target, plan.was_on, plan.is_ranking, plan.for_ms) == (CASES, False, False, 30 * MINUTE)
    assert (plan.rules_added, plan.rules_used, plan.requests_a_second) == (4, 12, 1000.0)
    assert aws.switched() == []
    assert Notes(tmp_path / "insights-watch", read_intent).names() == ()


@pytest.mark.parametrize(
    ("status", "mode", "sort", "index", "added"),
    [
        ("DISABLED", BOTH, True, None, 4),
        ("DISABLED", BOTH, False, None, 2),
        ("ENABLED", THROTTLED, True, None, 2),
        ("ENABLED", THROTTLED, True, "GSI1", 1),
        ("FAILED", BOTH, True, "GSI1", 2),
    ],
)
async def test_a_plan_counts_the_rules_that_it_adds(
    tmp_path: Path, status: str, mode: str, *, sort: bool, index: str | None, added: int
) -> None:
    assert (await Hands(tmp_path, Switch(status, mode, sort)).plan(index)).rules_added == added


async def test_the_metrics_of_an_index_are_its_own(tmp_path: Path) -> None:
    aws = Switch()
    await Hands(tmp_path, aws).plan("GSI1")
    metric = aws.asked("GetMetricData")[0]["MetricDataQueries"][1]["MetricStat"]["Metric"]
    assert metric["Dimensions"][1] == {"Name": "GlobalSecondaryIndexName", "Value": "GSI1"}


async def test_a_plan_knows_what_ranks_already(tmp_path: Path) -> None:
    assert (await Hands(tmp_path, Switch("ENABLED")).plan()).is_ranking


async def test_what_is_not_needed_may_be_denied(tmp_path: Path) -> None:
    denied = DeniedError("denied", hint="grant it")
    plan = await Hands(tmp_path, Switch(DescribeInsightRules=denied, GetMetricData=denied)).plan()
    assert (plan.rules_used, plan.requests_a_second, plan.cost.events_usd) == (None, None, None)


async def test_an_index_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="cases has no index GSI9"):
        await Hands(tmp_path, Switch()).plan("GSI9")


@pytest.mark.parametrize(
    "answers", [{"DescribeTable": {"Table": {"TableName": 3}}}, {"DescribeContributorInsights": {"Unexpected": 1}}]
)
async def test_an_answer_that_is_not_as_documented_ends_the_plan(tmp_path: Path, answers: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="not as AWS documents it"):
        await Hands(tmp_path, Switch(**answers)).plan()


# run


@pytest.mark.parametrize(
    ("status", "mode", "back"),
    [("DISABLED", BOTH, ("DISABLE", BOTH)), ("ENABLED", THROTTLED, ("ENABLE", THROTTLED))],
)
async def test_it_switches_over_and_back_to_what_it_was_with_the_mode_each_time(
    tmp_path: Path, status: str, mode: str, back: tuple[str, str]
) -> None:
    aws = Switch(status, mode)
    hands = Hands(tmp_path, aws)
    began = hands.clock.now
    await hands.run()
    assert aws.switched() == [("ENABLE", BOTH), back]
    assert (aws.status, aws.mode) == (status, mode)
    assert hands.clock.now >= began + 30 * MINUTE
    assert (hands.intents.names(), len(hands.told)) == ((), 2)


async def test_the_intent_is_on_disk_before_the_switch(tmp_path: Path) -> None:
    seen: list[Intent | None] = []

    def update(asked: dict[str, Any]) -> dict[str, Any]:
        seen.append(hands.intents.read(name_of(CASES)))
        return aws._update(asked)

    aws = Switch("ENABLED", THROTTLED)
    aws.answers["UpdateContributorInsights"] = update
    hands = Hands(tmp_path, aws)
    await hands.run()
    first = seen[0]
    assert first is not None
    assert (first.was_on, first.was_mode, first.until - first.began) == (True, THROTTLED, 30 * MINUTE)


async def test_who_stops_it_has_it_switched_back_at_once(tmp_path: Path) -> None:
    aws = Switch()
    hands = Hands(tmp_path, aws)
    began = hands.clock.now
    hands.clock.waiting = hands.stop.set
    await hands.run()
    assert aws.switched()[-1] == ("DISABLE", BOTH)
    assert hands.clock.now < began + 5 * MINUTE


async def test_a_switch_that_is_denied_leaves_nothing_behind(tmp_path: Path) -> None:
    denied = DeniedError("UpdateContributorInsights: denied", hint="grant dynamodb:UpdateContributorInsights")
    aws = Switch(UpdateContributorInsights=denied)
    hands = Hands(tmp_path, aws)
    with pytest.raises(DeniedError, match="UpdateContributorInsights"):
        await hands.run()
    assert (hands.intents.names(), len(aws.switched())) == ((), 1)


async def test_rules_that_aws_cannot_make_are_switched_off_again(tmp_path: Path) -> None:
    aws = Switch()
    aws.failure = {"ExceptionName": "LimitExceededException", "ExceptionDescription": "too many rules"}
    hands = Hands(tmp_path, aws)
    with pytest.raises(UnsupportedError, match="LimitExceededException: too many rules"):
        await hands.run()
    assert (aws.switched()[-1], hands.intents.names()) == (("DISABLE", BOTH), ())
    aws.failure = {}
    with pytest.raises(UnsupportedError, match=r"UpdateContributorInsights$"):
        await hands.run()


async def test_where_it_cannot_switch_back_the_intent_stays_and_says_how(tmp_path: Path) -> None:
    aws = Switch()
    hands = Hands(tmp_path, aws)
    down = UnreachableError("no answer in time", hint="check the network")

    def fail() -> None:
        if aws.status == "ENABLED":
            aws.answers["DescribeContributorInsights"] = down

    hands.clock.waiting = fail
    with pytest.raises(UnreachableError) as failed:
        await hands.run()
    assert "then `dynascope insights restore` switches cases back" in failed.value.hint
    aws.answers["DescribeContributorInsights"] = aws._describe
    assert [intent.table for intent in (await hands.watch.restore()).undone] == ["cases"]
    assert (aws.status, hands.intents.names()) == ("DISABLED", ())


async def test_it_does_not_wait_for_ever_for_aws(tmp_path: Path) -> None:
    aws = Switch(DescribeContributorInsights={"ContributorInsightsStatus": "DISABLING"})
    hands = Hands(tmp_path, aws)
    hands.leave()
    began = hands.clock.now
    assert len((await hands.watch.restore()).undone) == 1
    assert began + 2 * MINUTE <= hands.clock.now < began + 3 * MINUTE


async def test_a_target_has_one_watch_at_a_time(tmp_path: Path) -> None:
    aws = Switch()
    hands = Hands(tmp_path, aws)
    plan = await hands.plan()
    with hands.intents.hold(name_of(CASES)), pytest.raises(UnsupportedError, match="watched by another process"):
        await hands.run(plan)
    assert aws.switched() == []


async def test_what_another_process_left_says_how_it_really_stood(tmp_path: Path) -> None:
    aws = Switch("ENABLED")
    hands = Hands(tmp_path, aws)
    hands.leave(on=True, mode=THROTTLED)
    await hands.run()
    assert (aws.status, aws.mode) == ("ENABLED", THROTTLED)


# restore


@pytest.mark.parametrize(
    ("left", "now", "switched"),
    [
        ((False, BOTH), ("ENABLED", BOTH), [("DISABLE", BOTH)]),
        ((False, BOTH), ("FAILED", BOTH), [("DISABLE", BOTH)]),
        ((False, BOTH), ("DISABLED", BOTH), []),
        ((False, BOTH), ("DISABLED", THROTTLED), []),
        ((True, THROTTLED), ("ENABLED", BOTH), [("ENABLE", THROTTLED)]),
        ((True, THROTTLED), ("DISABLED", BOTH), [("ENABLE", THROTTLED)]),
        ((True, THROTTLED), ("ENABLED", THROTTLED), []),
    ],
)
async def test_what_a_process_left_is_undone_whatever_happened_since(
    tmp_path: Path, left: tuple[bool, str], now: tuple[str, str], switched: list[tuple[str, str]]
) -> None:
    aws = Switch(*now)
    hands = Hands(tmp_path, aws)
    intent = hands.leave(on=left[0], mode=left[1])
    assert hands.watch.left() == (intent,)
    assert await hands.watch.restore() == ((intent,), ())
    assert (aws.switched(), hands.intents.names(), hands.watch.left()) == (switched, (), ())
    assert await hands.watch.restore() == ((), ())


async def test_what_another_process_holds_is_its_own_to_undo(tmp_path: Path) -> None:
    aws = Switch("ENABLED")
    hands = Hands(tmp_path, aws)
    intent = hands.leave()
    with hands.intents.hold(name_of(intent.target)):
        assert await hands.watch.restore() == ((), ())
        assert hands.watch.left() == ()
    assert len((await hands.watch.restore()).undone) == 1


async def test_a_table_that_is_gone_needs_nothing(tmp_path: Path) -> None:
    aws = Switch(DescribeContributorInsights=AbsentError("gone", hint=""))
    hands = Hands(tmp_path, aws)
    hands.leave()
    assert len((await hands.watch.restore()).undone) == 1
    assert hands.intents.names() == ()


async def test_credentials_of_another_account_undo_nothing(tmp_path: Path) -> None:
    aws = Switch(GetCallerIdentity={"Account": "444455556666"})
    hands = Hands(tmp_path, aws)
    hands.leave()
    (error,) = (await hands.watch.restore()).errors
    assert "these credentials of 444455556666" in str(error)
    assert len(hands.intents.names()) == 1


async def test_one_that_cannot_be_undone_keeps_no_other(tmp_path: Path) -> None:
    aws = Switch("ENABLED")
    hands = Hands(tmp_path, aws)
    hands.leave()
    (tmp_path / "insights-watch" / "0.json").write_text("torn")
    restored = await hands.watch.restore()
    assert [intent.table for intent in restored.undone] == ["cases"]
    assert [type(error) for error in restored.errors] == [MalformedError]
    with pytest.raises(MalformedError):
        hands.watch.left()


async def test_an_intent_that_somebody_removed_is_undone(tmp_path: Path) -> None:
    hands = Hands(tmp_path, Switch())
    intent = hands.leave()
    hands.intents.remove(msgspec.structs.replace(intent, index="GSI1"))
    hands.intents.remove(intent)
    assert await hands.watch.restore() == ((), ())
    hands.watch._intents.names = lambda: ("gone-meanwhile",)  # type: ignore[method-assign]
    assert await hands.watch.restore() == ((), ())


@pytest.mark.parametrize("error", [DeniedError("denied", hint="grant it"), UnreachableError("down", hint="wait")])
async def test_every_failure_to_undo_names_the_command_that_does(tmp_path: Path, error: CollectError) -> None:
    hands = Hands(tmp_path, Switch("ENABLED", UpdateContributorInsights=error))
    hands.leave()
    (told,) = (await hands.watch.restore()).errors
    assert told.hint.endswith("then `dynascope insights restore` switches cases back")
    assert type(told) is type(error)
