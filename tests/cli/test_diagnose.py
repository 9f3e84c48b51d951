from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import typer

from analyzer.cli import daemon_report, diagnosing
from analyzer.cli.daemon_report import read_report
from analyzer.cli.main import execute
from analyzer.diagnose import _rules_used, follow
from analyzer.errors import MalformedError, UsageError
from analyzer.model.finding import Confidence, Finding, Severity
from analyzer.model.instant import format_instant
from analyzer.model.report import Report, Verdict, VerdictState
from analyzer.model.sight import Sight, SightState
from analyzer.model.window import Window
from analyzer.render.json import render_json
from collectors.asking import Paged
from collectors.aws import rates
from tests.support.incidents import MINUTE_MS, WRITE_KEY_RANGE, WRITES_PROVISIONED, Night

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

KEY = "TENANT#canary-90aa"


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(rates._PUBLISHED, ("cloudtrail", "LookupEvents"), 500.0)  # nobody waits for a test
    emulator.limit("cloudtrail", "LookupEvents", None)
    return emulator


@pytest.fixture
def night(aws: LocalAws) -> Night:
    night = Night(aws)
    night.table("orders", provisioned=(5000, 5000)).usual("orders", "PutItem", requests=5000)
    return night


def hot(night: Night) -> Night:
    """A key that is refused, and Contributor Insights that ranks it."""
    night.aws.watch("orders")
    refused: dict[str, Any] = {"throttles": 5000, "reasons": [WRITE_KEY_RANGE], "key": KEY, "sort": "META"}
    return night.now("orders", "PutItem", requests=59_000, **refused).done()


def place(finding: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(finding[name] for name in ("detector", "table", "index", "cause", "direction", "severity", "id"))


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_what_was_recorded_replays_to_the_same_verdict_and_holds_no_clear_key(
    night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hot(night)
    scaling = {"ServiceNamespace": "dynamodb", "ResourceId": "table/orders"}
    dimension = {"ScalableDimension": "dynamodb:table:WriteCapacityUnits"}
    role = {"RoleARN": "arn:aws:iam::123456789012:role/scaling"}
    night.aws.plant_scaling("ScalableTargets", [scaling | dimension | role | {"MinCapacity": 10, "MaxCapacity": 5000}])
    night.aws.plant_event("UpdateTable", at=night.end - 20 * MINUTE_MS, parameters={"tableName": "orders"})
    file, salt = tmp_path / "page.jsonl", tmp_path / "salt"
    salt.write_bytes(b"0123456789abcdef0123456789abcdef")
    common = ["--format", "json", "--salt-file", str(salt), "--keys", "token"]
    assert execute(["diagnose", "orders", "--record", str(file), *common]) == 0
    said = told(capsys)
    assert execute(["replay", str(file), "--fail-on", "never", *common]) == 0
    again = told(capsys)
    assert said["verdict"]["state"] == again["verdict"]["state"] == "fault"
    assert said["verdict"]["finding"] == again["verdict"]["finding"]
    assert [place(one) for one in said["findings"]] == [place(one) for one in again["findings"]]
    assert said["findings"][0]["key"] == again["findings"][0]["key"]
    assert said["window"] == again["window"]
    assert KEY not in file.read_text("utf-8")
    assert {json.loads(line)["kind"] for line in file.read_text("utf-8").splitlines()} >= {
        "recording",
        "table",
        "ttl",
        "scaling",
        "limits",
        "insights",
        "metric",
    }


def test_a_quiet_table_replays_as_clean(night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    night.done()
    night.aws.fault("denied", service="cloudtrail")
    file = tmp_path / "page.jsonl"
    assert execute(["diagnose", "orders", "--record", str(file), "--format", "json"]) == 0
    assert told(capsys)["verdict"]["state"] == "clean"
    assert execute(["replay", str(file), "--format", "json"]) == 0
    assert told(capsys)["verdict"]["state"] == "clean"


def test_keys_are_shown_in_clear_to_whoever_asks_for_it(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    hot(night)
    assert execute(["diagnose", "orders"]) == 0
    shown = capsys.readouterr().out
    assert KEY not in shown
    assert "--reveal-keys" in shown
    assert execute(["diagnose", "orders", "--reveal-keys"]) == 0
    assert KEY in capsys.readouterr().out


def test_fail_on_makes_a_finding_an_exit_code(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITES_PROVISIONED]).done()
    assert execute(["diagnose", "orders", "--fail-on", "high", "--format", "markdown", "--verbose"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("**FAULT**: orders: writes over provisioned 5,000 WCU")
    assert "| PutItem requests |" in said
    assert "   ```sh\n   aws " in said
    assert " AWS calls in 2 rounds" in said


def test_one_table_takes_two_rounds_of_calls(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    hot(night)
    assert execute(["diagnose", "orders", "--verbose"]) == 0
    assert " in 2 rounds that wait for one another" in capsys.readouterr().out


def test_the_change_just_before_is_named(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    change = {"tableName": "orders", "provisionedThroughput": {"readCapacityUnits": 5000, "writeCapacityUnits": 5000}}
    night.aws.plant_event("UpdateTable", at=night.end - 16 * MINUTE_MS, parameters=change, user="ana")
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITES_PROVISIONED]).done()
    assert execute(["diagnose", "orders"]) == 0
    assert "before   " in (said := capsys.readouterr().out)
    assert "capacity of orders by ana" in said


def test_a_table_or_index_that_is_not_there_is_usage_and_names_the_near_one(
    night: Night, capsys: pytest.CaptureFixture[str]
) -> None:
    night.done()
    assert execute(["diagnose", "order"]) == 2
    assert "there is no table order in us-east-1; did you mean orders?" in capsys.readouterr().err
    assert execute(["diagnose", "orders", "--index", "by-day"]) == 2
    assert "orders has no index by-day" in capsys.readouterr().err


def test_a_sweep_ranks_the_suspects_and_diagnoses_the_first(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("users", "carts"):
        night.table(name).usual(name, "GetItem", requests=3000)
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITES_PROVISIONED])
    night.now("carts", "GetItem", requests=60_000, milliseconds=90).done()
    assert execute(["diagnose", "--format", "json"]) == 0
    said = told(capsys)
    assert [one["table"] for one in said["diagnosis"]["suspects"]] == ["orders", "carts"]
    assert said["verdict"]["text"].startswith("orders: writes over provisioned 5,000 WCU")
    assert execute(["diagnose"]) == 0
    shown = capsys.readouterr().out
    assert "  also     carts: latency: p99 of GetItem is 90 ms, 5 an hour before" in shown


def test_a_sweep_without_a_suspect_is_clean(night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    night.table("users").usual("users", "GetItem", requests=3000).done()
    file = tmp_path / "all.jsonl"
    assert execute(["diagnose", "--record", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("CLEAN  ")
    assert "2 tables" in shown
    assert execute(["replay", str(file)]) == 0


def test_several_regions_are_swept_and_the_worst_of_them_is_looked_at(
    night: Night, capsys: pytest.CaptureFixture[str]
) -> None:
    night.table("far", region="eu-west-1").usual("far", "PutItem", requests=500, region="eu-west-1")
    refused: dict[str, Any] = {"throttles": 5000, "reasons": [WRITE_KEY_RANGE], "region": "eu-west-1"}
    night.now("far", "PutItem", requests=5000, **refused).done()
    assert execute(["diagnose", "--region", "us-east-1", "--region", "eu-west-1"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("FAULT  one key or range of far is over its partition limit")
    assert "--region eu-west-1  # changes production" in said


def test_a_request_log_beside_it_names_the_caller(
    night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    tries = [{"at_ms": n, "code": "ProvisionedThroughputExceededException", "reason": WRITE_KEY_RANGE} for n in (0, 9)]
    call = {"v": 1, "op": "PutItem", "table": "orders", "region": "us-east-1", "account": "123456789012"}
    call |= {"key": {"PK": {"S": KEY}, "SK": {"S": "1"}}, "caller": "importer", "attempts": 3, "tries": tries}
    call |= {"consumed": {"total": 1.0, "table": 1.0}}
    begin = night.end - 8 * MINUTE_MS
    lines = [json.dumps(call | {"time": format_instant(begin + n * 200)}) for n in range(2000)]
    log, file = tmp_path / "requests.jsonl", tmp_path / "page.jsonl"
    log.write_text("\n".join(lines) + "\n")
    assert execute(["diagnose", "orders", "--log", str(log), "--record", str(file), "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["diagnosis"]["who"].startswith("importer")
    assert json.loads(shown.out)["findings"][0]["detector"] == "hot-key"
    assert "what AWS showed and 2,000 requests of the log, keys as tokens" in shown.err
    assert KEY not in shown.out + file.read_text("utf-8")


def test_a_sweep_that_may_not_list_cannot_tell(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    night.done().aws.fault("denied", service="monitoring")
    assert execute(["diagnose"]) == 3
    assert "grant cloudwatch:ListMetrics" in " ".join(capsys.readouterr().out.split())


def test_a_dear_sweep_is_refused_on_a_pipe_and_says_its_price(
    night: Night, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    night.done()
    monkeypatch.setattr(diagnosing, "_FREE_USD", 0.0)
    assert execute(["diagnose"]) == 2
    assert "0.00 dollars at list price; agree with --yes, or name a TABLE" in capsys.readouterr().err
    assert ("monitoring", "GetMetricData") not in night.aws.calls()
    assert execute(["diagnose", "--yes"]) == 0
    assert "a sweep of 1 tables asks CloudWatch for" in capsys.readouterr().err


def test_a_dear_sweep_asks_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    answers = iter([True, False])
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: next(answers))
    diagnosing.sweep_agreement(yes=False)(500, 40_000, 0.4)
    with pytest.raises(UsageError, match="nothing was swept"):
        diagnosing.sweep_agreement(yes=False)(500, 40_000, 0.4)


def test_waiting_looks_again_until_the_key_shows(
    night: Night, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        hot(night)

    monkeypatch.setattr(diagnosing, "sleep", sleep)
    assert execute(["diagnose", "orders", "--wait", "5m", "--format", "json"]) == 0
    assert told(capsys)["diagnosis"]["kind"] == "hot-key"
    assert slept == [60]


def test_waiting_ends_when_the_time_is_up(night: Night) -> None:
    now = [night.end + 3 * MINUTE_MS]

    async def sleep(seconds: float) -> None:
        now[0] += round(seconds * 1000)

    looks = []

    async def once() -> Any:
        looks.append(now[0])
        return SimpleNamespace(diagnosis=SimpleNamespace(kind="key-range"))

    asyncio.run(follow(once, for_ms=150_000, clock=lambda: now[0], sleep=sleep))
    assert [at - looks[0] for at in looks] == [0, 60_000, 120_000, 150_000]


def test_who_stops_waiting_is_told_the_look_that_there_was(
    night: Night, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    night.now("orders", "PutItem", requests=25_000, throttles=8_000, reasons=[WRITE_KEY_RANGE]).done()

    async def stop(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(diagnosing, "sleep", stop)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert execute(["diagnose", "orders", "--wait", "5m", "--fail-on", "high"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("FAULT  one key or range of orders is over its partition limit")
    assert "dynascope: looking at orders in us-east-1\n" in shown.err
    assert "dynascope: not decided yet: one key or range of orders is over its partition limit" in shown.err
    assert "it looks again in 60 s, and an interrupt prints this look" in shown.err


def test_a_look_that_is_stopped_says_that_it_could_tell_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(diagnosing, "_work", stop)
    assert execute(["diagnose", "orders", "--region", "us-east-1"]) == 3
    assert capsys.readouterr().err.endswith("dynascope: stopped before anything could be told\n")


def test_watching_tells_each_look_until_it_is_stopped(
    night: Night, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    night.done()
    naps = iter([None])

    async def sleep(_seconds: float) -> None:
        if next(naps, "over") == "over":
            raise KeyboardInterrupt

    monkeypatch.setattr(diagnosing, "sleep", sleep)
    assert execute(["diagnose", "--watch"]) == 0
    assert capsys.readouterr().out.count("CLEAN  at table level") == 2
    assert night.aws.calls()["monitoring", "ListMetrics"] == 2


def test_a_daemon_that_runs_is_asked_instead(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    found = Finding(
        detector="hot-key",
        severity=Severity.HIGH,
        confidence=Confidence.CERTAIN,
        table="orders",
        summary="one key takes 98% of the writes of orders",
        id="f1",
        first_seen=600_000,
        caller="importer",
    )
    verdict = Verdict(VerdictState.FAULT, found.summary, Confidence.CERTAIN, "f1")
    report = Report(
        window=Window(0, 900_000),
        as_of=900_000,
        region="us-east-1",
        account=None,
        verdict=verdict,
        findings=(found,),
        sight=(SightState("users", None, Sight.METRICS, "seen"),),
    )
    document = render_json(report).encode()
    assert read_report(document) == report
    monkeypatch.setattr(daemon_report, "call_daemon", lambda _place: document)
    assert execute(["diagnose", "orders", "--from", "http://127.0.0.1:1", "--fail-on", "high"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("FAULT  one key takes 98% of the writes of orders")
    assert "who      importer" in shown
    assert execute(["diagnose", "users", "--from", "http://127.0.0.1:1", "--fail-on", "high"]) == 0
    assert capsys.readouterr().out.startswith("CLEAN  nothing high or critical on users")
    assert execute(["diagnose", "user", "--from", "http://127.0.0.1:1", "--fail-on", "high"]) == 3
    assert capsys.readouterr().out.startswith("CANNOT TELL  the daemon saw nothing of user; did you mean users?")


def test_a_daemon_that_is_not_there_is_a_source_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["diagnose", "--from", "http://127.0.0.1:1"]) == 3
    assert "no daemon answers at http://127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"v": 2}', b'{"v": 1}'])
def test_what_is_no_report_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedError):
        read_report(body)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--index", "by-day"], "--index needs the TABLE"),
        (["orders", "--since", "3d"], "a diagnosis looks 1m to 1d back"),
        (["orders", "--since", "soon"], "--since: "),
        (["orders", "--at", "noon"], "--at noon is no time"),
        (["orders", "--at", "2200-01-01T00:00:00Z"], "--at 2200-01-01T00:00:00Z has not come yet"),
        (["orders", "--region", "b", "--region", "a", "--region", "b"], "a TABLE is of one region: name b or a, or"),
        (["orders", "--watch", "--wait", "5m"], "leave out --wait and --at"),
        (["orders", "--role", "admin"], "--role admin is no role"),
        (["--from", "daemon"], "daemon is no address of a daemon"),
        (["--from", "http://127.0.0.1:1", "--wait", "5m"], "--wait: a daemon tells its last stretch"),
        (["--from", "http://127.0.0.1:1", "--watch", "--since", "1h"], "--watch, --since: a daemon tells"),
        (["orders", "--from", "http://127.0.0.1:1", "--at", "2026-06-01T00:00:00Z"], "--at: a daemon tells its last"),
        (["--from", "http://127.0.0.1:1", "--region", "eu-west-1", "--reveal-keys"], "--region, --reveal-keys: a "),
    ],
)
def test_wrong_usage_is_told_before_anything_is_asked(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["diagnose", *arguments]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("is_denied", [False, True])
def test_an_index_with_contributor_insights_takes_no_third_round(
    night: Night, capsys: pytest.CaptureFixture[str], *, is_denied: bool
) -> None:
    """But where the rules of the region cannot be listed, which is told by nothing but the number."""
    index = {"by-status": ("status", "SK"), "by-day": ("day", "SK")}
    night.table("carts", indexes=index).usual("carts", "PutItem", requests=5000)
    for place in (None, *index):
        night.aws.watch("carts", place)
    refused: dict[str, Any] = {"throttles": 5000, "reasons": [WRITE_KEY_RANGE], "key": KEY, "sort": "META"}
    night.now("carts", "PutItem", requests=59_000, **refused).done()
    if is_denied:
        night.aws.fault("denied", service="monitoring", operation="DescribeInsightRules")
    assert execute(["diagnose", "carts", "--verbose", "--keys", "token"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("FAULT  PK=~")
    assert f" in {2 + is_denied} rounds that wait for one another" in said
    page = " ".join((Path(__file__).parents[2] / "docs/diagnose.md").read_text("utf-8").split())
    assert "two rounds, three where an index has Contributor Insights and `DescribeInsightRules` is denied." in page


@pytest.mark.parametrize("page", [["a", "b"], ["a", "b", "a", "b"]])
async def test_a_rule_that_is_told_twice_counts_once(monkeypatch: pytest.MonkeyPatch, page: list[str]) -> None:
    async def pages(*_: object) -> Paged:
        return Paged([{"Name": name} for name in page])

    monkeypatch.setattr("analyzer.diagnose.follow_pages", pages)
    monkeypatch.setattr("analyzer.diagnose.lead_of", lambda report: report)
    nothing: Any = SimpleNamespace(traffic=())
    assert await _rules_used(nothing, nothing, nothing) == 2


def test_a_key_that_was_hot_for_a_minute_is_found_in_the_same_two_rounds(
    night: Night, capsys: pytest.CaptureFixture[str]
) -> None:
    night.aws.watch("orders")
    for number in range(30):
        night.now("orders", "PutItem", requests=6000, key=f"TENANT#{number}", sort="META")
    burst: dict[str, Any] = {"throttles": 5000, "reasons": [WRITE_KEY_RANGE], "key": KEY, "sort": "META"}
    night.minutes = 2
    night.now("orders", "PutItem", requests=59_000, **burst).done()
    assert execute(["diagnose", "orders", "--verbose", "--reveal-keys", "--since", "30m"]) == 0
    said = capsys.readouterr().out
    assert KEY in said
    assert " in 2 rounds that wait for one another" in said


def test_the_metrics_of_other_tables_are_not_listed(night: Night, capsys: pytest.CaptureFixture[str]) -> None:
    place = [{"metric": "ConsumedReadCapacityUnits", "value": 1.0, "at": night.end, "minutes": 1}]
    night.aws.plant_all([], [one | {"dimensions": {"TableName": f"t{n:04}"}} for one in place for n in range(600)])
    night.done()
    assert execute(["diagnose", "orders", "--verbose"]) == 0
    assert " in 2 rounds that wait for one another" in capsys.readouterr().out
