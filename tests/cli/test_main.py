from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.cli import main
from analyzer.cli.main import COMMANDS, execute
from analyzer.errors import CollectError, ConfigError, ContractError, DeniedError, Fault, UsageError

if TYPE_CHECKING:
    from tests.conftest import Golden

ROOT = Path(__file__).parents[2]
HEAVY = ["numpy", "pandas", "pyarrow", "plotly", "scipy", "boto3", "botocore", "aiohttp"]


def modules_after(*arguments: str) -> set[str]:
    script = (
        "import sys; from analyzer.cli.main import execute; code = execute(sys.argv[1:]);"
        "print('\\n' + ' '.join(sorted({m.split('.')[0] for m in sys.modules})), code, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [("--help",), ("version",), ("explain",), ("config",), ("analyze", "--help")])
def test_a_small_command_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert modules_after(*arguments) & set(HEAVY) == set()


def test_check_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "contract.yaml").write_text("version: 1\ntables: []\n")
    loaded = modules_after("check", str(tmp_path))
    assert "0" in loaded
    assert loaded & set(HEAVY) == set()


@pytest.mark.parametrize("command", ["", "analyze", "config", "explain", "replay", "version"])
def test_help_is_what_was_reviewed(command: str, golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*command.split(), "--help"]) == 0
    golden(f"cli/help-{command or 'dynascope'}.txt", capsys.readouterr().out)


def test_a_command_that_is_not_there_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["confg"]) == 2
    assert "No such command 'confg'; did you mean config?" in capsys.readouterr().err


def test_every_command_there_is_can_be_found() -> None:
    for name in COMMANDS:
        assert execute([name, "--help"]) == 0


def test_the_version_is_told_by_a_word_and_by_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["version"]) == execute(["--version"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def options_of(name: str) -> list[set[str]]:
    command = main.typer.main.get_command(main.app).get_command(None, name)  # type: ignore[attr-defined]
    return [set(one.opts) for one in command.params]


def test_one_thing_has_the_same_names_in_every_command() -> None:
    for name in COMMANDS:
        assert all("-c" in one for one in options_of(name) if "--config" in one), name
    for name in ("top", "findings", "mark", "snooze", "diagnose"):
        assert any({"--from", "--url"} <= one for one in options_of(name)), name


FAULT = Fault("c.yaml", 3, "window", "unknown key", "did you mean windows?")


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (UsageError("not so"), 2, "dynascope: not so\n"),
        (ConfigError((FAULT, FAULT)), 2, f"{FAULT}\n{FAULT}\n"),
        (ContractError((FAULT,)), 2, f"{FAULT}\n"),
        (PermissionError(13, "Permission denied", "log.jsonl"), 2, "dynascope: log.jsonl: permission denied\n"),
        (OSError(28, "No space left on device"), 2, "dynascope: no space left on device\n"),
        (CollectError("gone", hint="look there"), 3, "dynascope: gone\n  look there\n"),
        (DeniedError("GetMetricData", hint="grant it"), 3, "dynascope: GetMetricData\n  grant it\n"),
    ],
)
def test_what_is_expected_is_told_in_words(
    error: Exception, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "app", _raising(error))
    assert execute([]) == code
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("kind", [KeyError, OSError])
def test_a_bug_is_told_without_what_it_says(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "app", _raising(kind("CASE#canary-4711")))
    assert execute([]) == 70
    told = capsys.readouterr().err
    assert "canary" not in told
    assert f"a bug of ours: {kind.__name__}" in told
    assert "in execute" in told


@pytest.mark.parametrize(("code", "ended"), [(None, 0), (3, 3), ("words", 1)])
def test_the_exit_code_is_what_the_command_said(code: object, ended: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "app", _raising(SystemExit(code)))
    assert execute([]) == ended


def _raising(error: BaseException) -> object:
    def app(*_: object, **__: object) -> None:
        raise error

    return app


def test_the_program_ends_with_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dynascope", "confg"])
    with pytest.raises(SystemExit) as end:
        main.main()
    assert end.value.code == 2


def test_version_is_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["version"]) == 0
    assert capsys.readouterr().out.startswith("dynascope ")
    assert execute(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["formats"]["report"] == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -c 'from analyzer.cli.main import main; main()' config --schema; echo $? >&2"
    done = subprocess.run(["bash", "-c", f"({command}) | true"], capture_output=True, text=True, check=True)
    assert done.stderr == "0\n"


def test_a_command_that_resembles_none_is_only_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["zzzz"]) == 2
    err = capsys.readouterr().err
    assert "No such command 'zzzz'" in err
    assert "did you mean" not in err


def test_every_command_stands_in_the_table_of_exit_codes() -> None:
    page = (ROOT / "docs/reference/exit-codes.md").read_text("utf-8")
    told = {name for line in page.splitlines() if line.startswith("| `") for name in re.findall("`([a-z-]+)`", line)}
    assert {name for name in COMMANDS if name != "version"} <= told
