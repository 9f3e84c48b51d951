from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutate import trial
from tests.mutate.explained import explanations
from tests.mutate.mutations import mutants
from tests.mutate.targets import targets
from tests.mutate.trial import Target, is_noticed, take_seconds

ROOT = Path(__file__).parents[2]
SOURCE = "def is_warm(heat):\n    return heat >= 7\n"
WARM = (
    "from made_up import is_warm\n\n\ndef test_warm():\n    assert is_warm(9) is True\n    assert is_warm(3) is False\n"
)


def made_up(folder: Path, test: str) -> Target:
    (folder / "made_up.py").write_text(SOURCE, encoding="utf-8")
    (folder / "test_made_up.py").write_text(test, encoding="utf-8")
    return Target("made_up", folder / "made_up.py", (folder / "test_made_up.py",))


def test_a_mutant_that_a_test_looks_at_is_noticed_and_one_at_the_bound_is_not(tmp_path: Path) -> None:
    target = made_up(tmp_path, WARM)
    assert {each.became: is_noticed(target, each.tree, 1) for each in mutants(SOURCE)} == {
        "return None": True,
        "heat > 7": False,
        "heat >= 8": False,
    }


def test_a_test_of_the_bound_notices_the_rest(tmp_path: Path) -> None:
    target = made_up(tmp_path, WARM + "    assert is_warm(7) is True\n")
    assert all(is_noticed(target, each.tree, 1) for each in mutants(SOURCE))


def test_a_mutant_that_goes_round_for_ever_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_LEAST_SECONDS", 1)
    rounds = ast.parse("def is_warm(heat):\n    while True:\n        pass\n")
    assert is_noticed(made_up(tmp_path, WARM), rounds, 0)


def test_a_mutant_is_not_noticed_for_what_else_the_machine_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_LEAST_SECONDS", 3)  # a fork of a large process takes more than one on a busy machine
    slow = WARM.replace("def test_warm():", "import time\n\n\ndef test_warm():\n    time.sleep(3.2)")
    assert not is_noticed(made_up(tmp_path, slow), ast.parse(SOURCE), 0)


def test_a_module_whose_own_tests_fail_has_no_time(tmp_path: Path) -> None:
    assert take_seconds(made_up(tmp_path, WARM), ast.parse(SOURCE)) is not None
    assert take_seconds(made_up(tmp_path, WARM.replace("9", "1")), ast.parse(SOURCE)) is None


def test_a_detector_is_tried_by_its_own_tests_and_a_helper_by_those_of_its_users() -> None:
    own = {target.module: {path.name for path in target.tests} for target in targets(ROOT)}
    users = {target.module: {path.name for path in target.of_users} for target in targets(ROOT)}
    assert {"test_hot_key.py", "test_hot_key_samples.py"} <= own["analyzer.detectors.heat.hot_key"]
    assert users["analyzer.detectors.heat.hot_key"] == set()
    assert "test_key_facts.py" in own["analyzer.detectors.key_words"]
    assert "test_hot_key.py" in users["analyzer.detectors.key_words"] - own["analyzer.detectors.key_words"]
    assert [module for module in own if not own[module] | users[module]] == []


def test_where_its_own_tests_notice_nothing_those_of_users_are_asked(tmp_path: Path) -> None:
    target = made_up(tmp_path, WARM)
    user = tmp_path / "test_user.py"
    user.write_text(WARM.replace("9", "7"), encoding="utf-8")
    target = target._replace(of_users=(user,))
    assert all(is_noticed(target, each.tree, 1) for each in mutants(SOURCE))
    assert take_seconds(target, ast.parse(SOURCE)) is not None


@pytest.mark.parametrize("module", sorted(explanations()))
def test_every_explanation_names_a_mutant_that_there_is(module: str) -> None:
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    there = {each.name for each in mutants(path.read_text(encoding="utf-8"))}
    assert set(explanations()[module]) <= there
