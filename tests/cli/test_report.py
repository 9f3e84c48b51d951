"""The real command over eight weeks of a shop's history, with three drifts in the last of them."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from ruamel.yaml import YAML

from analyzer.cli.main import execute
from analyzer.errors import UnreachableError
from analyzer.history.columns import Kind
from analyzer.history.dataset import Dataset
from analyzer.history.folder import FolderBlobs
from analyzer.history.merging import starts_of
from analyzer.model.instant import MINUTE_MS, parse_instant
from tests.support.history_weeks import DAY_MS, PLANTED, WEEK, contract_document, eight_weeks, write_weeks

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.deliver import Place

NOW = parse_instant("2026-11-30T09:00:00Z")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `history` and `shop.yaml`; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("shop")
    asyncio.run(write_weeks(folder / "history", eight_weeks()))
    with (folder / "shop.yaml").open("w", encoding="utf-8") as file:
        YAML().dump(contract_document(), file)
    return folder


@pytest.fixture(autouse=True)
def monday(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.ahead.wall_clock", lambda: NOW)


def ask(shop: Path, *arguments: str) -> int:
    history, contract = str(shop / "history"), str(shop / "shop.yaml")
    return execute(["report", "--history", history, "--contract", contract, *arguments])


def asked(shop: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert ask(shop, "--format", "json", *arguments) == code
    return dict(json.loads(capsys.readouterr().out))


def names(report: dict[str, Any]) -> set[tuple[str, str]]:
    return {(item["table"], item["pattern"] or item["fingerprint"]) for item in report["items"]}


THREE = {(one.table, one.pattern or one.fingerprint) for one in PLANTED}


@pytest.fixture(scope="module")
def last_week(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("out") / "week.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.ahead.wall_clock", lambda: NOW)
        assert ask(shop, "-o", str(place)) == 0
    return dict(json.loads(place.read_text("utf-8")))


def test_the_last_whole_week_names_the_three_drifts_and_nothing_else(last_week: dict[str, Any]) -> None:
    assert last_week["week"] == "2026-W48"
    assert names(last_week) == THREE
    assert {item["caller"] for item in last_week["items"]} == {one.caller for one in PLANTED}
    assert last_week["better"] == last_week["unseen"] == last_week["remarks"] == []


@pytest.mark.parametrize("week", ["2026-W46", "2026-W47"])
def test_the_weeks_before_with_a_holiday_in_one_of_them_have_nothing_to_know(
    shop: Path, capsys: pytest.CaptureFixture[str], week: str
) -> None:
    assert names(asked(shop, capsys, "--week", week)) == set()


def test_the_first_week_says_that_there_is_no_past(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = asked(shop, capsys, "--week", "2026-W41")
    assert (report["weeks"], report["items"]) == (0, [])
    assert "no week before this one" in report["remarks"][0]
    assert report["forecasts"] is None


def test_a_week_that_nobody_looked_at_cannot_be_told(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(shop, "--week", "2026-W20") == 3
    told = capsys.readouterr().out
    assert "History holds nothing of this week" in told
    assert "It holds 8 weeks from 2026-W41 to 2026-W48: --week 2026-W48 shows the newest." in told
    assert "Nobody looked: nothing is known" in told


def test_an_empty_folder_is_no_clean_week(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["report", "--history", str(tmp_path)]) == 3
    told = capsys.readouterr().out
    assert "nothing can be said.**" in told
    assert "No contract was given" in told


def test_a_torn_file_is_counted_and_left_out(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "shop"
    shutil.copytree(shop, copy)
    (torn,) = (copy / "history").glob("kind=hours/date=2026-11-24/*.parquet")
    torn.write_bytes(torn.read_bytes()[:1000])
    report = asked(copy, capsys, "--fail-on", "medium", code=1)
    assert "86% of it was looked at" in report["remarks"][0]
    assert report["remarks"][1].startswith("1 file of history could not be read")
    assert names(report) == THREE


def test_what_was_acknowledged_stays_out_until_it_is_taken_back(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], last_week: dict[str, Any]
) -> None:
    copy = tmp_path / "shop"
    shutil.copytree(shop, copy)
    identity = last_week["items"][0]["id"]
    assert ask(copy, "--acknowledge", identity, "--reason", "bigger carts", "--who", "ann") == 0
    assert capsys.readouterr().out.startswith(f"{identity} is acknowledged: load-cart of carts")
    report = asked(copy, capsys)
    assert names(report) == THREE - {("carts", "load-cart")}
    assert [(one["id"], one["reason"], one["who"]) for one in report["quieted"]] == [(identity, "bigger carts", "ann")]
    assert ask(copy, "--take-back", identity) == 0
    assert ask(copy, "--take-back", identity) == 2
    assert list((copy / "history").glob("acknowledged/*")) == []


def go_on(shop: Path, factor: float) -> None:
    """Let the last week come again as it was, but for a cart, which costs so many times as much to load."""
    rows = eight_weeks().rows[Kind.HOURS]
    starts = starts_of(rows)
    week = rows.filter(pa.array(starts >= WEEK.start))
    columns = {name: week[name] for name in week.column_names}
    columns["start"] = pa.array(starts[starts >= WEEK.start] + 7 * DAY_MS)
    is_cart = pc.equal(week["pattern"], "load-cart").fill_null(fill_value=False)
    dearer = pc.multiply(week["read_units"], factor)
    columns["read_units"] = pc.if_else(is_cart, dearer, week["read_units"])
    moved = pa.table(columns).cast(rows.schema)
    dataset = Dataset(FolderBlobs(shop / "history"), "shop1")
    for day in range(WEEK.end, WEEK.end + 7 * DAY_MS, DAY_MS):
        here = starts_of(moved) // DAY_MS == day // DAY_MS
        minutes = tuple(range(day, day + DAY_MS, MINUTE_MS))
        asyncio.run(dataset.write_day(Kind.HOURS, day, moved.filter(pa.array(here)), minutes))


@pytest.mark.parametrize(("factor", "is_news"), [(1.0, False), (2.0, True)])
def test_what_was_acknowledged_stays_out_of_the_next_week_until_it_moves_by_another_margin(
    shop: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    last_week: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    factor: float,
    *,
    is_news: bool,
) -> None:
    copy = tmp_path / "shop"
    shutil.copytree(shop, copy)
    identity = last_week["items"][0]["id"]
    assert ask(copy, "--acknowledge", identity, "--reason", "bigger carts") == 0
    capsys.readouterr()
    go_on(copy, factor)
    monkeypatch.setattr("analyzer.ahead.wall_clock", lambda: NOW + 7 * DAY_MS)
    report = asked(copy, capsys, "--fail-on", "never")
    assert report["week"] == "2026-W49"
    assert (identity in {one["id"] for one in report["items"]}) is is_news
    assert (identity in {one["id"] for one in report["quieted"]}) is not is_news


def test_the_help_shows_how_to_acknowledge(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["report", "--help"]) == 0
    assert "dynascope report --config dynascope.yaml --acknowledge d78da5a4b3c2 --reason" in capsys.readouterr().out


def test_the_page_is_one_file_that_needs_nothing_beside_it(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "week.html"
    assert ask(shop, "-o", str(page)) == 0
    assert capsys.readouterr().out == ""
    text = page.read_text("utf-8")
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert '<svg class="heat"' in text
    assert len(text) < 60_000


def test_what_is_posted_to_a_chat_is_its_markdown(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent: list[tuple[str, bytes, str]] = []

    async def take(*told: Any) -> None:
        sent.append(told)

    monkeypatch.setattr("analyzer.deliver._posted", take)
    assert ask(shop, "--to", "https://chat.example.com/hooks/s3cret") == 0
    ((address, body, kind),) = sent
    assert (address, kind) == ("https://chat.example.com/hooks/s3cret", "application/json")
    assert json.loads(body)["text"].startswith("# DynamoDB in 2026-W48")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "dynascope: sent to https://chat.example.com\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--week", "48"], "names no week"),
        (["--week", "2026-W50"], "has not begun"),
        (["--acknowledge", "0123456789ab"], "needs --reason"),
        (["--reason", "why"], "belongs to --acknowledge"),
        (["--acknowledge", "a", "--take-back", "b", "--reason", "c"], "say one of"),
        (["--take-back", "a", "-o", "x.md"], "write no report"),
        (["--acknowledge", "nothing", "--reason", "why", "--week", "2026-W20"], "no item has the id 'nothing'"),
        (["--to", "ftp://example.com"], "--to takes"),
    ],
)
def test_what_cannot_be_meant_is_usage(
    shop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert ask(shop, *arguments) == 2
    assert said in capsys.readouterr().err


class Bucket:
    """S3 as a folder has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def call(self, service: str, operation: str, **asked: Any) -> dict[str, Any]:
        assert (service, asked["Bucket"]) == ("s3", "b")
        if operation == "ListObjectsV2":
            prefix = asked["Prefix"].removeprefix("history/")
            place = self.folder / prefix
            return {"Contents": [{"Key": f"history/{prefix}{one.name}"} for one in place.glob("*") if one.is_file()]}
        if operation == "GetObject":
            return {"Body": (self.folder / asked["Key"].removeprefix("history/")).read_bytes()}
        (self.folder / asked["Key"]).write_bytes(asked["Body"])
        return {}


def test_history_in_a_bucket_is_read_and_its_report_goes_to_one(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "history"
    shutil.copytree(shop / "history", copy)
    asked: list[tuple[str | None, str | None]] = []

    def with_aws(work: Any, region: str | None, profile: str | None) -> Any:
        asked.append((region, profile))
        return asyncio.run(work(Bucket(copy), "us-east-1"))

    monkeypatch.setattr("analyzer.cli.calling.with_aws", with_aws)
    arguments = ["--history", "s3://b/history", "--contract", str(shop / "shop.yaml"), "--region", "eu-west-1"]
    assert execute(["report", *arguments, "--to", "s3://b/"]) == 0
    assert asked == [("eu-west-1", None)] * 2
    assert "load-cart of carts" in (copy / "dynascope-2026-W48.html").read_text("utf-8")
    assert capsys.readouterr().err == "dynascope: sent to s3://b/\n"


def test_one_place_that_does_not_take_it_keeps_it_from_no_other(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = UnreachableError("it did not take the report: 404 Gone", hint="look at the address")
    sent: list[str] = []

    async def deliver(place: Place, *_: object) -> None:
        sent.append(place.address)
        if len(sent) == 1:
            raise refusal

    monkeypatch.setattr("analyzer.deliver.deliver", deliver)
    monkeypatch.setenv("DYNASCOPE_REPORT_TO", "https://one.example.com/a https://two.example.com/b")
    assert ask(shop, "--week", "2026-W20") == 3
    assert sent == ["https://one.example.com/a", "https://two.example.com/b"]
    told = capsys.readouterr().err
    assert "it did not take the report: 404 Gone" in told
    assert "sent to https://two.example.com" in told


def test_history_of_a_newer_version_is_wrong_usage_as_for_every_command(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "shop"
    shutil.copytree(shop, copy)
    monkeypatch.setattr("analyzer.history.files.SCHEMA_VERSION", 0)
    assert ask(copy) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"dynascope: {copy / 'history'}: ")
    assert "newer" in told


def test_a_folder_gets_a_page_named_for_its_week(shop: Path, tmp_path: Path) -> None:
    assert ask(shop, "-o", str(tmp_path), "--week", "2026-W20") == 3
    assert [path.name for path in tmp_path.iterdir()] == ["dynascope-2026-W20.html"]


def test_on_a_terminal_it_is_text_and_markdown_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["report", "--history", str(tmp_path), "--fail-on", "never"]
    assert execute(arguments) == 3
    assert capsys.readouterr().out.startswith("# ")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert execute(arguments) == 3
    assert not capsys.readouterr().out.startswith("#")
    assert execute([*arguments, "--format", "markdown"]) == 3
    assert capsys.readouterr().out.startswith("# ")


def test_without_a_standard_output_the_report_is_judged_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert execute(["report", "--history", str(tmp_path), "--fail-on", "never"]) == 3


def test_a_folder_that_is_not_there_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["report", "--history", "nowhere"]) == 2
    assert execute(["report"]) == 2
    told = capsys.readouterr().err
    assert "nowhere: there is no such folder" in told
    assert "say where history is" in told
