from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.cli.keys_found import Search, printable
from analyzer.cli.main import execute
from analyzer.requests.tokens import Salt, is_token

if TYPE_CHECKING:
    from tests.support.emulator import LocalAws

SALT = Salt(b"shared")
CASE = "CASE#canary-4711"
TOKEN = SALT.token("canary-4711")


def found(token: str, *values: str) -> list[str]:
    search = Search(token, SALT)
    for value in values:
        search.see("cases", "PartitionKey", value)
    return [one.value for one in search.found]


@pytest.mark.parametrize(
    "token", [f"CASE#{TOKEN}", TOKEN, f" {TOKEN} ", SALT.tokenize(CASE), f"{SALT.token('CASE')}#{TOKEN}"]
)
def test_a_token_is_found_whole_or_by_one_part_whatever_stood_in_clear(token: str) -> None:
    assert found(token, "CASE#other", CASE, CASE) == [CASE]


@pytest.mark.parametrize("token", [f"USER#{TOKEN}", f"CASE#{TOKEN}#META", f"{TOKEN}#CASE"])
def test_a_token_of_another_shape_is_not_found(token: str) -> None:
    assert found(token, CASE) == []


def test_what_was_hashed_whole_is_found() -> None:
    assert found(SALT.token("ab/cd=="), "ab/cd==") == ["ab/cd=="]
    assert found(SALT.token("42"), "42", "43") == ["42"]


@pytest.mark.parametrize("token", ["", "CASE#<id>", "CASE#4711", "~kshort"])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="is no token"):
        Search(token, SALT)


def test_a_value_cannot_speak_to_the_terminal() -> None:
    assert printable("a\x1b[31m\nb–é") == "a\\x1b[31m\\nb–é"


# a suspect

SUSPECT = ["key", "--is", CASE]


@pytest.fixture
def salted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNASCOPE_SALT", "shared")


@pytest.mark.usefixtures("salted")
def test_a_suspect_is_compared_with_a_token_and_nobody_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*SUSPECT, f"CASE#{TOKEN}"]) == 0
    assert capsys.readouterr().out == f"CASE#{TOKEN} is {CASE}\n"
    assert execute([*SUSPECT[:2], "CASE#other", f"CASE#{TOKEN}"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"CASE#{TOKEN} is not CASE#other"
    assert SALT.tokenize("CASE#other") in said[1]


@pytest.mark.usefixtures("salted")
def test_without_a_token_that_of_a_suspect_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(SUSPECT) == 0
    assert capsys.readouterr().out.splitlines()[0] == SALT.tokenize(CASE)


@pytest.mark.usefixtures("salted")
@pytest.mark.parametrize(("arguments", "told"), [([], "--is VALUE"), (["--is", CASE, "CASE#4711"], "is no token")])
def test_what_cannot_be_compared_is_wrong_usage(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["key", *arguments]) == 2
    assert told in capsys.readouterr().err


# the command


@pytest.fixture
def aws(emulator: LocalAws, monkeypatch: pytest.MonkeyPatch) -> LocalAws:
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DYNASCOPE_SALT", "shared")
    emulator.create_table("cases", indexes={"GSI1": ("GSI1PK", None)})
    return emulator


def planted(aws: LocalAws) -> None:
    aws.watch("cases")
    aws.plant("cases", at=time.time_ns() // 1_000_000 - 2 * 3_600_000, minutes=5, key=CASE, reads=1000, requests=10)


def test_the_clear_value_is_looked_up_in_cloudwatch(aws: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    planted(aws)
    assert execute(["key", f"CASE#{TOKEN}"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == CASE
    assert " of cases" in told.out.splitlines()[1]
    assert told.out.splitlines()[2] == "looked at 1 keys of 2 rules of cases in us-east-1, up to 3h back"
    assert told.err == ""


def test_a_token_that_is_nowhere_says_where_it_was_looked_for(
    aws: LocalAws, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(aws)
    assert execute(["key", TOKEN, "--since", "1h"]) == 1
    assert capsys.readouterr().out == "looked at 0 keys of 2 rules of cases in us-east-1, up to 1h back\n"
    assert execute(["key", SALT.token("other")]) == 1
    assert CASE not in capsys.readouterr().out
    assert execute(["key", TOKEN, "--table", "orders"]) == 1
    said = capsys.readouterr().out
    assert "there is nothing to look in" in said
    assert "dynascope insights watch TABLE" in said


def test_cloudwatch_that_cannot_be_asked_is_a_failed_source(aws: LocalAws, capsys: pytest.CaptureFixture[str]) -> None:
    planted(aws)
    aws.fault("denied", service="monitoring", operation="GetInsightRuleReport")
    assert execute(["key", TOKEN]) == 3
    assert "grant cloudwatch:GetInsightRuleReport" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["CASE#4711"], "is no token"),
        ([TOKEN, "--since", "soon"], "'soon' is not a duration"),
    ],
)
def test_what_cannot_be_looked_up_is_wrong_usage(
    arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DYNASCOPE_SALT", "shared")
    assert execute(["key", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_without_the_salt_nothing_can_be_recomputed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DYNASCOPE_SALT", raising=False)
    assert execute(["key", TOKEN]) == 2
    assert "give --salt-file" in capsys.readouterr().err


def test_what_is_enabled_is_asked_once_however_far_back_it_looks(aws: LocalAws) -> None:
    planted(aws)
    assert execute(["key", SALT.token("other"), "--since", "12h"]) == 1
    calls = aws.calls()
    assert calls["dynamodb", "ListContributorInsights"] == 1
    assert calls["monitoring", "GetInsightRuleReport"] == 24


def test_every_token_that_a_help_or_a_page_shows_is_one() -> None:
    root = Path(__file__).parents[2]
    places = [*root.glob("analyzer/cli/*.py"), *root.glob("docs/**/*.md"), *root.glob("deploy/sampler/**/*.[mp][dy]")]
    shown = {found for place in places for found in re.findall(r"~[kd][a-z0-9]{8}\b", place.read_text("utf-8"))}
    assert shown
    assert {one for one in shown if not is_token(one)} == set()
